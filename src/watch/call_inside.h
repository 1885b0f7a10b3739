/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CALL_INSIDE_H
#define FETTLE_WATCH_CALL_INSIDE_H

#include "watch/view/called.h"
#include "watch/view/view.h"

/*
 * What the sweep finds that members call for: one command for all nodes of a kind. Its state is w->calls.
 */

/* ADMIT, AGAIN: put into service, for the first time or on another boot. */
enum call { CALL_ADMIT, CALL_AGAIN, CALL_HEARD, CALL_DRAINED, CALL_DRAINING, CALL_KINDS };

/* Nothing has to pass first, and the record does not say that it is in service on this boot. */
bool is_put_into_service(const struct watch *w, const struct member *m);
/* And held for its checks, where they have to pass first: no work lands in between. */
bool is_heard(const struct watch *w, const struct member *m);
/* Found by the sweep under way. */
void call_add(struct watch *w, enum call call, const struct member *m);
void calls_end_sweep(struct watch *w);
/* In each tick: some of what is left may be proposed. */
void calls_tick(struct watch *w);
/* One command of them. False: no other in this tick. */
bool calls_step(struct watch *w);
void calls_destroy(struct watch *w);
struct calls {
    struct called found[CALL_KINDS]; /* by the sweep under way, */
    struct called told[CALL_KINDS];  /* and by the one that is being proposed */
    unsigned looked;                 /* so many of this tick's commands were looked for */
};

#endif
