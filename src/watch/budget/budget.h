/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BUDGET_BUDGET_H
#define FETTLE_WATCH_BUDGET_BUDGET_H

#include "watch/budget/shell.h"
#include "watch/view/view.h"

/*
 * How many nodes are out by Fettle's decision and how many may be, and whether a node may be taken out now.
 * It owns the list of those that are out, and the latch that a surge trips. A node counts from the proposal
 * on, not from the record: ten findings of the same moment see each other.
 */

/* --- the budgets ------------------------------------------------------------------------------------- */

unsigned budget_listed(struct watch *w); /* nodes that a configuration file names */
/* There is room for m among those that may be out. */
bool budget_room(struct watch *w, const struct member *m);
/* False when there is no room for `more` nodes beside those that are out; *b says where. */
bool budget_allows(struct watch *w, const struct member *m, unsigned more, struct budget *b);
/* Some node waits for room, as far as this sweep has come. */
bool budget_is_waited_for(const struct watch *w);
/* The i-th of the members that are out; NULL after the last. */
struct member *budget_patient_at(const struct watch *w, size_t i);
void budget_patient(struct watch *w, const struct member *m); /* its repair began, changed or is over */

/* --- whether a node may be taken out now ------------------------------------------------------------- */

/* Whether m may be isolated now for what began at `since`; if not, whoever has to know is told. */
bool brake_isolate(struct watch *w, struct mono now, const struct member *m, struct wall since);
/* Whether remedies may be carried out at all: 0, or -EAGAIN with why not. */
int brake_stopped(const struct watch *w, struct err *e);
/* Another machine is found under the name of m, which has to be tested: it is out from now on, whatever room
 * there is, and others find that it is. */
void brake_swapped(struct watch *w, const struct member *m);
/* Whether m may be taken out now for a maintenance event: as brake_isolate, but that is no surge. */
bool brake_maintain(struct watch *w, const struct member *m);
/* Whether an ill node was kept in service for want of room since this was asked last, and when. The room that
 * trials take is to be given up for it. */
bool isolation_wants_room(struct watch *w, struct mono *at);
void brake_load(struct watch *w, struct mono now); /* what is recorded of isolations, once */
void brake_end_sweep(struct watch *w);
void isolation_destroy(struct watch *w);
void isolation_create(struct watch *w); /* and the budgets */

#endif
