/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BUDGET_BUDGET_INSIDE_H
#define FETTLE_WATCH_BUDGET_BUDGET_INSIDE_H

#include "watch/health/health.h"
#include "watch/view/view.h"

/*
 * The budgets: how many nodes are out by Fettle's decision, and how many may be. The state is w->budgets.
 */

/* m stays in service for want of room in this budget: an alarm announces it, once. */
void budget_tell(struct watch *w, const struct member *m, const struct budget *b);
/* Counts a node that waits for room while something other than a full budget keeps it in service. */
void budget_waits(struct watch *w, const struct health_state *v);
void budgets_end_sweep(struct watch *w);
void budgets_destroy(struct watch *w);
struct budgets {
    size_t n_patients;
    uint32_t *patients; /* the members that are out by Fettle's decision */
    bool alarm;         /* the alarm that nodes wait for room is raised */
    size_t waiting;     /* nodes that wait, in the present sweep */
};

#endif
