/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BUDGET_BUDGET_INSIDE_H
#define FETTLE_WATCH_BUDGET_BUDGET_INSIDE_H

#include "watch/health/health.h"
#include "watch/view/view.h"

/*
 * The budgets: how many nodes are out by Fettle's decision, and how many may be. Its state is w->budgets.
 */

/* m stays in service for want of room in this budget: an alarm says so, once. */
void budget_tell(struct watch *w, const struct member *m, const struct budget *b);
/* A node that waits for room is looked at, and there is another reason for which it stays. */
void budget_waits(struct watch *w, const struct health_state *v);
void budgets_end_sweep(struct watch *w);
void budgets_destroy(struct watch *w);
struct budgets {
    size_t n_patients;
    uint32_t *patients; /* members that are out by Fettle's decision */
    bool alarm;         /* that nodes wait for room was told */
    size_t waiting;     /* of them, in the sweep under way */
};

#endif
