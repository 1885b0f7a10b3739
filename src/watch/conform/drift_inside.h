/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_DRIFT_INSIDE_H
#define FETTLE_WATCH_CONFORM_DRIFT_INSIDE_H

#include "watch/view/view.h"

/*
 * What follows from drift for what is agreed, and the alarm of too much drift. It has no state of its own.
 */

/* Its drift, which is proven, is to keep new work away, and no claim does so yet. */
bool drift_lacks_claim(const struct watch *w, struct mono now, const struct member *m);

#endif
