/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller around the decisions, as src/controller has it: sessions, collectors and their
 * shares, one proposal of a kind at a time. What it does wrong here would be wrong there.
 */
#include "sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROPOSALS_MAX = 64 }; /* at once, of those that say something */

bool shell_listens(const struct sim *s)
{
    return s->running && s->stalled_until <= s->now;
}

static struct member *member_of(const struct sim *s, int node)
{
    return cluster_meet(s->cluster, s->nodes[node].name);
}

static struct wall wall(const struct sim *s)
{
    return (struct wall){INT64_C(1700000000000000000) + s->now + s->wall_step};
}

static struct mono mono(const struct sim *s)
{
    return (struct mono){s->now};
}

/* --- what the watch reports ------------------------------------------------------------------ */

static bool is_under_way(const struct sim *s, const struct command *cmd)
{
    size_t saying = 0;
    for (const struct job *j = s->jobs; j; j = j->after) {
        if (j->proposal && command_same(j->cmd, cmd))
            return true;
        saying += j->proposal && command_says(j->cmd);
    }
    return command_says(cmd) && saying >= PROPOSALS_MAX;
}

static bool propose(void *arg, const struct command *proposed)
{
    struct sim *s = arg;
    struct command cmd = *proposed;
    cmd.actor = "fettled";
    cmd.at = wall(s);
    check_proposal(s, cmd.kind, cmd.nodes);
    mend_proposal(s, &cmd);
    if (is_under_way(s, &cmd))
        return false;
    agreed_submit(s, &cmd);
    return true;
}

static void notice(void *arg, const char *what, const char *nodes, const char *text)
{
    struct sim *s = arg;
    s->duplicates += strcmp(what, "node.duplicate") == 0;
    sim_say(s, "%s %s: %s", what, nodes, text);
}

/* An alarm that begins did not stand before, and one that ends did. */
static void note_alarm(struct sim *s, const struct alarm *a, bool over)
{
    size_t i = 0;
    while (i < s->n_standing &&
           (s->standing[i].kind != a->kind || strcmp(s->standing[i].subject, a->subject) != 0))
        i++;
    if (over != (i < s->n_standing))
        sim_fail(s, "the alarm %s %s %s (15)", alarm_name(a->kind), a->subject,
                 over ? "ends, and none stands" : "begins, and stands already");
    if (over) {
        s->standing[i] = s->standing[--s->n_standing];
    } else if (s->n_standing < STANDING_MAX) {
        struct told_alarm *new = &s->standing[s->n_standing++];
        new->kind = a->kind;
        snprintf(new->subject, sizeof new->subject, "%s", a->subject);
    }
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    struct sim *s = arg;
    note_alarm(s, a, over);
    if (over) {
        sim_say(s, "alarm.over %s %s: %s", alarm_name(a->kind), a->subject, over);
        return;
    }
    s->alarms += a->kind == ALARM_SILENCE;
    s->shared_causes += a->kind == ALARM_SHARED;
    s->latches += a->kind == ALARM_SURGE;
    sim_say(s, "alarm.%s %s: %s", alarm_name(a->kind), a->nodes, a->text);
}

/* --- the configuration ----------------------------------------------------------------------- */

void shell_roster(struct sim *s, struct roster *r)
{
    *r = (struct roster){.nodes = mem_alloc(s->n * sizeof *r->nodes), .partition_max = 31};
    for (size_t i = 0; i < s->n; i++) {
        if (!s->listed[i])
            continue;
        struct roster_node *n = &r->nodes[r->n++];
        char cpus[16];
        snprintf(cpus, sizeof cpus, "%u", s->cpus[i]);
        n->name = mem_dup(s->nodes[i].name);
        spec_init(&n->spec);
        spec_set(&n->spec, FIELD_CPUS, cpus, 31, NULL);
        if (s->sensitive[i])
            spec_set(&n->spec, FIELD_SENSITIVE, "yes", 31, NULL);
        if (s->borrowed[i])
            spec_set(&n->spec, FIELD_BORROWED, "yes", 31, NULL);
        char xname[32];
        snprintf(xname, sizeof xname, "x1c0s%zub0n0", i);
        spec_set(&n->spec, FIELD_XNAME, xname, 31, NULL);
        if (!s->ill)
            continue;
        if (s->excepted[i])
            spec_set(&n->spec, FIELD_REMEDIATE, "no", 31, NULL);
        snprintf(cpus, sizeof cpus, "%zu", 1 + i / 6);
        spec_set(&n->spec, FIELD_GROUP, cpus, 31, NULL);
        snprintf(cpus, sizeof cpus, "%zu", i % 3);
        spec_set(&n->spec, FIELD_PARTITION, cpus, 31, NULL);
    }
    owners_roster(r);
    conform_classes(s, r);
}

static void configure_share(struct sim *s)
{
    CLEANUP_HOSTLIST struct hostlist collectors = {0};
    for (size_t i = 0; i < s->n; i++)
        if (s->collector[i])
            hostlist_add(&collectors, s->nodes[i].name);
    share_configure(s->share, &collectors);
}

/* --- life ------------------------------------------------------------------------------------ */

void shell_start(struct sim *s)
{
    struct roster r;
    const struct watch_sink sink = {s, propose, notice, on_alarm};
    s->term++;
    s->leads++;
    s->n_standing = 0; /* a new leader announces what stands */
    s->claims = 0;
    s->cluster = cluster_create();
    agreed_load(s, s->cluster);
    shell_roster(s, &r);
    cluster_configure(s->cluster, &r, NULL);
    s->watch = watch_create(s->cluster, &s->policy, mono(s), &sink);
    s->share = share_create(s->cluster);
    configure_share(s);
    s->shares_from = s->now + s->waits.comeback.ns;
    s->balance_at = s->began = s->calm_at = s->now;
    s->stood_still = 0;
    s->first = s->policy.spread;
    s->running = true;
    conform_begin(s);
    ill_begin(s);
    for (size_t i = 0; i < s->n; i++) {
        s->nodes[i].heard = false;
        s->nodes[i].sent_to = NOBODY;
        s->nodes[i].quiet = 0;
        s->nodes[i].quiet_max = s->nodes[i].down_due = -s->first.ns;
        memset(s->nodes[i].former, 0, sizeof s->nodes[i].former);
    }
    sim_say(s, "a controller leads, term %llu", (unsigned long long)s->term);
    check_state(s, "a new leader loaded it");
}

void shell_stop(struct sim *s)
{
    while (s->sessions) {
        struct session *gone = s->sessions;
        s->sessions = gone->next;
        free(gone);
    }
    agreed_drop_jobs(s);
    watch_destroy(s->watch);
    share_destroy(s->share);
    cluster_destroy(s->cluster);
    s->watch = NULL;
    s->share = NULL;
    s->cluster = NULL;
    s->running = false;
}

/* Killed at any moment: no caller is answered, and connections break. */
void shell_crash(struct sim *s)
{
    sim_say(s, "the controller is killed");
    s->crashes++;
    shell_stop(s);
    s->stalled_until = 0;
    s->start_at = s->now + (int64_t)(1 + sim_random(s, 40)) * s->unit / 4;
    for (size_t i = 0; i < s->n; i++)
        if (s->nodes[i].link != LINK_NONE && s->nodes[i].to == CONTROLLER)
            fleet_in_vain(s, (int)i);
}

/* --- sessions -------------------------------------------------------------------------------- */

static struct session *session_of(const struct sim *s, int node, uint64_t conn)
{
    for (struct session *k = s->sessions; k; k = k->next)
        if (k->node == node && k->conn == conn)
            return k;
    return NULL;
}

static struct session *session_collects(const struct sim *s, const struct member *m)
{
    for (struct session *k = s->sessions; k; k = k->next)
        if (k->collects && member_of(s, k->node) == m)
            return k;
    return NULL;
}

void shell_gone(struct sim *s, int node, int64_t learns_at)
{
    struct session *k = session_of(s, node, s->nodes[node].conn);
    if (k && (!k->close_at || learns_at < k->close_at))
        k->close_at = learns_at + 1;
}

static void excuse(struct sim *s, struct member *m)
{
    struct fleet_node *n = &s->nodes[sim_index(s, m->name)];
    if (watch_observed(s->watch, m)->beat.liveness == LIVENESS_SILENT)
        return;
    watch_excuse(s->watch, mono(s), s->more, m);
    n->quiet = -s->more.ns; /* no node is silent before that is over */
    if (n->down_due > n->quiet)
        n->down_due = n->quiet;
    if (n->quiet_max > n->quiet)
        n->quiet_max = n->quiet;
}

static void collector_lost(struct sim *s, struct session *k)
{
    const struct member *c = member_of(s, k->node);
    for (size_t i = 0; i < s->n; i++) {
        struct member *m = member_of(s, (int)i);
        if (m != c && (watch_observed(s->watch, m)->session == k || share_collector_of(s->share, m) == c))
            watch_close(s->watch, m, k);
    }
    for (size_t i = 0; i < s->n; i++) {
        struct member *m = member_of(s, (int)i);
        const struct observed *o = watch_observed(s->watch, m);
        if (m != c && !o->session && (o->collector || share_collector_of(s->share, m) == c))
            excuse(s, m);
    }
    share_respond(s->share, member_of(s, k->node), false, NULL, 0);
    s->balance_at = s->now + span_s(3).ns;
    s->calm_at = s->now;
    sim_say(s, "collector %s does not respond", s->nodes[k->node].name);
}

static void session_end(struct sim *s, struct session *k)
{
    for (struct session **p = &s->sessions; *p; p = &(*p)->next) {
        if (*p == k) {
            *p = k->next;
            break;
        }
    }
    if (k->collects)
        collector_lost(s, k);
    watch_close(s->watch, member_of(s, k->node), k);
    if (s->nodes[k->node].conn == k->conn)
        fleet_lose_link(s, k->node, 0);
    free(k);
}

static void send_share(struct sim *s, struct session *k, struct member *const *nodes, size_t n)
{
    struct message *m = mem_alloc(sizeof *m);
    *m = (struct message){.kind = MESSAGE_SHARE,
                          .from = CONTROLLER,
                          .to = k->node,
                          .conn = k->conn,
                          .items = mem_alloc((n + 1) * sizeof *m->items)};
    for (size_t i = 0; i < n; i++) {
        int node = sim_index(s, nodes[i]->name);
        if (node >= 0)
            m->items[m->n++].node = node;
    }
    fleet_send(s, m);
}

/* Others may have got some of them while it was away. */
static size_t keep_own(const struct sim *s, const struct session *k, struct member **nodes, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (share_collector_of(s->share, nodes[i]) == member_of(s, k->node))
            nodes[kept++] = nodes[i];
    return kept;
}

/* A collector that comes names its nodes, which stay with it. */
static void collector_hello(struct sim *s, struct session *k)
{
    struct member *held[NODES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->nodes[k->node].ledger[i].open)
            held[n++] = member_of(s, (int)i);
    k->collects = true;
    k->batch_at = s->now;
    share_respond(s->share, member_of(s, k->node), true, held, n);
    s->balance_at = s->now;
    send_share(s, k, held, keep_own(s, k, held, n));
}

/* The node is sent to its collector instead. */
static bool redirect(struct sim *s, int node)
{
    const struct member *m = member_of(s, node), *c = share_collector_of(s->share, m);
    if (!c || c == m || !share_responds(s->share, c) || !session_collects(s, c))
        return false;
    if (s->balance_at && s->now < s->shares_from)
        return false;
    struct fleet_node *n = &s->nodes[node];
    if (n->sent_to == sim_index(s, c->name) && n->sent_at >= session_collects(s, c)->came)
        return false; /* it came back unheard, so there is no path between the two */
    n->sent_to = sim_index(s, c->name);
    n->sent_at = s->now;
    excuse(s, member_of(s, node));
    fleet_lose_link(s, node, 0);
    s->nodes[node].redirect = sim_index(s, c->name);
    return true;
}

static void note_instance(struct sim *s, int node, uint64_t was, uint64_t is)
{
    struct fleet_node *n = &s->nodes[node];
    if (was == 0 || was == is)
        return;
    memmove(n->former + 1, n->former, sizeof n->former - sizeof n->former[0]);
    n->former[0] = was;
}

/* Opens m in watch and makes its inventory known. */
static int open_member(struct sim *s, int node, uint64_t instance, unsigned boot, struct session *k,
                       const struct member *collector, struct err *e)
{
    struct member *m = member_of(s, node);
    char id[37], inventory[17];
    void *old = NULL;
    bool want;
    fleet_boot_id(boot, node, id);
    machine_hash(s, node, boot, inventory);
    const struct hello h = {
        .name = m->name, .version = "1", .boot = id, .instance = instance, .inventory = inventory};
    uint64_t was = watch_observed(s->watch, m)->beat.instance;
    bool anew = strcmp(watch_observed(s->watch, m)->boot, id) != 0;
    int rc = watch_open(s->watch, mono(s), m, &h, k, collector, &want, &old, e);
    if (rc < 0)
        return rc;
    if (collector)
        s->nodes[node].sent_to = NOBODY;
    note_instance(s, node, was, instance);
    conform_opened(s, node, anew);
    ill_opened(s, node, anew);
    struct session *before = old;
    if (before && before != k && before->node == node)
        session_end(s, before);
    if (want)
        machine_wanted(s, node);
    return 0;
}

void shell_hello(struct sim *s, const struct message *m)
{
    struct fleet_node *n = &s->nodes[m->from];
    struct err e;
    if (!share_is_collector(s->share, member_of(s, m->from))) {
        const bool nobody[NODES_MAX] = {false};
        fleet_take_share(s, m->from, nobody); /* it may have been a collector before */
    }
    if (redirect(s, m->from))
        return;
    struct session *k = mem_alloc(sizeof *k);
    *k = (struct session){.node = m->from, .conn = m->conn, .came = s->now, .next = s->sessions};
    if (open_member(s, m->from, m->instance, m->boot, k, NULL, &e) < 0) {
        sim_say(s, "%s is refused: %s", n->name, e.msg);
        free(k);
        fleet_lose_link(s, m->from, fleet_pause(s) / 2);
        return;
    }
    k->next = s->sessions;
    s->sessions = k;
    n->link = LINK_OPEN;
    n->left = NOBODY;
    n->next_beat = s->now;
    n->interval = s->interval;
    if (share_is_collector(s->share, member_of(s, m->from)))
        collector_hello(s, k);
}

/* By this heartbeat or a later one: a late heartbeat from before a lost one proves nothing. */
static void was_heard(struct sim *s, int node, uint64_t seq)
{
    struct fleet_node *n = &s->nodes[node];
    n->quiet = n->down_due = 0;
    n->quiet_max = n->quiet_max < 0 ? 0 : n->quiet_max;
    n->heard = true;
    n->last_good = s->now;
    n->own_fault = n->own_fault && seq < n->lost;
    n->mass = false;
}

/* Its collector last heard it this long ago, which is longer than this controller thought. */
static void was_missed(struct sim *s, int node, int64_t ago)
{
    struct fleet_node *n = &s->nodes[node];
    watch_missed(s->watch, mono(s), (struct span){ago}, member_of(s, node));
    int64_t is = ago < n->quiet_max ? ago : n->quiet_max;
    n->down_due += n->quiet < is ? is - n->quiet : 0;
    n->quiet = n->quiet < is ? is : n->quiet;
}

static int take_beat(struct sim *s, int node, uint64_t instance, uint64_t seq, unsigned boot, int work)
{
    char id[37];
    fleet_boot_id(boot, node, id);
    CLEANUP_JSON json_t *running = work < 0 ? NULL : json_array();
    if (work > 0)
        json_array_append_new(running, json_string("job"));
    const struct heartbeat h = {.instance = instance, .seq = seq, .boot = id, .work = running, .uptime_s = 1};
    return watch_heartbeat(s->watch, mono(s), wall(s), member_of(s, node), &h, NULL);
}

void shell_beat(struct sim *s, const struct message *m)
{
    struct session *k = session_of(s, m->from, m->conn);
    if (!k || watch_observed(s->watch, member_of(s, m->from))->session != k)
        return;
    if (take_beat(s, m->from, m->instance, m->seq, m->boot, m->work) < 0)
        sim_fail(s, "a heartbeat of %s in its own session is refused", s->nodes[m->from].name);
    was_heard(s, m->from, m->seq);
    conform_told(s, m->from, m->made, m->boot);
}

void shell_batch(struct sim *s, const struct message *m)
{
    struct session *k = session_of(s, m->from, m->conn);
    if (!k || !k->collects)
        return;
    const struct member *c = member_of(s, m->from);
    k->batch_at = s->now;
    s->nodes[m->from].answered = s->now;
    for (size_t i = 0; i < m->n; i++) {
        const struct batch_item *it = &m->items[i];
        struct member *about = member_of(s, it->node);
        struct err e;
        if (share_collector_of(s->share, about) != c)
            continue; /* a collector speaks for the nodes that it was given */
        if (it->changed && it->open && open_member(s, it->node, it->instance, it->boot, k, c, &e) < 0) {
            sim_say(s, "collector %s: %s is refused: %s", c->name, about->name, e.msg);
            s->nodes[m->from].ledger[it->node].changed = true; /* it is asked to report it again */
            continue;
        }
        if (it->changed && !it->open)
            watch_close(s->watch, about, k);
        if (watch_observed(s->watch, about)->session != k)
            continue;
        if (it->missed)
            was_missed(s, it->node, it->ago);
        bool beats = it->changed && take_beat(s, it->node, it->instance, it->seq, it->boot, it->work) == 0;
        if (it->heard)
            watch_vouch(s->watch, mono(s), wall(s), about);
        if (beats || it->heard) {
            was_heard(s, it->node, it->seq);
            conform_told(s, it->node, it->made, it->boot);
        }
    }
}

/* --- time ------------------------------------------------------------------------------------ */

static void on_share(void *arg, struct member *collector, struct member *const *nodes, size_t n)
{
    struct sim *s = arg;
    struct session *k = session_collects(s, collector);
    if (k)
        send_share(s, k, nodes, n);
}

/* Each listed node has one responding collector, if there is any, and no collector has two nodes more than
 * another. */
static void check_shares(struct sim *s)
{
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct member *m = member_of(s, (int)i);
        struct member *const *nodes;
        if (!share_responds(s->share, m))
            continue;
        size_t n = share_members(s->share, m, &nodes);
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    for (size_t i = 0; i < s->n && least != SIZE_MAX; i++) {
        struct member *m = member_of(s, (int)i);
        const struct member *c = share_collector_of(s->share, m);
        if (s->listed[i] && !s->collector[i] && (!c || !share_responds(s->share, c)))
            sim_fail(s, "%s has no collector that responds", m->name);
    }
    if (least != SIZE_MAX && most > least + 1)
        sim_fail(s, "one collector has %zu nodes, another %zu", most, least);
}

/* A node that moves from one collector to another is in the reports of neither for a while, and is excused.
 * What the one had must not disturb the other. */
static void balance(struct sim *s)
{
    const struct member *before[NODES_MAX];
    for (size_t i = 0; i < s->n; i++)
        before[i] = share_collector_of(s->share, member_of(s, (int)i));
    if (share_balance(s->share, on_share, s))
        s->calm_at = s->now;
    for (size_t i = 0; i < s->n; i++) {
        struct member *m = member_of(s, (int)i);
        const struct observed *o = watch_observed(s->watch, m);
        if (!before[i] || share_collector_of(s->share, m) == before[i])
            continue;
        if (o->collector == before[i])
            watch_close(s->watch, m, o->session);
        excuse(s, m);
    }
}

static void collectors(struct sim *s)
{
    for (struct session *k = s->sessions, *next; k; k = next) {
        next = k->next;
        if (k->collects && s->now - k->batch_at > s->waits.missed.ns)
            session_end(s, k);
    }
    if (!s->balance_at || s->now < s->balance_at || (s->now < s->shares_from && !share_complete(s->share)))
        return;
    s->balance_at = 0;
    balance(s);
    check_shares(s);
    for (size_t i = 0; i < s->n; i++) {
        struct session *k = session_of(s, (int)i, s->nodes[i].conn);
        if (k && redirect(s, (int)i))
            session_end(s, k);
    }
}

/* A busy loop has some of a tick's work left when the next tick comes, and receives messages in between. */
static void watch_turns(struct sim *s)
{
    bool is_busy = s->seed % 2;
    size_t nodes = 1 + s->seed % 16, some = s->n / nodes / 2;
    while (is_busy && watch_step(s->watch, nodes))
        ;
    watch_tick(s->watch, mono(s), wall(s));
    while (watch_step(s->watch, nodes) && !(is_busy && some-- == 0))
        ;
}

void shell_tick(struct sim *s)
{
    for (size_t i = 0; i < s->n; i++) {
        s->nodes[i].quiet += STEP_NS;
        s->nodes[i].quiet_max += STEP_NS;
        s->nodes[i].down_due += STEP_NS;
    }
    watch_turns(s);
    for (struct session *k = s->sessions, *next; k; k = next) {
        next = k->next;
        if (k->close_at && s->now >= k->close_at) {
            session_end(s, k);
            next = s->sessions; /* it may have closed others: look at all of them again */
        }
    }
    if (s->step % 5 == 0)
        collectors(s);
    conform_tick(s);
    if (s->ill) {
        ill_scheduler(s);
        repair_drivers(s);
        trial_turn(s);
        lost_turn(s);
        ill_untold(s);
    }
}

/* --- a reload -------------------------------------------------------------------------------- */

static void change_configuration(struct sim *s)
{
    size_t i = (size_t)sim_random(s, s->n);
    switch (sim_random(s, 6)) {
    case 4: s->ignores = !s->ignores; break;
    case 0: s->listed[i] = !s->listed[i]; break;
    case 1: s->cpus[i] = 1 + (unsigned)sim_random(s, 8); break;
    case 2: s->slow = !s->slow; break;
    case 3: s->sensitive[i] = !s->sensitive[i]; break;
    default:
        if (i + 2 < s->n && s->n_collectors) {
            s->n_collectors += s->collector[i] ? (size_t)-1 : 1;
            s->collector[i] = !s->collector[i];
        }
        break;
    }
    sim_policy(s);
}

static void tell_interval(struct sim *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct fleet_node *n = &s->nodes[i];
        n->interval = s->interval;
        if (n->next_beat > s->now + s->interval)
            n->next_beat = s->now + (int64_t)sim_random(s, (uint64_t)s->interval);
    }
}

static void change_collectors(struct sim *s, bool anew)
{
    configure_share(s);
    s->balance_at = s->now;
    for (struct session *k = s->sessions; k; k = k->next) {
        bool collector = share_is_collector(s->share, member_of(s, k->node));
        if (anew)
            k->batch_at = s->now; /* the new interval begins */
        if (k->collects && !collector) {
            const bool nobody[NODES_MAX] = {false};
            if (fleet_reaches(s, k->node))
                fleet_take_share(s, k->node, nobody);
            collector_lost(s, k);
            k->collects = false;
        } else if (collector && !k->collects) {
            collector_hello(s, k);
        }
    }
}

void shell_reload(struct sim *s)
{
    CLEANUP_TEXT struct text changes = {0};
    struct roster r;
    bool was_slow = s->slow;
    change_configuration(s);
    shell_roster(s, &r);
    cluster_configure(s->cluster, &r, &changes);
    watch_set_policy(s->watch, &s->policy);
    s->calm_at = s->judged_at = s->reload_at = s->now;
    for (size_t i = 0; i < s->n && was_slow && !s->slow; i++)
        if (watch_observed(s->watch, member_of(s, (int)i))->beat.liveness != LIVENESS_SILENT)
            s->nodes[i].quiet = s->nodes[i].down_due = s->nodes[i].quiet_max = 0;
    if (was_slow != s->slow)
        tell_interval(s);
    change_collectors(s, was_slow != s->slow);
    s->timeouts_at = s->now;
    sim_say(s, "reload: %.150s", changes.len ? changes.s : "parameters");
    check_state(s, "a reload");
}

/* --- attacks --------------------------------------------------------------------------------- */

/* Events that must not revive a node, and that must not take a live node's place. */
void shell_attack(struct sim *s)
{
    int i = (int)sim_random(s, s->n);
    struct fleet_node *n = &s->nodes[i];
    struct member *m = member_of(s, i);
    const struct observed *o = watch_observed(s->watch, m);
    const struct observed before = *o;
    struct session k = {.node = i};
    struct err e;
    int rc = -EINVAL;
    uint64_t attack = sim_random(s, 5);
    if (s->ill && sim_random(s, 3) == 0) {
        ill_attack(s, i);
        return;
    }
    if (before.beat.instance == 0)
        return;
    if (attack == 0) /* an old heartbeat again */
        rc = take_beat(s, i, before.beat.instance, before.beat.seq, before.boot[0] ? n->boot : 0, 0);
    else if (attack == 1) /* another instance's */
        rc = take_beat(s, i, before.beat.instance ^ 1, before.beat.seq + 100, n->boot, 0);
    else if (attack == 2 && before.session && n->quiet < sim_timeouts(s, i)->late.ns / 2)
        rc = open_member(s, i, ++s->instances, n->boot, &k, NULL, &e);
    else if (attack == 3 && n->former[sim_random(s, FORMER_MAX)])
        rc = open_member(s, i, n->former[0], n->boot, &k, NULL, &e);
    else if (attack == 4)
        rc = take_beat(s, i, before.beat.instance, before.beat.seq + 1, n->boot + 7, 0);
    if (rc == 0)
        sim_fail(s, "a forged heartbeat or agent of %s was believed (attack %d)", n->name, (int)attack);
    o = watch_observed(s->watch, m);
    if (o->beat.liveness != before.beat.liveness || o->beat.heard.ns != before.beat.heard.ns ||
        o->beat.instance != before.beat.instance || o->session != before.session)
        sim_fail(s, "a forged heartbeat or agent of %s left a trace (attack %d)", n->name, (int)attack);
    s->refused++;
}
