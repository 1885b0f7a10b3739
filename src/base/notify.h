/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_NOTIFY_H
#define FETTLE_BASE_NOTIFY_H

#include "base/clock.h"

/*
 * What a daemon tells the service manager that started it, by the datagram protocol of
 * sd_notify(3). Without NOTIFY_SOCKET in the environment nothing is said and nothing fails.
 */

void notify_ready(void);
void notify_watchdog(void);
void notify_stopping(void);

/* How often notify_watchdog is to be called: half of WATCHDOG_USEC; zero when nobody waits for it. */
struct span notify_watchdog_interval(void);

#endif
