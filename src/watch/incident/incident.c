/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incidents. What the checks say now is compared with the records, and the difference is proposed. So a lost
 * proposal is made again, and a watch that begins anew continues from the records.
 *
 * Findings of checks that are only observed make incidents of their own. Nothing follows from them, so they
 * must not change what follows from another finding.
 */
#include "watch/incident/incident.h"
#include "health/service.h"
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/incident/answer_inside.h"
#include "watch/incident/evidence_inside.h"
#include "watch/incident/fitness_inside.h"
#include "watch/incident/recur_inside.h"
#include "watch/incident/shared_inside.h"
#include "watch/outside/outside.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <stdlib.h>
#include <string.h>

/* --- which incident it belongs to ------------------------------------------------------------- */

/* The finding as the incident has it. NULL when the incident does not have it, and a new entry may be
 * written. */
static const struct incident_finding *incident_held(const struct incident *i, const struct evidence *ev)
{
    for (size_t k = 0; k < i->n; k++)
        if (evidence_is(i->findings[k].check, &i->findings[k].f, ev->check->name, ev->f))
            return &i->findings[k];
    return NULL;
}

static bool in_group(const struct incident *i, const struct evidence *ev)
{
    return i->observe == ev->check->observe && strcmp(i->group, ev->f->device) == 0;
}

static const struct incident *incident_of(const struct watch *w, const struct ailment *a,
                                          const struct evidence *ev)
{
    for (size_t i = 0; a && i < a->n_open; i++)
        if (in_group(&a->open[i], ev) && incident_held(&a->open[i], ev))
            return &a->open[i];
    for (size_t i = 0; a && i < a->n_open; i++)
        if (in_group(&a->open[i], ev) && w->wall.ns - a->open[i].last.ns < w->policy.health.group.ns)
            return &a->open[i];
    return NULL;
}

/* Whether the record has to be extended. */
static bool is_news(const struct incident *i, const struct evidence *ev, const char *boot)
{
    const struct incident_finding *has = incident_held(i, ev);
    if (strcmp(i->boot, boot) != 0)
        return true;
    if (has)
        return has->f.result < ev->f->result;
    return i->n < INCIDENT_FINDINGS_MAX || i->findings[i->n - 1].f.result < ev->f->result;
}

/* --- what is proposed ------------------------------------------------------------------------- */

enum { RECORD_S = 60 };

/* The content of one command about a node's incidents. */
struct proposal {
    struct watch *w;
    struct mono now;
    const struct member *m;
    const struct ailment *ailment;
    struct evidence_list all;
    struct incident_news *open; /* the news own their findings */
    struct incident_end *close;
    struct findings_command says;
    struct text why;                 /* of the isolation */
    const struct evidence *isolates; /* the worst evidence that isolates the node; NULL: none */
    enum result worst;               /* of the incidents that isolate it */
    struct wall since;               /* the start of the earliest of these incidents */
    const struct recur_row *recurs;  /* the row of the recurrences that applies; NULL: none */
};

/* How often the finding was seen beyond the record. A finding that stands until a remedy or a boot is one
 * fault, however often the kernel reports it. */
static unsigned times_more(const struct proposal *p, const struct incident *known, const struct evidence *ev)
{
    const char *boot = boot_of(p->w, p->m);
    const struct incident_finding *has = incident_finding(known, ev->check->name, ev->f);
    if (ev->f->count && act_end(evidence_meaning(p->w, ev).act) == ACT_ENDS_TIME)
        return finding_times(p->ailment, known, ev->check->name, ev->f, boot);
    return !has || strcmp(known->boot, boot) != 0 || has->f.result < ev->f->result;
}

/* Whether the finding has to be recorded: a new finding at once, a repetition within a minute. */
static bool is_due(const struct proposal *p, const struct incident *known, const struct evidence *ev)
{
    const struct incident_finding *has = incident_finding(known, ev->check->name, ev->f);
    if (!known || is_news(known, ev, boot_of(p->w, p->m)))
        return true;
    return has && times_more(p, known, ev) > 0 && p->w->wall.ns - has->at.ns >= span_s(RECORD_S).ns;
}

/* Adds the finding to the n findings of an incident, as it is recorded. */
static void add_finding(const struct proposal *p, const struct evidence *ev, struct finding_news **list,
                        size_t *n)
{
    struct meaning m = evidence_meaning(p->w, ev);
    *list = mem_grow(*list, (*n + 1) * sizeof **list);
    struct finding_news *out = &(*list)[(*n)++];
    *out = (struct finding_news){.of = {.f = *ev->f}, .counts = blame_counts(m.blame)};
    memcpy(out->of.check, ev->check->name, strlen(ev->check->name) + 1);
    if (act_end(m.act) != ACT_ENDS_TIME)
        out->of.f.count = 0;
}

static struct incident_news *add_news(struct proposal *p, const char *id, const char *group)
{
    p->open = mem_grow(p->open, (p->says.n_open + 1) * sizeof *p->open);
    struct incident_news *out = &p->open[p->says.n_open++];
    *out = (struct incident_news){0};
    if (id)
        memcpy(out->id, id, strlen(id) + 1);
    memcpy(out->group, group, strlen(group) + 1);
    return out;
}

/* What the general rule says about the evidence that belongs to the incident beginning at `first`. */
static enum result incident_raised(const struct proposal *p, const struct incident *known, size_t first)
{
    const struct evidence *head = &p->all.list[first];
    struct recurring r;
    enum result worst = RESULT_OK;
    ailment_recurs(p->ailment, head->f->device, head->check->observe, p->w->wall, &r);
    for (size_t i = first; i < p->all.n; i++) {
        const struct evidence *ev = &p->all.list[i];
        if (ev->of != first + 1 || !blame_counts(evidence_meaning(p->w, ev).blame))
            continue;
        unsigned more = times_more(p, known, ev);
        r.sum = recur_add(r.sum, more);
        r.grave = recur_add(r.grave, ev->f->result >= RESULT_DEGRADED ? more : 0);
        worst = ev->f->result > worst ? ev->f->result : worst;
    }
    return recur_raise(worst, worst == RESULT_WARN ? r.sum : r.grave);
}

/* What the table of recurrences says about the worst evidence that belongs to the incident beginning at
 * `first`. */
static const struct recur_row *row_of(const struct proposal *p, const struct incident *known, size_t first)
{
    const struct recur_row *worst = NULL;
    for (size_t i = first; i < p->all.n; i++) {
        const struct evidence *ev = &p->all.list[i];
        if (ev->of != first + 1)
            continue;
        const struct recur_row *row = recur_find(p->m, known, ev->check->name, ev->f, ev->check->observe,
                                                 p->w->wall, times_more(p, known, ev));
        if (row && (!worst || row->result > worst->result))
            worst = row;
    }
    return worst;
}

/* A row that asks for less than the finding itself has no effect. The judgement that the hardware is at fault
 * is never taken back. */
static enum act act_with(const struct proposal *p, const struct incident *known, const struct recur_row *row,
                         const struct evidence *worst)
{
    enum act own = evidence_meaning(p->w, worst).act;
    if ((row && row->act == ACT_HARDWARE) || (known && known->act == ACT_HARDWARE))
        return ACT_HARDWARE;
    return row && row->act > own ? row->act : own;
}

/* The node has been degraded for so long that it is drained: since the start of its first incident that is
 * open and counts, by the watch's own time since it first saw that incident. */
static bool incident_lasts(const struct proposal *p)
{
    struct health_state *v = health_state_of(p->w, p->m);
    struct wall since = {0};
    for (size_t i = 0; p->ailment && i < p->ailment->n_open; i++) {
        const struct incident *one = &p->ailment->open[i];
        if (incident_counts(one) && (!since.ns || one->since.ns < since.ns))
            since = one->since;
    }
    if (!since.ns || !p->w->policy.health.degraded_for.ns)
        return false;
    if (v->mild_of.ns != since.ns) {
        int64_t age_ns = p->w->wall.ns - since.ns;
        v->mild_of = since;
        v->mild_from = (struct mono){p->now.ns - (age_ns > 0 ? age_ns : 0)};
    }
    return mono_sub(p->now, v->mild_from).ns >= p->w->policy.health.degraded_for.ns;
}

/* The result is from before a remedy was carried out, and says nothing about the state that the remedy left.
 */
static bool is_of_before(const struct proposal *p, const struct evidence *ev)
{
    const struct repair *r = member_repairs(p->m);
    const struct attempt_record *a = r && r->n_attempts ? &r->attempts[r->n_attempts - 1] : NULL;
    if (r && r->step == STEP_TEND)
        return true;
    if (!a || !a->done || ev->outside || !check_ages(ev->check))
        return false;
    int64_t done_ns = p->now.ns - (p->w->wall.ns - a->ended.ns);
    return said_looked(p->w, health_state_find(p->w, p->m), ev->place).ns < done_ns;
}

/* Whether this evidence suffices to take the node out for an incident of this severity. */
static bool evidence_isolates(const struct proposal *p, const struct evidence *ev, enum result severity)
{
    enum drained drained = service_of(severity, acts_for(p->w, p->m))->drained;
    if (ev->check->observe || drained == DRAINED_NEVER || !evidence_fresh(p->w, p->now, p->m, ev) ||
        (drained == DRAINED_LASTING &&
         !(ev->f->result >= RESULT_DEGRADED && incident_lasts(p) && !is_of_before(p, ev))))
        return false;
    if (ev->f->result < RESULT_FATAL && severity > RESULT_FATAL)
        return false; /* another finding of the incident is the lost one */
    bool parts = severity == RESULT_LOST && !lost_is(p->w, ev->check->name);
    return parts || !shared_excuses(p->w, p->m, ev->check->name, ev->f);
}

static void note_isolation(struct proposal *p, const struct evidence *ev, enum result severity,
                           struct wall since)
{
    if (!evidence_isolates(p, ev, severity))
        return;
    if (!p->isolates || ev->f->result > p->isolates->f->result)
        p->isolates = ev;
    if (severity > p->worst)
        p->worst = severity;
    if (!p->since.ns || since.ns < p->since.ns)
        p->since = since;
}

/* An incident that opens or goes on: adds the evidence from `first` on that belongs to it. known NULL: a new
 * one. */
static void add_open(struct proposal *p, const struct incident *known, size_t first)
{
    const struct evidence *head = &p->all.list[first], *worst = head;
    CLEANUP_FREE struct finding_news *findings = NULL;
    size_t n = 0;
    for (size_t i = first; i < p->all.n; i++) {
        struct evidence *ev = &p->all.list[i];
        bool mine = known
                        ? incident_of(p->w, p->ailment, ev) == known
                        : !incident_of(p->w, p->ailment, ev) && ev->check->observe == head->check->observe &&
                              strcmp(ev->f->device, head->f->device) == 0;
        if (ev->of || !mine)
            continue;
        ev->of = first + 1;
        worst = ev->f->result > worst->f->result ? ev : worst;
        if (is_due(p, known, ev))
            add_finding(p, ev, &findings, &n);
    }
    unsigned recurs =
        known ? known->recurs : recur_count(p->m, head->f->device, head->check->observe, p->w->wall);
    const struct recur_row *row = row_of(p, known, first);
    enum result severity = incident_raised(p, known, first);
    severity = worst->f->result > severity ? worst->f->result : severity;
    severity = row && row->result > severity ? row->result : severity;
    if (known && severity > known->severity && n == 0)
        add_finding(p, worst, &findings, &n);
    severity = known && known->severity > severity ? known->severity : severity;
    if (row)
        p->recurs = row;
    for (size_t i = first; i < p->all.n && !override_excuses(p->m, head->f->device, severity); i++)
        if (p->all.list[i].of == first + 1)
            note_isolation(p, &p->all.list[i], severity, known ? known->since : p->w->wall);
    bool full = !known && p->ailment && p->ailment->n_open + p->says.n_open >= INCIDENTS_OPEN_MAX;
    if (n == 0 || full)
        return;
    struct incident_news *out = add_news(p, known ? known->id : NULL, head->f->device);
    out->severity = severity;
    out->act = act_with(p, known, row, worst);
    out->recurs = recurs;
    out->observe = head->check->observe;
    out->n = n;
    out->findings = STEAL(findings);
}

/* Records how a lost node was lost, before its incident closes. */
static void add_cause(struct proposal *p)
{
    const struct incident *i = boot_unexplained(p->w, p->now, p->m);
    struct finding f;
    if (!i || !boot_cause(p->w, p->m, &f))
        return;
    const struct evidence ev = {boot_record(), &f, SIZE_MAX, NULL, 0};
    struct finding_news *findings = NULL;
    struct incident_news *out = add_news(p, i->id, i->group);
    out->severity = i->severity;
    out->act = i->act;
    out->recurs = i->recurs;
    out->observe = i->observe;
    add_finding(p, &ev, &findings, &out->n);
    out->findings = findings;
}

static void add_closes(struct proposal *p)
{
    for (size_t i = 0; p->ailment && i < p->ailment->n_open; i++) {
        const struct incident *one = &p->ailment->open[i];
        bool gone = one->n > 0;
        for (size_t k = 0; k < one->n; k++)
            gone = gone && finding_gone(p->w, p->now, p->m, one->findings[k].check, &one->findings[k].f);
        for (size_t k = 0; k < p->all.n; k++)
            gone = gone && incident_of(p->w, p->ailment, &p->all.list[k]) != one;
        if (!gone)
            continue;
        p->close = mem_grow(p->close, (p->says.n_close + 1) * sizeof *p->close);
        struct incident_end *end = &p->close[p->says.n_close++];
        *end = (struct incident_end){.how = "its checks say ok"};
        memcpy(end->id, one->id, sizeof one->id);
    }
}

static enum step_event isolation_event(const struct proposal *p)
{
    if (p->worst == RESULT_LOST)
        return STEP_EVENT_LOST;
    return service_of(p->worst, true)->drained == DRAINED_LASTING ? STEP_EVENT_DEGRADED : STEP_EVENT_FATAL;
}

static void add_isolation(struct proposal *p)
{
    if (!p->isolates || !brake_isolate(p->w, p->now, p->m, p->since))
        return;
    const struct finding *f = p->isolates->f;
    text_add(&p->why, fault_of(p->isolates->check->name, f));
    if (*f->device)
        text_printf(&p->why, " %s", f->device);
    if (*f->text)
        text_printf(&p->why, ": %s", f->text);
    if (p->recurs)
        text_printf(&p->why, " (%s)", p->recurs->what);
    p->says.isolate =
        (struct isolation){.why = p->why.s,
                           .problem = "node_problem",
                           .event = isolation_event(p),
                           .deadline_s = (uint64_t)(p->w->policy.health.drain_deadline.ns / span_s(1).ns)};
    if (health_state_of(p->w, p->m)->counted)
        p->says.isolate.surge = p->w->policy.health.limits.surge;
}

/* A node that needs no isolation any more is neither counted nor announced as waiting for room. */
static void note_calm(struct proposal *p)
{
    struct health_state *v = health_state_of(p->w, p->m);
    if (p->isolates)
        return;
    v->counted = v->waits = false;
}

/* A finding that comes and goes must not fill the journal: after so many commits at once there is one in six
 * seconds, which has everything that changed meanwhile. */
static bool may_commit(struct health_state *v, struct mono now)
{
    enum { COMMITS_AT_ONCE = 20, COMMIT_S = 6 };
    if (mono_sub(v->commits_paid, now).ns > span_s(COMMIT_S * (COMMITS_AT_ONCE - 1)).ns)
        return false;
    struct mono from = v->commits_paid.ns > now.ns ? v->commits_paid : now;
    v->commits_paid = mono_add(from, span_s(COMMIT_S));
    return true;
}

static bool propose_findings(struct proposal *p)
{
    bool isolates = p->says.isolate.why != NULL;
    if (!isolates && !p->says.n_open && !p->says.n_close)
        return false;
    if (!may_commit(health_state_of(p->w, p->m), p->now) && !isolates)
        return false;
    p->says.open = p->open;
    p->says.close = p->close;
    health_propose(p->w, p->now, p->m, &(struct command){.kind = COMMAND_FINDINGS, .findings = p->says});
    return true;
}

bool incident_look(struct watch *w, struct mono now, const struct member *m)
{
    struct proposal p = {.w = w, .now = now, .m = m, .ailment = member_ailment(m)};
    evidence_gather(w, now, m, &p.all);
    memcpy(p.says.boot, boot_of(w, m), strlen(boot_of(w, m)) + 1);
    for (size_t i = 0; i < p.all.n; i++)
        if (!p.all.list[i].of)
            add_open(&p, incident_of(w, p.ailment, &p.all.list[i]), i);
    add_cause(&p);
    add_closes(&p);
    note_calm(&p);
    add_isolation(&p);
    bool proposed = propose_findings(&p);
    for (size_t i = 0; i < p.says.n_open; i++)
        free(p.open[i].findings);
    free(p.open);
    free(p.close);
    free(p.all.list);
    text_fini(&p.why);
    return proposed;
}

void incidents_create(struct watch *w)
{
    w->shared = mem_alloc(sizeof *w->shared);
    w->answers = mem_alloc(sizeof *w->answers);
    w->fitness = mem_alloc(sizeof *w->fitness);
}

void incidents_destroy(struct watch *w)
{
    shared_destroy(w);
    rows_destroy(w);
    free(STEAL(w->shared));
    free(STEAL(w->answers));
    free(STEAL(w->fitness));
}
