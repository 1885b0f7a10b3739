/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bmc/NAME: the components that the node's BMC told by Redfish, as a list (doc/spec/fingerprint.md). It is
 * written when they are others than before, so that a controller that starts knows them at once.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { BMC_COMPONENTS_MAX = 16 };

/* Sorts the list too. */
int bmc_check(struct components *out, struct err *e)
{
    if (components_sort(out, e) < 0)
        return -EINVAL;
    if (out->n == 0 || out->n > BMC_COMPONENTS_MAX)
        return err_set(e, -EINVAL, "%zu components; a BMC tells 1 to %d", out->n, BMC_COMPONENTS_MAX);
    for (size_t i = 0; i < out->n; i++)
        if (!component_is_redfish(out->list[i].name))
            return err_set(e, -EINVAL, "component %s is none that a BMC tells", out->list[i].name);
    return 0;
}

int bmc_read(const json_t *o, struct components *out, struct err *e)
{
    static const char *const keys[] = {"components", "absent", "unknown"};
    *out = (struct components){0};
    if (json_only_keys(o, keys, 3, e) < 0 || components_parse(out, o, e) < 0)
        return -EINVAL;
    return bmc_check(out, e);
}

/* Over the record's whole key, because other records have the same content. */
static uint64_t bmc_sum(const struct member *m)
{
    CLEANUP_TEXT struct text key = {0}, list = {0};
    if (!m->bmc)
        return 0;
    text_printf(&key, "bmc/%s", m->name);
    listing_format(m->bmc, &list);
    return record_sum(key.s, list.s);
}

/* Takes g over. */
static void take_bmc(struct cluster *c, struct member *m, struct listing *g)
{
    c->sum -= bmc_sum(m);
    listing_unref(c->listings, m->bmc);
    m->bmc = g;
    c->sum += bmc_sum(m);
}

void member_forget_bmc(struct cluster *c, struct member *m)
{
    take_bmc(c, m, NULL);
}

static int read_listing(struct cluster *c, const char *value, struct listing **out, struct err *e)
{
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct components list = {0};
    int rc = o ? bmc_read(o, &list, e) : -EINVAL;
    if (rc == 0) {
        const struct fingerprint id = components_fingerprint(&list);
        *out = listings_get(c->listings, &id);
        rc = listing_fill(c->listings, *out, &list, e);
        if (rc < 0)
            listing_unref(c->listings, *out);
    }
    components_fini(&list);
    return rc;
}

int put_bmc(struct cluster *c, const char *name, const char *value, struct err *e)
{
    struct listing *g = NULL;
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            take_bmc(c, m, NULL);
        return 0;
    }
    if (read_listing(c, value, &g, e) < 0)
        return -EILSEQ;
    take_bmc(c, cluster_meet(c, name), g);
    return 0;
}

/* --- BMC -------------------------------------------------------------------------------------- */
