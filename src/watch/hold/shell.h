/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HOLD_SHELL_H
#define FETTLE_WATCH_HOLD_SHELL_H

#include "watch/view/observed.h"
#include "watch/view/shell.h"

/*
 * What the shells tell about the scheduler and about holds in other systems.
 */

struct watch;

typedef void unread_fn(void *arg, struct member *m, enum elsewhere_where where);

/* --- who holds a node -------------------------------------------------------------------------------- */

/* Whether somebody other than Fettle holds m in that system, as it was read at `now`, and whether m is out of
 * service there. */
void watch_elsewhere(struct watch *w, struct mono now, struct member *m, const struct elsewhere *is);
/* Calls fn once for each node whose holds are to be read again, because watch_may_operate or watch_may_reboot
 * returned -ESTALE for it. */
void watch_unread(struct watch *w, unread_fn *fn, void *arg);

/* --- what the scheduler says ------------------------------------------------------------------------- */

/* Whether the scheduler runs work on m: WORK_UNKNOWN when it cannot be asked. Work counts as idle only when
 * both the agent and the scheduler say so. Without a scheduler this is never called. */
void watch_scheduler(struct watch *w, struct member *m, enum work work, bool completing);
/* Whether the scheduler keeps work from m for a reason that is not Fettle's: it is out, down, reserved, or on
 * its way to another state. Nothing is scheduled there then. */
void watch_away(struct watch *w, struct member *m, bool away);
/* What the scheduler says about m in its own words; no state: it could not be read. */
void watch_scheduler_word(struct watch *w, struct member *m, const struct scheduler_word *says);
/* The scheduler does not have m. Only the agent's word counts then; what the scheduler said is forgotten. */
void watch_unscheduled(struct watch *w, struct member *m);
void watch_slurmd(struct watch *w, struct member *m, enum slurmd is);

#endif
