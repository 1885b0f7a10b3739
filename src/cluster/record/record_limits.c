/* SPDX-License-Identifier: Apache-2.0 */
/* config/limits: how many nodes Fettle may take out by its own decision, as the configuration says. */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { LIMIT_KEYS = 8 };

static const char *const scope_keys[SCOPES] = {[SCOPE_CLUSTER] = "out",
                                               [SCOPE_CLASS] = "out_class",
                                               [SCOPE_GROUP] = "out_group",
                                               [SCOPE_PARTITION] = "out_partition"};

static int take_number(const json_t *o, const char *key, uint64_t max, unsigned *out, struct err *e)
{
    uint64_t n;
    int rc = json_take_u64(o, key, max, &n, e);
    if (rc == 0)
        *out = (unsigned)n;
    return rc;
}

static int limits_read(const json_t *o, struct limits *out, struct err *e)
{
    static const char *const keys[LIMIT_KEYS] = {"act",           "out",   "out_class", "out_group",
                                                 "out_partition", "surge", "surge_s",   "remedies_a_week"};
    unsigned surge_s = 0;
    *out = (struct limits){.given = true};
    if (json_only_keys(o, keys, LIMIT_KEYS, e) < 0 || json_take_bool(o, "act", &out->act, e) < 0)
        return -EINVAL;
    for (int s = 0; s < SCOPES; s++)
        if (take_number(o, scope_keys[s], 100, &out->percent[s], e) < 0)
            return -EINVAL;
    if (take_number(o, "surge", UINT32_MAX, &out->surge, e) < 0 ||
        take_number(o, "surge_s", UINT32_MAX, &surge_s, e) < 0 ||
        take_number(o, "remedies_a_week", UINT32_MAX, &out->remedies_a_week, e) < 0)
        return -EINVAL;
    out->surge_window = span_s(surge_s);
    return 0;
}

void limits_write(const struct limits *l, struct text *t)
{
    assert(l->percent[SCOPE_CLUSTER] <= 100);
    text_printf(t, "{\"act\":%s", l->act ? "true" : "false");
    for (int s = 0; s < SCOPES; s++)
        text_printf(t, ",\"%s\":%u", scope_keys[s], l->percent[s]);
    text_printf(t, ",\"surge\":%u,\"surge_s\":%lld,\"remedies_a_week\":%u}", l->surge,
                (long long)(l->surge_window.ns / span_s(1).ns), l->remedies_a_week);
}

static uint64_t limits_sum(const struct limits *l)
{
    CLEANUP_TEXT struct text t = {0};
    if (!l->given)
        return 0;
    limits_write(l, &t);
    return record_sum("config/limits", t.s);
}

int put_config(struct cluster *c, const char *name, const char *value, struct err *e)
{
    struct limits is = {0};
    if (strcmp(name, "limits") != 0)
        return revisions_put(c->revisions, name, value, e);
    if (value) {
        CLEANUP_JSON json_t *o = record_object(value, e);
        if (!o || limits_read(o, &is, e) < 0)
            return -EILSEQ;
    }
    c->sum -= limits_sum(&c->limits);
    c->limits = is;
    c->sum += limits_sum(&c->limits);
    return 0;
}

bool limits_equal(const struct limits *a, const struct limits *b)
{
    return a->given == b->given && limits_sum(a) == limits_sum(b);
}
