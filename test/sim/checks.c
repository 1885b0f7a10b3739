/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbered invariants of the architecture, as far as they can be seen here.
 *
 *   1  same records, same state                           check_state, at each commit, load and reload
 *   3  a node has at most one owner                       check_state, in owners.c
 *   2  what was acknowledged is there, once; 4  nobody's claim goes but by its owner or by its name
 *                                                         check_state, against the opinion
 *   9  no node goes down through a fault that is not its own; and one that is silent does go down
 *                                                         check_proposal, check_step
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

/* Claims other than those of drift, repair and trials, which are compared with the proof (conform.c, mend.c,
 * trial.c). */
static size_t people_claims(const struct member *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_claims; i++)
        n += m->claims[i].claim->kind != CLAIM_DRIFT && m->claims[i].claim->kind != CLAIM_OVERDUE &&
             m->claims[i].claim->kind != CLAIM_REPAIR && m->claims[i].claim->kind != CLAIM_TRIAL;
    return n;
}

static void compare_claims(struct sim *s, const char *when)
{
    size_t held = 0;
    for (size_t i = 0; i < cluster_count(s->cluster); i++)
        held += people_claims(cluster_by_id(s->cluster, (uint32_t)i));
    if (held != s->n_opinions)
        sim_fail(s, "after %s: %zu claims rest on nodes where %zu should (2, 4)", when, held, s->n_opinions);
    for (size_t i = 0; i < s->n_opinions; i++) {
        const struct opinion *o = &s->opinions[i];
        const struct member *m = cluster_find(s->cluster, s->nodes[o->node].name);
        bool found = false;
        for (size_t k = 0; m && k < m->n_claims; k++) {
            const struct claim *c = m->claims[k].claim;
            found |= c->kind == o->kind && strcmp(c->id, o->id) == 0 && strcmp(c->owner, o->owner) == 0 &&
                     strcmp(c->reason, o->reason) == 0 && m->claims[k].drained == o->drained;
        }
        if (!found)
            sim_fail(s, "after %s: claim %s (%s by %s) on %s is gone or another (2, 4)", when, o->id,
                     claim_kind_name(o->kind), o->owner, s->nodes[o->node].name);
    }
}

static void compare_nodes(struct sim *s, const char *when)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        if (!m)
            continue;
        unsigned cpus = s->edit_cpus[i] >= 0 ? (unsigned)s->edit_cpus[i] : s->listed[i] ? s->cpus[i] : 0;
        if (m->admitted != s->admitted[i] || m->listed != s->listed[i] || m->spec.cpus != cpus)
            sim_fail(s, "after %s: %s is%s admitted, is%s listed, and must have %llu CPUs (2)", when, m->name,
                     m->admitted ? "" : " not", m->listed ? "" : " not", (unsigned long long)m->spec.cpus);
    }
}

/* Only while no durable commit is unknown to the controller. */
void check_state(struct sim *s, const char *when)
{
    if (s->committing && s->jobs && s->jobs->durable && !s->jobs->failed)
        return;
    compare_claims(s, when);
    compare_nodes(s, when);
    owners_check(s, when);
    struct cluster *again = cluster_create();
    struct roster r;
    agreed_load(s, again);
    shell_roster(s, &r);
    cluster_configure(again, &r, NULL);
    if (cluster_digest(again) != cluster_digest(s->cluster))
        sim_fail(s, "after %s: a reload of the records is another state (1)", when);
    cluster_destroy(again);
}

typedef bool is_quiet_fn(const struct sim *s, const struct fleet_node *n);

/* Whether enough of the nodes that the controller judges are quiet for mass silence. */
static bool many_are(const struct sim *s, is_quiet_fn *is_quiet)
{
    size_t watched = 0, quiet = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        struct agreed a = m ? member_agreed(m) : (struct agreed){0};
        if (!a.listed || !a.admitted || a.silent || a.down)
            continue;
        watched++;
        quiet += is_quiet(s, &s->nodes[i]);
    }
    return quiet >= 3 && quiet * 100 > watched * s->policy.silent_share_percent;
}

/* By the truth, and only when the controller must have noticed it, too. */
static bool is_silent(const struct sim *s, const struct fleet_node *n)
{
    int64_t limit = s->policy.plain.late.ns + s->interval + s->delay_max + span_s(3).ns;
    return s->now - n->last_good > limit && n->quiet > limit && n->heard;
}

/* As far as the controller can know. */
static bool may_be_quiet(const struct sim *s, const struct fleet_node *n)
{
    return n->quiet >= s->policy.quiet.ns || n->quiet >= s->policy.borrowed.late.ns;
}

void check_proposal(struct sim *s, enum command_kind kind, const struct hostlist *nodes)
{
    check_conform_proposal(s, kind, nodes);
    for (size_t i = 0; i < nodes->n; i++) {
        int node = sim_index(s, nodes->names[i]);
        const struct fleet_node *n = &s->nodes[node];
        int64_t silent = sim_timeouts(s, node)->silent.ns;
        if (kind == COMMAND_SILENT) {
            /* A node with a fault of its own is silent; the duration is compared below. */
            int64_t untold = n->mass ? s->interval + s->delay_max : 0;
            if (!n->own_fault && s->now - n->last_good < silent - untold)
                sim_fail(s, "%s goes down, and it was silent through no fault of its own %.1f s ago (9)",
                         n->name, (double)(s->now - n->last_good) / 1e9);
            if (n->quiet < silent)
                sim_fail(s, "%s goes down after %.1f s of silence that this controller heard (9)", n->name,
                         (double)n->quiet / 1e9);
            if (s->now - s->began < silent + s->first.ns)
                sim_fail(s, "%s goes down without a full window after the start (9)", n->name);
            if (s->alarm_at >= s->began && s->now - s->alarm_at < silent)
                sim_fail(s, "%s goes down during an alarm, or without a full window after it (9)", n->name);
            if (many_are(s, is_silent))
                sim_fail(s, "%s goes down while most nodes are silent (9)", n->name);
        }
        if ((kind == COMMAND_HEARD || kind == COMMAND_ADMIT) && !n->heard)
            sim_fail(s, "%s was never heard by this controller", n->name);
        const struct member *m = cluster_find(s->cluster, n->name);
        enum work work = watch_observed(s->watch, m)->work;
        if (kind == COMMAND_DRAINED && work != WORK_IDLE)
            sim_fail(s, "%s counts as drained, and its work is %s", n->name, work_name(work));
        bool is_word = kind == COMMAND_OVERRIDE_AGE || kind == COMMAND_OVERRIDE_END; /* its time goes on */
        if (!m->listed && !is_word &&
            kind != COMMAND_TRIAL_END) /* a node that is held for a check is let go */
            sim_fail(s, "%s is in no file and must touch nothing", n->name);
    }
}

static bool is_unknown_elsewhere(const struct fitness *f)
{
    bool is = false;
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++)
        is |= f->elsewhere[k] && f->elsewhere[k]->state == ELSEWHERE_UNKNOWN;
    return is;
}

static void check_facts(struct sim *s, int i, const struct member *m)
{
    CLEANUP_TEXT struct text claims = {0}, shortfall = {0}, why = {0};
    struct fleet_node *n = &s->nodes[i];
    const struct observed *o = watch_observed(s->watch, m);
    struct fitness f;
    watch_fitness(s->watch, (struct mono){s->now}, m, &claims, &shortfall, &f);
    bool schedulable = lifecycle_schedulable(&f, &why);
    int64_t sweep = span_ms(WATCH_TICK_MS * (WATCH_SLICES + 2)).ns;
    bool said = schedulable ? (why.len > 0) == (*f.health || is_unknown_elsewhere(&f)) : why.len > 0;
    if (!said)
        sim_fail(s, "%s is %sschedulable, and why says \"%s\"", n->name, schedulable ? "" : "not ",
                 why.s ? why.s : "");
    if (schedulable && (lifecycle_of(&f.agreed) != LIFECYCLE_AVAILABLE || o->beat.liveness != LIVENESS_LIVE))
        sim_fail(s, "%s is schedulable while %s and %s", n->name, lifecycle_name(lifecycle_of(&f.agreed)),
                 liveness_name(o->beat.liveness));
    if (schedulable && s->now - s->timeouts_at > sweep && n->quiet > sim_timeouts(s, i)->late.ns + sweep)
        sim_fail(s, "%s is schedulable, and was not heard for %.1f s", n->name, (double)n->quiet / 1e9);
    if (schedulable)
        mend_fit(s, i, m);
    if (o->beat.liveness == LIVENESS_LIVE && !n->heard)
        sim_fail(s, "%s is live, and this controller never heard it", n->name);
    if (o->beat.heard.ns > s->now + s->longest.ns)
        sim_fail(s, "%s is heard in the future", n->name);
}

/* The list of alarms has the alarm of mass silence exactly while it stands, and no alarm twice. */
static void check_alarms(struct sim *s, bool silence)
{
    bool listed = false;
    for (const struct alarm *a = watch_alarms(s->watch); a; a = a->next) {
        listed |= a->kind == ALARM_SILENCE;
        for (const struct alarm *b = a->next; b; b = b->next)
            if (a->kind == b->kind && strcmp(a->subject, b->subject) == 0)
                sim_fail(s, "the alarm %s %s stands twice", alarm_name(a->kind), a->subject);
    }
    if (listed != silence)
        sim_fail(s, "mass silence %s, and its alarm %s", silence ? "lasts" : "is over",
                 listed ? "stands" : "does not stand");
}

/* The longest time after its timeout until a silent node is down: half a second, and the time that its
 * collector needs to report it, or is at fault. */
static int64_t prompt(const struct sim *s, int i, const struct member *m)
{
    const struct observed *o = watch_observed(s->watch, m);
    int64_t half =
        span_ms(500).ns + (many_are(s, may_be_quiet) ? span_ms(WATCH_TICK_MS * WATCH_SLICES).ns : 0);
    if (!o->session || !o->collector)
        return half;
    bool calm = s->now - s->calm_at > sim_timeouts(s, i)->silent.ns;
    return half + s->delay_max + STEP_NS + (calm ? 0 : s->waits.missed.ns + span_s(2).ns + s->delay_max);
}

/* Progress: a silent node goes down in the end, a node that sends is heard, and a node that is heard returns.
 */
static void check_progress(struct sim *s, int i, const struct member *m)
{
    struct fleet_node *n = &s->nodes[i];
    struct agreed a = member_agreed(m);
    const struct beat_timeouts *p = sim_timeouts(s, i);
    int64_t slack = s->policy.spread.ns + s->delay_max + span_s(6).ns;
    size_t silent, all;
    bool alarm = watch_alarm(s->watch, &silent, &all);
    check_alarms(s, alarm);
    if (alarm || s->store_bad_at > s->now - span_s(20).ns || !a.listed || !a.admitted || a.silent ||
        s->jobs || s->now - s->timeouts_at < slack)
        n->down_due = n->down_due > p->silent.ns ? p->silent.ns : n->down_due;
    if (alarm && n->down_due > 0) /* else it has an excuse that lasts longer */
        n->down_due = 0;
    /* no node goes down without a full window in which the controller listened */
    int64_t window = s->now - s->began - s->stood_still - s->first.ns;
    n->down_due = n->down_due > window ? window : n->down_due;
    if (n->down_due > p->silent.ns + span_ms(500).ns && n->down_due > p->silent.ns + prompt(s, i, m))
        sim_fail(s, "%s is silent for %.1f s and not down", n->name, (double)n->down_due / 1e9);

    bool calm = fleet_reaches(s, i) && s->now - s->calm_at > 0 && s->stalled_until < s->now && !n->own_fault;
    int64_t heard_within = p->late.ns + 6 * s->interval + 10 * s->unit + slack;
    calm = calm || (fleet_reaches(s, i) && n->own_fault);
    n->well = calm && s->calm_at < s->now - STEP_NS ? n->well + STEP_NS : 0;
    enum liveness live = watch_observed(s->watch, m)->beat.liveness;
    /* With a dead node in its share, a collector's batches are 150 % of the interval apart, and by default a
     * node is late by then, for as long as the batch is on its way. */
    bool coming = live == LIVENESS_LATE && n->to >= 0 && n->quiet < p->late.ns + s->delay_max + span_s(2).ns;
    if (n->well > heard_within && live != LIVENESS_LIVE && !coming && s->loss_per_mille == 0)
        sim_fail(s, "%s sends for %.1f s and is %s", n->name, (double)n->well / 1e9, liveness_name(live));
    bool held =
        live == LIVENESS_LIVE && a.silent && a.listed && s->store_bad_at < s->now - span_s(20).ns && !s->jobs;
    n->heard_well = held ? n->heard_well + STEP_NS : 0;
    if (n->heard_well > span_s(10).ns)
        sim_fail(s, "%s is heard for %.1f s and still held as silent", n->name, (double)n->heard_well / 1e9);
}

/* Prints a line each second about the node of --follow. */
static void follow(struct sim *s, int i)
{
    const struct fleet_node *n = &s->nodes[i];
    const struct member *m = cluster_meet(s->cluster, n->name), *c = share_collector_of(s->share, m);
    const struct observed *o = watch_observed(s->watch, m);
    sim_say(s, "%s: %s to %d%s%s%s, good %.1f s ago; %s for %.1f s, %s, collector %s%s", n->name,
            n->link == LINK_OPEN ? "open"
            : n->link            ? "connecting"
                                 : "no link",
            n->to, n->agent ? "" : ", no agent", n->own_fault ? ", own fault" : "", n->mass ? ", mass" : "",
            (double)(s->now - n->last_good) / 1e9, liveness_name(o->beat.liveness), (double)n->quiet / 1e9,
            o->session ? "in a session" : "no session", c ? c->name : "none",
            o->collector ? ", vouched for" : "");
}

void check_step(struct sim *s)
{
    if (s->follow >= 0 && s->follow < (int)s->n && s->step % 10 == 0 && s->running)
        follow(s, s->follow);
    if (!shell_listens(s)) {
        s->calm_at = s->quiet_since = s->now;
        if (s->now - s->judged_at <= span_s(3).ns)
            s->judged_at += STEP_NS; /* nor was anything judged */
        bool unnoticed = s->running && s->stalled_until - s->stalled_from < span_s(1).ns;
        s->stood_still += unnoticed ? 0 : STEP_NS;
        for (size_t i = 0; i < s->n; i++) {
            s->nodes[i].verified_at += STEP_NS; /* time without a listener makes nothing stale */
            s->nodes[i].quiet += unnoticed ? STEP_NS : 0;
        }
        return;
    }
    size_t silent, all;
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        s->nodes[i].well *= m != NULL;
        if (!m)
            continue;
        check_facts(s, (int)i, m);
        check_progress(s, (int)i, m);
        check_conform(s, (int)i, m);
    }
    if (watch_alarm(s->watch, &silent, &all))
        s->alarm_at = s->now;
}
