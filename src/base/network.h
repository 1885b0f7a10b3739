/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_NETWORK_H
#define FETTLE_BASE_NETWORK_H

#include "base/err.h"

#include <stdbool.h>

/*
 * Ranges of addresses, as people write them: "10.1.0.0/16,192.0.2.7,fd00::/8", with commas between.
 */

enum { NETWORK_BYTES_MAX = 1024 };

/* -EINVAL with the part that is none. */
int network_check(const char *list, struct err *e);
/* Whether the address, of IPv4 or IPv6, lies in one of the ranges. One of IPv4 that is written in IPv6
 * ("::ffff:10.1.2.3") is that of IPv4. False for a list or an address that cannot be read. */
bool network_has(const char *list, const char *address);

#endif
