/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/endpoints.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { URL_BYTES_MAX = 256, LEASE_MS_MIN = 100, LEASE_MS_MAX = 60000, WATCHED_BYTES_MAX = 64 << 20 };

static int url_check(const char *url, struct err *e)
{
    size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    if (!scheme || strlen(url) > URL_BYTES_MAX)
        return err_set(e, -EINVAL, "\"%.80s\" is no address of etcd such as https://etcd1:2379", url);
    for (const char *s = url + scheme; *s; s++)
        if (*s <= ' ' || *s > '~' || strchr("/@?#\"\\", *s))
            return err_set(e, -EINVAL, "\"%.80s\": an address of etcd has a host and a port, and no more",
                           url);
    return url[scheme] ? 0 : err_set(e, -EINVAL, "\"%s\" has no host", url);
}

static int urls_read(struct endpoints *p, const char *list, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(list);
    char *rest = copy;
    int r = 0;
    for (char *url; !r && (url = strsep(&rest, ","));) {
        r = p->n == ETCD_ENDPOINTS_MAX
                ? err_set(e, -EINVAL, "more than %d addresses of etcd", ETCD_ENDPOINTS_MAX)
                : url_check(url, e);
        if (!r)
            p->urls[p->n++] = mem_dup(url);
    }
    return r;
}

static int name_check(const char *what, const char *s, size_t max, struct err *e)
{
    if (!s || !*s || strlen(s) > max || text_check_line(s, NULL) < 0 || strchr(s, '/') == s)
        return err_set(e, -EINVAL, "a controller's %s is one line of at most %zu bytes", what, max);
    return 0;
}

static int options_check(const struct etcd_options *o, struct err *e)
{
    int64_t lease = span_to_ms(o->lease);
    int r = name_check("name", o->name, ETCD_NAME_BYTES_MAX, e);
    if (!r && o->address && *o->address)
        r = name_check("address", o->address, ETCD_ADDRESS_BYTES_MAX, e);
    if (!r && o->agents && *o->agents)
        r = name_check("address for agents", o->agents, ETCD_ADDRESS_BYTES_MAX, e);
    if (!r && lease && (lease < LEASE_MS_MIN || lease > LEASE_MS_MAX))
        r = err_set(e, -EINVAL, "the lease is from %d ms to %d ms long", LEASE_MS_MIN, LEASE_MS_MAX);
    if (!r && !o->cert != !o->key)
        r = err_set(e, -EINVAL, "a certificate for etcd and its key come together");
    return r;
}

static void options_copy(struct endpoints *p, const struct etcd_options *o)
{
    p->options = *o;
    if (!o->lease.ns)
        p->options.lease = span_ms(ETCD_LEASE_MS);
    if (!o->answered_ms)
        p->options.answered_ms = ETCD_ANSWERED_MS;
    if (!o->address)
        p->options.address = "";
    if (!o->agents)
        p->options.agents = "";
    const char **const texts[] = {&p->options.endpoints, &p->options.ca,   &p->options.cert,
                                  &p->options.key,       &p->options.name, &p->options.address,
                                  &p->options.agents,    &p->options.seen};
    p->texts = mem_dup_all(texts, sizeof texts / sizeof *texts);
}

int endpoints_init(struct endpoints *p, const struct etcd_options *o, struct err *e)
{
    *p = (struct endpoints){0};
    int r = options_check(o, e);
    if (!r)
        r = urls_read(p, o->endpoints ? o->endpoints : "", e);
    if (!r)
        options_copy(p, o);
    else
        endpoints_fini(p);
    return r;
}

void endpoints_fini(struct endpoints *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->urls[i]);
    free(p->texts);
    *p = (struct endpoints){0};
}

int etcd_check(const struct etcd_options *o, struct err *e)
{
    struct endpoints p;
    int r = endpoints_init(&p, o, e);
    if (!r)
        endpoints_fini(&p);
    return r;
}

char *endpoints_url(const struct endpoints *p, const char *call)
{
    struct text url = {0};
    text_printf(&url, "%s%s", p->urls[p->at], call);
    return text_take(&url);
}

void endpoints_next(struct endpoints *p)
{
    p->at = (p->at + 1) % p->n;
}

int endpoints_same(struct endpoints *p, uint64_t cluster, struct err *e)
{
    if (p->cluster && p->cluster != cluster)
        return err_set(e, -EAGAIN, "%s belongs to another etcd (cluster id %" PRIx64 ", not %" PRIx64 ")",
                       p->urls[p->at], cluster, p->cluster);
    p->cluster = cluster;
    return 0;
}

struct fetch_options endpoints_fetch(const struct endpoints *p, unsigned answered_ms)
{
    return (struct fetch_options){.ca = p->options.ca,
                                  .cert = p->options.cert,
                                  .key = p->options.key,
                                  .header =
                                      "Grpc-Metadata-hasleader: true", /* no watch without etcd's leader */
                                  .answered_ms = answered_ms,
                                  .answer_max = WATCHED_BYTES_MAX,
                                  .keeps_connections = true};
}
