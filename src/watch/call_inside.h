/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CALL_INSIDE_H
#define FETTLE_WATCH_CALL_INSIDE_H

#include "watch/view/called.h"
#include "watch/view/view.h"

/*
 * Calls: members for which the sweep has found that a command is needed. There is one command for all nodes
 * of a kind. The state is w->calls.
 */

/* ADMIT, AGAIN: the node is to be put into service, for the first time or on another boot. */
enum call { CALL_ADMIT, CALL_AGAIN, CALL_HEARD, CALL_DRAINED, CALL_DRAINING, CALL_KINDS };

/* No check has to pass first, and the record does not say that m is in service on this boot. */
bool is_put_into_service(const struct watch *w, const struct member *m);
/* m is live and need not pass its checks first. A node that has to pass them stays held, so that no work
 * starts in between. */
bool is_heard(const struct watch *w, const struct member *m);
/* Adds a call that the present sweep has found. */
void call_add(struct watch *w, enum call call, const struct member *m);
void calls_end_sweep(struct watch *w);
/* Call in each tick: some of the remaining calls may be proposed again. */
void calls_tick(struct watch *w);
/* Proposes one command. False: there is no other command in this tick. */
bool calls_step(struct watch *w);
void calls_destroy(struct watch *w);
struct calls {
    struct called found[CALL_KINDS]; /* by the present sweep */
    struct called told[CALL_KINDS];  /* by the earlier sweep whose calls are being proposed */
    unsigned looked;                 /* how many of this tick's commands were looked for */
};

#endif
