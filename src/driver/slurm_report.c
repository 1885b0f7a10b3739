/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sink is told of nodes: what was read, and that Slurm does not answer. Ten thousand nodes are too
 * many for one turn of the loop, so a walk over them takes SLURM_SLICE of them at a time.
 */
#include "driver/slurm_inside.h"

#include "base/loop.h"
#include "driver/slurm_view.h"

#include <stdlib.h>

/* --- slices ---------------------------------------------------------------------------------- */

static void on_slice(uv_idle_t *idle)
{
    LOOP_DOES("nodes of Slurm");
    struct slurm *s = idle->data;
    for (int i = 0; i < SLURM_SLICE && s->at; i++) {
        struct node *n = s->at;
        s->at = n->hh.next;
        s->each(s, n);
    }
    if (s->at)
        return;
    uv_idle_stop(idle);
    s->end(s);
}

void report_walk(struct slurm *s, node_each_fn *each, node_end_fn *end)
{
    s->at = s->nodes;
    s->each = each;
    s->end = end;
    uv_idle_start(s->slices, on_slice);
}

/* --- what the sink is told ----------------------------------------------------------------------- */

void report_node(struct slurm *s, const struct node *n, bool alone)
{
    struct slurm_node out = slurm_view_node(&n->row, s->conf.owner, node_is_pasted(s, n, n->row.reason));
    out.alone = alone;
    out.reservation = n->reservation;
    out.vague = s->is_vague;
    out.guarded = n->guard == GUARD_OURS;
    s->sink.saw(s->sink.arg, &out);
}

void report_unknown(struct slurm *s, const struct node *n)
{
    const struct slurm_node out = {.name = n->name, .state = "", .reason = "", .by = ""};
    s->sink.saw(s->sink.arg, &out);
}

static void fail_one(struct slurm *s, struct node *n)
{
    n->line = NULL;
    n->is_absent = false;
    if (n->was_seen || node_is_wanted(n))
        report_unknown(s, n);
}

static void end_failed(struct slurm *s)
{
    s->sink.saw(s->sink.arg, NULL);
    s->turn(s);
}

void report_failure(struct slurm *s, const struct err *why)
{
    struct mono now = mono_now();
    free(STEAL(s->text));
    s->has_read = false;
    s->failed_readings++;
    struct span backoff = slurm_backoff(s->failed_readings);
    s->retry_at = mono_add(now, s->conf.every.ns < backoff.ns ? s->conf.every : backoff);
    slurm_set_trouble(s, why);
    report_walk(s, fail_one, end_failed);
}
