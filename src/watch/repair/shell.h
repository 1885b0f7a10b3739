/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_REPAIR_SHELL_H
#define FETTLE_WATCH_REPAIR_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells ask about repairs.
 */

struct watch;

/* --- which remedy ------------------------------------------------------------------------------------ */

/* What would be done for m now and why: all candidates, with counts and costs, also when m has no repair.
 * Nothing would be done in a maintenance window of the scheduler. */
void watch_choice(const struct watch *w, struct mono now, const struct member *m, struct choice *out);

/* --- overrides --------------------------------------------------------------------------------------- */

/* How long m's override still stands; 0 without one. */
struct span watch_override_left(const struct watch *w, struct mono now, const struct member *m);

#endif
