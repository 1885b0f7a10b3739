/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step: faults, then what the nodes send, then what arrives, then the controller's tick, then
 * commits, then the checks. Everything random comes from the seed, in this order.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t sim_random(struct sim *s, uint64_t below)
{
    s->random += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    uint64_t z = s->random;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return below ? z % below : z;
}

bool sim_chance(struct sim *s, unsigned per_million)
{
    return sim_random(s, 1000000) < per_million;
}

int sim_index(const struct sim *s, const char *name)
{
    uint64_t i;
    if (name[0] != 'n' || text_parse_u64(name + 1, 0, s->n - 1, &i, NULL) < 0)
        return -1;
    return (int)i;
}

static struct beat_timeouts some_timeouts(int64_t late, int64_t silent)
{
    return (struct beat_timeouts){{late}, {silent}};
}

/* Any values that the configuration accepts: late above the interval, and a timeout that is not shorter than
 * late, nor too short for nodes behind collectors. */
static struct beat_timeouts any_timeouts(const struct sim *s)
{
    int64_t least = waits_least_timeout((struct span){s->interval}).ns;
    int64_t silent = least + s->interval * s->chosen[s->slow].more / 100;
    int64_t late = s->interval + 1 + (silent - s->interval - 1) * s->chosen[s->slow].late / 100;
    return some_timeouts(late, silent);
}

/* As the configuration would set it; the long interval plays the 300 s of 2001. */
void sim_policy(struct sim *s)
{
    int64_t i = s->unit;
    struct watch_policy *p = &s->policy;
    s->interval = s->slow ? 15 * i : i;
    p->judge = true;
    p->silent_share_percent = 25;
    p->plain = s->slow ? some_timeouts(45 * i / 2, 30 * i) : some_timeouts(3 * i, 9 * i);
    p->sensitive = s->slow ? some_timeouts(45 * i / 2, 45 * i) : some_timeouts(12 * i, 42 * i);
    p->borrowed = s->slow ? some_timeouts(45 * i / 2, 30 * i) : some_timeouts(3 * i, 6 * i);
    if (s->swept)
        p->plain = p->borrowed = any_timeouts(s);
    p->quiet =
        waits_quiet((struct span){s->interval}, p->plain.late, p->plain.silent, p->silent_share_percent);
    waits_of((struct span){s->interval}, p->borrowed.late, p->borrowed.silent, &s->waits);
    const int64_t queue = (int64_t)s->n * 1500000;
    s->more = waits_excuse(&s->waits, (struct span){2 * queue});
    p->spread = (struct span){queue + s->waits.first.ns};
    if (s->longest.ns < s->more.ns)
        s->longest = s->more;
    if (s->longest.ns < p->spread.ns)
        s->longest = p->spread;
    ill_policy(s);
    if (s->ill)
        agreed_limits(s);
    p->conform = (struct conformity_policy){{10 * s->interval}, {30 * i}, {12 * i}, 20};
}

const struct beat_timeouts *sim_timeouts(const struct sim *s, int node)
{
    bool sensitive = s->edit_sensitive[node] >= 0 ? s->edit_sensitive[node] : s->sensitive[node];
    if (!s->listed[node])
        sensitive = s->edit_sensitive[node] > 0;
    if (sensitive)
        return &s->policy.sensitive;
    return s->listed[node] && s->borrowed[node] ? &s->policy.borrowed : &s->policy.plain;
}

static size_t choose_size(struct sim *s)
{
    static const size_t most[] = {5, 12, 20, 40, 200};
    size_t i = sim_random(s, 100) < 92 ? (size_t)sim_random(s, 4) : 4;
    size_t least = i ? most[i - 1] : 3;
    return least + (size_t)sim_random(s, most[i] - least) + 1;
}

static void choose_roles(struct sim *s)
{
    static const size_t collectors[] = {0, 0, 1, 2, 3, 5};
    size_t want = collectors[sim_random(s, 6)];
    for (size_t i = 0; i < s->n; i++) {
        uint64_t r = sim_random(s, 10);
        s->listed[i] = sim_random(s, 20) != 0;
        s->sensitive[i] = r == 0;
        s->excepted[i] = (s->seed + i) % 12 == 5;
        s->borrowed[i] = r == 1;
        s->cpus[i] = 4;
        s->edit_cpus[i] = s->edit_sensitive[i] = -1;
        s->collector[i] = i < want && i + 2 < s->n;
        s->n_collectors += s->collector[i];
    }
}

/* Some histories have intervals from 1 s to 300 s and timeouts from the least one upward; the network is
 * as fast as they take it to be. */
static void choose_settings(struct sim *s, int64_t unit)
{
    static const int most[] = {0, 10, 100, 1000};
    s->swept = s->seed % 3 == 0 && sim_random(s, 4) != 0; /* without health, which has its own times */
    for (int i = 0; i < 2; i++) {
        s->chosen[i].late = (int)sim_random(s, 101);
        s->chosen[i].more = (int)sim_random(s, (uint64_t)most[sim_random(s, 4)] + 1);
    }
    if (!s->swept)
        return;
    s->unit = unit * 1000000000;
    s->delay_max = s->delay_max % 200000000 + 1;
}

struct sim *sim_create(uint64_t seed, long steps)
{
    static const int64_t units[] = {2, 2, 5, 10}, swept_units[] = {1, 1, 2, 3, 7, 20};
    struct sim *s = mem_alloc(sizeof *s);
    s->seed = s->random = seed;
    s->steps = steps;
    s->now = INT64_C(1000000000000);
    s->unit = units[sim_random(s, 4)] * 1000000000;
    s->slow = sim_random(s, 3) == 0;
    s->n = choose_size(s);
    s->loss_per_mille = sim_random(s, 3) == 0 ? (unsigned)sim_random(s, 40) : 0;
    s->delay_max = (int64_t)(1 + sim_random(s, 1000)) * 1000000;
    choose_roles(s);
    choose_settings(s, swept_units[sim_random(s, 6)]);
    ill_create(s);
    sim_policy(s);
    fleet_create(s);
    machine_create(s);
    shell_start(s);
    return s;
}

static void deliver_to_collector(struct sim *s, const struct message *m)
{
    struct fleet_node *c = &s->nodes[m->to], *n = &s->nodes[m->from];
    struct ledger *l = &c->ledger[m->from];
    if (m->kind == MESSAGE_HELLO && (!c->given[m->from] || c->link != LINK_OPEN)) {
        n->redirect = NOBODY;
        fleet_lose_link(s, m->from, fleet_pause(s) / 4);
        return;
    }
    if (m->kind == MESSAGE_HELLO) {
        l->changed = true; /* it knows that the earlier connection is gone, and reports it */
        l->conn = m->conn;
        l->seq = l->instance == m->instance ? l->seq : 0;
        l->instance = m->instance;
        l->boot = m->boot;
        l->made = m->made;
        l->open = true;
        l->finds = TOLD_ALL; /* until it is heard */
        l->misses = false;
        n->link = LINK_OPEN;
        n->left = NOBODY;
        n->next_beat = s->now;
    } else if (l->open && l->conn == m->conn) {
        l->changed |= l->work != m->work || !l->told;
        c->news |= !l->told;
        l->told = true;
        l->work = m->work;
        l->made = m->made;
        l->seq = m->seq;
        l->beat = s->now;
        l->finds = MISSES_NEXT;
        l->misses = false;
        l->heard = true;
    }
}

static void deliver_share(struct sim *s, const struct message *m)
{
    bool given[NODES_MAX] = {false};
    for (size_t i = 0; i < m->n; i++)
        given[m->items[i].node] = true;
    fleet_take_share(s, m->to, given);
}

/* False: the message waits, because its receiver is stopped, or the network holds it back. TCP sends it
 * again; when that takes long, the link is lost first, and the message with it. */
static bool deliver(struct sim *s, const struct message *m)
{
    if (m->kind == MESSAGE_ACT) {
        repair_act(s, m);
        return true;
    }
    if (m->kind == MESSAGE_SHARE) {
        if (!s->nodes[m->to].agent || s->nodes[m->to].conn != m->conn)
            return true;
        if (fleet_reaches(s, m->to))
            deliver_share(s, m);
        return fleet_reaches(s, m->to);
    }
    const struct fleet_node *from = &s->nodes[m->from];
    if (from->conn != m->conn)
        return true;
    if (from->cut_until > s->now ||
        (m->to != CONTROLLER && s->nodes[m->to].agent && !fleet_collects(s, m->to)))
        return false;
    if (m->to != CONTROLLER) {
        if (fleet_collects(s, m->to))
            deliver_to_collector(s, m);
        return true;
    }
    if (!s->running && (m->kind == MESSAGE_CHECKS || m->kind == MESSAGE_DONE || m->kind == MESSAGE_INVENTORY))
        return true;
    if (!s->running) {
        fleet_in_vain(s, m->from);
        return true;
    }
    if (!shell_listens(s))
        return false;
    if (m->kind == MESSAGE_LIST)
        conform_list(s, m);
    else if (m->kind == MESSAGE_INVENTORY)
        machine_inventory(s, m);
    else if (m->kind == MESSAGE_CHECKS)
        ill_checks(s, m);
    else if (m->kind == MESSAGE_DONE)
        repair_done(s, m);
    else if (m->kind == MESSAGE_HELLO)
        shell_hello(s, m);
    else if (m->kind == MESSAGE_BEAT)
        shell_beat(s, m);
    else
        shell_batch(s, m);
    return true;
}

static void deliver_due(struct sim *s)
{
    struct message *late = NULL, **end = &late;
    while (s->messages && s->messages->at <= s->now) {
        struct message *m = s->messages;
        s->messages = m->next;
        m->next = NULL;
        if (!deliver(s, m)) {
            *end = m;
            end = &m->next;
            continue;
        }
        free(m->items);
        free(m->words);
        free(m);
    }
    *end = s->messages;
    s->messages = late;
}

void sim_step(struct sim *s)
{
    s->now += STEP_NS;
    s->step++;
    fleet_faults(s);
    conform_faults(s);
    machine_step(s);
    if (!s->running && s->now >= s->start_at)
        shell_start(s);
    fleet_step(s);
    ill_step(s);
    bool first = s->wake_first && shell_listens(s);
    if (first)
        shell_tick(s); /* after a stop, either the timers or the sockets are served first */
    deliver_due(s);
    if (!first && shell_listens(s))
        shell_tick(s);
    if (shell_listens(s))
        s->wake_first = false;
    agreed_step(s);
    check_step(s);
}

void sim_destroy(struct sim *s)
{
    shell_stop(s);
    agreed_fini(s);
    while (s->messages) {
        struct message *m = s->messages;
        s->messages = m->next;
        free(m->items);
        free(m->words);
        free(m);
    }
    ill_fini(s);
    free(s->nodes);
    free(s);
}
