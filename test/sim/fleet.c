/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes, their agents, collectors and the network. A fault of the node itself (it crashes, its agent stops,
 * the network loses it or one of its messages) lasts until the controller hears it again. While it has none,
 * it is good: it is heard, or others cause that it is not.
 *
 * A link is like TCP's: a message over it comes late, or is lost together with the link. A silent link to the
 * controller is lost after 20 s, which are one unit of the long interval and two of the short one; the
 * simulation uses two for both. All other waits are those of beat/waits.h.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fleet_boot_id(unsigned boot, int node, char buf[static 37])
{
    snprintf(buf, 37, "%08x-0000-4000-8000-%012x", boot, (unsigned)node);
}

/* Units until a node notices that its link to the controller is silent. */
enum { LINK_DIES = 2 };

static void start_agent(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    n->agent = true;
    n->instance = ++s->instances * UINT64_C(0x9e3779b97f4a7c15);
    n->seq = n->lost = 0;
    n->link = LINK_NONE;
    n->redirect = n->left = NOBODY;
    n->next_try = s->now + (int64_t)sim_random(s, (uint64_t)s->unit);
    n->interval = s->interval;
    memset(n->given, 0, sizeof n->given);
    memset(n->ledger, 0, sizeof n->ledger);
    n->uplink_lost = n->answered = s->now;
}

void fleet_create(struct sim *s)
{
    s->nodes = mem_alloc(s->n * sizeof *s->nodes);
    for (size_t i = 0; i < s->n; i++) {
        struct fleet_node *n = &s->nodes[i];
        snprintf(n->name, sizeof n->name, "n%03zu", i);
        n->up = true;
        n->boot = 1;
        n->to = NOBODY;
        n->last_good = s->now;
        start_agent(s, (int)i);
        if (sim_random(s, 12) == 0) { /* some are off at first */
            n->agent = n->up = false;
            n->own_fault = true;
            n->up_at = s->now + (int64_t)sim_random(s, 100) * s->unit;
        }
    }
}

bool fleet_reaches(const struct sim *s, int node)
{
    const struct fleet_node *n = &s->nodes[node];
    return n->up && n->agent && n->cut_until <= s->now && n->still_until <= s->now;
}

bool fleet_collects(const struct sim *s, int collector)
{
    return fleet_reaches(s, collector);
}

/* The node notices that its connection is gone, and tries again. */
void fleet_lose_link(struct sim *s, int node, int64_t wait)
{
    struct fleet_node *n = &s->nodes[node];
    n->link = LINK_NONE;
    n->conn = 0;
    n->to = NOBODY;
    n->next_try = s->now + wait + 1 + (int64_t)sim_random(s, (uint64_t)(fleet_pause(s) / 2));
}

int64_t fleet_pause(const struct sim *s)
{
    return s->waits.pause.ns < s->unit ? s->waits.pause.ns : s->unit;
}

void fleet_in_vain(struct sim *s, int node)
{
    struct fleet_node *n = &s->nodes[node];
    fleet_lose_link(s, node, (int64_t)sim_random(s, (uint64_t)fleet_pause(s) / 2));
    n->redirect = n->left;
    n->left = NOBODY;
}

/* A collector's batch is lost only together with its link: then its nodes are excused. */
static bool lost_on_the_way(struct sim *s, int from, enum message_kind kind)
{
    if (kind != MESSAGE_BATCH && s->loss_per_mille && sim_random(s, 1000) < s->loss_per_mille) {
        s->nodes[from].own_fault = true;
        s->nodes[from].lost = s->nodes[from].seq + (kind != MESSAGE_BEAT);
        return true;
    }
    return false;
}

/* Messages of one connection arrive in order: nothing overtakes. */
void fleet_send(struct sim *s, struct message *m)
{
    m->at = s->now + (int64_t)sim_random(s, (uint64_t)s->delay_max);
    m->at = m->at < m->not_before ? m->not_before : m->at;
    m->order = ++s->orders;
    struct message **at = &s->messages;
    for (struct message **p = &s->messages; *p; p = &(*p)->next) {
        if ((*p)->conn == m->conn && (*p)->from == m->from && m->at < (*p)->at)
            m->at = (*p)->at;
        if ((*p)->at <= m->at)
            at = &(*p)->next;
    }
    m->next = *at;
    *at = m;
}

/* A batch is sent when every node of the share was heard, or when the time to hold it is over. */
static bool batch_due(const struct sim *s, const struct fleet_node *n)
{
    int64_t since = s->now - n->last_batch;
    bool missing = false;
    for (size_t j = 0; j < s->n; j++)
        missing |= n->given[j] && !n->ledger[j].heard;
    return since >= s->waits.hold.ns || (!missing && since >= n->interval / 2);
}

/* A batch that is due names the nodes that were heard since the last one. Before that it has news alone. */
static void fill_batch(const struct sim *s, struct fleet_node *n, struct message *m)
{
    bool due = batch_due(s, n);
    m->items = mem_alloc(s->n * sizeof *m->items);
    for (size_t j = 0; j < s->n; j++) {
        struct ledger *l = &n->ledger[j];
        bool state = l->changed && (l->heard || !l->open); /* a state is sent with its heartbeat */
        if (state || (due && l->heard))
            m->items[m->n++] = (struct batch_item){.node = (int)j,
                                                   .heard = due && l->heard,
                                                   .changed = state,
                                                   .open = l->open,
                                                   .instance = l->instance,
                                                   .seq = l->seq,
                                                   .boot = l->boot,
                                                   .work = l->work,
                                                   .made = l->made};
        l->changed &= !state;
        if (due)
            l->told = l->heard;
        l->heard &= !due;
    }
    n->news = false;
    m->full = due;
}

static void send_from(struct sim *s, int i, enum message_kind kind)
{
    struct fleet_node *n = &s->nodes[i];
    if (lost_on_the_way(s, i, kind))
        return;
    struct message *m = mem_alloc(sizeof *m);
    *m = (struct message){.kind = kind,
                          .from = i,
                          .to = n->to,
                          .conn = n->conn,
                          .instance = n->instance,
                          .seq = n->seq,
                          .boot = n->boot,
                          .work = n->busy,
                          .made = n->made};
    if (kind == MESSAGE_BATCH)
        fill_batch(s, n, m);
    fleet_send(s, m);
}

void fleet_take_share(struct sim *s, int collector, const bool given[static NODES_MAX])
{
    struct fleet_node *c = &s->nodes[collector];
    memcpy(c->given, given, sizeof c->given);
    for (size_t i = 0; i < s->n; i++) {
        if (!c->ledger[i].open || c->given[i])
            continue;
        c->ledger[i] = (struct ledger){0};
        if (s->nodes[i].to == collector && s->nodes[i].link != LINK_NONE) {
            s->nodes[i].redirect = NOBODY;
            fleet_lose_link(s, (int)i, fleet_pause(s) / 8);
        }
    }
}

static void try_to_connect(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    n->to = n->redirect >= 0 ? n->redirect : CONTROLLER;
    n->left = n->to >= 0 ? n->to : n->left;
    n->redirect = NOBODY; /* when that fails, it asks a controller again */
    n->conn = ++s->conns;
    n->asks = false;
    n->link = LINK_CONNECTING;
    n->deadline = s->now + s->delay_max + (n->to >= 0 ? s->waits.answer.ns : fleet_pause(s));
    if (n->to >= 0 && (!s->nodes[n->to].up || !s->nodes[n->to].agent)) {
        fleet_lose_link(s, i, 0);
        return;
    }
    send_from(s, i, MESSAGE_HELLO);
}

/* No controller answers: the collector sends its nodes to look for one. Nodes that find none come back, and
 * are sent again. */
static void send_home(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    for (size_t j = 0; j < s->n; j++) {
        struct ledger *l = &n->ledger[j];
        if (l->open && s->nodes[j].to == i && s->nodes[j].link != LINK_NONE) {
            fleet_lose_link(s, (int)j, 0);
            s->nodes[j].left = i;
        }
        *l = (struct ledger){.changed = l->open || l->changed};
    }
    n->answered = s->now;
}

static void find_missed(struct sim *s, struct fleet_node *n)
{
    for (size_t j = 0; j < s->n; j++) {
        struct ledger *l = &n->ledger[j];
        int64_t ago = s->now - l->beat;
        int64_t limit = l->finds == MISSES_NEXT ? s->waits.hold.ns : s->waits.timeout.ns;
        if (!l->open || l->finds == TOLD_ALL || ago < limit)
            continue;
        l->misses = true;
        l->ago = ago;
        l->finds++;
    }
}

/* The finding of one turn is reported in the next one, so that data which came while the collector stood
 * still is read in between. */
static void tell_missed(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    struct message *m = mem_alloc(sizeof *m);
    *m = (struct message){.kind = MESSAGE_BATCH, .from = i, .to = n->to, .conn = n->conn};
    m->items = mem_alloc(s->n * sizeof *m->items);
    for (size_t j = 0; j < s->n; j++) {
        struct ledger *l = &n->ledger[j];
        if (l->misses)
            m->items[m->n++] = (struct batch_item){.node = (int)j, .missed = true, .ago = l->ago};
        l->misses = false;
    }
    if (m->n) {
        fleet_send(s, m);
        return;
    }
    free(m->items);
    free(m);
}

static void collect(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    bool uplink = n->link == LINK_OPEN && n->to == CONTROLLER;
    if (uplink && n->uplink_lost) {
        n->uplink_lost = 0;
        n->answered = s->now;
        n->last_batch = s->now - 2 * n->interval;
        for (size_t j = 0; j < s->n; j++) {
            n->ledger[j].changed = n->ledger[j].open;
            n->ledger[j].heard = n->ledger[j].told =
                false; /* heartbeats from the time without a controller do not count */
        }
    }
    if (!uplink && !n->uplink_lost)
        n->uplink_lost = s->now;
    if (uplink)
        tell_missed(s, i);
    find_missed(s, n);
    bool due = uplink && batch_due(s, n);
    if (due || (uplink && n->news))
        send_from(s, i, MESSAGE_BATCH);
    if (due)
        n->last_batch = s->now;
    if (s->now - n->answered < s->waits.away.ns)
        return;
    send_home(s, i);
    if (uplink)
        fleet_lose_link(s, i, 0);
}

static void live_on(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    if (n->link == LINK_NONE && s->now >= n->next_try)
        try_to_connect(s, i);
    else if (n->link == LINK_CONNECTING && s->now >= n->deadline && (n->to >= 0 || shell_listens(s)))
        n->to == CONTROLLER ? fleet_in_vain(s, i) : fleet_lose_link(s, i, 0);
    bool still = n->to >= 0 && s->nodes[n->to].still_until > s->now;
    bool answered = n->to >= 0 ? fleet_collects(s, n->to) && s->nodes[n->to].ledger[i].conn == n->conn
                               : n->cut_until <= s->now;
    n->asks &= !answered;
    bool stands = answered || (still && !n->asks && n->cut_until <= s->now); /* its kernel confirms it */
    if (stands && n->link == LINK_OPEN)
        n->deadline = s->now;
    else if (n->link == LINK_OPEN && n->to >= 0 && fleet_reaches(s, i) && fleet_collects(s, n->to))
        fleet_lose_link(s, i, 0); /* a collector that started anew does not know the connection */
    else if (n->link == LINK_OPEN &&
             s->now - n->deadline > (n->to >= 0 ? s->waits.answer.ns : LINK_DIES * s->unit))
        fleet_lose_link(s, i, 0);
    if (n->link == LINK_OPEN && s->now >= n->next_beat) {
        n->seq++;
        if (!n->own_fault && !n->mass && n->cut_until <= s->now)
            n->last_good = s->now;
        n->asks = true;
        send_from(s, i, MESSAGE_BEAT);
        n->next_beat = s->now + n->interval;
    }
    if (s->collector[i] || n->uplink_lost == 0)
        collect(s, i);
}

void fleet_step(struct sim *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct fleet_node *n = &s->nodes[i];
        if (!n->up && s->now >= n->up_at) {
            n->up = true;
            n->boot++;
            n->booted_at = s->now;
            machine_booted(s, (int)i);
            n->busy = false;
            n->agent_at = s->now;
            ill_started(s, (int)i, true);
        }
        if (n->up && !n->agent && s->now >= n->agent_at)
            start_agent(s, (int)i), ill_started(s, (int)i, false);
        n->own_fault |= !n->up || !n->agent; /* also when an earlier message arrives late */
        if (!n->up || !n->agent)
            continue;
        if (n->cut_until > s->now)
            n->own_fault |= !n->mass;
        if (n->still_until > s->now) {
            n->own_fault = true;
            continue;
        }
        if (n->link != LINK_OPEN && !n->own_fault && !n->mass)
            n->last_good = s->now;
        live_on(s, (int)i);
        if (sim_chance(s, 3000))
            n->busy = !n->busy && ill_may_work(s, (int)i);
    }
}

/* --- faults ---------------------------------------------------------------------------------- */

static void stop_agent(struct sim *s, int i, bool orderly)
{
    struct fleet_node *n = &s->nodes[i];
    n->agent = false;
    n->own_fault = true;
    n->still_until = 0;
    int64_t linger = orderly ? 0 : (int64_t)sim_random(s, 60) * s->unit;
    if (n->to == CONTROLLER && n->link != LINK_NONE)
        shell_gone(s, i, s->now + linger);
    if (n->to >= 0 && orderly && s->nodes[n->to].ledger[i].conn == n->conn)
        s->nodes[n->to].ledger[i] = (struct ledger){.changed = true};
    n->link = LINK_NONE;
    n->conn = 0;
    n->to = NOBODY;
}

void fleet_reboot(struct sim *s, int node)
{
    struct fleet_node *n = &s->nodes[node];
    sim_say(s, "%s is rebooted", n->name);
    n->asked_boot = n->boot + 1;
    if (n->up && n->agent)
        fleet_off(s, node);
}

void fleet_off(struct sim *s, int node)
{
    struct fleet_node *n = &s->nodes[node];
    if (n->agent)
        stop_agent(s, node, true);
    n->up = false;
    n->up_at = s->now + (int64_t)(1 + sim_random(s, 5)) * s->unit;
    if (s->collector[node])
        s->calm_at = n->up_at;
}

static int64_t fault_length(struct sim *s)
{
    static const int64_t units[] = {1, 3, 8, 15, 60};
    return (int64_t)(1 + sim_random(s, (uint64_t)units[sim_random(s, 5)] * 10)) * s->unit / 10;
}

static void cut(struct sim *s, int i, int64_t until, bool mass)
{
    struct fleet_node *n = &s->nodes[i];
    if (n->cut_until < until)
        n->cut_until = until;
    if (s->collector[i] && s->calm_at < until)
        s->calm_at = until;
    n->mass = mass && !n->own_fault && n->up && n->agent;
    n->own_fault |= !mass;
    if (n->link != LINK_NONE && n->to == CONTROLLER && sim_random(s, 2) == 0)
        shell_gone(s, i, s->now + (int64_t)sim_random(s, 30) * s->unit);
}

static void node_fault(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    int64_t until = s->now + fault_length(s);
    if (!n->up)
        return;
    if (s->collector[i])
        s->calm_at = until;
    switch (sim_random(s, 5)) {
    case 0:
        sim_say(s, "%s crashes%s", n->name, s->collector[i] ? ", a collector" : "");
        stop_agent(s, i, false);
        n->up = false;
        n->up_at = until;
        break;
    case 1:
        if (!n->agent)
            break;
        sim_say(s, "%s: the agent stops%s", n->name, s->collector[i] ? ", a collector" : "");
        stop_agent(s, i, true);
        n->agent_at = sim_random(s, 2) ? s->now + STEP_NS : until;
        break;
    case 2:
        sim_say(s, "%s is cut off%s", n->name, s->collector[i] ? ", a collector" : "");
        cut(s, i, until, false);
        break;
    case 3:
        if (!s->collector[i])
            break;
        sim_say(s, "%s stands still, a collector", n->name);
        n->still_until = n->agent ? 2 * until - s->now : 0; /* sometimes longer than any timeout */
        s->calm_at = 2 * until - s->now;
        break;
    default:
        sim_say(s, "%s: clock steps", n->name); /* nothing reads a node's clock */
        break;
    }
}

/* A kernel that panics in each boot, a few seconds after the node entered service. */
static void loop_on(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    const struct member *m = s->running ? cluster_find(s->cluster, n->name) : NULL;
    char boot[37];
    fleet_boot_id(n->boot, i, boot);
    if (!n->loops || !m || strcmp(m->boot, boot) != 0 || m->n_claims || !fleet_reaches(s, i) ||
        s->now < n->loop_at)
        return;
    sim_say(s, "%s crashes, again and again", n->name);
    stop_agent(s, i, false);
    n->up = false;
    n->up_at = s->now + (int64_t)(1 + sim_random(s, 3)) * s->unit / 2;
    n->loop_at = n->up_at + (int64_t)(1 + sim_random(s, 10)) * INT64_C(1000000000);
    n->loops--;
}

static void begin_loop(struct sim *s, int i)
{
    if (!s->collector[i])
        s->nodes[i].loops = 4;
}

static void mass_fault(struct sim *s)
{
    int64_t until = s->now + fault_length(s) * 2;
    uint64_t spared = sim_random(s, 4);
    sim_say(s, "most nodes are cut off for %.1f s", (double)(until - s->now) / 1e9);
    for (size_t i = 0; i < s->n; i++)
        if (sim_random(s, 10) >= spared)
            cut(s, (int)i, until, true);
}

void fleet_faults(struct sim *s)
{
    if (s->calm)
        return;
    unsigned rate = (unsigned)(s->seed % 3 + 1) * 40; /* per node and step, in millionths */
    for (size_t i = 0; i < s->n; i++)
        if (sim_chance(s, s->collector[i] ? rate * 6 : rate))
            node_fault(s, (int)i);
    for (size_t i = 0; i < s->n; i++)
        loop_on(s, (int)i);
    if (sim_chance(s, 2000))
        begin_loop(s, (int)sim_random(s, s->n));
    if (sim_chance(s, 400))
        mass_fault(s);
    if (sim_chance(s, 900) && s->running)
        shell_crash(s);
    if (sim_chance(s, 900) && s->running && s->stalled_until <= s->now) {
        s->stalled_from = s->now;
        s->stalled_until = s->now + fault_length(s) * 2;
        s->wake_first = sim_random(s, 2);
        sim_say(s, "the controller stands still for %.1f s", (double)(s->stalled_until - s->now) / 1e9);
    }
    if (sim_chance(s, 500)) {
        s->full_until = s->now + fault_length(s);
        sim_say(s, "the disk is full for %.1f s", (double)(s->full_until - s->now) / 1e9);
    }
    if (sim_chance(s, 400)) {
        s->wall_step = (int64_t)sim_random(s, 1000000) * 1000000000;
        memset(s->isolated, 0, sizeof s->isolated);
        s->wall_at = s->now;
        sim_say(s, "the controller's wall clock steps");
    }
    if (sim_chance(s, 600) && shell_listens(s))
        shell_reload(s);
    if (sim_chance(s, 20000) && shell_listens(s))
        agreed_operator(s);
    if (sim_chance(s, 20000) && shell_listens(s))
        shell_attack(s);
}
