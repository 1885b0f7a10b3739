/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/commit_inside.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* The result of an effect is about the node that its key names. */
static void name_effect_node(struct job *j)
{
    CLEANUP_JSON json_t *set = json_read(j->cmd.set, strlen(j->cmd.set), NULL);
    const char *key;
    if (json_take_string(set, "key", &key, NULL) == 0 && effect_node(key))
        hostlist_add(&j->nodes, effect_node(key));
}

struct job *job_create(const struct command *cmd, outcome_fn *fn, void *arg)
{
    struct job *j = mem_alloc(sizeof *j);
    j->cmd = *cmd;
    j->cmd.actor = j->own.actor = mem_dup(cmd->actor);
    j->cmd.claim = j->own.claim = mem_dup(cmd->claim);
    j->cmd.reason = j->own.reason = mem_dup(cmd->reason);
    j->cmd.set = j->own.set = mem_dup(cmd->set);
    j->cmd.token = j->own.token = mem_dup(cmd->token);
    for (size_t i = 0; cmd->nodes && i < cmd->nodes->n; i++)
        hostlist_add(&j->nodes, cmd->nodes->names[i]);
    if (cmd->kind == COMMAND_EFFECT && j->nodes.n == 0)
        name_effect_node(j);
    j->cmd.nodes = &j->nodes;
    j->fn = fn;
    j->arg = arg;
    return j;
}

void job_name_claim(struct job *j, char *claim)
{
    free(j->own.claim);
    j->cmd.claim = j->own.claim = claim;
}

void job_entry_fini(struct job *j)
{
    free(j->entry_nodes);
    free(j->entry_text);
    free(j->entry_about);
    j->entry_nodes = j->entry_text = j->entry_about = NULL;
}

static void job_destroy(struct job *j)
{
    free(j->own.actor);
    free(j->own.claim);
    free(j->own.reason);
    free(j->own.set);
    free(j->own.token);
    hostlist_fini(&j->nodes);
    hostlist_fini(&j->changed);
    free(j->claim);
    job_entry_fini(j);
    free(j);
}

void job_finish(struct job *j, uint64_t revision, int rc, const struct err *why)
{
    struct outcome o = {.rc = rc,
                        .revision = revision,
                        .changed = &j->changed,
                        .folded = j->from == 0 ? j->entry_nodes : NULL, /* else of the last part */
                        .claim = j->claim,
                        .would = rc == 0 && j->cmd.dry ? j->entry_text : NULL,
                        .why = rc < 0 ? why : NULL};
    j->fn(j->arg, &o);
    job_destroy(j);
}
