/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of nodes: they come, go, flap, or stay until a remedy. One node is ill again and again, whatever
 * helps; a server that all nodes need fails, a check is broken everywhere, and many nodes fall ill one after
 * the other. Agents look and report, late when they were cut off, and again when they are asked. A scheduler
 * reports the work on nodes, or for long nothing.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKS_CONF                                                                           \
    "Check=service Probe=plugin Run=/bin/s Every=2s Deadline=1s\n"                            \
    "Check=mount Probe=plugin Run=/bin/m Every=2s Deadline=1s\n"                              \
    "Check=kernel.log\n"                                                                      \
    "Check=link Probe=plugin Run=/bin/l Every=3s Deadline=1s Severity=degraded\n"             \
    "Check=watched Probe=plugin Run=/bin/w Every=3s Deadline=1s Observe=yes\n"                \
    "Check=deep Probe=plugin Run=/bin/d When=extensive Deadline=5s Classes=gpu\n"             \
    "Check=deeper Probe=plugin Run=/bin/e When=extensive Deadline=5s Classes=gpu\n"           \
    "Check=burn Probe=bench.memory.latency When=scheduled Every=1m Deadline=5s Observe=yes\n" \
    "Check=pair Probe=plugin Run=/bin/p When=scheduled Every=2m Deadline=5s Observe=yes Group=2\n"
static const char ALONE_CONF[] = CHECKS_CONF;
/* In some histories the extensive stage has a check that takes partners. */
static const char PARTNERS_CONF[] =
    CHECKS_CONF "Check=both Probe=plugin Run=/bin/t When=extensive Deadline=5s Observe=yes Group=2\n";
static const char REMEDIES_CONF[] =
    "Remedy=restart Run=node:restart Helps=service,mount,link Confidence=70% Because=\"it often does\" "
    "Takes=2s "
    "Deadline=8s Settle=20s\n"
    "Remedy=reset Run=node:reset Helps=xid.79,link Confidence=60% Because=\"it may\" Takes=3s Deadline=8s "
    "Settle=20s Disturbs=20 Needs=idle\n"
    "Remedy=reboot Run=reboot Helps=*,!deep Confidence=50% Because=\"it often does\" Takes=12s Deadline=40s "
    "Settle=30s\n"
    "Remedy=cycle Run=power.cycle Helps=* Confidence=40% Because=\"it may\" Takes=20s Deadline=40s "
    "Settle=30s Approval=yes\n"
    "Remedy=revive Run=power.cycle Helps=node.lost Confidence=60% Because=\"it may\" Takes=10s Deadline=30s "
    "Settle=20s\n"
    "Remedy=swap Run=replace Helps=deep,deeper Classes=gpu Confidence=80% Because=\"another one\" Takes=30s "
    "Deadline=60s Settle=30s\n";

enum cure { CURE_RESTART = 1, CURE_RESET = 2, CURE_REBOOT = 4, CURE_CYCLE = 8, CURE_REPLACE = 16 };

static struct checks checks, with_partners;
static struct remedies remedies;

const char *ill_check_name(enum ail check)
{
    return checks.list[check].name;
}

/* --- the configuration ------------------------------------------------------------------------ */

static void read_records(void)
{
    struct err e;
    if (checks.n)
        return;
    if (checks_parse("checks", ALONE_CONF, sizeof ALONE_CONF - 1, &checks, &e) < 0 ||
        checks_parse("checks", PARTNERS_CONF, sizeof PARTNERS_CONF - 1, &with_partners, &e) < 0 ||
        remedies_parse("remedies", REMEDIES_CONF, sizeof REMEDIES_CONF - 1, &remedies, &e) < 0) {
        puts(e.msg);
        abort();
    }
}

void ill_create(struct sim *s)
{
    s->ill = s->seed % 3 != 0;
    if (!s->ill)
        return;
    read_records();
    s->patients = mem_alloc(s->n * sizeof *s->patients);
    s->slurm = s->seed % 5 != 0;
}

/* Makes room for examined nodes and their partners, which other histories seldom have. */
static void allow_partners(struct health_policy *h)
{
    h->limits.percent[SCOPE_CLUSTER] = h->limits.percent[SCOPE_CLASS] = h->limits.percent[SCOPE_GROUP] =
        h->limits.percent[SCOPE_PARTITION] = 100;
    h->trials_percent += 10;
    h->checks = &with_partners;
}

void ill_policy(struct sim *s)
{
    static const struct cost_policy cost = {1000, 200, 240000, 100, 0};
    uint64_t x = s->seed;
    if (!s->ill)
        return;
    s->policy.health =
        (struct health_policy){.limits.act = true,
                               .limits.percent[SCOPE_CLUSTER] = 10 + (unsigned)(x % 4) * 30,
                               .limits.percent[SCOPE_CLASS] = 10 + (unsigned)(x / 4 % 4) * 30,
                               .limits.percent[SCOPE_GROUP] = 25 + (unsigned)(x / 16 % 4) * 25,
                               .limits.percent[SCOPE_PARTITION] = 20 + (unsigned)(x / 2 % 4) * 25,
                               .trials_percent = (unsigned)(x / 2 % 3) * 10,
                               .limits.surge = x % 2 ? 2 + (unsigned)(x / 3 % 5) : 0,
                               .limits.surge_window = span_s(30),
                               .shared = 3 + (unsigned)(x / 7 % 3),
                               .shared_window = span_s(10),
                               .group = span_s(5),
                               .drain_deadline = span_s(x / 11 % 2 ? 60 : 0),
                               .examine_deadline = span_s(60),
                               .provision_deadline = span_s(60),
                               .inconclusive = 2,
                               .degraded_for = span_s(40),
                               .limits.remedies_a_week = 1 + (unsigned)(x / 5 % 3),
                               .fresh = span_s(8),
                               .override = span_s(60),
                               .provision_new = x / 13 % 4 != 3,
                               .cost = cost,
                               .checks = &checks,
                               .remedies = &remedies};
    if (x % 4 == 3)
        allow_partners(&s->policy.health);
    lost_policy(s);
}

void ill_fini(struct sim *s)
{
    free(s->patients);
}

/* --- the faults ------------------------------------------------------------------------------ */

static void fall_ill(struct sim *s, int i, enum ail what)
{
    static const unsigned cures[AILS] = {CURE_RESTART | CURE_REBOOT | CURE_CYCLE | CURE_REPLACE,
                                         CURE_RESTART | CURE_REBOOT | CURE_CYCLE | CURE_REPLACE,
                                         CURE_RESET | CURE_REBOOT | CURE_CYCLE | CURE_REPLACE,
                                         CURE_RESTART | CURE_RESET | CURE_REBOOT | CURE_CYCLE | CURE_REPLACE,
                                         CURE_RESTART | CURE_REBOOT,
                                         CURE_CYCLE | CURE_REPLACE,
                                         CURE_REPLACE};
    struct patient *p = &s->patients[i];
    uint64_t how = sim_random(s, 4);
    p->here.ails[what].on = true;
    p->here.ails[what].hidden = false;
    p->here.ails[what].flaps = how == 0;
    p->here.ails[what].until = how < 2 ? s->now + (int64_t)(1 + sim_random(s, 60)) * INT64_C(1000000000) : 0;
    p->here.ails[what].cures = cures[what] & (unsigned)sim_random(s, 32);
    p->here.ails[what].worst = what == AIL_LINK                           ? RESULT_DEGRADED
                               : what == AIL_GPU && sim_random(s, 2) == 0 ? RESULT_LOST
                                                                          : RESULT_FATAL;
    sim_say(s, "%s falls ill: %s%s%s", s->nodes[i].name, ill_check_name(what), how == 0 ? ", flapping" : "",
            p->here.ails[what].until ? ", for a while" : "");
}

/* Adds a fault that stays until any repair. */
static void fall_plainly_ill(struct sim *s, int i, enum ail what)
{
    struct patient *p = &s->patients[i];
    p->here.ails[what].on = true;
    p->here.ails[what].flaps = p->here.ails[what].hidden = false;
    p->here.ails[what].until = 0;
    p->here.ails[what].cures = CURE_RESTART | CURE_RESET | CURE_REBOOT | CURE_CYCLE | CURE_REPLACE;
    p->here.ails[what].worst = RESULT_FATAL;
    sim_say(s, "%s falls ill: %s, plainly", s->nodes[i].name, ill_check_name(what));
}

/* During a job, if there may be one. */
static void lose_gpu(struct sim *s, int i)
{
    fall_plainly_ill(s, i, AIL_GPU);
    s->patients[i].here.ails[AIL_GPU].worst = RESULT_LOST;
    s->nodes[i].busy |= ill_may_work(s, i);
}

static bool is_well(const struct sim *s, int i)
{
    for (int k = 0; k < AILS; k++)
        if (s->patients[i].here.ails[k].on)
            return false;
    return s->nodes[i].up && s->nodes[i].agent;
}

/* One node after the other, with the same fault so seldom that it is no shared cause. */
static void wave_on(struct sim *s)
{
    static const enum ail of[] = {AIL_SERVICE, AIL_MOUNT, AIL_GPU};
    if (s->now >= s->wave_until || s->now < s->wave_next)
        return;
    size_t i = sim_random(s, s->n);
    for (size_t k = 0; k < s->n && !is_well(s, (int)i); k++)
        i = (i + 1) % s->n;
    if (is_well(s, (int)i))
        fall_plainly_ill(s, (int)i, of[s->waves++ % 3]);
    s->wave_next = s->now + INT64_C(1800000000);
}

static void ail_on(struct sim *s, int i)
{
    struct patient *p = &s->patients[i];
    for (int k = 0; k < AILS; k++) {
        if (p->here.ails[k].on && p->here.ails[k].until && s->now >= p->here.ails[k].until)
            p->here.ails[k].on = false;
        if (p->here.ails[k].flaps && sim_chance(s, 40000))
            p->here.ails[k].hidden = !p->here.ails[k].hidden;
    }
    bool lemon = (uint64_t)i == s->seed % s->n;
    if (lemon && is_well(s, i) && sim_chance(s, 8000))
        fall_plainly_ill(s, i, AIL_SERVICE);
    if (mend_ends_work(s) && i % 2 == 0 && is_well(s, i) && sim_chance(s, 8000))
        lose_gpu(s, i);
    if (sim_chance(s, 400))
        fall_ill(s, i, (enum ail)sim_random(s, AILS));
    if (sim_chance(s, 300))
        p->here.mute = !p->here.mute;
    if (p->here.mute && sim_chance(s, 5000))
        p->here.mute = false;
}

static void for_all(struct sim *s)
{
    int64_t while_ = (int64_t)(1 + sim_random(s, 90)) * INT64_C(1000000000);
    switch (sim_random(s, 6)) {
    case 0:
        s->server_until = s->now + while_;
        sim_say(s, "the server of /a is down for %.0f s", (double)while_ / 1e9);
        break;
    case 1:
        s->broken_until = s->now + while_;
        sim_say(s, "a broken check is rolled out for %.0f s", (double)while_ / 1e9);
        break;
    case 2:
        s->slurm_until = s->now + while_ * 2;
        sim_say(s, "the scheduler does not answer for %.0f s", (double)while_ * 2 / 1e9);
        break;
    case 3:
    case 4:
        s->wave_until = s->now + INT64_C(30000000000);
        sim_say(s, "one after the other falls ill");
        break;
    default:
        sim_say(s, "many fall ill at once");
        for (size_t i = 0; i < s->n; i++)
            if (sim_random(s, 3) == 0)
                fall_ill(s, (int)i, (enum ail)sim_random(s, AILS));
        break;
    }
}

enum result ill_truth(const struct sim *s, int node, enum ail check)
{
    const struct patient *p = &s->patients[node];
    bool ails = p->here.ails[check].on && !p->here.ails[check].hidden;
    if (p->here.mute && (check == AIL_SERVICE || check == AIL_DEEP))
        return RESULT_UNKNOWN;
    if (ails)
        return p->here.ails[check].worst;
    if ((check == AIL_MOUNT && s->server_until > s->now && node % 4 != 3) ||
        (check == AIL_SERVICE && s->broken_until > s->now))
        return RESULT_FATAL;
    return RESULT_OK;
}

void ill_cure(struct sim *s, int node, const char *run)
{
    unsigned by = strcmp(run, "node:restart") == 0  ? CURE_RESTART
                  : strcmp(run, "node:reset") == 0  ? CURE_RESET
                  : strcmp(run, "reboot") == 0      ? CURE_REBOOT
                  : strcmp(run, "power.cycle") == 0 ? CURE_CYCLE
                                                    : CURE_REPLACE;
    if (strncmp(run, "forget:", 7) == 0) {
        s->patients[node].here.ails[AIL_GPU].on = false;
        return;
    }
    for (int k = 0; k < AILS; k++)
        if (s->patients[node].here.ails[k].cures & by)
            s->patients[node].here.ails[k].on = false;
}

/* --- agents ----------------------------------------------------------------------------------- */

void ill_started(struct sim *s, int node, bool booted)
{
    if (!s->ill)
        return;
    struct patient *p = &s->patients[node];
    for (int k = 0; k < AILS; k++)
        p->is[k] = RESULT_UNKNOWN, p->looked[k] = 0;
    p->told = false;
    p->bad_since = 0;
    memset(p->fails_since, 0, sizeof p->fails_since);
    repair_agent_started(s, node, booted);
}

static bool repeats(enum ail k)
{
    return k < AIL_DEEP;
}

/* The path of the node's reports to the controller: its own connection and its collector's. 0: none. */
static uint64_t way_of(const struct sim *s, int i)
{
    const struct fleet_node *n = &s->nodes[i];
    if (n->link != LINK_OPEN)
        return 0;
    if (n->to == CONTROLLER)
        return n->conn;
    const struct fleet_node *c = &s->nodes[n->to];
    return c->link == LINK_OPEN && c->to == CONTROLLER && fleet_reaches(s, n->to) ? n->conn ^ c->conn << 32
                                                                                  : 0;
}

static void say(struct sim *s, int i, bool full, const bool changed[static AILS])
{
    struct fleet_node *n = &s->nodes[i];
    const struct patient *p = &s->patients[i];
    struct message *m = mem_alloc(sizeof *m);
    *m = (struct message){.kind = MESSAGE_CHECKS,
                          .from = i,
                          .to = CONTROLLER,
                          .conn = n->conn,
                          .boot = n->boot,
                          .full = full,
                          .words = mem_alloc(AILS * sizeof *m->words)};
    for (int k = 0; k < AILS; k++)
        if (repeats((enum ail)k) && (full || changed[k]))
            m->words[m->n++] = (struct word){(enum ail)k, p->is[k], s->now - p->looked[k]};
    m->not_before = n->cut_until; /* a report to a network that loses it comes later, or never */
    fleet_send(s, m);
}

static void look(struct sim *s, int i)
{
    static const int64_t every[AILS] = {2, 2, 0, 3, 3, 0, 0};
    struct patient *p = &s->patients[i];
    bool changed[AILS] = {false}, any = false;
    for (int k = 0; k < AIL_DEEP; k++) {
        enum result r = ill_truth(s, i, (enum ail)k);
        bool bad = r >= RESULT_DEGRADED && k != AIL_WATCHED;
        p->fails_since[k] = !bad ? 0 : p->fails_since[k] ? p->fails_since[k] : s->now;
        if (p->looked[k] && s->now - p->looked[k] < every[k] * INT64_C(1000000000))
            continue;
        changed[k] = p->is[k] != r;
        any |= changed[k];
        p->is[k] = r;
        if (k != AIL_GPU || changed[k] || !p->looked[k] || r == RESULT_OK)
            p->looked[k] = s->now;
    }
    p->bad_since = 0;
    for (int k = 0; k < AIL_DEEP; k++)
        if (p->fails_since[k] && (!p->bad_since || p->fails_since[k] < p->bad_since))
            p->bad_since = p->fails_since[k];
    uint64_t way = way_of(s, i);
    if (!way || (way == p->told_way && p->told && !any))
        return;
    bool full = way != p->told_way || !p->told;
    p->told = true;
    p->told_way = way;
    say(s, i, full, changed);
}

void ill_step(struct sim *s)
{
    if (!s->ill)
        return;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->calm)
            ail_on(s, (int)i);
        if (!s->nodes[i].up || !s->nodes[i].agent)
            continue;
        look(s, (int)i);
        repair_agent_step(s, (int)i);
    }
    held_step(s);
    lost_step(s);
    if (!s->calm && sim_chance(s, 500))
        for_all(s);
    if (!s->calm)
        wave_on(s);
    if (s->calm && s->step % 2000 == 0)
        machine_calm(s);
    if (s->calm && s->step % 10 == 0 && shell_listens(s))
        repair_people(s);
}

/* Faults have ended, and everything answers. */
void ill_calm(struct sim *s)
{
    sim_say(s, "faults end");
    s->calm = true;
    s->server_until = s->broken_until = s->slurm_until = s->full_until = 0;
    if (s->stalled_until > s->now) /* as long as the controller needs to notice that it stood still */
        s->stalled_until = s->stalled_from + span_s(1).ns > s->now ? s->stalled_from + span_s(1).ns : s->now;
    s->wake_first = false;
    s->loss_per_mille = 0;
    machine_calm(s);
    for (struct message *m = s->messages; m; m = m->next)
        m->at = m->at > s->now + s->delay_max ? s->now + s->delay_max : m->at;
    for (size_t i = 0; i < s->n; i++) {
        s->nodes[i].cut_until = s->nodes[i].still_until = s->nodes[i].well = 0;
        s->nodes[i].up_at = s->nodes[i].up_at > s->now ? s->now : s->nodes[i].up_at;
        s->nodes[i].agent_at = s->nodes[i].agent_at > s->now ? s->now : s->nodes[i].agent_at;
        s->patients[i].here.mute = false;
        s->patients[i].trial.hangs = false;
        for (int k = 0; k < AILS; k++)
            s->patients[i].here.ails[k].on = false;
    }
}

/* --- at the controller ------------------------------------------------------------------------ */

void ill_begin(struct sim *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->isolating[i] *= s->isolated[i];
    for (size_t i = 0; s->ill && i < s->n; i++) {
        struct patient *p = &s->patients[i];
        memset(p->heard, 0, sizeof p->heard);
        memset(&p->actor, 0, sizeof p->actor);
        memset(&p->trial, 0, sizeof p->trial);
        p->moves = 0;
        p->scheduler = s->slurm;
        p->scheduled = WORK_UNKNOWN;
        p->unread_at = 0;
        lost_begin(s, (int)i);
        if (s->slurm)
            watch_scheduler(s->watch, cluster_meet(s->cluster, s->nodes[i].name), WORK_UNKNOWN, false);
        p->power.on &= p->power.on; /* the BMC's action goes on */
    }
}

void ill_opened(struct sim *s, int node, bool anew)
{
    if (!s->ill || !anew)
        return;
    memset(s->patients[node].heard, 0, sizeof s->patients[node].heard);
    mend_opened(s, node);
}

static json_t *finding(enum ail k, enum result r)
{
    json_t *f = json_pack("{s:s,s:s}", "result", result_name(r), "text", "it is so");
    if (k == AIL_MOUNT)
        json_object_set_new(f, "device", json_string("mount /a"));
    if (k == AIL_GPU) {
        json_object_set_new(f, "device", json_string("gpu 0"));
        json_object_set_new(f, "code", json_string("xid.79"));
    }
    return f;
}

json_t *ill_verdict(enum ail k, enum result r)
{
    json_t *one = json_pack("{s:s}", "result", result_name(r));
    if (r > RESULT_OK)
        json_object_set_new(one, "findings", json_pack("[o]", finding(k, r)));
    return one;
}

static int take(struct sim *s, int i, unsigned boot, bool full, const struct word *words, size_t n,
                bool *want)
{
    char id[37];
    struct err e;
    CLEANUP_JSON json_t *list = json_array();
    for (size_t k = 0; k < n; k++) {
        json_t *one = ill_verdict(words[k].check, words[k].result);
        json_object_set_new(one, "check", json_string(ill_check_name(words[k].check)));
        json_object_set_new(one, "age_ms", json_integer(words[k].looked / 1000000));
        json_array_append_new(list, one);
    }
    fleet_boot_id(boot, i, id);
    CLEANUP_JSON json_t *body = json_pack("{s:s,s:b,s:O}", "boot", id, "full", (int)full, "checks", list);
    struct wall wall = {INT64_C(1700000000000000000) + s->now + s->wall_step};
    int rc = watch_checks(s->watch, (struct mono){s->now}, wall, cluster_meet(s->cluster, s->nodes[i].name),
                          body, want, &e);
    if (rc < 0)
        sim_fail(s, "what %s says is refused: %s", s->nodes[i].name, e.msg);
    return rc;
}

void ill_checks(struct sim *s, const struct message *m)
{
    struct patient *p = &s->patients[m->from];
    const struct observed *o = watch_observed(s->watch, cluster_meet(s->cluster, s->nodes[m->from].name));
    char id[37];
    bool want;
    const struct session *k = o->session;
    if (!k || (!o->collector && k->conn != m->conn)) {
        p->told = false; /* it has to be sent again over a session */
        return;
    }
    fleet_boot_id(m->boot, m->from, id);
    if (strcmp(id, o->boot) == 0) {
        for (size_t w = 0; w < m->n; w++) {
            if (p->heard[m->words[w].check].result != m->words[w].result ||
                p->heard[m->words[w].check].boot != m->boot)
                p->moves = 0;
            p->heard[m->words[w].check].result = m->words[w].result;
            p->heard[m->words[w].check].boot = m->boot;
            p->heard[m->words[w].check].looked =
                s->now - m->words[w].looked; /* as far as that can be known */
            p->heard[m->words[w].check].told = s->now;
        }
        mend_heard(s, m->from, m->boot);
    } else {
        p->told = false;
    }
    take(s, m->from, m->boot, m->full, m->words, m->n, &want);
    p->told &= !want;
}

static void on_untold(void *arg, struct member *m)
{
    struct sim *s = arg;
    int i = sim_index(s, m->name);
    if (i >= 0) {
        s->patients[i].told = false;
        repair_tell(s, i);
    }
}

void ill_untold(struct sim *s)
{
    if (s->step % 10 == 0)
        watch_untold(s->watch, (struct mono){s->now}, on_untold, s);
}

/* A finding from before the last boot, or a report outside of any session, changes nothing. */
void ill_attack(struct sim *s, int node)
{
    struct member *m = cluster_meet(s->cluster, s->nodes[node].name);
    const struct observed *o = watch_observed(s->watch, m);
    const struct word words[] = {{AIL_SERVICE, RESULT_FATAL, 0}, {AIL_GPU, RESULT_LOST, 0}};
    char id[37];
    bool want;
    unsigned boot = s->nodes[node].boot + 7;
    fleet_boot_id(boot, node, id);
    size_t jobs = 0, after = 0;
    if (!*o->boot)
        return;
    for (const struct job *j = s->jobs; j; j = j->after)
        jobs++;
    enum health was = watch_health(s->watch, (struct mono){s->now}, m);
    take(s, node, boot, true, words, 2, &want);
    for (const struct job *j = s->jobs; j; j = j->after)
        after++;
    if (after != jobs || watch_health(s->watch, (struct mono){s->now}, m) != was)
        sim_fail(s, "%s: what was found on another boot counted (5)", s->nodes[node].name);
    s->refused++;
}

/* --- the scheduler ---------------------------------------------------------------------------- */

bool ill_may_work(const struct sim *s, int i)
{
    return !s->ill || !s->slurm || (!s->patients[i].drained_there && !held_there(s, i));
}

/* A node that is to be drained now, and is not yet, may get work, so its earlier idle state says nothing any
 * more. */
void ill_changed(struct sim *s, const struct hostlist *nodes)
{
    for (size_t k = 0; s->ill && s->slurm && k < nodes->n; k++) {
        int i = sim_index(s, nodes->names[k]);
        struct member *m = cluster_find(s->cluster, nodes->names[k]);
        struct patient *p = i < 0 ? NULL : &s->patients[i];
        if (!m || !p || !p->scheduler || p->scheduled != WORK_IDLE || !m->n_claims || p->drained_there)
            continue;
        p->scheduled = WORK_UNKNOWN;
        watch_scheduler(s->watch, m, WORK_UNKNOWN, false);
    }
}

/* As the driver notes it: no other work follows the work that ends there. */
static void record_drain(struct sim *s, int i)
{
    CLEANUP_TEXT struct text key = {0};
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    struct patient *p = &s->patients[i];
    p->recorded_there = p->drained_there;
    const char *done = p->drained_there
                           ? "{\"claim\":\"1.1\",\"state\":\"drained\",\"at\":\"7\",\"reservation\":false}"
                           : "null";
    text_printf(&key, "effect/slurm.%s", s->nodes[i].name);
    hostlist_add(&nodes, s->nodes[i].name);
    const struct command cmd = {.kind = COMMAND_EFFECT,
                                .actor = "driver",
                                .at = {INT64_C(1700000000000000000) + s->now + s->wall_step},
                                .nodes = &nodes,
                                .effect = {key.s, done}};
    agreed_submit(s, &cmd);
}

void ill_scheduler(struct sim *s)
{
    for (size_t i = 0; i < s->n && s->slurm; i++) {
        struct patient *p = &s->patients[i];
        struct member *m = cluster_meet(s->cluster, s->nodes[i].name);
        bool bad = s->slurm_until > s->now;
        bool wanted = m->n_claims > 0;
        if (s->nodes[i].busy)
            p->completing_until = s->now + 20 * STEP_NS;
        if (wanted == p->drained_there || bad)
            p->drain_at = s->now + (int64_t)sim_random(s, 8) * STEP_NS;
        else if (s->now >= p->drain_at)
            p->drained_there = wanted;
        if (mend_ends_work(s) && p->recorded_there != p->drained_there && !s->jobs)
            record_drain(s, (int)i);
        if ((s->step + (long)i) % 15 != 0)
            continue;
        bool idle_counts = !wanted || p->drained_there; /* until then more work may come */
        enum work is = bad ? WORK_UNKNOWN : s->nodes[i].busy ? WORK_BUSY : WORK_IDLE;
        is = is == WORK_IDLE && !idle_counts ? WORK_UNKNOWN : is;
        bool completing = !bad && p->completing_until > s->now;
        p->scheduler = true;
        p->scheduled = is == WORK_IDLE && completing ? WORK_BUSY : is;
        bool there = s->nodes[i].up && s->nodes[i].cut_until <= s->now;
        watch_scheduler(s->watch, m, is, completing);
        if (!bad)
            watch_slurmd(s->watch, m, there ? SLURMD_ANSWERS : SLURMD_SILENT);
        held_read(s, (int)i);
    }
    held_turn(s);
}
