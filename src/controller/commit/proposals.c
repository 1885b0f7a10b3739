/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/proposals.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct proposal {
    struct proposals *all;
    enum command_kind kind;
    char *set; /* NULL for none */
    struct proposal *prev, *next;
};

struct proposals {
    struct committer *committer;
    struct proposal *list;
    size_t n_sets;
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
        log_debug(LOG_STORE, "%s is not committed: %s", command_name(one->kind), o->why->msg);
    DL_DELETE(one->all->list, one);
    one->all->n_sets -= one->set != NULL;
    free(one->set);
    free(one);
}

static bool is_under_way(const struct proposals *p, enum command_kind kind, const char *set)
{
    const struct proposal *one;
    DL_FOREACH (p->list, one) {
        if (one->kind == kind && (one->set && set ? strcmp(one->set, set) == 0 : one->set == set))
            return true;
    }
    return false;
}

bool proposals_submit(struct proposals *p, enum command_kind kind, const struct hostlist *nodes,
                      const char *reason, const char *set)
{
    if ((set && p->n_sets >= PROPOSALS_MAX) || is_under_way(p, kind, set))
        return false;
    struct proposal *one = mem_alloc(sizeof *one);
    *one = (struct proposal){.all = p, .kind = kind, .set = mem_dup(set)};
    DL_APPEND(p->list, one);
    p->n_sets += set != NULL;
    const struct command cmd = {
        .kind = kind, .actor = "fettled", .at = wall_now(), .nodes = nodes, .reason = reason, .set = set};
    committer_submit(p->committer, &cmd, on_done, one);
    return true;
}
