/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_FINGERPRINT_UEVENT_H
#define FETTLE_AGENT_FINGERPRINT_UEVENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Events of the kernel about devices and modules (NETLINK_KOBJECT_UEVENT), as far as they may change the
 * fingerprint.
 */

enum { UEVENT_BYTES_MAX = 8192 };

/* A socket that hears the kernel, not blocking; -errno when that is not allowed here. */
int uevent_open(void);
/* Reads all events that have arrived. True when one of them matters, or when events were lost. */
bool uevent_drain(int fd);

/* Whether a message of len bytes says that a module, a driver or a device of a kind that the
 * fingerprint names came or went. Devices that the kernel only imagines do not matter. */
bool uevent_matters(const char *message, size_t len);

#endif
