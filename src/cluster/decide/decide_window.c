/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maintenance windows of others: recorded for nodes in a window, and removed for nodes that left it. A
 * person's word about maintenance is another record, and stays.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static void note_window(const struct command *cmd, const struct member *m, const char *by, const char *why,
                        struct decision *d)
{
    const struct maintenance *is = member_window(m);
    bool on = why && m->listed;
    if (on ? is && strcmp(is->why, why) == 0 && strcmp(is->by, by) == 0 : !is)
        return;
    decision_add(d, "window/", m->name, on ? maintenance_record(by, cmd->at, why, false) : NULL);
    hostlist_add(&d->changed, m->name);
}

int decide_window(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                  struct err *e)
{
    const char *by = cmd->window.by, *why = cmd->window.why;
    assert(cmd->nodes && by);
    if (why && decide_check_clause("why", why, e) < 0)
        return -EINVAL;
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        d->next = i + 1;
        if (m)
            note_window(cmd, m, by, why, d);
    }
    if (!d->n_ops)
        return 0;
    struct text t = {0};
    if (why)
        text_printf(&t, "in maintenance: %s: %s", by, why);
    else
        text_printf(&t, "%s: its maintenance is over", by);
    d->text = text_take(&t);
    return 0;
}
