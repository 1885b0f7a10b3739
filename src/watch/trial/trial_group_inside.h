/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_TRIAL_GROUP_INSIDE_H
#define FETTLE_WATCH_TRIAL_TRIAL_GROUP_INSIDE_H

#include "watch/trial/trial_inside.h"
#include "watch/view/view.h"

/*
 * What a check that several nodes run together came to. This part has no state of its own.
 */

/* Goes on with the trial of a group. */
void trial_group_go(struct watch *w, struct mono now, struct trial *t, const struct check *k);

#endif
