/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_DRIFT_INSIDE_H
#define FETTLE_WATCH_CONFORM_DRIFT_INSIDE_H

#include "watch/view/view.h"

/*
 * What follows from drift for the agreed state, and the alarm of too much drift. This part has no state of
 * its own.
 */

/* m's proven drift has to keep new work away, and no claim does that yet. */
bool drift_lacks_claim(const struct watch *w, struct mono now, const struct member *m);

#endif
