/* SPDX-License-Identifier: Apache-2.0 */
/* BMC: what a BMC reports about its node by Redfish. */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* Give *out to components_fini, also after an error. */
static int list_told(const struct bmc_news *news, struct components *out, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < news->n; i++) {
        const struct component *one = &news->components[i];
        rc = components_add(out, one->name, one->state, one->value, e);
    }
    return rc < 0 || news->n == 0 ? rc : bmc_check(out, e);
}

static int note_bmc(const struct member *m, const struct bmc_news *news, struct decision *d, struct err *e)
{
    struct components list = {0};
    struct text t = {0};
    int rc = list_told(news, &list, e);
    if (rc == 0) {
        const struct fingerprint id = components_fingerprint(&list);
        bool is_known = list.n ? m->bmc && fingerprint_equal(&m->bmc->id, &id) : !m->bmc;
        if (!is_known && list.n)
            components_format(&list, &t);
        if (!is_known) {
            decision_add(d, "bmc/", m->name, list.n ? text_take(&t) : NULL);
            hostlist_add(&d->changed, m->name);
        }
    }
    components_fini(&list);
    return rc < 0 ? err_wrap(e, -EINVAL, "node \"%s\"", m->name) : 0;
}

int decide_bmc(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
               struct err *e)
{
    const struct bmc_command *says = &cmd->bmc;
    assert(says->n == cmd->nodes->n);
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        d->next = i + 1;
        if (m && m->listed && note_bmc(m, &says->bmcs[i], d, e) < 0)
            return -EINVAL;
    }
    if (d->n_ops)
        d->text = mem_dup("the firmware versions that the BMC reports");
    return 0;
}
