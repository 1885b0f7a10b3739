/* SPDX-License-Identifier: Apache-2.0 */
/*
 * People who hold nodes in the scheduler, as an administrator's drain does, and the readings that tell the
 * controller of them.
 *
 *   13  nothing is begun on a node that somebody holds there, but for what a reading may be late; nor on one
 * whose BMC locks the power, as it told this controller last (lost.c)
 */
#include "sim.h"

enum { LATE_S = 4 }; /* a reading counts for 2 s, and its answer takes one */

static const int64_t SECOND = INT64_C(1000000000);

static bool holds(const struct sim *s, int i)
{
    return s->patients[i].held_until > s->now;
}

bool held_there(const struct sim *s, int i)
{
    return s->ill && s->slurm && holds(s, i);
}

void held_step(struct sim *s)
{
    for (size_t i = 0; i < s->n && s->slurm; i++) {
        struct patient *p = &s->patients[i];
        if (s->calm) {
            p->held_until = p->held_until > s->now ? s->now : p->held_until;
        } else if (!holds(s, (int)i) && sim_chance(s, 300)) {
            p->held_from = s->now;
            p->held_until = s->now + (int64_t)(1 + sim_random(s, 600)) * SECOND;
            sim_say(s, "%s is drained in the scheduler by a person", s->nodes[i].name);
        }
    }
}

void held_read(struct sim *s, int node)
{
    bool bad = s->slurm_until > s->now;
    const struct elsewhere is = {.state = bad              ? ELSEWHERE_UNKNOWN
                                          : holds(s, node) ? ELSEWHERE_HELD
                                                           : ELSEWHERE_NOBODY,
                                 .out = !bad && holds(s, node),
                                 .how = !bad && holds(s, node) ? "drained" : NULL};
    watch_elsewhere(s->watch, (struct mono){s->now}, cluster_meet(s->cluster, s->nodes[node].name), &is);
}

static void on_unread(void *arg, struct member *m, enum elsewhere_where where)
{
    struct sim *s = arg;
    int i = sim_index(s, m->name);
    if (i >= 0)
        s->patients[i].unread_at = s->now + (int64_t)sim_random(s, 10) * STEP_NS;
}

/* Names that are to be read are read after a while. */
void held_turn(struct sim *s)
{
    watch_unread(s->watch, on_unread, s);
    for (size_t i = 0; i < s->n && s->slurm; i++) {
        struct patient *p = &s->patients[i];
        if (!p->unread_at || p->unread_at > s->now)
            continue;
        p->unread_at = 0;
        held_read(s, (int)i);
    }
}

void held_over(struct sim *s, int node, const char *run)
{
    const struct patient *p = &s->patients[node];
    if (p->bmc_locks)
        sim_fail(s, "%s: %s is done, and its BMC said that the power is locked (13)", s->nodes[node].name,
                 run);
    if (held_there(s, node) && s->now - p->held_from > LATE_S * SECOND)
        sim_fail(s, "%s: %s is done, and a person has held it in the scheduler for %.1f s (13)",
                 s->nodes[node].name, run, (double)(s->now - p->held_from) / 1e9);
}
