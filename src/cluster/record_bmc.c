/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bmc/NAME: the components that the node's BMC told by Redfish, as a list (doc/spec/fingerprint.md). It is
 * written when they are others than before, so that a controller that starts knows them at once.
 */
#include "cluster/decide.h"
#include "cluster/record_inside.h"

#include <errno.h>
#include <stdlib.h>

enum { BMC_COMPONENTS_MAX = 16 };

int bmc_read(const json_t *o, struct components *out, struct err *e)
{
    static const char *const keys[] = {"components", "absent", "unknown"};
    *out = (struct components){0};
    if (json_only_keys(o, keys, 3, e) < 0 || components_parse(out, o, e) < 0 || components_sort(out, e) < 0)
        return -EINVAL;
    if (out->n == 0 || out->n > BMC_COMPONENTS_MAX)
        return err_set(e, -EINVAL, "%zu components; a BMC tells 1 to %d", out->n, BMC_COMPONENTS_MAX);
    for (size_t i = 0; i < out->n; i++)
        if (!component_is_redfish(out->list[i].name))
            return err_set(e, -EINVAL, "component %s is none that a BMC tells", out->list[i].name);
    return 0;
}

/* Of the record's whole key, for other records have the same content. */
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

/* {"bmcs":{NODE:LIST}}; null: it tells nothing any more. */
static int note_bmc(const struct member *m, const json_t *o, struct decision *d, struct err *e)
{
    struct components list = {0};
    struct text t = {0};
    int rc = json_is_null(o) ? 0 : bmc_read(o, &list, e);
    const struct fingerprint id = components_fingerprint(&list);
    bool is_known = list.n ? m->bmc && fingerprint_equal(&m->bmc->id, &id) : !m->bmc;
    if (rc == 0 && !is_known) {
        if (list.n)
            components_format(&list, &t);
        decision_add(d, "bmc/", m->name, list.n ? text_take(&t) : NULL);
        hostlist_add(&d->changed, m->name);
    }
    components_fini(&list);
    return rc < 0 ? err_wrap(e, -EINVAL, "node \"%s\"", m->name) : 0;
}

int decide_bmc(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
               struct err *e)
{
    static const char *const keys[] = {"bmcs"};
    CLEANUP_JSON json_t *set = record_object(cmd->set, e);
    const json_t *all = json_object_get(set, "bmcs");
    if (!set || json_only_keys(set, keys, 1, e) < 0)
        return -EINVAL;
    if (!json_is_object(all))
        return err_set(e, -EINVAL, "\"bmcs\" is no object");
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        const json_t *o = json_object_get(all, cmd->nodes->names[i]);
        d->next = i + 1;
        if (m && m->listed && o && note_bmc(m, o, d, e) < 0)
            return -EINVAL;
    }
    if (d->n_ops)
        d->text = mem_dup("what the BMC tells of its firmware");
    return 0;
}
