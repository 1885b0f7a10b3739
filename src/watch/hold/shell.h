/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HOLD_SHELL_H
#define FETTLE_WATCH_HOLD_SHELL_H

#include "watch/view/observed.h"
#include "watch/view/shell.h"

/*
 * What the shells tell of the scheduler, and of those who hold a node.
 */

struct watch;

typedef void unread_fn(void *arg, struct member *m, enum elsewhere_where where);

/* --- who holds a node -------------------------------------------------------------------------------- */

/* Whether somebody other than Fettle holds m there, as it was read at `now`, and whether it is out. */
void watch_elsewhere(struct watch *w, struct mono now, struct member *m, const struct elsewhere *is);
/* Calls fn for each node of which that is to be read again, since watch_may_operate or watch_may_reboot said
 * -ESTALE of it; each once. */
void watch_unread(struct watch *w, unread_fn *fn, void *arg);

/* --- what the scheduler says ------------------------------------------------------------------------- */

/* What the scheduler says runs on m: WORK_UNKNOWN when it cannot be asked. Work counts as idle only when both
 * the agent and the scheduler say so; while there is no scheduler, this is never called. */
void watch_scheduler(struct watch *w, struct member *m, enum work work, bool completing);
/* Whether the scheduler keeps work from m by its own, or by somebody else's word than Fettle's: out, down,
 * reserved, on its way to another state. Nothing is scheduled there. */
void watch_away(struct watch *w, struct member *m, bool away);
/* What the scheduler says of m in its own words; without a state: it could not be read. */
void watch_scheduler_word(struct watch *w, struct member *m, const struct scheduler_word *says);
/* The scheduler does not have m: the agent's word alone counts, and what the scheduler said goes. */
void watch_unscheduled(struct watch *w, struct member *m);
void watch_slurmd(struct watch *w, struct member *m, enum slurmd is);

#endif
