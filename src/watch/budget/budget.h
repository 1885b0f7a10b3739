/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BUDGET_BUDGET_H
#define FETTLE_WATCH_BUDGET_BUDGET_H

#include "watch/budget/shell.h"
#include "watch/view/view.h"

/*
 * How many nodes are out by Fettle's decision, how many may be, and whether a node may be taken out now. This
 * room owns the list of the nodes that are out, and the latch that a surge trips. A node counts as out from
 * the proposal on and not from the record on, so ten findings of the same moment take account of each other.
 */

/* --- the budgets ------------------------------------------------------------------------------------- */

unsigned budget_listed(struct watch *w); /* nodes that a configuration file names */
/* There is room for m in the budgets. */
bool budget_room(struct watch *w, const struct member *m);
/* False when there is no room for `more` nodes beside those that are out; *b is the budget that is full. */
bool budget_allows(struct watch *w, const struct member *m, unsigned more, struct budget *b);
/* In the sweep so far, some node waits for room. */
bool budget_is_waited_for(const struct watch *w);
/* The i-th of the members that are out; NULL after the last. */
struct member *budget_patient_at(const struct watch *w, size_t i);
void budget_patient(struct watch *w, const struct member *m); /* its repair began, changed or is over */

/* --- whether a node may be taken out now ------------------------------------------------------------- */

/* Whether m may be isolated now for a fault that began at `since`. If a brake prevents it, an alarm is
 * raised. */
bool brake_isolate(struct watch *w, struct mono now, const struct member *m, struct wall since);
/* Whether remedies may be carried out at all: 0, or -EAGAIN with the reason. */
int brake_stopped(const struct watch *w, struct err *e);
/* Another machine was found under the name of m, and has to be tested: m is out from now on, even without
 * room, and the budgets count it. */
void brake_swapped(struct watch *w, const struct member *m);
/* Whether m may be taken out now for a maintenance event: as brake_isolate, but it does not count for a
 * surge. */
bool brake_maintain(struct watch *w, const struct member *m);
/* Whether an ill node was kept in service for want of room since the last call, and when. Trials then give up
 * their room for it. */
bool isolation_wants_room(struct watch *w, struct mono *at);
void brake_load(struct watch *w, struct mono now); /* takes in the recorded isolations, once */
void brake_end_sweep(struct watch *w);
void isolation_destroy(struct watch *w);
void isolation_create(struct watch *w); /* and the budgets */

#endif
