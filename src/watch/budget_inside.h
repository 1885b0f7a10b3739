/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BUDGET_INSIDE_H
#define FETTLE_WATCH_BUDGET_INSIDE_H

#include "watch/watch.h"

/*
 * The budgets: how many nodes are out by Fettle's decision, and how many may be. Its state is w->budgets.
 */

struct vitals;

unsigned budget_listed(struct watch *w); /* nodes that a configuration file names */
/* There is room for m among those that may be out. */
bool budget_room(struct watch *w, const struct member *m);
/* False when there is no room for `more` nodes beside those that are out; *b says where. */
bool budget_allows(struct watch *w, const struct member *m, unsigned more, struct budget *b);
/* m stays in service for want of room in this budget: an alarm says so, once. */
void budget_tell(struct watch *w, const struct member *m, const struct budget *b);
/* A node that waits for room is looked at, and there is another reason for which it stays. */
void budget_waits(struct watch *w, const struct vitals *v);
/* Some node waits for room, as far as this sweep has come. */
bool budget_is_waited_for(const struct watch *w);
/* The i-th of the members that are out; NULL after the last. */
struct member *budget_patient_at(const struct watch *w, size_t i);
void budget_patient(struct watch *w, const struct member *m); /* its repair began, changed or is over */
void budgets_end_sweep(struct watch *w);
void budgets_destroy(struct watch *w);

struct budgets {
    size_t n_patients;
    uint32_t *patients; /* members that are out by Fettle's decision */
    bool alarm;         /* that nodes wait for room was told */
    size_t waiting;     /* of them, in the sweep under way */
};

#endif
