/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_ALARM_WATCH_INSIDE_H
#define FETTLE_WATCH_ALARM_WATCH_INSIDE_H

#include "watch/view/view.h"

/*
 * Alarms whose cause is a record, or is shared by many nodes. This part has no state of its own.
 */

/* At the end of each sweep: ends alarms whose cause is gone, and raises those of shared causes. */
void alarms_end_sweep(struct watch *w);

#endif
