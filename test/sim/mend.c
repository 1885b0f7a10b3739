/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of health and repair, compared with the truth and with the reports that this controller got.
 *
 *   4  a person's decision stays: a drain, a node set aside, a stop, an approval that is required, a node
 *      taken from the work queue                                                      mend_after
 *   5  an operation on a node needs fresh evidence of its present boot, no work, the required approval,
 *      and no stop                                                                    mend_may
 *   6  budgets, the latch and the switch                               mend_proposal, mend_after
 *   7  attempts for a fault, and within a week                              mend_after, mend_may
 *   8  back in service only with every check passed on the present boot, and the extensive ones on this
 *      machine after the last remedy that was carried out on it, whoever had the name meanwhile, and no
 *      examination that was broken off is owed                                      mend_proposal
 *   9  a node is isolated only for a finding that it reported on this boot            mend_proposal
 *   8  and new work lands only on a node of which 8 was true once on the present boot         mend_fit
 *  14  the scheduler is asked to end the work on a lost node only where its class says so, when it has the
 *      drain, and once in a step                                                                mend_may
 *  17  a boot that Fettle asked for is no finding, nor is one of a node that a person holds  mend_proposal
 *  17  a node that booted by itself twice within a day takes no work                              mend_fit
 *   a node goes from step to step only when something new was observed about it           check_round
 *   each operation begins once and is carried out once, and only what is begun    mend_durable, mend_executed
 *   a repair has one claim, and its operation belongs to its step                             mend_after
 *   a remedy in service disturbs no work, changes nothing else of the node, and ends without a person
 *                                                                               check_tended, mend_may
 *   the tally counts what the attempts say that it counts                                      check_tally
 *   the restart that a maintenance event asks for is done once, and only while no work runs  mend_may
 *  18  findings that a person repaired are closed by that report, and found again only by later results;
 *      the remaining ones, and nothing else, keep the node in the queue  check_answer, check_found_anew
 *   in the end every node is back                                                     mend_all_well
 */
#include "sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t SECOND = INT64_C(1000000000);

static const struct member *member_of(const struct sim *s, int i)
{
    return cluster_find(s->cluster, s->nodes[i].name);
}

static const struct node_class *class_of(const struct member *m, const struct sim *s)
{
    return &cluster_classes(s->cluster)->list[m->class];
}

static bool is_gpu(const struct member *m, const struct sim *s)
{
    return strcmp(class_of(m, s)->name, "gpu") == 0;
}

/* Its checks have to pass as it comes up. */
static bool is_provisioned(const struct member *m, const struct sim *s)
{
    return class_provisions(class_of(m, s), s->policy.health.provision_new) &&
           !cluster_excepts(s->cluster, m); /* because such a node is only observed */
}

/* --- evidence --------------------------------------------------------------------------------- */

/* The worst fresh result of the node's checks on its present boot. */
static enum result evidence(const struct sim *s, int i)
{
    const struct patient *p = &s->patients[i];
    const struct observed *o = watch_observed(s->watch, member_of(s, i));
    enum result worst = RESULT_UNSUPPORTED;
    for (int k = 0; k < AILS; k++) {
        char id[37];
        bool deep = k >= AIL_DEEP;
        if (k == AIL_WATCHED)
            continue;
        fleet_boot_id(p->heard[k].boot, i, id);
        int64_t age = (k == AIL_GPU ? p->heard[k].told : s->now) - p->heard[k].looked;
        const struct check *check = checks_find(s->policy.health.checks, ill_check_name((enum ail)k));
        int64_t own =
            check ? check->every.ns + check->deadline.ns : 0; /* the age that the check itself allows */
        int64_t fresh = s->policy.health.fresh.ns;
        int64_t limit = (own > fresh ? own : fresh) + 20 * STEP_NS;
        if (!p->heard[k].told || strcmp(id, o->boot) != 0 || (age > limit && !deep))
            continue;
        worst = p->heard[k].result > worst ? p->heard[k].result : worst;
    }
    return worst;
}

static bool stood_still(const struct sim *s)
{
    return s->quiet_since > s->now - 30 * SECOND;
}

/* --- service ---------------------------------------------------------------------------------- */

enum { MOVES_MAX = 8 }; /* more steps than that make a circle */

static void prove(struct sim *s, int i, unsigned boot)
{
    s->patients[i].proven = true;
    s->patients[i].proven_boot = boot;
}

void mend_heard(struct sim *s, int i, unsigned boot)
{
    const struct patient *p = &s->patients[i];
    for (int k = 0; k < AIL_DEEP; k++)
        if (k != AIL_WATCHED && (!p->heard[k].told || p->heard[k].boot != boot ||
                                 p->heard[k].result < RESULT_OK || p->heard[k].result > RESULT_WARN))
            return;
    prove(s, i, boot);
}

/* An incident of boots that nobody asked for, raised by its record. */
static bool loops(const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    for (size_t k = 0; a && k < a->n_open; k++)
        if (strcmp(a->open[k].group, "boot") == 0 && a->open[k].severity >= RESULT_DEGRADED)
            return true;
    return false;
}

/* Uses the records: a changed clock may have put days between two boots. */
static void check_loop(struct sim *s, const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    unsigned times = 0;
    for (size_t k = 0; a && k < a->n_open; k++)
        for (size_t f = 0; f < a->open[k].n; f++)
            if (strcmp(a->open[k].findings[f].check, "node.boot") == 0 &&
                strncmp(a->open[k].findings[f].f.code, "boot.", 5) == 0 &&
                a->open[k].findings[f].f.result >= RESULT_WARN)
                times += a->open[k].findings[f].times;
    if (times >= 2 && s->now - s->wall_at > 20 * SECOND)
        sim_fail(s, "%s takes work, and booted %u times by itself (17)", m->name, times);
}

void mend_fit(struct sim *s, int i, const struct member *m)
{
    const struct patient *p = s->ill ? &s->patients[i] : NULL;
    const struct observed *o = watch_observed(s->watch, m);
    char id[37];
    if (p && !member_override(m) && !cluster_excepts(s->cluster, m))
        check_loop(s, m);
    if (!p || !is_provisioned(m, s) || member_override(m))
        return; /* an override: a person decided this, for any boot */
    fleet_boot_id(p->proven_boot, i, id);
    if (!p->proven || strcmp(id, o->boot) != 0)
        sim_fail(s, "%s takes work, and not all of its checks passed on this boot (8)", m->name);
}

/* It entered service without its checks. That needs the decision of a person who took it back a while ago. */
static void check_admitted(struct sim *s, int i, const struct member *m)
{
    struct patient *p = &s->patients[i];
    bool person = member_override(m) || s->now - p->overridden_at < 20 * SECOND || /* when it was proposed */
                  (p->person_at && s->now - p->person_at < s->policy.health.override.ns + 120 * SECOND);
    if (is_provisioned(m, s) && !s->excepted[i] &&
        !person) /* it may have been removed from the files meanwhile */
        sim_fail(s, "%s is put into service, and nobody knows that its checks passed (8)", m->name);
    unsigned boot = 0;
    if (sscanf(m->boot, "%8x", &boot) == 1)
        prove(s, i, boot);
}

static void check_round(struct sim *s, int i, const char *name)
{
    if (++s->patients[i].moves > MOVES_MAX)
        sim_fail(s, "%s made %u steps, and nothing was observed of it meanwhile", name, s->patients[i].moves);
}

/* --- proposals -------------------------------------------------------------------------------- */

static void check_stopped(struct sim *s, int i, const char *what)
{
    if (cluster_switch(s->cluster, "stop") || cluster_switch(s->cluster, "latch"))
        sim_fail(s, "%s is %s while everything is stopped (6)", s->nodes[i].name, what);
}

/* Each of the nodes that are isolated for a fault of a moment ago was counted just now, so the one that
 * completes the surge may not be among them. */
static void check_surge(struct sim *s, int i)
{
    const struct health_policy *h = &s->policy.health;
    size_t n = 0;
    for (int k = 0; k < AILS; k++)
        if (s->patients[i].here.ails[k].on && s->patients[i].here.ails[k].flaps)
            return; /* it may have been counted for an earlier fault, */
    if (!machine_is_recorded(s, i))
        return; /* or for a fault of the earlier machine, until it is known that the machine is another one */
    if (!h->limits.surge || !s->patients[i].bad_since || s->now - s->patients[i].bad_since > 2 * SECOND)
        return;
    s->isolating[i] = s->now;
    s->isolated[i] = false;
    for (size_t k = 0; k < s->n; k++)
        n += s->isolating[k] && s->now - s->isolating[k] < h->limits.surge_window.ns - 2 * SECOND;
    if (n >= h->limits.surge)
        sim_fail(s, "%zu nodes are isolated within %.0f s, and the latch is off (6)", n,
                 (double)h->limits.surge_window.ns / 1e9);
}

/* It opens an incident of boots with at least this severity. */
static bool finds_boot(const struct findings_command *says, enum result least)
{
    for (size_t k = 0; k < says->n_open; k++)
        if (strcmp(says->open[k].group, "boot") == 0 && says->open[k].severity >= least)
            return true;
    return false;
}

static void check_boot(struct sim *s, int i, const struct findings_command *says)
{
    const struct member *m = member_of(s, i);
    unsigned boot = 0;
    if (!finds_boot(says, RESULT_WARN) || sscanf(says->boot, "%8x", &boot) != 1)
        return;
    if (boot == s->nodes[i].asked_boot)
        sim_fail(s, "%s booted as it was asked to, and that is found (17)", m->name);
    const struct patient *p = &s->patients[i];
    if (p->claimed_at && p->claimed_at <= s->nodes[i].booted_at)
        sim_fail(s, "%s booted while a person held it, and that is found (17)", m->name);
    s->boots_found++;
}

static void check_isolation(struct sim *s, int i, const struct findings_command *says)
{
    const struct member *m = member_of(s, i);
    if (!says->isolate.why)
        return;
    if (s->excepted[i])
        sim_fail(s, "%s is isolated, and it is excepted (16)", m->name);
    check_stopped(s, i, "isolated");
    check_surge(s, i);
    if (member_held_by(m, CLAIM_DRAIN) || member_held_by(m, CLAIM_DOWN))
        sim_fail(s, "%s is isolated, and a person has it (4)", m->name);
    enum result said = evidence(s, i);
    bool silent = watch_observed(s->watch, m)->beat.liveness != LIVENESS_LIVE;
    if (silent && !lost_may_be(s, i))
        sim_fail(s, "%s is isolated, and is silent for %.1f s (9)", m->name, (double)s->nodes[i].quiet / 1e9);
    if (!silent && said < RESULT_DEGRADED && !stood_still(s) && !loops(m) &&
        !finds_boot(says, RESULT_DEGRADED))
        sim_fail(s, "%s is isolated, and the worst that it said of this boot is %s (9)", m->name,
                 result_name(said));
}

/* Whatever happened to the name, the machine itself must have been examined by every extensive check, after
 * the last remedy that was carried out on it and after it failed, unless a person answers for it. */
static void check_examined(struct sim *s, int i, const struct member *m)
{
    const struct hardware *h = machine_of(s, i);
    if (!is_gpu(m, s))
        return;
    if (!h)
        sim_fail(s, "%s returns, and nobody knows which machine it is (8)", m->name);
    for (int k = 0; k < DEEP_CHECKS; k++) {
        int64_t since = h->tried_at > h->failed_at[k] ? h->tried_at : h->failed_at[k];
        if (since && h->passed_at[k] <= since && h->person_at < since && s->judged_at < since)
            sim_fail(s, "%s returns, and machine %u did not pass %s since %s %.1f s ago (8)", m->name, h->id,
                     ill_check_name((enum ail)(AIL_DEEP + k)),
                     since == h->tried_at ? "a remedy was carried out on it" : "it failed",
                     (double)(s->now - since) / 1e9);
    }
}

static void check_return(struct sim *s, int i, const struct repair_command *says)
{
    const struct member *m = member_of(s, i);
    const struct repair *r = member_repair(m);
    struct patient *p = &s->patients[i];
    const struct observed *o = watch_observed(s->watch, m);
    const char *why = says->why;
    if (!r || says->to != STEP_NONE || s->excepted[i]) /* because such a node is only observed */
        return;
    if (strcmp(why, "a person took it back") == 0) {
        if (p->person_at == 0)
            sim_fail(s, "%s returns by a person's word, and nobody said anything (8)", m->name);
        return;
    }
    if (s->excepted[i])
        return; /* its repair is given up in any step, and its silence holds it */
    if (o->beat.liveness != LIVENESS_LIVE)
        sim_fail(s, "%s returns (%s) and is %s (8)", m->name, why, liveness_name(o->beat.liveness));
    for (int k = 0; k < AIL_DEEP; k++) {
        char id[37];
        fleet_boot_id(p->heard[k].boot, i, id);
        if (k == AIL_WATCHED)
            continue;
        if (!p->heard[k].told || strcmp(id, o->boot) != 0)
            sim_fail(s, "%s returns, and %s said nothing on this boot (8)", m->name,
                     ill_check_name((enum ail)k));
        if (p->heard[k].result < RESULT_OK || p->heard[k].result > RESULT_WARN)
            sim_fail(s, "%s returns, and %s says %s (8)", m->name, ill_check_name((enum ail)k),
                     result_name(p->heard[k].result));
    }
    int64_t slack =
        5 * SECOND + 4 * s->delay_max + sim_timeouts(s, i)->late.ns; /* until it is no longer live */
    bool in_touch = s->now - s->nodes[i].cut_until > slack && s->now - s->calm_at > slack;
    if (p->bad_since && s->now - p->bad_since > slack && in_touch && !stood_still(s))
        sim_fail(s, "%s returns, and is ill for %.1f s (8)", m->name, (double)(s->now - p->bad_since) / 1e9);
    check_examined(s, i, m);
    if (p->broken && is_gpu(m, s))
        sim_fail(s, "%s returns, and its examination was broken off and not made up (8)", m->name);
}

static enum ail ail_of(const char *check)
{
    enum ail k = AIL_SERVICE;
    while (k < AILS && strcmp(ill_check_name(k), check) != 0)
        k++;
    return k;
}

/* A fault that a person repaired is only found again by a result that is later than the person's report, and
 * not by earlier results. The agent was told to forget it in the kernel's log (mend_may), which may fail. */
static void check_found_anew(struct sim *s, int i, const struct findings_command *says)
{
    const struct patient *p = &s->patients[i];
    for (size_t n = 0; n < says->n_open; n++) {
        for (size_t f = 0; f < says->open[n].n; f++) {
            const char *check = says->open[n].findings[f].of.check;
            enum ail k = ail_of(check);
            if (k == AILS || k == AIL_GPU || !p->answered_at[k])
                continue;
            int64_t looked = k < AIL_DEEP ? p->heard[k].looked : p->here.failed_at[k - AIL_DEEP];
            if (looked < p->answered_at[k])
                sim_fail(s,
                         "%s: %s is found again, and was looked at %.1f s before a person put it right (18)",
                         s->nodes[i].name, check, (double)(p->answered_at[k] - looked) / 1e9);
        }
    }
}

void mend_proposal(struct sim *s, const struct command *cmd)
{
    if (!s->ill || cmd->nodes->n != 1)
        return;
    int i = sim_index(s, cmd->nodes->names[0]);
    if (cmd->kind == COMMAND_FINDINGS) {
        check_isolation(s, i, &cmd->findings);
        check_found_anew(s, i, &cmd->findings);
        check_boot(s, i, &cmd->findings);
    }
    if (cmd->kind == COMMAND_OPERATE && strncmp(cmd->operate.run, "forget:", 7) != 0)
        check_stopped(s, i, "operated on");
    if (cmd->kind == COMMAND_REPAIR)
        check_return(s, i, &cmd->repair);
}

/* --- before and after a commit ---------------------------------------------------------------- */

/* The tally counts exactly what the attempts say that it counts: what a shared cause gave back is in neither,
 * and nothing is counted, or given back, twice. */
struct counted {
    int64_t tally, attempts;
};

static int64_t faults_in(const char *list)
{
    int64_t n = *list != '\0';
    for (const char *p = list; *p; p++)
        n += *p == ',';
    return n;
}

static int64_t tally_of(const struct sim *s, const char *fault)
{
    const struct remedies *all = s->policy.health.remedies;
    const struct classes *classes = cluster_classes(s->cluster);
    int64_t n = 0;
    for (size_t r = 0; r < all->n; r++)
        for (size_t k = 0; k < classes->n; k++) {
            struct outcomes o = cluster_outcomes(s->cluster, fault, all->list[r].name, classes->list[k].name);
            n += o.helped + (int64_t)o.failed;
        }
    return n;
}

static struct counted counted(const struct sim *s)
{
    static const char *const faults[] = {"service", "mount", "xid.79", "link", "deep", "deeper", LOST_CHECK};
    struct counted sum = {0};
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++)
        sum.tally += tally_of(s, faults[f]);
    for (int d = 0; d < ENDEDS; d++)
        sum.tally += tally_of(s, ended_code((enum ended)d));
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = member_of(s, (int)i);
        const struct repair *r = m ? member_repairs(m) : NULL;
        for (size_t k = 0; r && k < r->n_attempts; k++)
            sum.attempts += faults_in(r->attempts[k].counted);
    }
    return sum;
}

static void check_tally(struct sim *s, const struct job *j)
{
    struct counted is = counted(s);
    bool by_word = j->kind == COMMAND_OUTCOME || j->kind == COMMAND_SHARED;
    if (by_word ? is.tally - s->counted_tally != is.attempts - s->counted_attempts
                : is.tally != s->counted_tally)
        sim_fail(
            s, "%s makes %" PRId64 " outcomes %" PRId64 ", and the attempts that count %" PRId64 " %" PRId64,
            command_name(j->kind), s->counted_tally, is.tally, s->counted_attempts, is.attempts);
    if (j->kind == COMMAND_SHARED)
        s->given_back += (size_t)(s->counted_tally - is.tally);
}

void mend_before(struct sim *s)
{
    if (s->ill && s->cluster) {
        struct counted is = counted(s);
        s->counted_tally = is.tally;
        s->counted_attempts = is.attempts;
    }
    for (size_t i = 0; s->ill && i < s->n; i++) {
        struct patient *p = &s->patients[i];
        const struct member *m = member_of(s, (int)i);
        const struct repair *r = m ? member_treated(m) : NULL;
        p->step = r ? r->step : STEP_NONE;
        p->manual = r && r->manual;
        p->waits = r && (r->taken_by || (!r->shared && !member_was_lost(m)));
        if (m && member_override(m))
            p->overridden_at = s->now;
        p->approval = r ? r->approval : APPROVAL_NONE;
        snprintf(p->repair, sizeof p->repair, "%s", r ? r->id : "");
    }
    s->stopped = s->cluster && cluster_switch(s->cluster, "stop");
    s->latched = s->cluster && cluster_switch(s->cluster, "latch");
}

static bool is_by_person(const struct job *j)
{
    return !j->proposal && strcmp(j->actor, "driver") != 0;
}

void mend_answered(struct sim *s, int i)
{
    struct hardware *known = machine_of(s, i);
    s->patients[i].person_at = s->patients[i].here.person_at = s->now;
    s->patients[i].moves = 0;
    if (known)
        known->person_at = s->now;
}

/* An examination that is left without a result is broken off. Another machine owes nothing. */
static void note_broken(struct sim *s, int i, enum step to, const struct job *j)
{
    struct patient *p = &s->patients[i];
    bool named = j->nodes.n == 1 && strcmp(j->nodes.names[0], s->nodes[i].name) == 0;
    bool says = j->kind == COMMAND_REPAIR && j->cmd->repair.examined != EXAMINED_NOT;
    if (p->step == STEP_EXAMINE && to != STEP_EXAMINE)
        p->broken = to != STEP_PROVISION && !says;
    if (p->step == STEP_NONE || (named && j->kind == COMMAND_INSTANCE) ||
        (named && j->kind == COMMAND_REPAIR && j->cmd->repair.renewed))
        p->broken = false;
}

static bool may_alone(enum step from, enum step to)
{
    size_t n;
    const struct step_move *moves = step_moves(&n);
    for (size_t i = 0; i < n; i++)
        if (moves[i].from == from && moves[i].to == to && !step_event_is_persons(moves[i].event))
            return true;
    return false;
}

static void check_move(struct sim *s, int i, const struct repair *r, const struct job *j)
{
    struct patient *p = &s->patients[i];
    const char *name = s->nodes[i].name;
    enum step to = r ? r->step : STEP_NONE;
    bool person = is_by_person(j) || (j->kind == COMMAND_TRANSITION && p->person_at);
    if (is_by_person(j) && (to != p->step || (r && r->manual != p->manual)))
        mend_answered(s, i), s->raised_at = s->now;
    note_broken(s, i, to, j);
    if (to == p->step)
        return;
    if (!step_may(p->step, to))
        sim_fail(s, "%s goes from %s to %s", name, step_name(p->step), step_name(to));
    if (!person && !may_alone(p->step, to))
        sim_fail(s, "%s goes from %s to %s without a person's word (4)", name, step_name(p->step),
                 step_name(to));
    if (!person && p->step == STEP_QUEUE && p->waits)
        sim_fail(s, "%s leaves the work queue, and waits for a person (4)", name);
    if (!person && p->manual && to != STEP_QUEUE)
        sim_fail(s, "%s was drained by hand and goes to %s (4)", name, step_name(to));
    if (!person)
        check_round(s, i, name);
    unsigned boot = 0;
    if (to == STEP_NONE && p->step != STEP_TEND && p->person_at &&
        sscanf(cluster_find(s->cluster, name)->boot, "%8x", &boot) == 1)
        prove(s, i, boot); /* check_return judges whether that was right */
    s->returns += to == STEP_NONE && p->step != STEP_TEND;
    s->tended += to == STEP_TEND && p->step == STEP_NONE;
    s->queued += to == STEP_QUEUE;
    if (p->step == STEP_NONE)
        p->kept_since = s->now;
    if (to == STEP_NONE)
        p->kept_since = 0;
}

/* Its claim, and its operation. */
static void check_form(struct sim *s, int i, const struct member *m, const struct repair *r)
{
    size_t claims = 0;
    for (size_t k = 0; k < m->n_claims; k++) {
        const struct claim *c = m->claims[k].claim;
        claims += c->kind == CLAIM_REPAIR;
        if (c->kind == CLAIM_REPAIR && (!r || strcmp(c->id, r->id) != 0))
            sim_fail(s, "%s has a claim %s of no repair", m->name, c->id);
    }
    if (claims != (r && r->step != STEP_TEND))
        sim_fail(s, "%s has %zu claims for its repair", m->name, claims);
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/operate.%s", s->nodes[i].name);
    const char *effect = cluster_effect_value(s->cluster, key.s);
    if (effect && (!r || !*r->operation || !strstr(effect, r->operation)))
        sim_fail(s, "%s has an operation of no step: %s", m->name, effect);
    if (r && *r->operation && !effect)
        sim_fail(s, "%s waits for an operation that is not there", m->name);
}

/* An operation on a node in service changes nothing about it: it has its work as before, and a command that
 * takes it out keeps it. mend_may compares the beginning of the operation with what the node reports. */
static void check_tended(struct sim *s, int i, const struct member *m, const struct repair *r)
{
    const struct agreed a = member_agreed(m);
    bool tended = r && r->step == STEP_TEND;
    if (tended && a.step != STEP_NONE)
        sim_fail(s, "%s is in service, and at %s (5)", m->name, step_name(a.step));
    if (!tended || s->patients[i].step != STEP_NONE)
        return;
    if (m->n_claims || member_override(m))
        sim_fail(s, "%s is tended, and somebody holds it (4)", m->name);
}

static unsigned tries_of(const struct sim *s, const char *name)
{
    const struct remedy *r = remedies_find(s->policy.health.remedies, name);
    return r ? r->tries : UINT32_MAX;
}

/* A week by the wall clock, which may have been set since the remedy was chosen, but not since now. */
static void check_week(struct sim *s, const struct member *m)
{
    const int64_t week = 7 * 86400 * SECOND, now = INT64_C(1700000000000000000) + s->now + s->wall_step;
    const struct repair *r = member_repairs(m);
    unsigned all = 0;
    for (size_t i = 0; r && i < r->n_attempts; i++)
        all += r->attempts[i].verdict != '0' && now - r->attempts[i].at.ns < week;
    if (all > s->policy.health.limits.remedies_a_week)
        sim_fail(s, "%s has its %u. remedy within a week (7)", m->name, all);
}

static void check_attempts(struct sim *s, const struct member *m)
{
    const struct repair *r = member_repairs(m);
    for (size_t i = 0; r && i < r->n_attempts; i++) {
        const struct attempt_record *a = &r->attempts[i];
        unsigned same = 0;
        for (size_t k = 0; k <= i; k++)
            same += r->attempts[k].verdict != '0' && strcmp(r->attempts[k].remedy, a->remedy) == 0 &&
                    strcmp(r->attempts[k].fault, a->fault) == 0;
        if (*a->fault && a->verdict != '0' && same > tries_of(s, a->remedy) && !s->wall_at)
            sim_fail(s, "%s had %s %u times for %s (7)", m->name, a->remedy, same, a->fault);
    }
}

/* --- budgets ---------------------------------------------------------------------------------- */

static bool is_out(const struct sim *s, int i)
{
    const struct member *m = member_of(s, i);
    const struct repair *r = m ? member_repair(m) : NULL;
    if (m && member_held_by(m, CLAIM_TRIAL))
        return true;
    return r && !r->manual && r->step != STEP_QUARANTINE && r->step != STEP_RETIRED && !member_is_new(m);
}

/* What these nodes share with node `of`. */
static bool shares(const struct sim *s, int scope, int i, int of)
{
    const struct member *a = member_of(s, i), *b = member_of(s, of);
    return scope == 0   ? true
           : scope == 1 ? a->class == b->class
           : scope == 2 ? a->spec.group == b->spec.group
                        : i % 3 == of % 3;
}

/* Not for a while after something took more of them out without room: a person, a reload, a trial that was
 * taken as lost, or another machine under a name. */
void mend_budgets(struct sim *s, int of)
{
    static const char *const names[] = {"cluster", "class", "group", "partition"};
    const struct health_policy *h = &s->policy.health;
    const unsigned percent[] = {h->limits.percent[SCOPE_CLUSTER], h->limits.percent[SCOPE_CLASS],
                                h->limits.percent[SCOPE_GROUP], h->limits.percent[SCOPE_PARTITION]};
    if (s->now - s->raised_at < 15 * SECOND || s->now - s->reload_at < 15 * SECOND ||
        s->now - s->late_at < 15 * SECOND || s->now - s->renamed_at < 15 * SECOND)
        return;
    for (int scope = 0; scope < 4; scope++) {
        size_t all = 0, out = 0;
        for (size_t i = 0; i < s->n; i++) {
            if (!member_of(s, (int)i) || !shares(s, scope, (int)i, of))
                continue;
            all += s->listed[i];
            out += s->listed[i] && is_out(s, (int)i);
        }
        size_t limit = all * percent[scope] / 100;
        if (out > (limit ? limit : 1))
            sim_fail(s, "%s is taken out: %zu of %zu nodes of its %s are out (6)", s->nodes[of].name, out,
                     all, names[scope]);
    }
}

/* It has a fault that its override did not cover. */
static bool is_worse(const struct patient *p, const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    const struct override covered = {.n = p->word.n, .of = (struct override_of *)(uintptr_t)p->word.of};
    for (size_t i = 0; a && i < a->n_open; i++)
        if (!a->open[i].observe && !override_covers(&covered, a->open[i].group, a->open[i].severity))
            return true;
    return false;
}

/* An override ends in its time, for something worse, or by a person's command, under any leader and any
 * change of the clock. */
static void check_override(struct sim *s, int i, const struct member *m, const struct repair *r,
                           const struct job *j)
{
    struct patient *p = &s->patients[i];
    const struct override *o = member_override(m);
    if (o && r && (p->step == STEP_NONE || (p->step == STEP_TEND && r->step != STEP_TEND)))
        sim_fail(s, "%s is taken out while an override stands", m->name);
    if (!o && p->word.at.ns && !is_by_person(j)) {
        if (j->kind == COMMAND_OVERRIDE_END && s->now - p->word.since < s->policy.health.override.ns)
            sim_fail(s, "the override of %s ends before its time", m->name);
        if (j->kind == COMMAND_FINDINGS && !is_worse(p, m))
            sim_fail(s, "the override of %s ends, and nothing is worse", m->name);
        if (j->kind != COMMAND_OVERRIDE_END && j->kind != COMMAND_FINDINGS && j->kind != COMMAND_INSTANCE &&
            j->kind != COMMAND_REPAIR)
            sim_fail(s, "the override of %s ends by %s", m->name, command_name(j->kind));
    }
    if (o && o->at.ns != p->word.at.ns) {
        p->word.since = s->now;
        p->word.n = o->n;
        memcpy(p->word.of, o->of, o->n * sizeof *o->of);
        s->overrides++;
    }
    p->word.at = o ? o->at : (struct wall){0};
}

/* The findings that a person repaired are closed in the commit of that report, and the node waits in the
 * queue exactly as long as others are open. */
static void check_answer(struct sim *s, int i, const struct member *m, const struct repair *r,
                         const struct job *j)
{
    struct patient *p = &s->patients[i];
    bool by_word = r && r->answer.at.ns == j->at.ns && is_by_person(j);
    const struct ailment *a = member_ailment(m);
    size_t left = 0;
    if (!r || (r->step != STEP_QUEUE && r->step != STEP_PROVISION))
        memset(p->answered_at, 0, sizeof p->answered_at);
    if (!by_word || j->nodes.n != 1 || strcmp(j->nodes.names[0], m->name) != 0)
        return;
    for (size_t n = 0; a && n < a->n_open; n++) {
        left += incident_counts(&a->open[n]);
        for (size_t k = 0; k < a->open[n].n; k++)
            if (answer_covers(&r->answer, a->open[n].findings[k].check, &a->open[n].findings[k].f))
                sim_fail(s, "%s: a person put %s right, and it is open (18)", m->name,
                         finding_fault(&a->open[n].findings[k]));
    }
    if (r->step != (left ? STEP_QUEUE : STEP_PROVISION))
        sim_fail(s, "%s is in %s by a person's word, and %zu incidents are open (18)", m->name,
                 step_name(r->step), left);
    for (size_t n = 0; a && n < a->n_past && a->past[n].closed.ns == j->at.ns; n++)
        for (size_t k = 0; k < a->past[n].n; k++)
            if (ail_of(a->past[n].findings[k].check) < AILS)
                p->answered_at[ail_of(a->past[n].findings[k].check)] = s->now;
    s->answers += j->kind == COMMAND_ANSWER;
}

void mend_after(struct sim *s, const struct job *j)
{
    if (!s->ill)
        return;
    bool person = is_by_person(j);
    if ((s->stopped && !cluster_switch(s->cluster, "stop") && !person) ||
        (s->latched && !cluster_switch(s->cluster, "latch") && !person))
        sim_fail(s, "a switch is let go by %s (4)", j->actor);
    if (s->latched && !cluster_switch(s->cluster, "latch"))
        memset(s->isolating, 0, sizeof s->isolating);
    trial_after(s, j);
    check_tally(s, j);
    for (size_t i = 0; j->kind == COMMAND_ADMIT && i < j->decision.changed.n; i++) {
        int node = sim_index(s, j->decision.changed.names[i]);
        check_admitted(s, node, member_of(s, node));
    }
    if (j->kind == COMMAND_INSTANCE)
        s->renamed++, s->renamed_at = s->now;
    s->helped += j->kind == COMMAND_OUTCOME && j->cmd->outcome.verdict == '+';
    for (size_t i = 0; i < s->n; i++) {
        struct patient *p = &s->patients[i];
        const struct member *m = member_of(s, (int)i);
        if (!m)
            continue;
        const struct repair *r = member_treated(m);
        bool held = member_held_by(m, CLAIM_DRAIN) || member_held_by(m, CLAIM_DOWN);
        p->claimed_at = !held ? 0 : p->claimed_at ? p->claimed_at : s->now;
        if (r && r->approval == APPROVAL_GIVEN && p->approval != APPROVAL_GIVEN &&
            j->kind != COMMAND_REPAIR_APPROVE)
            sim_fail(s, "%s: %s is approved by %s (4)", m->name, r->remedy, j->actor);
        check_override(s, (int)i, m, r, j);
        check_move(s, (int)i, r, j);
        check_form(s, (int)i, m, r);
        check_answer(s, (int)i, m, r, j);
        check_tended(s, (int)i, m, r);
        if (j->kind == COMMAND_OPERATE)
            check_attempts(s, m);
        bool was_in_service = p->step == STEP_NONE || p->step == STEP_TEND;
        if (j->kind == COMMAND_FINDINGS && r && r->step != STEP_TEND && was_in_service) {
            s->isolations++;
            mend_budgets(s, (int)i);
        }
    }
}

/* --- operations ------------------------------------------------------------------------------- */

static bool kept(const char (*list)[CLAIM_ID_BYTES_MAX + 1], size_t n, const char *id)
{
    for (size_t i = 0; i < n && i < OPERATIONS_KEPT; i++)
        if (strcmp(list[i], id) == 0)
            return true;
    return false;
}

static json_t *operation_of(const struct sim *s, int i)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/operate.%s", s->nodes[i].name);
    const char *value = cluster_effect_value(s->cluster, key.s);
    return value ? json_read(value, strlen(value), NULL) : NULL;
}

/* Extensive checks report their findings through their operations. */
static void note_verdict(struct sim *s, int i, const json_t *done, const char *boot)
{
    struct patient *p = &s->patients[i];
    const char *text = json_string_value(json_object_get(done, "text"));
    CLEANUP_JSON json_t *v = text ? json_read(text, strlen(text), NULL) : NULL;
    const char *result = json_string_value(json_object_get(v, "result"));
    enum result r;
    if (!result || !result_parse(result, &r))
        return;
    p->heard[AIL_DEEP].result = r; /* of either */
    if (sscanf(boot, "%8x", &p->heard[AIL_DEEP].boot) != 1)
        sim_fail(s, "%s: a check ended on no boot", s->nodes[i].name);
    p->heard[AIL_DEEP].looked = p->heard[AIL_DEEP].told = s->now;
}

/* The record of a check that has ended on this boot counts as if it had been sent to a new controller. */
void mend_opened(struct sim *s, int i)
{
    CLEANUP_JSON json_t *o = operation_of(s, i);
    const json_t *done = json_object_get(o, "done");
    const char *run = json_string_value(json_object_get(o, "run"));
    const char *state = json_string_value(json_object_get(done, "state"));
    const char *of = json_string_value(json_object_get(o, "boot"));
    bool mine = of && strcmp(of, watch_observed(s->watch, member_of(s, i))->boot) == 0;
    if (mine && run && strncmp(run, "check:", 6) == 0 && state && strcmp(state, "done") == 0)
        note_verdict(s, i, done, of);
}

static void note_isolated(struct sim *s, const struct job *j)
{
    for (size_t i = 0; i < j->decision.n_ops; i++) {
        if (strcmp(j->decision.ops[i].key, "surge/isolated") != 0)
            continue;
        if (j->kind == COMMAND_FINDINGS)
            s->isolated[sim_index(s, j->nodes.names[0])] = true;
        else
            memset(s->isolated, 0, sizeof s->isolated);
    }
}

void mend_durable(struct sim *s, const struct job *j)
{
    note_isolated(s, j);
    if (!s->ill || j->kind != COMMAND_EFFECT || j->nodes.n != 1)
        return;
    int i = sim_index(s, j->nodes.names[0]);
    struct patient *p = &s->patients[i];
    p->moves = 0;
    CLEANUP_JSON json_t *done = json_read(j->cmd->effect.done, strlen(j->cmd->effect.done), NULL);
    const char *state = json_string_value(json_object_get(done, "state"));
    const char *id = json_string_value(json_object_get(done, "id"));
    CLEANUP_JSON json_t *o = operation_of(s, i);
    const char *of = json_string_value(json_object_get(o, "boot"));
    if (of && state && strcmp(state, "done") == 0)
        note_verdict(s, i, done, of);
    if (!state || strcmp(state, "begun") != 0)
        return;
    if (kept(p->begun, p->n_begun, id))
        sim_fail(s, "%s: operation %s is begun a second time", s->nodes[i].name, id);
    snprintf(p->begun[p->n_begun++ % OPERATIONS_KEPT], CLAIM_ID_BYTES_MAX + 1, "%s", id);
}

/* Whether the class of the sensitive nodes has Slurm end the work on a lost node. */
bool mend_ends_work(const struct sim *s)
{
    return s->ill && s->slurm && s->seed % 4 == 1;
}

/* Only if the class says so, for a lost node, and once. */
static void may_end_work(struct sim *s, int i, const char *run)
{
    const struct member *m = member_of(s, i);
    const struct repair *r = member_repair(m);
    struct patient *p = &s->patients[i];
    if (!mend_ends_work(s) || !is_gpu(m, s) || strcmp(run, "work:requeue") != 0)
        sim_fail(s, "%s: %s, and its class does not say so (14)", m->name, run);
    if (!r || r->step != STEP_ISOLATE || member_severity(m) != RESULT_LOST || evidence(s, i) != RESULT_LOST)
        sim_fail(s, "%s: %s, and it is not isolated as lost (14)", m->name, run);
    if (!p->drained_there)
        sim_fail(s, "%s: %s, and the scheduler has no drain (14)", m->name, run);
    if (r && p->work_asked.ns == r->since.ns)
        sim_fail(s, "%s: %s a second time (14)", m->name, run);
    p->work_asked = r ? r->since : (struct wall){0};
    s->works_ended++;
}

static bool restarts(const struct remedy *remedy)
{
    return remedy && (strcmp(remedy->run, "reboot") == 0 || strcmp(remedy->run, "power.cycle") == 0 ||
                      strcmp(remedy->run, "power.reset") == 0);
}

/* Its maintenance asks for a restart, and there was none yet. */
static void check_once(struct sim *s, const struct member *m)
{
    const struct repair *r = member_repair(m);
    for (size_t i = 0; r && i < r->n_attempts && !s->wall_at; i++)
        if (r->attempts[i].done && r->attempts[i].at.ns > member_maintenance(m)->at.ns &&
            restarts(remedies_find(s->policy.health.remedies, r->attempts[i].remedy)))
            sim_fail(s, "%s: it is restarted again for the maintenance that asked for one restart", m->name);
}

void mend_may(struct sim *s, int node, const char *run, const char *of)
{
    const struct member *m = member_of(s, node);
    const struct repair *r = member_treated(m);
    const struct observed *o = watch_observed(s->watch, m);
    struct patient *p = &s->patients[node];
    bool checks = strncmp(run, "check:", 6) == 0, asks = strncmp(run, "work:", 5) == 0;
    const struct remedy *remedy = remedies_find(s->policy.health.remedies, of);
    if (strncmp(run, "forget:", 7) == 0) { /* nothing is done to the node */
        if (!r || (r->step != STEP_PROVISION && r->step != STEP_QUEUE) || !r->answer.at.ns)
            sim_fail(s, "%s: %s is begun, and nobody answered for it (4)", m->name, run);
        return;
    }
    check_stopped(s, node, "begun to be operated on");
    if (!checks && !asks)
        check_week(s, m);
    if (!r || r->manual || member_held_by(m, CLAIM_DRAIN) || member_held_by(m, CLAIM_DOWN))
        sim_fail(s, "%s: %s is begun, and a person has it (4)", m->name, run);
    if (asks) {
        may_end_work(s, node, run);
        return;
    }
    if (r->step == STEP_TEND && (checks || remedy->disturbs || remedy->needs != NEEDS_NOTHING))
        sim_fail(s, "%s: %s is begun while it is in service (5)", m->name, run);
    if (r->step == STEP_TEND && (member_override(m) || member_maintenance(m)))
        sim_fail(s, "%s: %s is begun, and a person has it (4)", m->name, run);
    if (!checks && remedy->approval && r->approval != APPROVAL_GIVEN)
        sim_fail(s, "%s: %s is begun, and nobody approved of it (4)", m->name, of);
    if (o->beat.liveness != LIVENESS_LIVE) {
        lost_may(s, node, run);
        return;
    }
    bool idle = o->work == WORK_IDLE && (!p->scheduler || p->scheduled == WORK_IDLE);
    bool wanted = !checks && member_restarts(m) && restarts(remedy);
    if (wanted)
        check_once(s, m);
    if ((checks || remedy->needs == NEEDS_IDLE || wanted) && !idle)
        sim_fail(s, "%s: %s is begun, and its work is %s and, as the scheduler says, %s (5)", m->name, run,
                 work_name(o->work), work_name(p->scheduled));
    if (!checks && strcmp(run, "replace") != 0 && !wanted && evidence(s, node) < RESULT_DEGRADED &&
        !stood_still(s) && !loops(m))
        sim_fail(s, "%s: %s is begun, and the worst that it said a moment ago is %s (5)", m->name, run,
                 result_name(evidence(s, node)));
}

void mend_executed(struct sim *s, int node, const char *id, const char *run)
{
    struct patient *p = &s->patients[node];
    if (!kept(p->begun, p->n_begun, id))
        sim_fail(s, "%s: operation %s (%s) is carried out and was not begun", s->nodes[node].name, id, run);
    if (kept(p->done, p->n_done, id))
        sim_fail(s, "%s: operation %s (%s) is carried out a second time", s->nodes[node].name, id, run);
    snprintf(p->done[p->n_done++ % OPERATIONS_KEPT], CLAIM_ID_BYTES_MAX + 1, "%s", id);
    s->operations++;
    const struct member *m =
        s->running ? member_of(s, node) : NULL; /* the agent goes on without a controller */
    const struct repair *r = m ? member_repair(m) : NULL;
    if (m && s->excepted[node] && !(r && r->manual) && strncmp(run, "forget:", 7) != 0)
        sim_fail(s, "%s: %s is carried out, and it is excepted (16)", s->nodes[node].name, run);
    bool is_gentle =
        strcmp(run, "node:restart") == 0 || strncmp(run, "work:", 5) == 0 || strncmp(run, "forget:", 7) == 0;
    if (s->slurm && s->nodes[node].busy && !is_gentle)
        sim_fail(s, "%s: %s is carried out while work runs (5)", s->nodes[node].name, run);
}

/* --- in the end ------------------------------------------------------------------------------- */

bool mend_all_well(const struct sim *s, char *why, size_t size)
{
    if (!s->running) {
        snprintf(why, size, "no controller");
        return false;
    }
    if (!trial_all_well(s, why, size) || !machine_all_well(s, why, size))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = member_of(s, (int)i);
        const struct repair *r = m && s->listed[i] ? member_treated(m) : NULL;
        if (!r)
            continue;
        const struct ailment *a = member_ailment(m);
        const struct incident *open = a && a->n_open ? &a->open[0] : NULL;
        snprintf(why, size, "%s is in %s: %s%s%s; %zu incidents open%s%s", m->name, step_name(r->step),
                 r->why, *r->operation ? ", operation " : "", r->operation, a ? a->n_open : 0,
                 open ? ", the first of " : "", open ? open->findings[0].check : "");
        return false;
    }
    return true;
}
