/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parties that carry out operations. The controller asks before it begins, and records that it begins (as
 * src/controller/outbox/actors.c and src/driver/operate.c do). Agents carry out each id once and remember it.
 * Drivers switch the power. All of them succeed, fail, hang, and are killed in between. Also what people say
 * in a repair.
 */
#include "sim.h"

#include <errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITS, BEGINS, BEGUN };

static const int64_t SECOND = INT64_C(1000000000);

/* --- agents ----------------------------------------------------------------------------------- */

static struct deed *last_deed(struct patient *p)
{
    return p->here.n_deeds ? &p->here.deeds[p->here.n_deeds - 1] : NULL;
}

static struct deed *find_deed(struct patient *p, const char *id)
{
    for (size_t i = 0; i < p->here.n_deeds; i++)
        if (strcmp(p->here.deeds[i].id, id) == 0)
            return &p->here.deeds[i];
    return NULL;
}

static struct deed *add_deed(struct patient *p, const struct deed *asked, const char *state)
{
    if (p->here.n_deeds == DEEDS_KEPT)
        memmove(p->here.deeds, p->here.deeds + 1, --p->here.n_deeds * sizeof *p->here.deeds);
    struct deed *d = &p->here.deeds[p->here.n_deeds++];
    *d = *asked;
    d->state = state;
    return d;
}

static void say_deed(struct sim *s, int i, const struct deed *d)
{
    struct fleet_node *n = &s->nodes[i];
    if (n->link != LINK_OPEN || !fleet_reaches(s, i))
        return;
    struct message *m = mem_alloc(sizeof *m);
    *m = (struct message){
        .kind = MESSAGE_DONE, .from = i, .to = CONTROLLER, .conn = n->conn, .boot = n->boot, .deed = *d};
    fleet_send(s, m);
}

void repair_tell(struct sim *s, int node)
{
    for (size_t k = 0; k < s->patients[node].here.n_deeds; k++)
        say_deed(s, node, &s->patients[node].here.deeds[k]);
}

static void end_deed(struct sim *s, int i, const char *state)
{
    struct patient *p = &s->patients[i];
    struct deed *d = last_deed(p);
    p->now.on = false;
    d->state = state;
    sim_say(s, "%s: operation %s (%s): %s", s->nodes[i].name, d->id, d->run, state);
    say_deed(s, i, d);
}

/* A new agent finds the operation begun. */
void repair_agent_started(struct sim *s, int node, bool booted)
{
    struct patient *p = &s->patients[node];
    struct deed *d = last_deed(p);
    p->now.on = false;
    if (d && strcmp(d->state, "begun") == 0)
        d->state = strcmp(d->run, "reboot") == 0 && d->boot != s->nodes[node].boot ? "done" : "unknown";
}

/* An operation in service owes no examination. */
static bool is_tended(const struct sim *s, int i)
{
    const struct member *m = s->running ? cluster_find(s->cluster, s->nodes[i].name) : NULL;
    const struct repair *r = m ? member_repairs(m) : NULL;
    return r && r->step == STEP_TEND;
}

static void finish_reboot(struct sim *s, int i)
{
    struct patient *p = &s->patients[i];
    if (p->now.fails) {
        end_deed(s, i, "failed");
        return;
    }
    p->now.on = false;
    ill_cure(s, i, "reboot");
    p->here.tried_at = s->now;
    fleet_reboot(s, i);
    machine_tempts(s, i);
}

static void finish_check(struct sim *s, int i)
{
    struct patient *p = &s->patients[i];
    struct deed *d = last_deed(p);
    enum ail k = strcmp(d->run, "check:deep") == 0 ? AIL_DEEP : AIL_DEEPER;
    enum result r = p->now.fails ? RESULT_UNKNOWN : ill_truth(s, i, k);
    CLEANUP_JSON json_t *verdict = ill_verdict(k, r);
    CLEANUP_FREE char *text = json_write(verdict);
    snprintf(d->verdict, sizeof d->verdict, "%s", text);
    if (r == RESULT_OK)
        p->here.passed_at[k - AIL_DEEP] = s->now;
    else if (result_fails(r))
        p->here.failed_at[k - AIL_DEEP] = s->now, machine_tempts(s, i);
    end_deed(s, i, "done");
}

void repair_agent_step(struct sim *s, int node)
{
    struct patient *p = &s->patients[node];
    if (!p->now.on)
        return;
    const struct deed *d = last_deed(p);
    if (s->now >= p->now.deadline) {
        end_deed(s, node,
                 strcmp(d->run, "reboot") == 0 || strncmp(d->run, "check:", 6) == 0 ? "unknown" : "failed");
        return;
    }
    if (s->now < p->now.ends || p->now.hangs)
        return;
    if (strncmp(d->run, "check:", 6) == 0) {
        finish_check(s, node);
    } else if (strcmp(d->run, "reboot") == 0) {
        finish_reboot(s, node);
    } else {
        if (!p->now.fails)
            ill_cure(s, node, d->run);
        if (strncmp(d->run, "forget:", 7) != 0 && !is_tended(s, node))
            p->here.tried_at = s->now;
        end_deed(s, node, p->now.fails ? "failed" : "done");
        machine_tempts(s, node);
    }
}

void repair_act(struct sim *s, const struct message *m)
{
    struct fleet_node *n = &s->nodes[m->to];
    struct patient *p = &s->patients[m->to];
    if (!fleet_reaches(s, m->to) || n->link != LINK_OPEN || n->conn != m->conn)
        return;
    struct deed *known = find_deed(p, m->deed.id);
    if (known) {
        say_deed(s, m->to, known);
        return;
    }
    if (p->now.on || m->deed.boot != n->boot) {
        say_deed(s, m->to, add_deed(p, &m->deed, "refused"));
        return;
    }
    mend_executed(s, m->to, m->deed.id, m->deed.run);
    struct deed *d = add_deed(p, &m->deed, "begun");
    p->now.on = true;
    p->now.hangs = !s->calm && sim_random(s, 10) == 0;
    p->now.fails = !s->calm && sim_random(s, 5) == 0;
    p->now.ends = s->now + (int64_t)(1 + sim_random(s, 40)) * STEP_NS;
    p->now.deadline = s->now + m->deadline;
    say_deed(s, m->to, d);
}

/* --- the controller's part -------------------------------------------------------------------- */

static struct wall wall(const struct sim *s)
{
    return (struct wall){INT64_C(1700000000000000000) + s->now + s->wall_step};
}

static void result(struct sim *s, int i, const char *state, const char *text)
{
    struct patient *p = &s->patients[i];
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/operate.%s", s->nodes[i].name);
    CLEANUP_JSON json_t *done = json_pack("{s:s,s:s}", "state", state, "id", p->actor.id);
    CLEANUP_TEXT struct text at = {0};
    text_printf(&at, "%lld", (long long)wall(s).ns);
    if (strcmp(state, "begun") == 0)
        json_object_set_new(done, "at", json_string(at.s));
    else
        json_object_set_new(done, "text", json_string(text));
    CLEANUP_FREE char *json = json_write(done);
    hostlist_add(&nodes, s->nodes[i].name);
    const struct command cmd = {
        .kind = COMMAND_EFFECT, .actor = "driver", .at = wall(s), .nodes = &nodes, .effect = {key.s, json}};
    agreed_submit(s, &cmd);
}

static void tell(struct sim *s, int i, const char *run, const char *boot, int64_t left)
{
    struct fleet_node *n = &s->nodes[i];
    unsigned of;
    if (n->link != LINK_OPEN || n->cut_until > s->now || sscanf(boot, "%8x", &of) != 1)
        return;
    struct message *m = mem_alloc(sizeof *m);
    *m = (struct message){.kind = MESSAGE_ACT,
                          .from = CONTROLLER,
                          .to = i,
                          .conn = n->conn,
                          .deadline = left > SECOND / 1000 ? left : SECOND / 1000};
    m->deed.boot = of;
    snprintf(m->deed.run, sizeof m->deed.run, "%s", run);
    snprintf(m->deed.id, sizeof m->deed.id, "%s", s->patients[i].actor.id);
    fleet_send(s, m);
}

static bool is_the_agents(const char *run)
{
    return strncmp(run, "node:", 5) == 0 || strncmp(run, "check:", 6) == 0 || strcmp(run, "reboot") == 0 ||
           strncmp(run, "forget:", 7) == 0;
}

static void begin(struct sim *s, int i, const char *run, const char *of)
{
    struct patient *p = &s->patients[i];
    struct err e = {0};
    struct member *m = cluster_find(s->cluster, s->nodes[i].name);
    int rc = watch_may_operate(s->watch, (struct mono){s->now}, m, p->actor.id, &e);
    if (rc == -EAGAIN || rc == -ESTALE) {
        p->actor.next = s->now + SECOND / (rc == -ESTALE ? 10 : 2);
        return;
    }
    if (rc == 0) {
        mend_may(s, i, run, of);
        held_over(s, i, run);
    }
    p->actor.next = s->now + 30 * SECOND;
    p->actor.state = BEGINS;
    p->actor.own = rc == 0;
    result(s, i, rc == 0 ? "begun" : "refused", e.msg);
}

/* The record says begun, by this process; otherwise the outcome is not known. */
static void power(struct sim *s, int i, const char *run)
{
    struct patient *p = &s->patients[i];
    if (!p->actor.own) {
        result(s, i, "unknown", "somebody else began it");
        p->actor.next = s->now + 30 * SECOND;
        return;
    }
    if (strcmp(p->power.id, p->actor.id) == 0) {
        if (!p->power.on)
            result(s, i, p->power.fails ? "failed" : "done", "the BMC says so");
        p->actor.next = s->now + 5 * SECOND;
        return;
    }
    struct err e = {0};
    int rc = watch_may_operate(s->watch, (struct mono){s->now}, cluster_find(s->cluster, s->nodes[i].name),
                               p->actor.id, &e);
    if (rc == -ESTALE) {
        p->actor.next = s->now + SECOND / 10;
        return;
    }
    if (rc < 0) {
        result(s, i, "refused", e.msg);
        p->actor.next = s->now + 30 * SECOND;
        return;
    }
    mend_executed(s, i, p->actor.id, run);
    held_over(s, i, run);
    if (cluster_switch(s->cluster, "stop"))
        sim_fail(s, "%s: %s is carried out while everything is stopped (6)", s->nodes[i].name, run);
    snprintf(p->power.id, sizeof p->power.id, "%s", p->actor.id);
    p->power.on = true;
    p->power.fails = !s->calm && sim_random(s, 5) == 0;
    p->power.replaces = strcmp(run, "replace") == 0;
    p->power.asks = strcmp(run, "work:requeue") == 0;
    p->power.ends = s->now + (int64_t)sim_random(s, 50) * STEP_NS;
    p->actor.next = s->now + 2 * SECOND;
}

static void power_step(struct sim *s, int i)
{
    struct patient *p = &s->patients[i];
    if (!p->power.on || s->now < p->power.ends)
        return;
    p->power.on = false;
    if (p->power.fails)
        return;
    if (p->power.replaces) {
        machine_replace(s, i);
        return;
    }
    if (p->power.asks) { /* the scheduler requeues the jobs, or refuses to */
        s->nodes[i].busy = s->nodes[i].busy && sim_random(s, 4) == 0;
        return;
    }
    ill_cure(s, i, "power.cycle");
    p->here.tried_at = s->now;
    fleet_reboot(s, i);
    lost_cycled(s, i);
    machine_tempts(s, i);
}

/* Asks each time whether the agent may be told to begin. An operation that no agent was told about is
 * refused. */
static void follow(struct sim *s, int i, const char *run, const char *boot, int64_t left)
{
    struct patient *p = &s->patients[i];
    struct member *m = cluster_find(s->cluster, s->nodes[i].name);
    struct err e = {0};
    int rc = watch_may_operate(s->watch, (struct mono){s->now}, m, p->actor.id, &e);
    bool may = rc == 0;
    p->actor.next = s->now + 5 * SECOND;
    if (rc == -ESTALE) {
        p->actor.next = s->now + SECOND / 10;
        return;
    }
    if (may) {
        held_over(s, i, run);
        p->actor.told = true;
        tell(s, i, run, boot, left);
    } else if (p->actor.own && !p->actor.told) {
        result(s, i, "refused", e.msg);
    }
}

static const char *word(const json_t *o, const char *key)
{
    const char *t = json_string_value(json_object_get(o, key));
    return t ? t : "";
}

static void turn(struct sim *s, int i)
{
    struct patient *p = &s->patients[i];
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/operate.%s", s->nodes[i].name);
    const char *value = cluster_effect_value(s->cluster, key.s);
    CLEANUP_JSON json_t *o = value ? json_read(value, strlen(value), NULL) : NULL;
    const char *state = word(json_object_get(o, "done"), "state"), *run = word(o, "run");
    bool open = o && (!*state || strcmp(state, "begun") == 0);
    if (!open) {
        memset(&p->actor, 0, sizeof p->actor);
        return;
    }
    if (strcmp(p->actor.id, word(o, "id")) != 0) {
        memset(&p->actor, 0, sizeof p->actor);
        snprintf(p->actor.id, sizeof p->actor.id, "%s", word(o, "id"));
    }
    if (*state && p->actor.state != BEGUN) {
        p->actor.state = BEGUN;
        p->actor.next = 0;
    }
    if (s->now < p->actor.next)
        return;
    uint64_t deadline = 0;
    text_parse_u64(word(o, "deadline"), 0, INT64_MAX, &deadline, NULL);
    int64_t left = (int64_t)deadline - wall(s).ns;
    if (p->actor.state != BEGUN) {
        begin(s, i, run, word(o, "of"));
    } else if (!is_the_agents(run)) {
        power(s, i, run);
    } else if (left < -60 * SECOND) {
        p->actor.next = s->now + 30 * SECOND;
        result(s, i, "unknown", "the agent did not report the outcome");
    } else {
        follow(s, i, run, word(o, "boot"), left);
    }
}

void repair_drivers(struct sim *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        const struct repair *r = m ? member_treated(m) : NULL;
        power_step(s, (int)i);
        if ((r && *r->operation) || *s->patients[i].actor.id)
            turn(s, (int)i);
    }
}

void repair_done(struct sim *s, const struct message *m)
{
    struct patient *p = &s->patients[m->from];
    const struct observed *o = watch_observed(s->watch, cluster_meet(s->cluster, s->nodes[m->from].name));
    if (!o->session || strcmp(p->actor.id, m->deed.id) != 0 || p->actor.state != BEGUN ||
        strcmp(m->deed.state, "begun") == 0)
        return;
    p->actor.next = s->now + 30 * SECOND;
    result(s, m->from, m->deed.state, m->deed.verdict);
}

/* --- people ----------------------------------------------------------------------------------- */

static int any_in_repair(struct sim *s, enum step step)
{
    for (int tries = 0; tries < 20; tries++) {
        int i = (int)sim_random(s, s->n);
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        const struct repair *r = m ? member_repair(m) : NULL;
        if (r && (step == STEPS || r->step == step))
            return i;
    }
    return (int)sim_random(s, s->n);
}

/* Names an open finding, on its device or on any. False when none is open. */
static bool name_finding(struct sim *s, int i, struct finding_name *out)
{
    const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
    const struct ailment *a = m ? member_ailment(m) : NULL;
    if (!a || !a->n_open)
        return false;
    const struct incident *one = &a->open[sim_random(s, a->n_open)];
    const struct incident_finding *f = &one->findings[sim_random(s, one->n)];
    *out = (struct finding_name){finding_fault(f), sim_random(s, 2) ? f->f.device : NULL};
    return true;
}

/* False when there is nothing to commit. */
bool repair_operator(struct sim *s, struct command *cmd, struct hostlist *nodes, struct finding_name *named)
{
    static const enum by_hand moves[] = {BY_HAND_REPAIRED, BY_HAND_REPAIRED, BY_HAND_REPAIRED,
                                         BY_HAND_DRAIN,    BY_HAND_DRAIN,    BY_HAND_QUARANTINE};
    static const enum by_hand maintenance[] = {BY_HAND_MAINTENANCE,      BY_HAND_RESTART,
                                               BY_HAND_RESTART,          BY_HAND_MAINTENANCE_OVER,
                                               BY_HAND_MAINTENANCE_OVER, BY_HAND_MAINTENANCE_OVER};
    enum by_hand move = sim_random(s, 20) ? moves[sim_random(s, 6)] : BY_HAND_RETIRE;
    int i = any_in_repair(s, STEPS);
    switch (sim_random(s, 8)) {
    case 0:
    case 1:
        cmd->kind = COMMAND_TRANSITION;
        i = move == BY_HAND_DRAIN ? (int)sim_random(s, s->n) : any_in_repair(s, STEP_QUEUE);
        cmd->transition = (struct transition_command){.what = move};
        break;
    case 2:
    case 3:
        cmd->kind = sim_random(s, 4) ? COMMAND_REPAIR_APPROVE : COMMAND_REPAIR_REFUSE;
        i = any_in_repair(s, STEP_REMEDY);
        break;
    case 4:
        cmd->kind = COMMAND_SWITCH;
        cmd->switched.name = sim_random(s, 3) ? "latch" : "stop";
        cmd->switched.on = sim_random(s, 4) == 0;
        break;
    case 5:
        cmd->kind = COMMAND_TICKET;
        i = any_in_repair(s, STEP_QUEUE);
        cmd->ticket.what = sim_random(s, 2) ? TICKET_TAKEN : TICKET_GIVEN_BACK;
        break;
    case 6:
        i = any_in_repair(s, STEP_QUEUE);
        if (name_finding(s, i, named)) {
            cmd->kind = COMMAND_ANSWER;
            cmd->answer = (struct answer_command){60, 1, named};
            break;
        }
        cmd->kind = COMMAND_OVERRIDE;
        mend_answered(s, i);
        break;
    default:
        cmd->kind = COMMAND_TRANSITION;
        cmd->transition = (struct transition_command){.what = maintenance[sim_random(s, 6)]};
        break;
    }
    if (cmd->kind != COMMAND_SWITCH && !cluster_find(s->cluster, s->nodes[i].name))
        return false;
    if (cmd->kind != COMMAND_SWITCH)
        hostlist_add(nodes, s->nodes[i].name);
    return true;
}

/* Fills in everything but the person, the time and the nodes. i: the node, or -1. */
static void person_says(struct sim *s, int i, struct command cmd)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    if (i >= 0)
        hostlist_add(&nodes, s->nodes[i].name);
    cmd.actor = "root";
    cmd.at = wall(s);
    cmd.nodes = &nodes;
    cmd.reason = "looked at";
    agreed_submit(s, &cmd);
}

static void person_moves(struct sim *s, int i, struct transition_command says)
{
    person_says(s, i, (struct command){.kind = COMMAND_TRANSITION, .transition = says});
}

static void person_lets_go(struct sim *s, const char *name)
{
    if (cluster_switch(s->cluster, name))
        person_says(s, -1, (struct command){.kind = COMMAND_SWITCH, .switched = {name, false}});
}

/* In the end people answer everything that waits for them. */
void repair_people(struct sim *s)
{
    if (s->jobs)
        return;
    person_lets_go(s, "stop");
    person_lets_go(s, "latch");
    for (size_t k = 0; k < s->n_opinions && k < 10; k++)
        if (s->opinions[k].kind != CLAIM_SILENT)
            person_says(
                s, s->opinions[k].node,
                (struct command){.kind = s->opinions[k].kind == CLAIM_DRAIN ? COMMAND_UNDRAIN : COMMAND_UP,
                                 .release = {s->opinions[k].id}});
    for (size_t i = 0; i < s->n; i++) {
        struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        const struct repair *r = m ? member_repair(m) : NULL;
        if (s->ill && !r)
            ill_cure(s, (int)i, "forget:"); /* faults with a shared cause are left to people */
        if (!r || !s->listed[i])
            continue;
        person_moves(s, (int)i, (struct transition_command){.what = BY_HAND_MAINTENANCE_OVER});
        if (r->step == STEP_QUEUE || r->step == STEP_QUARANTINE || r->step == STEP_RETIRED)
            person_moves(s, (int)i, (struct transition_command){.what = BY_HAND_REPAIRED, .answers = true});
        else if (r->approval == APPROVAL_WANTED)
            person_says(s, (int)i, (struct command){.kind = COMMAND_REPAIR_APPROVE});
    }
}
