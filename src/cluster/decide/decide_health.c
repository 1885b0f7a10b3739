/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of checks become incidents, and the results of remedies are counted.
 *
 * FINDINGS works on a copy of the node's incidents: some are closed first, then findings are added to open
 * ones or open new ones. The node is isolated in the same decision, so there is no moment at which a fatal
 * incident is agreed and its node is in service.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAID_BYTES_MAX = 900, /* the bytes of the journal's sentence */
    FORGET_AFTER_S = 90 * 24 * 3600
};

/* --- findings --------------------------------------------------------------------------------- */

struct edit {
    const struct command *cmd;
    const struct findings_command *says;
    struct decision *d;
    struct ailment a;
    unsigned n_new;
    bool changed;
    struct text said;
};

static void decide_health_say(struct edit *x, const char *what, const struct incident *i, const char *more)
{
    decision_about(x->d, ENTRY_INCIDENTS, i->id);
    if (x->said.len > SAID_BYTES_MAX)
        return;
    text_printf(&x->said, "%s%s %s", x->said.len ? "; " : "", what, i->id);
    if (i->group[0])
        text_printf(&x->said, " (%s)", i->group);
    if (more && *more)
        text_printf(&x->said, ": %s", more);
}

static void say_finding(struct edit *x, const char *what, const struct incident *i, enum result r,
                        const struct incident_finding *f)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s %s", result_name(r), finding_fault(f));
    if (f->f.text[0])
        text_printf(&t, ": %s", f->f.text);
    decide_health_say(x, what, i, t.s);
}

static void say_worst(struct edit *x, const char *what, const struct incident *i)
{
    say_finding(x, what, i, i->severity, &i->findings[0]);
}

static struct incident *find_open(struct ailment *a, const char *id)
{
    for (size_t i = 0; i < a->n_open; i++)
        if (strcmp(a->open[i].id, id) == 0)
            return &a->open[i];
    return NULL;
}

static struct incident_finding *find_finding(struct incident *i, const struct incident_finding *like)
{
    const struct incident_finding *f = incident_finding(i, like->check, &like->f);
    return f ? &i->findings[f - i->findings] : NULL;
}

/* A group that is new takes the place of the one whose sum is least. */
static void note_recurring(struct ailment *a, const struct recurring *r)
{
    assert(a->n_recurring <= RECURRING_MAX);
    size_t at = 0;
    while (at < a->n_recurring &&
           (a->recurring[at].observe != r->observe || strcmp(a->recurring[at].group, r->group) != 0))
        at++;
    if (at == a->n_recurring && at < RECURRING_MAX) {
        a->n_recurring++;
    } else if (at == a->n_recurring) {
        at = 0;
        for (size_t i = 1; i < RECURRING_MAX; i++)
            if (a->recurring[i].sum < a->recurring[at].sum)
                at = i;
        if (a->recurring[at].sum > r->sum)
            return;
    }
    a->recurring[at] = *r;
}

static void count_times(struct edit *x, const struct incident *i, const struct incident_finding *f,
                        unsigned times)
{
    struct recurring r;
    ailment_recurs(&x->a, i->group, i->observe, x->cmd->at, &r);
    r.sum = recur_add(r.sum, times);
    if (f->f.result >= RESULT_DEGRADED)
        r.grave = recur_add(r.grave, times);
    note_recurring(&x->a, &r);
}

/* The worst first, of equal ones the older first. */
static void sort_findings(struct incident *i)
{
    for (size_t k = 1; k < i->n; k++) {
        struct incident_finding f = i->findings[k];
        size_t at = k;
        for (; at > 0 && i->findings[at - 1].f.result < f.f.result; at--)
            i->findings[at] = i->findings[at - 1];
        i->findings[at] = f;
    }
}

static void lay_finding(struct edit *x, struct incident *i, const struct finding_news *news)
{
    const struct incident_finding *f = &news->of;
    struct incident_finding *place = find_finding(i, f);
    unsigned times = finding_times(&x->a, i, f->check, &f->f, x->says->boot);
    unsigned before = place ? place->times : 0;
    if (news->counts && times)
        count_times(x, i, f, times);
    i->count += times;
    if (!place && i->n < INCIDENT_FINDINGS_MAX)
        place = &i->findings[i->n++];
    else if (!place && i->findings[i->n - 1].f.result < f->f.result)
        place = &i->findings[i->n - 1];
    if (place) {
        *place = *f;
        place->at = x->cmd->at;
        place->times = before + times;
    }
    sort_findings(i);
}

static void lay_findings(struct edit *x, struct incident *i, const struct incident_news *g)
{
    for (size_t k = 0; k < g->n; k++)
        lay_finding(x, i, &g->findings[k]);
}

/* The incident has all of these findings. */
static bool has_all(struct incident *i, const struct incident_news *g)
{
    for (size_t k = 0; k < g->n; k++)
        if (!find_finding(i, &g->findings[k].of))
            return false;
    return true;
}

/* And they say what it says already. */
static bool says_nothing_new(struct edit *x, struct incident *i, const struct incident_news *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const struct finding *is = &g->findings[k].of.f, *has = &find_finding(i, &g->findings[k].of)->f;
        if (has->result != is->result || has->count < is->count || strcmp(has->text, is->text) != 0)
            return false;
    }
    return strcmp(i->boot, x->says->boot) == 0 && g->severity <= i->severity && g->recurs <= i->recurs;
}

static void decide_health_merge(struct edit *x, struct incident *i, const struct incident_news *g)
{
    lay_findings(x, i, g);
    if (g->severity >= i->severity) {
        i->severity = g->severity;
        i->act = g->act;
    }
    i->recurs = g->recurs > i->recurs ? g->recurs : i->recurs;
    i->observe &= g->observe;
    i->last = x->cmd->at;
    memcpy(i->boot, x->says->boot, sizeof i->boot);
    x->changed = true;
    const struct incident_finding *first = &g->findings[0].of;
    if (first->f.result < RESULT_WARN) /* no fault, but what is known of one */
        say_finding(x, "more of", i, first->f.result, first);
    else
        say_worst(x, "more of", i);
}

static void move_to_past(struct edit *x, struct incident *i)
{
    struct ailment *a = &x->a;
    size_t n = a->n_past < INCIDENTS_PAST_MAX ? a->n_past : INCIDENTS_PAST_MAX - 1;
    memmove(a->past + 1, a->past, n * sizeof *a->past);
    a->past[0] = *i;
    a->past[0].closed = x->cmd->at;
    a->n_past = n + 1;
    size_t at = (size_t)(i - a->open);
    assert(at < a->n_open && "an open incident is closed");
    memmove(i, i + 1, (--a->n_open - at) * sizeof *i);
    x->changed = true;
}

/* Of a node with too many incidents the worst ones count. False when this one does not. */
static bool make_room(struct edit *x, const struct incident_news *g)
{
    assert(x->a.n_open <= INCIDENTS_OPEN_MAX);
    if (x->a.n_open < INCIDENTS_OPEN_MAX)
        return true;
    struct incident *mildest = &x->a.open[0];
    for (size_t i = 1; i < x->a.n_open; i++)
        if (x->a.open[i].severity < mildest->severity)
            mildest = &x->a.open[i];
    if (mildest->severity >= g->severity)
        return false;
    decide_health_say(x, "closed", mildest, "too many worse ones");
    move_to_past(x, mildest);
    return true;
}

static void open_new(struct edit *x, const struct incident_news *g)
{
    for (size_t k = 0; k < x->a.n_open; k++) {
        struct incident *i = &x->a.open[k];
        if (strcmp(i->group, g->group) != 0 || !has_all(i, g))
            continue;
        if (!says_nothing_new(x, i, g))
            decide_health_merge(x, i, g);
        return; /* the command is repeated, or comes late */
    }
    if (!make_room(x, g))
        return;
    struct incident *i = &x->a.open[x->a.n_open++];
    *i =
        (struct incident){.severity = g->severity, .act = g->act, .recurs = g->recurs, .observe = g->observe};
    memcpy(i->group, g->group, sizeof g->group);
    CLEANUP_TEXT struct text id = {0};
    text_printf(&id, "%.40s.%u", x->cmd->claim, ++x->n_new);
    memcpy(i->id, id.s, id.len + 1);
    i->since = i->last = x->cmd->at;
    memcpy(i->boot, x->says->boot, sizeof i->boot);
    lay_findings(x, i, g);
    x->changed = true;
    say_worst(x, "opened", i);
}

/* A record has to be readable: nothing in it is anything but what put_health takes. */
static int check_finding(const struct incident_finding *f, struct err *e)
{
    if (!*f->check)
        return err_set(e, -EINVAL, "a finding of no check");
    if (f->f.result <= RESULT_OK)
        return err_set(e, -EINVAL, "\"%s\" is nothing that a check finds", result_name(f->f.result));
    return text_is_clean(f->check) && text_is_clean(f->f.device) && text_is_clean(f->f.code) &&
                   text_is_clean(f->f.text)
               ? 0
               : err_set(e, -EINVAL, "a finding with a control character");
}

static int check_news(const struct incident_news *g, struct err *e)
{
    if (g->n == 0)
        return err_set(e, -EINVAL, "no finding");
    if (g->severity <= RESULT_OK)
        return err_set(e, -EINVAL, "\"%s\" is nothing that a check finds", result_name(g->severity));
    for (size_t k = 0; k < g->n; k++)
        if (check_finding(&g->findings[k].of, e) < 0)
            return err_wrap(e, -EINVAL, "finding %zu", k + 1);
    return 0;
}

static int open_all(struct edit *x, bool listed, struct err *e)
{
    for (size_t k = 0; k < x->says->n_open; k++) {
        const struct incident_news *g = &x->says->open[k];
        if (check_news(g, e) < 0)
            return err_wrap(e, -EINVAL, "open %zu", k + 1);
        struct incident *known = *g->id ? find_open(&x->a, g->id) : NULL;
        if (known)
            decide_health_merge(x, known, g);
        else if (!*g->id && listed)
            open_new(x, g);
    }
    return 0;
}

static int close_all(struct edit *x, struct err *e)
{
    for (size_t k = 0; k < x->says->n_close; k++) {
        const struct incident_end *end = &x->says->close[k];
        if (decide_check_clause("how", end->how, e) < 0)
            return err_wrap(e, -EINVAL, "close %zu", k + 1);
        struct incident *i = find_open(&x->a, end->id);
        if (!i)
            continue;
        decide_health_say(x, "closed", i, end->how);
        move_to_past(x, i);
    }
    return 0;
}

static void add_job(struct edit *x, struct incident *i, const struct incident_job *job)
{
    CLEANUP_TEXT struct text words = {0};
    if (i->observe || i->severity < RESULT_DEGRADED || incident_has_job(i, job->id) ||
        i->n_jobs == INCIDENT_JOBS_MAX)
        return;
    i->jobs[i->n_jobs++] = *job;
    x->changed = true;
    text_printf(&words, "%s of %s", job->id, job->user);
    decide_health_say(x, "a job runs under", i, words.s);
}

/* The jobs that the scheduler reports on the node, for each open incident. */
static int add_jobs(struct edit *x, struct err *e)
{
    for (size_t k = 0; k < x->says->n_jobs; k++) {
        const struct incident_job *job = &x->says->jobs[k];
        if (!*job->id || !text_is_clean(job->id) || !text_is_clean(job->user))
            return err_set(e, -EINVAL, "job %zu has no number, or a control character", k + 1);
        for (size_t i = 0; i < x->a.n_open; i++)
            add_job(x, &x->a.open[i], job);
    }
    return 0;
}

/* A copy, with room for what the command adds. */
static void edit_init(struct edit *x, const struct member *m, const struct command *cmd)
{
    const struct ailment *was = member_ailment(m);
    size_t n_open = x->says->n_open, n_close = x->says->n_close;
    x->cmd = cmd;
    size_t was_open = was ? was->n_open : 0, was_past = was ? was->n_past : 0;
    x->a.open = mem_alloc((was_open + n_open + 1) * sizeof *x->a.open);
    x->a.past = mem_alloc((was_past + was_open + n_open + n_close + 1) * sizeof *x->a.past);
    if (was_open)
        memcpy(x->a.open, was->open, was_open * sizeof *was->open);
    x->a.n_open = was_open;
    x->a.recurring = mem_alloc(RECURRING_MAX * sizeof *x->a.recurring);
    for (size_t i = 0; was && i < was->n_recurring; i++)
        if (recur_fade(was->recurring[i].sum, was->recurring[i].step, recur_step(cmd->at)) > 0)
            x->a.recurring[x->a.n_recurring++] = was->recurring[i];
    for (size_t i = 0; i < was_past; i++)
        if (cmd->at.ns - was->past[i].closed.ns < FORGET_AFTER_S * INT64_C(1000000000))
            x->a.past[x->a.n_past++] = was->past[i];
}

/* A person may have said so after the isolation was proposed. */
static bool is_overridden(const struct member *m, const struct ailment *a)
{
    const struct override *o = member_override(m);
    for (size_t i = 0; o && i < a->n_open; i++)
        if (!a->open[i].observe && a->open[i].severity >= RESULT_DEGRADED &&
            !override_covers(o, a->open[i].group, a->open[i].severity))
            return false;
    return o != NULL;
}

/* The findings are written down all the same. */
static int check_isolation(const struct cluster *c, const struct command *cmd, struct member *m, bool surges,
                           struct err *e)
{
    const struct named one = {1, &m};
    int rc = decide_check_brakes(c, e);
    if (rc == 0 && surges)
        rc = decide_check_surge(c, cmd->at, e);
    return rc < 0 ? rc : decide_check_budgets(c, &one, e);
}

static int decide_health_isolate(const struct cluster *c, struct member *m, struct edit *x,
                                 struct decision *d, struct err *e)
{
    const struct isolation *says = &x->says->isolate;
    const struct command *cmd = x->cmd;
    struct repair_wish w = {.step = STEP_ISOLATE, .why = says->why, .deadline_s = says->deadline_s};
    struct err why;
    if (!says->why)
        return 0;
    memcpy(w.problem, says->problem, sizeof w.problem);
    memcpy(w.boot, x->says->boot, sizeof w.boot);
    if (repair_wish_check(&w, e) < 0)
        return err_wrap(e, -EINVAL, "isolate");
    if (!step_may_by(STEP_NONE, says->event, STEP_ISOLATE))
        return err_set(e, -EINVAL, "isolate: event \"%s\" isolates no node", step_event_name(says->event));
    if (member_repair(m) || !m->listed || !m->admitted || is_overridden(m, &x->a))
        return 0;
    if (check_isolation(c, cmd, m, says->surge > 0, &why) < 0) {
        text_printf(&x->said, "%snot isolated: %s", x->said.len ? "; " : "", why.msg);
        return 0;
    }
    if (says->surge)
        decision_add(d, "surge/", "isolated", surge_record_with(c, cmd->at, says->surge));
    entry_fields_move(&d->fields, repair_step_of(m), says->event, STEP_ISOLATE);
    repair_begin(c, cmd, m, &w, d);
    d->takes_out = true;
    text_printf(&x->said, "%sisolated: %s (claim %s)", x->said.len ? "; " : "", w.why, cmd->claim);
    override_end(m, "it is worse than it was, or something else is wrong", &x->said, d);
    return 0;
}

static int lay_all(const struct cluster *c, const struct command *cmd, struct member *m, struct edit *x,
                   struct decision *d, struct err *e)
{
    edit_init(x, m, cmd);
    if (decide_check_boot(x->says->boot, e) < 0 || close_all(x, e) < 0 || open_all(x, m->listed, e) < 0 ||
        add_jobs(x, e) < 0 || decide_health_isolate(c, m, x, d, e) < 0)
        return -EINVAL;
    if (x->changed)
        decision_add(d, "health/", m->name,
                     x->a.n_open + x->a.n_past + x->a.n_recurring ? ailment_record(&x->a) : NULL);
    return 0;
}

static int decide_findings(const struct cluster *c, const struct command *cmd, struct decision *d,
                           struct err *e)
{
    struct member *m;
    struct edit x = {.says = &cmd->findings, .d = d};
    int rc = decide_one(c, cmd, &m, e);
    if (rc < 0)
        return rc;
    rc = lay_all(c, cmd, m, &x, d, e);
    if (rc == 0 && d->n_ops) {
        d->text = text_take(&x.said);
        hostlist_add(&d->changed, m->name);
    }
    free(x.a.open);
    free(x.a.past);
    free(x.a.recurring);
    text_fini(&x.said);
    return rc;
}

int decide_health(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    if (cmd->kind == COMMAND_FINDINGS)
        return decide_findings(c, cmd, d, e);
    if (cmd->kind == COMMAND_SHARED)
        return decide_shared(c, cmd, d, e);
    if (cmd->kind == COMMAND_OUTCOME)
        return decide_outcome(c, cmd, d, e);
    if (cmd->kind == COMMAND_OPERATE)
        return decide_operate(c, cmd, d, e);
    if (cmd->kind == COMMAND_REPAIR)
        return decide_repair(c, cmd, d, e);
    return decide_ticket(c, cmd, d, e);
}
