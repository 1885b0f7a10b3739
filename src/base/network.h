/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_NETWORK_H
#define FETTLE_BASE_NETWORK_H

#include "base/err.h"

#include <stdbool.h>

/*
 * Lists of address ranges, as people write them: "10.1.0.0/16,192.0.2.7,fd00::/8".
 */

enum { NETWORK_BYTES_MAX = 1024 };

/* -EINVAL with a sentence that names the first part that is not a range. */
int network_check(const char *list, struct err *e);
/* Whether the IPv4 or IPv6 address lies in one of the ranges. An IPv4 address written in IPv6
 * ("::ffff:10.1.2.3") counts as IPv4. False for a list or an address that cannot be read. */
bool network_has(const char *list, const char *address);

#endif
