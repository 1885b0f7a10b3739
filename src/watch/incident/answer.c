/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers about the health of a node, and which nodes have to report more before one can be given.
 */
#include "health/service.h"
#include "watch/health/health.h"
#include "watch/incident/answer_inside.h"
#include "watch/incident/forget_inside.h"
#include "watch/incident/incident.h"
#include "watch/incident/shell.h"
#include "watch/outside/outside.h"
#include "watch/view/facts.h"
#include "watch/view/policy.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <stdio.h>
#include <string.h>

enum {
    TELL_REST_S = 10,  /* between two requests to report everything */
    UNTOLD_SHARE = 10, /* so many calls look at every healthy node */
    UNTOLD_MIN = 100   /* but at least at this many in each call */
};

const char *health_name(enum health h)
{
    static const char *const names[] = {"unknown", "ok", "degraded", "fatal", "lost"};
    return names[h];
}

static enum health health_of_result(enum result r)
{
    return r == RESULT_LOST       ? HEALTH_LOST
           : r == RESULT_FATAL    ? HEALTH_FATAL
           : r == RESULT_DEGRADED ? HEALTH_DEGRADED
                                  : HEALTH_OK;
}

/* The worst result of the checks that count, or of those that are only observed (observe). */
static enum result said_worst(const struct watch *w, struct mono now, const struct member *m, bool observe)
{
    const struct health_state *v = health_state_find(w, m);
    enum result worst = RESULT_OK;
    for (size_t k = 0; v && k < v->n_sayings; k++) {
        size_t i = v->sayings[k].check;
        bool counts = said_assigned(v, i) && check_at(w, i)->observe == observe;
        enum result r = counts ? said_now(w, now, m, i) : RESULT_OK;
        worst = r > worst ? r : worst;
    }
    return worst;
}

enum result health_worst(const struct watch *w, struct mono now, const struct member *m)
{
    enum result worst = member_severity(m), outside = outside_worst(w, now, m),
                said = said_worst(w, now, m, false);
    worst = outside > worst ? outside : worst;
    return said > worst ? said : worst;
}

bool health_excludes(const struct watch *w, struct mono now, const struct member *m)
{
    return watch_live(w, m) && !service_of(health_worst(w, now, m), acts_for(w, m))->takes_work;
}

bool watch_incident_drains(const struct watch *w, const struct member *m, const struct incident *i,
                           struct wall now)
{
    enum drained drained = service_of(i->severity, true)->drained;
    struct wall end = i->closed.ns ? i->closed : now;
    struct span limit = w->policy.health.degraded_for;
    bool lasted = limit.ns && end.ns - i->since.ns >= limit.ns;
    return !i->observe && !cluster_excepts(w->cluster, m) &&
           (drained == DRAINED_AT_ONCE || (drained == DRAINED_LASTING && lasted));
}

/* What makes a node ill: the check that reports or has found the fault, and its words. */
struct ground {
    const char *check;
    const char *device, *text; /* "" for none */
};

static bool ground_take(struct ground *g, const char *check, enum result worst,
                        const struct finding *findings, size_t n, const char *text)
{
    *g = (struct ground){check, "", text ? text : ""};
    for (size_t i = 0; i < n; i++) {
        if (findings[i].result != worst)
            continue;
        g->device = findings[i].device;
        g->text = findings[i].text;
        break;
    }
    return true;
}

static bool ground_said(const struct watch *w, struct mono now, const struct member *m, enum result worst,
                        bool observe, struct ground *g)
{
    const struct health_state *v = health_state_find(w, m);
    for (size_t k = 0; v && k < v->n_sayings; k++) {
        const struct saying *s = &v->sayings[k];
        const struct check *check = check_at(w, s->check);
        if (said_assigned(v, s->check) && check->observe == observe && said_now(w, now, m, s->check) == worst)
            return ground_take(g, check->name, worst, s->findings, s->n, s->text);
    }
    return false;
}

static bool ground_outside(const struct watch *w, struct mono now, const struct member *m, enum result worst,
                           struct ground *g)
{
    const struct health_state *v = health_state_find(w, m);
    for (const struct outside *x = v ? v->outside : NULL; x; x = x->next)
        if (outside_now(w, now, m, x) == worst)
            return ground_take(g, x->name, worst, x->findings, x->n, x->text);
    return false;
}

static bool ground_recorded(const struct member *m, enum result worst, struct ground *g)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++) {
        const struct incident *one = &a->open[i];
        if (!one->observe && one->severity == worst && one->n)
            return ground_take(g, one->findings[0].check, one->findings[0].f.result, &one->findings[0].f, 1,
                               NULL);
    }
    return false;
}

/* "mount /scratch: not mounted (check scratch, fatal)" */
static void ground_say(const struct ground *g, enum result worst, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s%s(check %s, %s)", g->device, *g->device && *g->text ? ": " : "", g->text,
             *g->device || *g->text ? " " : "", g->check, health_name(health_of_result(worst)));
}

/* ", and it would be drained ...": what follows from this severity where Fettle acts; "" for nothing. */
static void follow_say(const struct health_policy *p, enum result worst, const char *drained, char *out,
                       size_t size)
{
    char span[32];
    *out = '\0';
    switch (service_of(worst, true)->drained) {
    case DRAINED_NEVER: break;
    case DRAINED_AT_ONCE: snprintf(out, size, "; %s", drained); break;
    case DRAINED_LASTING:
        if (p->degraded_for.ns)
            snprintf(out, size, "; %s when that lasts %s", drained, span_human(p->degraded_for, span));
        break;
    }
}

/* Notes checks that are only observed, when nothing else is wrong. */
static void note_observed(const struct watch *w, struct mono now, const struct member *m, struct fitness *f)
{
    enum result worst = said_worst(w, now, m, true);
    struct ground ground;
    char is[FITNESS_HEALTH_BYTES - 128], follows[96];
    if (worst < RESULT_DEGRADED || !watch_live(w, m) || !ground_said(w, now, m, worst, true, &ground))
        return;
    ground_say(&ground, worst, is, sizeof is);
    follow_say(&w->policy.health, worst, "it would be drained", follows, sizeof follows);
    snprintf(f->health, sizeof f->health, "%s%s%s (Observe=yes)", why_words(WHY_OBSERVED), is, follows);
}

void health_fitness(const struct watch *w, struct mono now, const struct member *m, struct fitness *f)
{
    enum result worst = watch_live(w, m) ? health_worst(w, now, m) : RESULT_OK;
    const struct health_policy *p = &w->policy.health;
    struct ground ground = {"of another system", "", ""};
    char follows[96], is[FITNESS_HEALTH_BYTES - 128];
    if (worst < RESULT_DEGRADED) {
        note_observed(w, now, m, f);
        return;
    }
    if (!ground_said(w, now, m, worst, false, &ground) && !ground_outside(w, now, m, worst, &ground))
        ground_recorded(m, worst, &ground);
    ground_say(&ground, worst, is, sizeof is);
    f->ill = health_excludes(w, now, m);
    bool acts = acts_for(w, m);
    follow_say(p, worst, acts ? "it is drained" : "it would be drained", follows, sizeof follows);
    if (f->ill)
        snprintf(f->health, sizeof f->health, "%s", is);
    else if (acts)
        snprintf(f->health, sizeof f->health, "%s%s%s", why_words(WHY_HEALTH), is, follows);
    else
        snprintf(f->health, sizeof f->health, "%s%s%s (%s)", why_words(WHY_OBSERVED), is, follows,
                 p->limits.act ? "Remediate=no" : "Health=observe");
}

enum health watch_health(const struct watch *w, struct mono now, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    struct mono at = watch_awake(w, now);
    if (!watch_live(w, m))
        return lost_finding(w, m) ? HEALTH_LOST : HEALTH_UNKNOWN;
    enum result worst = health_worst(w, at, m);
    if (worst >= RESULT_DEGRADED)
        return health_of_result(worst);
    size_t n = 0, known = 0;
    bool counts = health_state_speaks(w, m, v);
    for (size_t i = 0; v && v->said && i < check_count(w); i++) {
        if (!(v->said[i] & SAID_ASSIGNED) || !check_rule_of(w, i)->repeats || check_at(w, i)->observe)
            continue;
        enum result r = counts ? said_of(w, at, v, i) : RESULT_UNKNOWN;
        n++;
        known += r != RESULT_UNKNOWN || (was_said(v, i) && (check_at(w, i)->when & CHECK_IDLE));
    }
    return n && known == n ? HEALTH_OK : HEALTH_UNKNOWN;
}

static void answer_say(const struct watch *w, struct mono now, const struct member *m, size_t i,
                       struct said *out)
{
    const struct health_state *v = health_state_find(w, m);
    enum result r = said_now(w, now, m, i);
    const struct saying *s = v ? saying_find(v, i) : NULL;
    out->check = check_at(w, i);
    verdict_clear(&out->verdict);
    out->since = out->looked = (struct mono){0};
    if (was_said(v, i))
        out->since = out->looked = said_looked(w, v, i);
    if (s)
        out->since = s->since;
    bool waits = (out->check->when & CHECK_EXTENSIVE) && trial_waits(w, m, i);
    bool own = was_said(v, i) && (enum result)((v->said[i] & SAID_RESULT) - 1) == r;
    if (!own) {
        verdict_cannot(&out->verdict, RESULT_UNKNOWN, "%s",
                       !was_said(v, i)     ? waits ? "it waits for idle nodes to run it with"
                                                   : "it has not reported on this boot"
                       : !watch_live(w, m) ? "the node is not heard"
                       : s && s->blind     ? s->text
                                           : "its result is out of date");
        return;
    }
    out->verdict.result = r;
    if (!s)
        return;
    if (s->text)
        snprintf(out->verdict.text, sizeof out->verdict.text, "%s", s->text);
    out->verdict.more = s->more;
    out->verdict.n = s->n;
    memcpy(out->verdict.findings, s->findings, s->n * sizeof *s->findings);
}

void watch_each_check(const struct watch *w, struct mono now, const struct member *m, said_fn *fn, void *arg)
{
    CLEANUP_FREE struct said *said = mem_alloc(sizeof *said);
    for (size_t i = 0; i < check_count(w); i++) {
        if (!check_runs(w, m, i))
            continue;
        answer_say(w, watch_awake(w, now), m, i, said);
        fn(arg, said);
    }
    outside_each(w, watch_awake(w, now), m, said, fn, arg);
}

void watch_each_result(const struct watch *w, struct mono now, const struct member *m, result_fn *fn,
                       void *arg)
{
    struct mono at = watch_awake(w, now);
    for (size_t i = 0; i < check_count(w); i++)
        if (check_runs(w, m, i))
            fn(arg, check_at(w, i), said_now(w, at, m, i));
}

bool watch_provisioned(const struct watch *w, struct mono now, const struct member *m, struct text *why)
{
    const struct health_state *v = health_state_find(w, m);
    struct mono at = watch_awake(w, now);
    size_t missing = 0;
    text_clear(why);
    if (!watch_live(w, m)) {
        text_add(why, "it is not heard");
        return false;
    }
    for (size_t i = 0; i < check_count(w); i++) {
        const struct check *k = check_at(w, i);
        if (!check_repeats(k) || k->observe || !check_runs(w, m, i))
            continue;
        enum result r = said_now(w, at, m, i);
        bool doubts = forget_doubts(w, m, i);
        if (r != RESULT_UNKNOWN && !result_fails(r) && !doubts)
            continue;
        if (missing++ < 8)
            text_printf(why, "%s%s %s", why->len ? ", " : "", k->name,
                        doubts                ? "is to forget its earlier results"
                        : r != RESULT_UNKNOWN ? result_name(r)
                        : was_said(v, i)      ? "unknown"
                                              : "has said nothing");
    }
    if (missing > 8)
        text_printf(why, ", %zu more", missing - 8);
    return !missing;
}

/* Whether a result of the node is out of date, or its step waits for a newer one. */
static bool answer_untold(const struct watch *w, struct mono now, const struct member *m,
                          const struct health_state *v)
{
    if (!v->said || !watch_live(w, m))
        return false;
    if (!told_anew(v))
        return true;
    const struct repair *r = member_treated(m);
    bool counts = health_state_speaks(w, m, v);
    bool waits = r && (r->step == STEP_EXAMINE || r->step == STEP_PROVISION || r->step == STEP_REMEDY ||
                       r->step == STEP_REPLACE || r->step == STEP_TEND);
    bool returns = r && (r->step == STEP_PROVISION || r->step == STEP_TEND) && v->stage.ns == r->since.ns;
    for (size_t i = 0; i < check_count(w); i++) {
        if (!(v->said[i] & SAID_ASSIGNED) || !check_rule_of(w, i)->repeats)
            continue;
        uint8_t said = v->said[i] & SAID_RESULT;
        enum result now_is = counts ? said_of(w, now, v, i) : RESULT_UNKNOWN;
        if (!said || (now_is == RESULT_UNKNOWN && check_rule_of(w, i)->age_max_ns < INT64_MAX) ||
            (said > RESULT_WARN + 1 && !said_fresh(w, now, v, i)) || (waits && now_is != RESULT_OK) ||
            (returns && said_looked(w, v, i).ns < v->stage_at.ns))
            return true;
    }
    return false;
}

void watch_untold(struct watch *w, struct mono now, tell_fn *fn, void *arg)
{
    struct mono at = watch_awake(w, now);
    size_t n = health_states_count(w), share = n / UNTOLD_SHARE > UNTOLD_MIN ? n / UNTOLD_SHARE : UNTOLD_MIN;
    for (size_t id = 0; id < n; id++) {
        struct health_state *v = health_states_by_id(w, id);
        struct member *m = cluster_by_id(w->cluster, (uint32_t)id);
        bool turn = (id + n - w->answers->untold_from) % n < share;
        if (!v || !(turn || v->n_sayings || member_treated(m)) ||
            (v->tell_at.ns && within(at, v->tell_at, TELL_REST_S)) || !answer_untold(w, at, m, v))
            continue;
        v->tell_at = at;
        v->anew = v->anew == ANEW_NOT ? ANEW_ASKED : v->anew;
        fn(arg, m);
    }
    w->answers->untold_from = n ? (w->answers->untold_from + share) % n : 0;
}
