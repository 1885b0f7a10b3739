/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_SHELL_H
#define FETTLE_WATCH_VIEW_SHELL_H

#include "watch/view/observed.h"
#include "watch/view/policy.h"

/*
 * What the shells read from the view: observations of a member, and functions to be called back.
 */

struct watch;

/* The present result of a check on a node. */
struct said {
    const struct check *check;
    struct verdict verdict;    /* unknown, with the reason, when nothing is known */
    struct mono since, looked; /* when the result is ok, since is the time of the last look; 0: never */
};

enum { WATCH_TICK_MS = 100, WATCH_SLICES = 10 };
/* Called for each member about which a question is due. */
typedef void tell_fn(void *arg, struct member *m);
typedef void said_fn(void *arg, const struct said *s);

/* --- the time, and the members ----------------------------------------------------------------------- */

/* When m was last heard, by this controller or an earlier one; ns 0: never, or not known. */
struct wall watch_contact(const struct watch *w, const struct member *m);
const struct observed *watch_observed(const struct watch *w, const struct member *m);

/* --- one member -------------------------------------------------------------------------------------- */

/* Whether work runs on m. Idle only when both the agent and the scheduler say so, if they can. */
enum work watch_work(const struct watch *w, const struct member *m);

#endif
