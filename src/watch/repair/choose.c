/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which remedy a node gets. The open faults and the earlier attempts are passed to the choice by cost
 * (remedy.h). Hardware faults are kept out of that choice.
 */
#include "node/action.h"
#include "watch/hold/hold.h"
#include "watch/incident/incident.h"
#include "watch/outside/outside.h"
#include "watch/repair/choose_inside.h"
#include "watch/repair/shell.h"
#include "watch/view/facts.h"
#include "watch/view/policy.h"
#include "watch/view/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct outcomes outcomes_of(const void *arg, const char *fault, const char *remedy, const char *class)
{
    const struct watch *w = arg;
    return cluster_outcomes(w->cluster, fault, remedy, class);
}

/* The index of the fault of this group among the first n; n when there is none. A fault without a group is a
 * cause of its own; the node's own faults of the same name are one. */
static size_t fault_place(const struct fault *faults, size_t n, const char *fault, const char *group)
{
    size_t at = 0;
    while (at < n && (strcmp(faults[at].fault, fault) != 0 || strcmp(faults[at].group, group) != 0))
        at++;
    return at;
}

/* Collects the open faults, each once for each group with its worst severity, without findings that are gone
 * from an incident that others keep open. One fault more than the choice takes is enough to make the choice
 * report that. */
static size_t collect_faults(const struct watch *w, struct mono now, const struct member *m,
                             struct fault faults[static FAULTS_MAX + 1])
{
    const struct ailment *a = member_ailment(m);
    bool silent = lost_finding(w, m) != NULL;
    size_t n = 0;
    for (size_t i = 0; a && i < a->n_open; i++) {
        for (size_t k = 0; incident_counts(&a->open[i]) && k < a->open[i].n; k++) {
            const struct incident_finding *f = &a->open[i].findings[k];
            const char *fault = fault_of(f->check, &f->f);
            if (!finding_left(w, now, m, &a->open[i], k) || (silent && !lost_is(w, f->check)))
                continue;
            size_t at = fault_place(faults, n, fault, a->open[i].group);
            if (at < n)
                faults[at].severity = f->f.result > faults[at].severity ? f->f.result : faults[at].severity;
            else if (n <= FAULTS_MAX)
                faults[n++] = (struct fault){fault, f->f.result, a->open[i].group};
        }
    }
    return n;
}

/* An open incident that the hardware causes, by the tables or because it came back; NULL without. */
static const struct incident *hardware_of(const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++)
        if (incident_counts(&a->open[i]) && a->open[i].act == ACT_HARDWARE)
            return &a->open[i];
    return NULL;
}

bool is_hardware(const struct member *m)
{
    return hardware_of(m) != NULL;
}

/* A hardware fault needs a replacement or a person. Other remedies that might help are not tried. */
static void choose_hardware(const struct incident *i, struct choice *out)
{
    const struct remedy *found = NULL;
    for (size_t k = 0; k < out->n && !found; k++)
        if (out->candidates[k].possible && strcmp(out->candidates[k].remedy->run, "replace") == 0)
            found = out->candidates[k].remedy;
    out->chosen = found;
    out->waits = out->explored = false;
    snprintf(out->why, sizeof out->why, "it is the hardware: %.40s %.60s",
             fault_of(i->findings[0].check, &i->findings[0].f), i->group);
}

/* A pseudo-random number: the same for the same repair and the same number of attempts, and another one after
 * each attempt. */
static uint64_t draw_of(const struct member *m, const struct repair *r)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    const char *const texts[] = {m->name, r ? r->id : ""};
    for (size_t i = 0; i < 2; i++)
        for (const char *p = texts[i]; *p; p++)
            sum = (sum ^ (unsigned char)*p) * UINT64_C(1099511628211);
    return (sum ^ (r ? r->n_attempts : 0)) * UINT64_C(1099511628211);
}

static const char *bar_of(const struct watch *w, const struct attempt_record *a, enum refusal refusal,
                          enum way *way)
{
    const struct remedies *all = w->policy.health.remedies;
    const struct remedy *remedy = all ? remedies_find(all, a->remedy) : NULL;
    if (!remedy || !refusal_bars(refusal))
        return NULL;
    *way = remedy_way(remedy->run);
    return *a->text ? a->text : refusal_what(refusal);
}

/* The ways that were refused in this repair, until something was done to the node. `refusal` belongs to the
 * attempt under way. */
static void bar_ways(const struct watch *w, const struct member *m, enum refusal refusal,
                     const char *barred[static WAYS])
{
    const struct repair *r = member_repair(m);
    for (size_t i = r ? r->n_attempts : 0; i-- > 0 && r->attempts[i].at.ns >= r->began.ns;) {
        const struct attempt_record *a = &r->attempts[i];
        enum way way = WAY_AGENT;
        const char *why = bar_of(w, a, a->ended.ns ? a->refusal : refusal, &way);
        if (a->done)
            break;
        if (why && !barred[way])
            barred[way] = why;
    }
    if (lost_finding(w, m))
        barred[WAY_AGENT] = "its agent is not heard";
}

static bool is_of_this_repair(const struct member *m, const struct attempt_record *a)
{
    const struct repair *r = member_repair(m);
    return r && a->done && a->at.ns >= r->began.ns;
}

const char *repair_bars(const struct watch *w, const struct member *m, enum refusal refusal,
                        const struct remedy *remedy)
{
    const char *barred[WAYS] = {0};
    bar_ways(w, m, refusal, barred);
    return barred[remedy_way(remedy->run)];
}

static void choice_fill(const struct watch *w, struct mono now, const struct member *m, bool undone,
                        enum refusal refusal, bool busy, struct choice *out)
{
    static const struct remedies none;
    struct fault faults[FAULTS_MAX + 1];
    struct attempt attempts[ATTEMPTS_KEPT_MAX];
    const struct repair *r = member_repairs(m);
    size_t n = 0;
    for (size_t i = 0; r && i < r->n_attempts; i++)
        if (r->attempts[i].verdict != '0' && !(undone && !r->attempts[i].ended.ns))
            attempts[n++] = (struct attempt){r->attempts[i].remedy, r->attempts[i].fault, r->attempts[i].at,
                                             is_of_this_repair(m, &r->attempts[i])};
    struct choice_input in = {.remedies = w->policy.health.remedies ? w->policy.health.remedies : &none,
                              .class = class_of(w, m)->name,
                              .faults = faults,
                              .n_attempts = n,
                              .attempts = attempts,
                              .now = w->wall,
                              .busy = busy,
                              .draw = draw_of(m, r),
                              .policy = w->policy.health.cost,
                              .outcomes = outcomes_of,
                              .outcomes_arg = w};
    in.n_faults = collect_faults(w, now, m, faults);
    bar_ways(w, m, refusal, in.barred);
    remedy_choose(&in, out);
    if (hardware_of(m))
        choose_hardware(hardware_of(m), out);
}

void repair_choose(const struct watch *w, struct mono now, const struct member *m, bool undone,
                   enum refusal refusal, struct choice *out)
{
    choice_fill(w, now, m, undone, refusal, repair_work(w, m) != WORK_IDLE, out);
}

int64_t choice_cost(const struct choice *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->candidates[i].remedy == c->chosen)
            return c->candidates[i].expected;
    return 0;
}

enum { NOTHING_DONE_MAX = 3, NOTHING_DONE_S = 3600 };

/* The last attempts of the last hour did nothing. An attempt that did nothing does not count as a try, so the
 * same remedy would be chosen for ever. */
static bool nothing_is_done(const struct watch *w, const struct repair *r)
{
    unsigned n = 0;
    for (size_t i = r ? r->n_attempts : 0; i-- > 0 && r->attempts[i].verdict == '0';)
        n += w->wall.ns - r->attempts[i].at.ns < span_s(NOTHING_DONE_S).ns;
    return n >= NOTHING_DONE_MAX;
}

const struct remedy *repair_gentle(const struct watch *w, struct mono now, const struct member *m,
                                   struct choice *out)
{
    *out = (struct choice){0};
    if (member_severity(m) != RESULT_DEGRADED || nothing_is_done(w, member_repairs(m)) ||
        remedies_of_week(w, m) >= w->policy.health.limits.remedies_a_week)
        return NULL;
    choice_fill(w, now, m, false, REFUSAL_NONE, true, out); /* in service, work may come at any moment */
    return out->chosen && remedy_is_gentle(out->chosen) ? out->chosen : NULL;
}

/* Adds when the remedy will be applied: a degraded node waits, unless the chosen remedy disturbs nobody. */
static void say_when(const struct watch *w, struct mono now, const struct member *m, struct choice *out)
{
    const struct health_policy *p = &w->policy.health;
    size_t used = strlen(out->why);
    char lasts[32];
    if (!p->limits.act || member_repair(m) || member_severity(m) != RESULT_DEGRADED)
        return;
    CLEANUP_FREE struct choice *gentle = mem_alloc(sizeof *gentle);
    if (repair_gentle(w, now, m, gentle))
        *out = *gentle;
    if (!out->chosen || remedy_is_gentle(out->chosen))
        return;
    used = strlen(out->why);
    if (p->degraded_for.ns)
        snprintf(out->why + used, sizeof out->why - used, "; when it is drained, as this lasts %s",
                 span_human(p->degraded_for, lasts));
    else
        snprintf(out->why + used, sizeof out->why - used, "; not while it is in service: DegradedFor=0");
}

void watch_choice(const struct watch *w, struct mono now, const struct member *m, struct choice *out)
{
    repair_choose(w, watch_awake(w, now), m, false, REFUSAL_NONE, out);
    struct err e = {0};
    if (cluster_excepts(w->cluster, m))
        err_set(&e, -EBUSY, "it is only observed: Remediate=no");
    else if (held_check(w, m, &e) == 0) {
        say_when(w, watch_awake(w, now), m, out);
        return;
    }
    out->chosen = NULL;
    out->waits = true;
    out->explored = false;
    snprintf(out->why, sizeof out->why, "%.159s", e.msg);
}
