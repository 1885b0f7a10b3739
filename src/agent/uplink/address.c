/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/address.h"

#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int take_host(const char *host, size_t len, struct address *out, struct err *e)
{
    if (len == 0)
        return err_set(e, -EINVAL, "an address without a host");
    if (len > ADDRESS_HOST_BYTES_MAX)
        return err_set(e, -EINVAL, "a host name of more than %d characters", ADDRESS_HOST_BYTES_MAX);
    for (size_t i = 0; i < len; i++)
        if (host[i] <= ' ' || host[i] == '"' || host[i] == '/' || host[i] == 0x7f)
            return err_set(e, -EINVAL, "\"%.*s\" is no host name", (int)len, host);
    memcpy(out->host, host, len);
    out->host[len] = 0;
    return 0;
}

static int take_port(const char *text, struct address *out, struct err *e)
{
    uint64_t port;
    if (text_parse_u64(text, 1, UINT16_MAX, &port, NULL))
        return err_set(e, -EINVAL, "\"%s\" is no port from 1 to 65535", text);
    out->port = (uint16_t)port;
    return 0;
}

static int parse_bracketed(const char *text, struct address *out, struct err *e)
{
    const char *end = strchr(text, ']');
    if (!end || (end[1] && end[1] != ':'))
        return err_set(e, -EINVAL, "\"%s\" is no address of the form [address]:port", text);
    int r = take_host(text + 1, (size_t)(end - text - 1), out, e);
    if (!r && end[1])
        r = take_port(end + 2, out, e);
    return r;
}

int address_parse(const char *text, struct address *out, struct err *e)
{
    out->port = ADDRESS_PORT_DEFAULT;
    if (text[0] == '[')
        return parse_bracketed(text, out, e);
    const char *colon = strchr(text, ':');
    if (!colon || strchr(colon + 1, ':')) /* two colons and no bracket: a bare IPv6 address */
        return take_host(text, strlen(text), out, e);
    int r = take_host(text, (size_t)(colon - text), out, e);
    return r ? r : take_port(colon + 1, out, e);
}

static bool address_has(const struct address_list *list, const struct address *a)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].port == a->port && strcmp(list->at[i].host, a->host) == 0)
            return true;
    return false;
}

int address_list_add(struct address_list *list, const char *text, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(text);
    char *rest = copy;
    for (char *one; (one = strsep(&rest, ", \t\r\n"));) {
        struct address a = {0};
        if (!*one)
            continue;
        int r = address_parse(one, &a, e);
        if (r)
            return r;
        if (address_has(list, &a))
            continue;
        if (list->n == ADDRESS_LIST_MAX)
            return err_set(e, -E2BIG, "more than %d controllers", ADDRESS_LIST_MAX);
        list->at[list->n++] = a;
    }
    return 0;
}

void address_list_put(struct address_list *list, const struct address *a)
{
    if (list->n < ADDRESS_LIST_MAX && !address_has(list, a))
        list->at[list->n++] = *a;
}

char *address_format(const struct address *a, char buf[static ADDRESS_HOST_BYTES_MAX + 16])
{
    bool bare = strchr(a->host, ':') == NULL;
    snprintf(buf, ADDRESS_HOST_BYTES_MAX + 16, bare ? "%s:%u" : "[%s]:%u", a->host, a->port);
    return buf;
}
