/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that stay silent, and BMCs that are asked about them: each answers after a while, or not at all when
 * their network is away. All of them tell the same firmware, so that what is proven of a node never depends
 * on its BMC: a drift of firmware, and a node that is not right again for a BMC's sake, break properties a
 * and d of conform.c.
 *
 *   5  nothing is done to a node that is not heard but past LostAfter, through no agent, when its BMC
 * answered a moment ago, no work runs there as far as the scheduler says, or its agent said last where there
 * is none, and not many are silent with it
 */
#include "sim.h"

#include <string.h>

static const int64_t SECOND = INT64_C(1000000000);

static struct mono mono(const struct sim *s)
{
    return (struct mono){s->now};
}

/* In every second history that has faults. */
void lost_policy(struct sim *s)
{
    if (s->ill && s->seed % 2)
        s->policy.health.lost_after.ns = s->policy.plain.silent.ns + 2 * s->unit;
}

/* Its kernel panics, and it stays there, longer than any timeout. */
static void panic(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    const struct member *m = cluster_find(s->cluster, n->name);
    size_t away = 0;
    for (size_t k = 0; k < s->n; k++)
        away += !s->nodes[k].up;
    if (!n->up || s->collector[i] || !m || !m->admitted || m->n_claims || away * 8 > s->n)
        return;
    sim_say(s, "%s panics", n->name);
    fleet_off(s, i);
    n->up_at = s->now + 10 * s->policy.health.lost_after.ns;
}

void lost_step(struct sim *s)
{
    if (!s->policy.health.lost_after.ns)
        return;
    if (!s->calm && s->running && sim_chance(s, 20000))
        panic(s, (int)sim_random(s, s->n));
    if (s->calm)
        s->bmcs_until = 0;
    else if (sim_chance(s, 1000))
        s->bmcs_until = s->now + (int64_t)(1 + sim_random(s, 60)) * SECOND;
}

static void on_to_ask(void *arg, struct member *m)
{
    struct sim *s = arg;
    int i = sim_index(s, m->name);
    s->patients[i].bmc_asked = s->now + (int64_t)(1 + sim_random(s, 30)) * STEP_NS;
}

void lost_begin(struct sim *s, int node)
{
    s->patients[node].bmc_asked = s->patients[node].bmc_answered = 0;
    s->patients[node].bmc_locks = false;
    s->patients[node].bmc_silent = 0;
}

void lost_turn(struct sim *s)
{
    watch_bmcs_to_ask(s->watch, mono(s), on_to_ask, s);
    for (size_t i = 0; i < s->n; i++) {
        struct patient *p = &s->patients[i];
        struct member *m = cluster_meet(s->cluster, s->nodes[i].name);
        if (!p->bmc_asked || s->now < p->bmc_asked)
            continue;
        bool answered = s->bmcs_until <= s->now && (s->calm || sim_random(s, 8));
        struct components firmware = {0};
        components_add(&firmware, COMPONENT_REDFISH "bmc.firmware", COMPONENT_VALUE, "1", NULL);
        components_sort(&firmware, NULL);
        if (!s->calm && sim_random(s, 10) == 0)
            p->bmc_locked_until = s->now + (int64_t)(1 + sim_random(s, 300)) * SECOND;
        bool locked = !s->calm && p->bmc_locked_until > s->now;
        p->bmc_silent = answered ? 0 : p->bmc_silent + 1;
        p->bmc_locks = answered ? locked : p->bmc_locks && p->bmc_silent < 3;
        const struct bmc_said is = {.answered = answered,
                                    .on = true,
                                    .text = answered ? "" : "no answer",
                                    .locked = answered && locked ? "its chassis is open" : NULL,
                                    .firmware = answered ? &firmware : NULL};
        p->bmc_asked = 0;
        p->moves = 0;
        if (answered)
            p->bmc_answered = s->now;
        watch_bmc(s->watch, mono(s), m, &is);
        components_fini(&firmware);
    }
}

bool lost_may_be(const struct sim *s, int i)
{
    return s->policy.health.lost_after.ns && s->nodes[i].quiet + SECOND >= s->policy.health.lost_after.ns;
}

void lost_may(struct sim *s, int node, const char *run)
{
    const struct patient *p = &s->patients[node];
    size_t silent, all;
    if (!lost_may_be(s, node))
        sim_fail(s, "%s: %s is begun, and it is silent for %.1f s (5)", s->nodes[node].name, run,
                 (double)s->nodes[node].quiet / 1e9);
    if (strcmp(run, "power.cycle") != 0)
        sim_fail(s, "%s: %s is begun, and it is not heard (5)", s->nodes[node].name, run);
    if (!p->bmc_answered || s->now - p->bmc_answered > s->policy.health.fresh.ns + SECOND)
        sim_fail(s, "%s: %s is begun, and its BMC did not answer a moment ago (5)", s->nodes[node].name, run);
    if (p->scheduler && p->scheduled != WORK_IDLE)
        sim_fail(s, "%s: %s is begun, and its work is, as the scheduler says, %s (5)", s->nodes[node].name,
                 run, work_name(p->scheduled));
    const struct member *m = cluster_find(s->cluster, s->nodes[node].name);
    const struct observed *o = watch_observed(s->watch, m);
    if (!p->scheduler && o->work != WORK_IDLE && (o->work == WORK_BUSY || !member_came_up(m, o->boot)))
        sim_fail(s, "%s: %s is begun, and its work was %s as it was in service (5)", s->nodes[node].name, run,
                 work_name(o->work));
    if (watch_alarm(s->watch, &silent, &all))
        sim_fail(s, "%s: %s is begun, and %zu of %zu nodes are silent (5)", s->nodes[node].name, run, silent,
                 all);
    s->revived++;
}

void lost_cycled(struct sim *s, int node)
{
    struct fleet_node *n = &s->nodes[node];
    int64_t soon = s->now + s->unit;
    if (n->up && !n->agent)
        fleet_off(s, node);
    if (!n->up && n->up_at > soon)
        n->up_at = soon;
}
