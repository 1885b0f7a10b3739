/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BUDGET_SHELL_H
#define FETTLE_WATCH_BUDGET_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells ask about the budgets and the latch.
 */

struct watch;

typedef void budget_fn(void *arg, const struct budget *b);

/* --- the budgets ------------------------------------------------------------------------------------- */

/* The budgets as they stand. They count nodes whose isolation is proposed and not yet agreed. */
void watch_each_budget(const struct watch *w, budget_fn *fn, void *arg);

/* --- whether a node may be taken out now ------------------------------------------------------------- */

/* The latch is on: a surge tripped it, and no person has released it yet (SWITCH "latch" off). */
bool watch_latched(const struct watch *w);

#endif
