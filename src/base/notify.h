/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_NOTIFY_H
#define FETTLE_BASE_NOTIFY_H

#include "base/clock.h"

/*
 * Messages of a daemon to the service manager that started it, by the datagram protocol of sd_notify(3).
 * Without NOTIFY_SOCKET in the environment the functions do nothing, and do not fail.
 */

void notify_ready(void);
void notify_watchdog(void);
void notify_stopping(void);

/* How often to call notify_watchdog: half of WATCHDOG_USEC; zero when there is no watchdog. */
struct span notify_watchdog_interval(void);

#endif
