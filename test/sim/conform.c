/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The components of nodes: a few variants between which they change, agents that report them and send lists
 * when they are asked, a person who accepts, rolls out and approves, and a driver that reboots. Beside it a
 * naive opinion of what is proven, component by component, from the reports that this controller got:
 *
 *   a  drift is found, persists or is overdue only when it is proven, and only a drained, idle node is
 *      rebooted                                               check_conform_proposal, conform_tick
 *   b  drift ends only when it is proven that it is gone      check_conform_proposal
 *   c  only a person releases a sensitive node, or one that was overdue            check_release
 *   d  a drifted node is recorded in the end, and a node that is right again is not; a sensitive node that is
 *      drifted is held in the end, whenever it became sensitive                   check_conform
 *   f  a drifted node of a class that excludes is held in the end, and while most of the class drift, or an
 *      update rolls, no further one is         check_conform, check_release
 *   e  rows for placing, and the shown state, say no more than what is proven      check_conform
 */
#include "sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MASS_NS INT64_C(12000000000) /* of a mass of drifted nodes; a commit takes 8 s */

enum { PARTS = 3 };
static const char *const PART_NAMES[PARTS] = {"kernel.release", "nic.count", "package.x"};
static const enum severity PART_SEVERITY[PARTS] = {SEVERITY_MAJOR, SEVERITY_MAJOR, SEVERITY_MINOR};
static const char *const MADE[VARIANTS][PARTS] = {/* NULL: could not be read */
                                                  {"1", "2", "a"},  {"2", "2", "a"},  {"1", "2", "b"},
                                                  {"1", NULL, "a"}, {"2", NULL, "a"}, {"3", "2", "b"}};

/* --- lists ------------------------------------------------------------------------------------ */

static void list_of(int variant, struct components *c)
{
    for (int i = 0; i < PARTS; i++) {
        const char *value = MADE[variant][i];
        components_add(c, PART_NAMES[i], value ? COMPONENT_VALUE : COMPONENT_UNKNOWN,
                       value ? value : "denied", NULL);
    }
    components_sort(c, NULL);
}

static struct fingerprint fingerprint_of(int variant)
{
    static struct fingerprint all[VARIANTS];
    static bool done[VARIANTS];
    if (!done[variant]) {
        struct components c = {0};
        list_of(variant, &c);
        all[variant] = components_fingerprint(&c);
        done[variant] = true;
        components_fini(&c);
    }
    return all[variant];
}

/* For the node's own list, and for a list joined with its BMC's components. */
static int variant_of(const struct listing *g)
{
    struct components own = {0};
    for (uint32_t i = 0; i < g->n; i++)
        if (!component_is_redfish(g->components[i]->name))
            components_add(&own, g->components[i]->name, g->components[i]->state, g->components[i]->value,
                           NULL);
    components_sort(&own, NULL);
    const struct fingerprint is = components_fingerprint(&own);
    components_fini(&own);
    for (int i = 0; i < VARIANTS; i++) {
        struct fingerprint id = fingerprint_of(i);
        if (fingerprint_equal(&id, &is))
            return i;
    }
    return -1;
}

/* It is known by a baseline, or because a node has sent it. */
static bool list_is_here(const struct sim *s, int variant)
{
    struct fingerprint id = fingerprint_of(variant);
    const struct listing *g = listings_find(cluster_listings(s->cluster), &id);
    return g && g->known;
}

/* --- the naive opinion ------------------------------------------------------------------------ */

static bool is_gpu(const struct sim *s, int node)
{
    return node % 2 == 0 && s->listed[node];
}

static const struct baseline *baseline_for(const struct sim *s, int node)
{
    return cluster_baseline(s->cluster, is_gpu(s, node) ? "gpu" : "default");
}

static const struct drift *drift_on(const struct sim *s, int node)
{
    const struct member *m = cluster_find(s->cluster, s->nodes[node].name);
    return m && m->past ? m->past->drift : NULL;
}

struct opinion_of_parts {
    bool different, unknown;
    enum severity worst;
};

static struct opinion_of_parts compare(const struct sim *s, int node, int a, int b)
{
    struct opinion_of_parts o = {0};
    for (int i = 0; i < PARTS; i++) {
        const char *x = MADE[a][i], *y = MADE[b][i];
        if (i == 2 && s->ignores && is_gpu(s, node))
            continue;
        if (!x || !y) {
            o.unknown = true;
        } else if (strcmp(x, y) != 0) {
            o.different = true;
            o.worst = PART_SEVERITY[i] > o.worst ? PART_SEVERITY[i] : o.worst;
        }
    }
    return o;
}

/* From what the node told this controller on its present boot, not too long ago. */
static enum conformance opinion_on(const struct sim *s, int node)
{
    const struct fleet_node *n = &s->nodes[node];
    const struct baseline *b = baseline_for(s, node);
    if (!b || n->told < 0 || n->lies || s->now - n->verified_at > s->policy.conform.stale.ns + span_s(2).ns)
        return CONFORMANCE_UNKNOWN;
    struct opinion_of_parts base = compare(s, node, variant_of(b->listing), n->told);
    if (!base.different && !base.unknown)
        return CONFORMANCE_CONFORMANT;
    if (!b->rollout || !rollout_has(b->rollout, n->name))
        return base.different ? CONFORMANCE_DRIFTED : CONFORMANCE_UNKNOWN;
    struct opinion_of_parts to = compare(s, node, variant_of(b->rollout->to), n->told);
    if (!to.different && !to.unknown)
        return CONFORMANCE_CONFORMANT;
    return base.different && to.different ? CONFORMANCE_DRIFTED : CONFORMANCE_UNKNOWN;
}

static bool is_sensitive(const struct sim *s, int node)
{
    return cluster_find(s->cluster, s->nodes[node].name)->spec.sensitive;
}

/* Most of the class are drifted at once, and have been for a sweep. */
static bool mass_drift(const struct sim *s, bool gpu)
{
    size_t all = 0, drifted = 0;
    if (s->now - s->judged_at < span_s(3).ns || s->now - s->counted_at < span_s(3).ns)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const struct baseline *b = baseline_for(s, (int)i);
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        if (is_gpu(s, (int)i) != gpu || !s->listed[i])
            continue;
        all++;
        struct agreed a = member_agreed(m);
        if (b && b->rollout && rollout_has(b->rollout, s->nodes[i].name))
            continue;
        drifted += !a.overdue && !a.silent && !a.down && s->now - s->nodes[i].told_at > span_s(3).ns &&
                   opinion_on(s, (int)i) == CONFORMANCE_DRIFTED && drift_on(s, (int)i) &&
                   s->now - s->nodes[i].verified_at < s->policy.conform.stale.ns - span_s(3).ns;
    }
    return drifted >= 3 && drifted * 100 > all * s->policy.conform.drift_share_percent;
}

/* --- a and b: proposals ------------------------------------------------------------------------ */

static void check_overdue(struct sim *s, int i)
{
    const struct fleet_node *n = &s->nodes[i];
    int64_t timeout = (is_sensitive(s, i) ? s->policy.conform.sensitive : s->policy.conform.timeout).ns;
    bool clock_may_err = s->began > n->drift_since && s->wall_at > n->drift_since - span_s(10).ns;
    if (!drift_on(s, i))
        sim_fail(s, "%s is overdue without drift (a)", n->name);
    if (s->now - n->drift_since < timeout - span_s(12).ns && !clock_may_err) /* a commit takes 8 s */
        sim_fail(s, "%s is overdue after %.1f s (a)", n->name, (double)(s->now - n->drift_since) / 1e9);
    if (mass_drift(s, is_gpu(s, i)))
        sim_fail(s, "%s is overdue while most of its class drift (a)", n->name);
}

static void check_reboot(struct sim *s, int i)
{
    const struct fleet_node *n = &s->nodes[i];
    const struct member *m = cluster_find(s->cluster, n->name);
    const struct observed *o = watch_observed(s->watch, m);
    const struct drift *d = drift_on(s, i);
    if (!is_gpu(s, i) || !d || d->severity < SEVERITY_MAJOR || !member_agreed(m).drained)
        sim_fail(s, "%s is to be rebooted, and is not drained for a drift that asks for it (a)", n->name);
    if (o->work != WORK_IDLE || o->beat.liveness != LIVENESS_LIVE || strcmp(d->boot, o->boot) != 0)
        sim_fail(s, "%s is to be rebooted while %s, %s (a)", n->name, work_name(o->work),
                 liveness_name(o->beat.liveness));
    if (mass_drift(s, true))
        sim_fail(s, "%s is to be rebooted while most of its class drift (a)", n->name);
}

void check_conform_proposal(struct sim *s, enum command_kind kind, const struct hostlist *nodes)
{
    for (size_t k = 0; k < nodes->n; k++) {
        int i = sim_index(s, nodes->names[k]);
        enum conformance is = opinion_on(s, i);
        bool asserts = kind == COMMAND_DRIFT || kind == COMMAND_PERSISTS || kind == COMMAND_OVERDUE ||
                       kind == COMMAND_REBOOT;
        if (asserts && is != CONFORMANCE_DRIFTED)
            sim_fail(s, "%s for %s, which is %s (a)", command_name(kind), nodes->names[k],
                     conformance_name(is));
        if (kind == COMMAND_RESTORED && is != CONFORMANCE_CONFORMANT)
            sim_fail(s, "%s is found right again, and is %s (b)", nodes->names[k], conformance_name(is));
        if (kind == COMMAND_OVERDUE)
            check_overdue(s, i);
        if (kind == COMMAND_REBOOT)
            check_reboot(s, i);
    }
}

/* --- c: releases ------------------------------------------------------------------------------- */

static bool held_by(const struct member *m, enum claim_kind kind)
{
    for (size_t i = 0; m && i < m->n_claims; i++)
        if (m->claims[i].claim->kind == kind)
            return true;
    return false;
}

void conform_note_holds(struct sim *s)
{
    for (int gpu = 0; gpu < 2; gpu++) {
        bool many = mass_drift(s, gpu);
        s->mass_at[gpu] = !many ? 0 : s->mass_at[gpu] ? s->mass_at[gpu] : s->now;
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        s->nodes[i].held_drift = held_by(m, CLAIM_DRIFT);
        s->nodes[i].held_overdue = held_by(m, CLAIM_OVERDUE);
    }
}

void check_release(struct sim *s, const struct job *j)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct fleet_node *n = &s->nodes[i];
        const struct member *m = cluster_find(s->cluster, n->name);
        bool released = n->held_drift && !held_by(m, CLAIM_DRIFT);
        bool held = !n->held_drift && held_by(m, CLAIM_DRIFT);
        if (held && !j->sensitive[i] && s->mass_at[is_gpu(s, (int)i)] &&
            s->now - s->mass_at[is_gpu(s, (int)i)] > MASS_NS)
            sim_fail(s, "%s is held for its drift while most of its class drift (f)", n->name);
        if (n->held_overdue && !held_by(m, CLAIM_OVERDUE) && j->kind != COMMAND_APPROVE)
            sim_fail(s, "%s was overdue and is released by %s (c)", n->name, command_name(j->kind));
        if (released && (j->sensitive[i] || n->held_overdue) && j->kind != COMMAND_APPROVE)
            sim_fail(s, "%s is sensitive and is released by %s (c)", n->name, command_name(j->kind));
        if (released && j->kind != COMMAND_APPROVE && j->kind != COMMAND_RESTORED)
            sim_fail(s, "%s is released by %s (c)", n->name, command_name(j->kind));
    }
    s->drifts += j->kind == COMMAND_DRIFT;
    s->restored += j->kind == COMMAND_RESTORED;
    s->persists += j->kind == COMMAND_PERSISTS;
    s->overdue += j->kind == COMMAND_OVERDUE;
    s->approved += j->kind == COMMAND_APPROVE;
    if (j->kind >= COMMAND_BASELINE_ACCEPT && j->kind <= COMMAND_ROLLOUT_REVERT)
        s->judged_at = s->now;
    if (j->kind == COMMAND_UP || j->kind == COMMAND_HEARD || j->kind == COMMAND_APPROVE)
        s->counted_at = s->now;
    for (size_t k = j->from; k < j->next && j->kind == COMMAND_REBOOT; k++) {
        s->nodes[sim_index(s, j->nodes.names[k])].reboot_asked = true;
        s->reboots++;
    }
}

/* --- d and e: what must be in the end ----------------------------------------------------------- */

/* In a rollout, a node that matches neither listing has ten minutes more. */
static int64_t record_limit(const struct sim *s, int i)
{
    const struct baseline *b = baseline_for(s, i);
    bool rolls = b && b->rollout && rollout_has(b->rollout, s->nodes[i].name);
    return span_s(rolls ? 625 : 25).ns + 10 * s->delay_max;
}

/* Its class keeps drifted nodes from work, and neither mass drift nor an update prevents that. */
static bool excludes(const struct sim *s, int i, const struct member *m)
{
    const struct baseline *b = baseline_for(s, i);
    return is_gpu(s, i) && !watch_drift_alarm(s->watch, m->class) &&
           !(b && b->rollout && rollout_has(b->rollout, s->nodes[i].name));
}

static void check_progress(struct sim *s, int i, enum conformance is)
{
    struct fleet_node *n = &s->nodes[i];
    const struct drift *d = drift_on(s, i);
    const struct member *m = cluster_find(s->cluster, n->name);
    int64_t limit = record_limit(s, i);
    bool judged_anew = s->now - s->judged_at < span_s(3).ns;
    bool in_touch = s->listed[i] && n->link == LINK_OPEN && fleet_reaches(s, i) && n->told >= 0 && !n->lies &&
                    list_is_here(s, n->told);
    bool calm = in_touch && s->jobs == NULL && s->store_bad_at < s->now - span_s(20).ns && !judged_anew;
    if (!in_touch || is != n->opinion || judged_anew)
        n->record_due = 0;
    n->opinion = is;
    n->record_due += calm ? STEP_NS : 0;
    if (!in_touch || judged_anew || is != CONFORMANCE_DRIFTED || !(m->spec.sensitive || excludes(s, i, m)) ||
        cluster_excepts(s->cluster, m) || held_by(m, CLAIM_DRIFT))
        n->hold_due = 0;
    n->hold_due += calm ? STEP_NS : 0;
    if (n->hold_due > limit && is == CONFORMANCE_DRIFTED)
        sim_fail(s, "%s is to be held and drifted for %.1f s and it is not held (d, f)", n->name,
                 (double)n->hold_due / 1e9);
    if (n->record_due <= limit)
        return;
    struct standing st;
    watch_standing(s->watch, (struct mono){s->now}, m, &st, NULL);
    if (is == CONFORMANCE_DRIFTED && (!d || d->state == DRIFT_REMEDIED))
        sim_fail(s, "%s is drifted for %.1f s and it is not recorded (d)", n->name,
                 (double)n->record_due / 1e9);
    bool is_mute = s->ill && s->patients[i].bmc_silent >=
                                 3; /* its BMC's components are unknown then, so nothing proves it right */
    if (is == CONFORMANCE_CONFORMANT && d && d->state != DRIFT_REMEDIED && !st.flaps && !is_mute)
        sim_fail(s, "%s is right for %.1f s and recorded as drifted (d)", n->name,
                 (double)n->record_due / 1e9);
}

static void check_shown(struct sim *s, int i, const struct member *m, enum conformance is)
{
    size_t rows;
    const struct fleet_node *n = &s->nodes[i];
    const struct place_row *r = &watch_rows(s->watch, &rows)[m->id];
    const struct drift *d = drift_on(s, i);
    bool recorded = d && d->state != DRIFT_REMEDIED;
    if (s->now - s->judged_at < span_s(3).ns || s->now - n->told_at < span_s(3).ns)
        return;
    bool conformant = !r->drifted && !r->unproven;
    if (conformant && is != CONFORMANCE_CONFORMANT &&
        s->now - n->verified_at < s->policy.conform.stale.ns - span_s(3).ns)
        sim_fail(s, "the row of %s says conformant, and it is %s (e)", n->name, conformance_name(is));
    if (r->drifted && is != CONFORMANCE_DRIFTED && !recorded)
        sim_fail(s, "the row of %s says drifted, and it is %s (e)", n->name, conformance_name(is));
    if (recorded && is == CONFORMANCE_UNKNOWN && n->told < 0 && !r->drifted)
        sim_fail(s, "the row of %s does not say drifted, and it is recorded (e)", n->name);
    if (r->pass == PASS_NONE && held_by(m, CLAIM_DRIFT))
        sim_fail(s, "%s takes work and is held for its drift (e)", n->name);
}

void check_conform(struct sim *s, int node, const struct member *m)
{
    struct fleet_node *n = &s->nodes[node];
    const struct drift *d = drift_on(s, node);
    enum conformance is = opinion_on(s, node);
    if (!d || d->state == DRIFT_REMEDIED)
        n->drift_since = s->now;
    check_progress(s, node, is);
    check_shown(s, node, m, is);
}

/* --- what nodes report -------------------------------------------------------------------------- */

static int64_t recheck(const struct sim *s)
{
    return 4 * s->interval;
}

static void want(struct sim *s, int i)
{
    struct message *m = mem_alloc(sizeof *m);
    *m = (struct message){.kind = MESSAGE_LIST,
                          .from = i,
                          .to = CONTROLLER,
                          .conn = s->nodes[i].conn,
                          .made = s->nodes[i].told,
                          .lie = sim_random(s, 30) == 0};
    if (!fleet_reaches(s, i) || sim_random(s, 1000) < s->loss_per_mille)
        free(m);
    else
        fleet_send(s, m);
}

void conform_opened(struct sim *s, int node, bool anew)
{
    struct fleet_node *n = &s->nodes[node];
    n->said = false;
    if (anew)
        n->told = -1;
}

void conform_told(struct sim *s, int node, int made, unsigned boot)
{
    struct fleet_node *n = &s->nodes[node];
    struct member *m = cluster_meet(s->cluster, n->name);
    char id[37], hex[FINGERPRINT_HEX + 1];
    bool wants;
    struct err e;
    fleet_boot_id(boot, node, id);
    if (strcmp(watch_observed(s->watch, m)->boot, id) != 0)
        return;
    if (n->said && n->told == made) {
        if (s->now - n->verified_at < recheck(s))
            return;
        if (watch_verified(s->watch, (struct mono){s->now}, m, &e) < 0)
            sim_fail(s, "%s: %s", n->name, e.msg);
        n->verified_at = s->now;
        return;
    }
    struct fingerprint f = fingerprint_of(made);
    if (watch_fingerprint(s->watch, (struct mono){s->now}, m, fingerprint_format(&f, hex), &wants, &e) < 0)
        sim_fail(s, "%s: %s", n->name, e.msg);
    if (n->told != made)
        n->told_at = s->now;
    n->said = true;
    n->told = made;
    n->verified_at = s->now;
    if (wants)
        want(s, node);
}

void conform_list(struct sim *s, const struct message *m)
{
    struct fleet_node *n = &s->nodes[m->from];
    struct member *member = cluster_meet(s->cluster, n->name);
    struct components c = {0};
    CLEANUP_TEXT struct text t = {0};
    char hex[FINGERPRINT_HEX + 1];
    struct fingerprint f = fingerprint_of(m->made);
    struct err e;
    list_of(m->lie ? (m->made + 1) % VARIANTS : m->made, &c);
    components_format(&c, &t);
    components_fini(&c);
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    json_object_set_new(body, "fingerprint", json_string(fingerprint_format(&f, hex)));
    json_object_set_new(body, "part", json_integer(0));
    json_object_set_new(body, "parts", json_integer(1));
    int rc = watch_components(s->watch, (struct mono){s->now}, member, body, &e);
    if (rc < 0 && !m->lie && rc != -ENOENT)
        sim_fail(s, "%s: its list is refused: %s", n->name, e.msg);
    if (rc == -EBADMSG) {
        n->lies = true;
        n->told_at = s->now;
        s->liars++;
    }
    if (rc == 0 && !m->lie) {
        if (n->lies)
            n->told_at = s->now;
        n->lies = false;
    }
}

static void on_want(void *arg, struct member *m, const char *fingerprint)
{
    struct sim *s = arg;
    int i = sim_index(s, m->name);
    if (i >= 0)
        want(s, i);
}

/* --- what happens to them ------------------------------------------------------------------------- */

void conform_faults(struct sim *s)
{
    if (s->calm)
        return;
    for (size_t i = 0; i < s->n; i++) {
        struct fleet_node *n = &s->nodes[i];
        if (!sim_chance(s, n->made == 0 ? 120 : 1500))
            continue;
        n->made = sim_random(s, 3) == 0 ? (int)sim_random(s, VARIANTS) : 0;
        sim_say(s, "%s becomes variant %d", n->name, n->made);
    }
    if (!sim_chance(s, 150))
        return;
    int variant = (int)sim_random(s, VARIANTS);
    sim_say(s, "half of the nodes become variant %d", variant);
    for (size_t i = 0; i < s->n; i++)
        if (sim_random(s, 2))
            s->nodes[i].made = variant;
}

/* The driver asks again right before it acts. */
static void reboot_if_asked(struct sim *s, int i)
{
    struct fleet_node *n = &s->nodes[i];
    struct member *m = cluster_find(s->cluster, n->name);
    if (!n->reboot_asked || sim_random(s, 5))
        return;
    const struct observed *o = watch_observed(s->watch, m);
    if (watch_may_reboot(s->watch, (struct mono){s->now}, m, o->boot, NULL) < 0) {
        n->reboot_asked = sim_random(s, 20) != 0;
        return;
    }
    if (opinion_on(s, i) != CONFORMANCE_DRIFTED)
        sim_fail(s, "%s is rebooted, and is %s (a)", n->name, conformance_name(opinion_on(s, i)));
    check_reboot(s, i);
    n->reboot_asked = false;
    if (sim_random(s, 3))
        n->made = variant_of(baseline_for(s, i)->listing);
    fleet_reboot(s, i);
}

void conform_tick(struct sim *s)
{
    if (s->step % 10 != 0)
        return;
    watch_wanted(s->watch, (struct mono){s->now}, on_want, s);
    for (size_t i = 0; i < s->n; i++)
        if (cluster_find(s->cluster, s->nodes[i].name))
            reboot_if_asked(s, (int)i);
}

void conform_begin(struct sim *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct fleet_node *n = &s->nodes[i];
        n->told = -1;
        n->said = n->lies = n->reboot_asked = false;
        n->record_due = n->hold_due = 0;
    }
    s->judged_at = s->now;
}

void conform_classes(const struct sim *s, struct roster *r)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    for (size_t i = 0; i < s->n; i++)
        if (is_gpu(s, (int)i))
            hostlist_add(&nodes, s->nodes[i].name);
    CLEANUP_FREE char *folded = hostlist_fold((const char *const *)nodes.names, nodes.n);
    const struct class_key keys[] = {{"Class", "gpu"},
                                     {"Nodes", nodes.n ? folded : "none"},
                                     {"Drifted", "exclude"},
                                     {"Reboot", "yes"},
                                     {"Ignore", s->ignores ? "package.*" : "nothing"},
                                     {"LostWork", mend_ends_work(s) ? "requeue" : "wait"},
                                     {"ProvisionDeadline", s->seed % 2 ? "40s" : "2m"},
                                     {"ProvisionNew", s->seed % 4 ? "yes" : "no"}};
    struct err e;
    size_t n =
        sizeof keys / sizeof keys[0] - (s->seed % 3 == 0 || s->seed % 5 == 0); /* or like all classes */
    if (classes_add(&r->classes, keys, n, 31, &e) < 0)
        abort();
}

/* --- people --------------------------------------------------------------------------------------- */

static void approve(struct sim *s, struct command *cmd, struct hostlist *nodes)
{
    cmd->kind = COMMAND_APPROVE;
    for (size_t i = 0; i < s->n; i++) {
        const struct drift *d = drift_on(s, (int)i);
        if (s->listed[i] && d && d->state == DRIFT_REMEDIED)
            hostlist_add(nodes, s->nodes[i].name);
    }
    if (nodes->n == 0 && sim_random(s, 4) == 0) /* and now and then a node for which it is too early */
        hostlist_add(nodes, s->nodes[sim_random(s, s->n)].name);
}

/* A node as an example, as the interface needs it. */
static bool choose_example(struct sim *s, struct hostlist *nodes)
{
    const char *name = s->nodes[sim_random(s, s->n)].name;
    const struct member *m = cluster_find(s->cluster, name);
    if (!m || !m->listed || watch_may_be_baseline(s->watch, (struct mono){s->now}, m, NULL) < 0)
        return false;
    hostlist_add(nodes, name);
    return true;
}

bool conform_operator(struct sim *s, struct command *cmd, struct hostlist *nodes)
{
    CLEANUP_HOSTLIST struct hostlist example = {0};
    const char *class = sim_random(s, 2) ? "gpu" : "default";
    int shown;
    cmd->reason = NULL;
    bool first = !cluster_baseline(s->cluster, "gpu") || !cluster_baseline(s->cluster, "default");
    switch (first ? 0 : sim_random(s, 8)) {
    case 0:
        cmd->kind = COMMAND_BASELINE_ACCEPT;
        for (int i = 0; i < 5 && nodes->n == 0; i++)
            choose_example(s, nodes);
        return nodes->n > 0;
    case 1:
        cmd->kind = COMMAND_ROLLOUT_START;
        if (!choose_example(s, &example))
            return false;
        for (size_t i = 0; i < s->n; i++)
            if (s->listed[i] && sim_random(s, 2))
                hostlist_add(nodes, s->nodes[i].name);
        shown = sim_index(s, example.names[0]);
        cmd->rollout_begun = (struct rollout_start_command){.class = is_gpu(s, shown) ? "gpu" : "default",
                                                            .node = s->nodes[shown].name,
                                                            .deadline = {cmd->at.ns + 60 * s->unit}};
        return true;
    case 2:
        cmd->kind = sim_random(s, 2) ? COMMAND_ROLLOUT_ACCEPT : COMMAND_ROLLOUT_REVERT;
        cmd->rollout_end.class = class;
        return true;
    case 3:
        cmd->kind = COMMAND_BASELINE_REVERT;
        cmd->revert = (struct revert_command){class, 1 + (uint32_t)sim_random(s, 3)};
        return true;
    default: approve(s, cmd, nodes); return nodes->n > 0;
    }
}
