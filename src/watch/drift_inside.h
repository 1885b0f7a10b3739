/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_DRIFT_INSIDE_H
#define FETTLE_WATCH_DRIFT_INSIDE_H

#include "watch/watch.h"

/*
 * What follows from drift for what is agreed, and the alarm of too much drift. It has no state of its own.
 */

void drift_create(struct watch *w); /* and the groups of proposals */
/* Its drift, which is proven, is to keep new work away, and no claim does so yet. */
bool drift_lacks_claim(const struct watch *w, struct mono now, const struct member *m);
/* In each sweep, for a listed member. judged: nothing about it waits for another tick. */
void drift_examine(struct watch *w, struct mono now, const struct member *m, bool judged);
void drift_end_sweep(struct watch *w);

#endif
