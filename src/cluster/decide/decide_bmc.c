/* SPDX-License-Identifier: Apache-2.0 */
/* BMC: what a BMC tells of its node by Redfish. */
#include "cluster/decide/decide.h"

#include <errno.h>
#include <string.h>

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
