/* SPDX-License-Identifier: Apache-2.0 */
#include "base/network.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { RANGE_BYTES_MAX = 64 };

/* IPv4 is kept in its IPv6 form, so that there is only one comparison. */
struct range {
    unsigned char bytes[16];
    unsigned bits; /* how many leading bits count */
};

static bool address_read(const char *text, struct range *out)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (inet_pton(AF_INET6, text, out->bytes) == 1)
        return true;
    memcpy(out->bytes, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, out->bytes + sizeof mapped) == 1;
}

static bool range_read(const char *text, size_t len, struct range *out)
{
    char one[RANGE_BYTES_MAX + 1];
    uint64_t bits;
    if (len == 0 || len > RANGE_BYTES_MAX)
        return false;
    snprintf(one, sizeof one, "%.*s", (int)len, text);
    char *slash = strchr(one, '/');
    if (slash)
        *slash = '\0';
    if (!address_read(one, out))
        return false;
    unsigned before = strchr(one, ':') ? 0 : 96, most = 128 - before;
    if (slash && text_parse_u64(slash + 1, 0, most, &bits, NULL) < 0)
        return false;
    out->bits = before + (slash ? (unsigned)bits : most);
    return true;
}

int network_check(const char *list, struct err *e)
{
    assert(list);
    struct range r;
    if (strlen(list) > NETWORK_BYTES_MAX)
        return err_set(e, -EINVAL, "ranges of addresses of more than %d bytes", NETWORK_BYTES_MAX);
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");
        if (!range_read(at, len, &r))
            return err_set(e, -EINVAL, "\"%.*s\" is no range of addresses (10.1.0.0/16)",
                           len < 80 ? (int)len : 80, at);
        at += len;
        if (!*at)
            return 0;
    }
}

static bool range_has(const struct range *r, const struct range *address)
{
    unsigned whole = r->bits / 8, rest = r->bits % 8;
    if (memcmp(r->bytes, address->bytes, whole) != 0)
        return false;
    return rest == 0 || (r->bytes[whole] ^ address->bytes[whole]) >> (8 - rest) == 0;
}

bool network_has(const char *list, const char *address)
{
    struct range r, one;
    if (network_check(list, NULL) < 0 || !address_read(address, &one))
        return false;
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");
        if (range_read(at, len, &r) && range_has(&r, &one))
            return true;
        at += len;
        if (!*at)
            return false;
    }
}
