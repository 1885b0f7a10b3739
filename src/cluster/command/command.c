/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for every kind of command: the rows of command.tbl, and copies that own what they point to.
 */
#include "cluster/command/command.h"

#include "base/text.h"
#include "cluster/command/shape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct shape command_nothing = {0};
COMMAND_SHAPE(state, state_command, TEXT(state_command, name), TEXT(state_command, authority));
SHAPE(revise_part, TEXT(revise_part, name), TEXT(revise_part, text));
COMMAND_SHAPE(revise, revise_command, TEXT(revise_command, said), LIST(revise_command, parts, n, revise_part),
              VALUE(revise_command, limits.given), VALUE(revise_command, limits.act),
              VALUE(revise_command, limits.percent), VALUE(revise_command, limits.surge),
              VALUE(revise_command, limits.surge_window.ns), VALUE(revise_command, limits.remedies_a_week));
COMMAND_SHAPE(features, features_command, VALUE(features_command, level));
COMMAND_SHAPE(backup, backup_command, TEXT(backup_command, name), VALUE(backup_command, made.ns),
              VALUE(backup_command, revision), VALUE(backup_command, bytes));

#define COMMAND(symbol, name, id, meets, published, says, who, todo) extern const struct shape command_##says;
#include "cluster/command/command.tbl"
#undef COMMAND

enum { NO_ID, ID };
enum { NOT_PUBLISHED, PUBLISHED };

static const struct {
    const char *name;
    bool makes_id;
    enum command_meets meets;
    bool is_published;
    const struct shape *says;
} kinds[COMMANDS] = {
#define COMMAND(symbol, name, id, meets, published, says, who, todo) \
    [COMMAND_##symbol] = {name, id, COMMAND_MEETS_##meets, published, &command_##says},
#include "cluster/command/command.tbl"
#undef COMMAND
};

const char *command_name(enum command_kind k)
{
    assert(k < COMMANDS);
    return kinds[k].name;
}

enum command_kind command_find(const char *name)
{
    unsigned k = 0;
    while (k < COMMANDS && strcmp(kinds[k].name, name) != 0)
        k++;
    return (enum command_kind)k;
}

bool command_makes_id(enum command_kind k)
{
    return kinds[k].makes_id;
}

enum command_meets command_meets(enum command_kind k)
{
    return kinds[k].meets;
}

bool command_is_published(enum command_kind k)
{
    return kinds[k].is_published;
}

/* --- copies ----------------------------------------------------------------------------------- */

/* The copy is its first member, so that it is freed by that. */
struct copied {
    struct command cmd;
    struct hostlist nodes;
    struct owned own;
};

static const char *keep_text(struct copied *k, const char *s)
{
    return s ? owned_keep(&k->own, mem_dup(s)) : NULL;
}

struct command *command_copy(const struct command *cmd)
{
    struct copied *k = mem_alloc(sizeof *k);
    k->cmd = *cmd;
    k->cmd.actor = keep_text(k, cmd->actor);
    k->cmd.claim = keep_text(k, cmd->claim);
    k->cmd.reason = keep_text(k, cmd->reason);
    k->cmd.request.id = keep_text(k, cmd->request.id);
    k->cmd.request.asks = keep_text(k, cmd->request.asks);
    shape_own(kinds[cmd->kind].says, &k->cmd.findings, &k->own); /* the offset of the union */
    for (size_t i = 0; cmd->nodes && i < cmd->nodes->n; i++)
        hostlist_add(&k->nodes, cmd->nodes->names[i]);
    k->cmd.nodes = &k->nodes;
    return &k->cmd;
}

void command_destroy(struct command *cmd)
{
    struct copied *k = (struct copied *)cmd;
    if (!k)
        return;
    owned_fini(&k->own);
    hostlist_fini(&k->nodes);
    free(k);
}

/* --- comparison ------------------------------------------------------------------------------- */

bool command_says(const struct command *cmd)
{
    return kinds[cmd->kind].says->n > 0;
}

bool command_same(const struct command *a, const struct command *b)
{
    return a->kind == b->kind && shape_same(kinds[a->kind].says, &a->findings, &b->findings);
}
