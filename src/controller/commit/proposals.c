/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/proposals.h"

#include "base/log.h"

#include <stdlib.h>
#include <utlist.h>

struct proposal {
    struct proposals *all;
    struct command *cmd; /* a copy */
    struct proposal *prev, *next;
};

struct proposals {
    struct committer *committer;
    struct proposal *list;
    size_t n_saying;
};

struct proposals *proposals_create(struct committer *k)
{
    struct proposals *p = mem_alloc(sizeof *p);
    p->committer = k;
    return p;
}

void proposals_destroy(struct proposals *p)
{
    free(p);
}

static void on_done(void *arg, const struct outcome *o)
{
    struct proposal *one = arg;
    if (o->rc < 0)
        log_debug(LOG_STORE, "%s is not committed: %s", command_name(one->cmd->kind), o->why->msg);
    DL_DELETE(one->all->list, one);
    one->all->n_saying -= command_says(one->cmd);
    command_destroy(one->cmd);
    free(one);
}

static bool is_under_way(const struct proposals *p, const struct command *cmd)
{
    const struct proposal *one;
    DL_FOREACH (p->list, one) {
        if (command_same(one->cmd, cmd))
            return true;
    }
    return false;
}

bool proposals_submit(struct proposals *p, const struct command *cmd)
{
    bool says = command_says(cmd);
    if ((says && p->n_saying >= PROPOSALS_MAX) || is_under_way(p, cmd))
        return false;
    struct command given = *cmd;
    given.actor = "fettled";
    given.at = wall_now();
    struct proposal *one = mem_alloc(sizeof *one);
    *one = (struct proposal){.all = p, .cmd = command_copy(&given)};
    DL_APPEND(p->list, one);
    p->n_saying += says;
    committer_submit(p->committer, one->cmd, on_done, one);
    return true;
}
