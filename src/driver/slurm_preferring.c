/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preferences are not urgent: they are examined with each reading, and written when nothing else is to be
 * written. The nodes are read once more right before the write, because other programs write features too. A
 * write that failed or had no effect is repeated after REST_S.
 */
#include "driver/slurm_inside.h"

#include "base/log.h"
#include "driver/slurm_avoid.h"

#include <string.h>
#include <utlist.h>

enum { REST_S = 30 };

void preferring_look(struct slurm *s, struct node *n, const struct slurm_line *l)
{
    struct slurm_avoid plan;
    n->is_avoid_due = l->state.known && slurm_avoid_plan(l, n->want.avoid, &plan);
    if (n->is_avoid_due)
        node_open(s, n);
}

static void on_written(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *words = text;
    struct slurm *s = arg;
    if (why)
        log_warn("slurm: the weight and features of %s: %s", s->batch[0]->name, why->msg);
    if (slurm_call_is_busy(s->call))
        report_failure(s, why);
    else
        s->turn(s);
}

/* Gathers those of the answer that need the same as the first that needs anything; false for none. */
static bool slurm_preferring_gather(struct slurm *s, const struct slurm_lines *now, struct slurm_avoid *first)
{
    size_t bytes = 0;
    s->n_batch = 0;
    for (size_t i = 0; i < now->n; i++) {
        struct slurm_avoid plan;
        struct node *n = node_find(s, now->lines[i].name);
        if (!n || !n->is_avoid_due)
            continue;
        n->is_avoid_due = slurm_avoid_plan(&now->lines[i], n->want.avoid, &plan);
        if (!n->is_avoid_due)
            continue;
        if (s->n_batch == 0)
            *first = plan;
        if (strcmp(plan.available, first->available) != 0 || strcmp(plan.active, first->active) != 0 ||
            strcmp(plan.weight, first->weight) != 0 || !batch_add(s, n, &bytes))
            n->avoid_at = (struct mono){0}; /* it needs another change, and is next */
        else
            n->is_avoid_due = false;
    }
    return s->n_batch > 0;
}

static int write_batch(struct slurm *s, const struct slurm_avoid *a, struct err *e)
{
    CLEANUP_TEXT struct text list = {0}, names = {0}, available = {0}, active = {0}, weight = {0};
    batch_write(s, &list);
    text_printf(&names, "NodeName=%s", list.s);
    text_printf(&available, "AvailableFeatures=%s", a->available);
    text_printf(&active, "ActiveFeatures=%s", a->active);
    text_printf(&weight, "Weight=%s", a->weight);
    const char *const args[] = {
        "scontrol", "update", names.s, available.s, active.s, *a->weight ? weight.s : NULL, NULL};
    log_info("slurm: %s %s%s", s->batch[0]->want.avoid ? "prefer others to" : "prefer others no more to",
             list.s, *a->weight ? "" : ", whose weight somebody else set");
    return slurm_run(s, args, on_written, e);
}

static void on_looked(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    struct err e = {0};
    struct slurm_lines now = {0};
    struct slurm_avoid plan;
    int r = why ? why->code : slurm_read_nodes(answer, len, &now, &e);
    bool is_begun = r == 0 && slurm_preferring_gather(s, &now, &plan) && write_batch(s, &plan, &e) == 0;
    slurm_lines_fini(&now);
    if (is_begun)
        return;
    if (slurm_call_is_busy(s->call))
        report_failure(s, why);
    else
        s->turn(s);
}

bool preferring_next(struct slurm *s, struct mono now)
{
    struct err e = {0};
    struct node *n;
    size_t bytes = 0;
    s->n_batch = 0;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->is_avoid_due && now.ns >= n->avoid_at.ns && !batch_add(s, n, &bytes))
            break;
    }
    for (size_t i = 0; i < s->n_batch; i++)
        s->batch[i]->avoid_at = mono_add(now, span_s(REST_S));
    return s->n_batch > 0 && batch_show(s, on_looked, &e) == 0;
}
