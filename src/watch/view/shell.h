/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_SHELL_H
#define FETTLE_WATCH_VIEW_SHELL_H

#include "watch/view/observed.h"
#include "watch/view/policy.h"

/*
 * What the shells ask of the view: what was observed of a member, and what they hand over to be called back.
 */

struct watch;

/* What a check says of a node now. */
struct said {
    const struct check *check;
    struct verdict verdict;    /* unknown with the reason when nothing is known */
    struct mono since, looked; /* of what is ok, since is when it was looked at; 0: never */
};

enum { WATCH_TICK_MS = 100, WATCH_SLICES = 10 };
/* Called back for each member of which something is to be asked. */
typedef void tell_fn(void *arg, struct member *m);
typedef void said_fn(void *arg, const struct said *s);

/* --- the time, and the members ----------------------------------------------------------------------- */

/* When m was last heard, by this controller or by one before; ns 0: never, or it is not known. */
struct wall watch_contact(const struct watch *w, const struct member *m);
const struct observed *watch_observed(const struct watch *w, const struct member *m);

/* --- one member -------------------------------------------------------------------------------------- */

/* What runs on it: idle only when everybody who can say so does, the agent and the scheduler. */
enum work watch_work(const struct watch *w, const struct member *m);

#endif
