/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_UPLINK_ADDRESS_H
#define FETTLE_AGENT_UPLINK_ADDRESS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Addresses of controllers: "host", "host:port" or "[address]:port", with commas between. */

enum { ADDRESS_HOST_BYTES_MAX = 255, ADDRESS_LIST_MAX = 16, ADDRESS_PORT_DEFAULT = 6120 };

struct address {
    char host[ADDRESS_HOST_BYTES_MAX + 1];
    uint16_t port;
};

/* Addresses in the order in which they are tried first. Zero-initialise. */
struct address_list {
    struct address at[ADDRESS_LIST_MAX];
    size_t n;
};

/* Reads one address, with the default port when it names none. -EINVAL with a sentence. */
int address_parse(const char *text, struct address *out, struct err *e);

/* Adds the addresses of a list separated by commas or white space; one that is there already is not
 * added again. -EINVAL for a bad one, -E2BIG for more than ADDRESS_LIST_MAX. */
int address_list_add(struct address_list *list, const char *text, struct err *e);

/* Adds one that is not there yet, if there is room. */
void address_list_put(struct address_list *list, const struct address *a);

/* "host:port", or "[address]:port". Returns buf. */
char *address_format(const struct address *a, char buf[static ADDRESS_HOST_BYTES_MAX + 16]);

#endif
