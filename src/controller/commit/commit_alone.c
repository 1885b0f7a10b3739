/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/commit_alone.h"

int commit_alone(struct store *s, uint64_t term, struct cluster *c, const struct command *cmd,
                 uint64_t *revision, bool *changed, struct err *e)
{
    struct decision d = {0};
    struct store_op ops[STORE_OPS_MAX];
    int rc = cluster_decide(c, cmd, 0, &d, e);
    for (size_t i = 0; rc == 0 && i < d.n_ops; i++)
        ops[i] = (struct store_op){d.ops[i].key, d.ops[i].value};
    bool any = rc == 0 && d.n_ops > 0;
    if (any) {
        const struct store_entry entry = {
            .at = cmd->at, .actor = cmd->actor, .what = command_name(cmd->kind), .nodes = "", .text = d.text};
        const struct store_batch batch = {.n_ops = d.n_ops, .ops = ops, .n_entries = 1, .entries = &entry};
        rc = store_commit(s, term, &batch, revision, e);
    }
    for (size_t i = 0; rc == 0 && i < d.n_ops; i++)
        rc = cluster_put(c, ops[i].key, ops[i].value, e);
    if (changed)
        *changed = any;
    decision_fini(&d);
    return rc;
}
