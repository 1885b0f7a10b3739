/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/results.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { AGAIN_AFTER_S = 1 };

/* The result of an effect, until it is committed. */
struct effect_result {
    struct results *all;
    char *key, *done;
    char *who;             /* the person who took the node back, which is committed with it; NULL: none did */
    bool submitted, newer; /* newer: than what was submitted */
    bool overrides;        /* `who` was submitted */
    struct mono again;
    struct effect_result *prev, *next;
};

struct results {
    struct committer *committer;
    struct effect_result *list;
};

static void result_destroy(struct effect_result *r)
{
    DL_DELETE(r->all->list, r);
    free(r->key);
    free(r->done);
    free(r->who);
    free(r);
}

static void results_submit(struct effect_result *r);

static void on_outcome(void *arg, const struct outcome *o)
{
    struct effect_result *r = arg;
    bool refused = o->rc == -ENOENT || o->rc == -EINVAL || o->rc == -EBUSY || o->rc == -EACCES;
    r->submitted = false;
    if (r->overrides && (o->rc == 0 || refused))
        free(STEAL(r->who));
    if (o->rc < 0)
        log_debug(LOG_STORE, "%s: the result is not committed: %s", r->key, o->why->msg);
    if (o->rc < 0 && !refused)
        r->again = mono_add(mono_now(), span_s(AGAIN_AFTER_S));
    else if (r->newer)
        results_submit(r);
    else
        result_destroy(r); /* it is committed, or its effect is another one by now */
}

static void submit_override(struct effect_result *r)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    hostlist_add(&nodes, effect_node(r->key));
    const struct command cmd = {.kind = COMMAND_OVERRIDE,
                                .actor = "fettled",
                                .at = wall_now(),
                                .nodes = &nodes,
                                .override = {r->who, "Slurm", r->key, r->done}};
    committer_submit(r->all->committer, &cmd, on_outcome, r);
}

static void submit_effect(struct effect_result *r)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    hostlist_add(&nodes, effect_node(r->key));
    const struct command cmd = {.kind = COMMAND_EFFECT,
                                .actor = "fettled",
                                .at = wall_now(),
                                .nodes = &nodes,
                                .effect = {r->key, r->done}};
    committer_submit(r->all->committer, &cmd, on_outcome, r);
}

static void results_submit(struct effect_result *r)
{
    r->submitted = true;
    r->newer = false;
    r->overrides = r->who != NULL;
    if (r->who)
        submit_override(r);
    else
        submit_effect(r);
}

static struct effect_result *find_or_make(struct results *all, const char *key)
{
    struct effect_result *r;
    DL_FOREACH (all->list, r) {
        if (strcmp(r->key, key) == 0)
            return r;
    }
    r = mem_alloc(sizeof *r);
    *r = (struct effect_result){.all = all, .key = mem_dup(key)};
    DL_APPEND(all->list, r);
    return r;
}

void results_add(struct results *all, const char *key, const char *done)
{
    struct effect_result *r = find_or_make(all, key);
    free(r->done);
    r->done = mem_dup(done);
    r->newer = true;
    if (!r->submitted)
        results_submit(r);
}

void results_overridden(struct results *all, const char *key, const char *who)
{
    struct effect_result *r = find_or_make(all, key);
    free(r->who);
    r->who = mem_dup(who);
}

void results_turn(struct results *all, struct mono now)
{
    struct effect_result *r, *next;
    DL_FOREACH_SAFE(all->list, r, next)
    {
        if (!r->submitted && r->done && now.ns >= r->again.ns)
            results_submit(r);
    }
}

struct results *results_create(struct committer *k)
{
    struct results *all = mem_alloc(sizeof *all);
    all->committer = k;
    return all;
}

void results_destroy(struct results *all)
{
    if (!all)
        return;
    while (all->list)
        result_destroy(all->list);
    free(all);
}
