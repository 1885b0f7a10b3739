/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is answered about the health of a node, and of whom more is to be heard before it can be.
 */
#include "health/service.h"
#include "watch/inside.h"

#include <stdio.h>
#include <string.h>

enum {
    TELL_REST_S = 10,  /* between two requests to tell everything */
    UNTOLD_SHARE = 10, /* so many calls look at every node that is well, */
    UNTOLD_MIN = 100   /* but at this many in each */
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

enum result health_worst(const struct watch *w, struct mono now, const struct member *m)
{
    const struct vitals *v = vitals_find(w, m);
    enum result worst = member_severity(m), outside = outside_worst(w, now, m);
    worst = outside > worst ? outside : worst;
    for (size_t k = 0; v && k < v->n_sayings; k++) {
        size_t i = v->sayings[k].check;
        enum result r = said_assigned(v, i) && !check_at(w, i)->observe ? said_now(w, now, m, i) : RESULT_OK;
        worst = r > worst ? r : worst;
    }
    return worst;
}

bool acts_for(const struct watch *w, const struct member *m)
{
    return w->policy.health.act && !cluster_excepts(w->cluster, m);
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

/* A check that says it now, or found it; NULL: one of others. */
static const char *check_of(const struct watch *w, struct mono now, const struct member *m, enum result worst)
{
    const struct vitals *v = vitals_find(w, m);
    const struct ailment *a = member_ailment(m);
    for (size_t k = 0; v && k < v->n_sayings; k++) {
        size_t i = v->sayings[k].check;
        if (said_assigned(v, i) && !check_at(w, i)->observe && said_now(w, now, m, i) == worst)
            return check_at(w, i)->name;
    }
    for (size_t i = 0; a && i < a->n_open; i++)
        if (!a->open[i].observe && a->open[i].severity == worst && a->open[i].n)
            return a->open[i].findings[0].check;
    return NULL;
}

void health_fitness(const struct watch *w, struct mono now, const struct member *m, struct fitness *f)
{
    enum result worst = watch_live(w, m) ? health_worst(w, now, m) : RESULT_OK;
    const struct health_policy *p = &w->policy.health;
    enum drained drained = service_of(worst, true)->drained;
    char span[32], lasts[64] = "", *health = f->health;
    const char *check = check_of(w, now, m, worst), *is = health_name(health_of_result(worst));
    if (worst < RESULT_DEGRADED)
        return;
    check = check ? check : "another system";
    f->ill = health_excludes(w, now, m);
    if (drained == DRAINED_LASTING)
        snprintf(lasts, sizeof lasts, " when that lasts %s", span_human(p->degraded_for, span));
    if (f->ill)
        snprintf(health, sizeof f->health, "%s: %s", is, check);
    else if (acts_for(w, m))
        snprintf(health, sizeof f->health, "%s: %s%s%s", is, check,
                 p->degraded_for.ns ? "; it is drained" : "", p->degraded_for.ns ? lasts : "");
    else if (drained == DRAINED_LASTING && !p->degraded_for.ns)
        snprintf(health, sizeof f->health, "%s%s is %s", why_words(WHY_OBSERVED), check, is);
    else
        snprintf(health, sizeof f->health, "%s%s is %s; it would be drained%s (%s)", why_words(WHY_OBSERVED),
                 check, is, lasts, p->act ? "Remediate=no" : "Health=observe");
}

enum health watch_health(const struct watch *w, struct mono now, const struct member *m)
{
    const struct vitals *v = vitals_find(w, m);
    struct mono at = watch_awake(w, now);
    if (!watch_live(w, m))
        return lost_finding(w, m) ? HEALTH_LOST : HEALTH_UNKNOWN;
    enum result worst = health_worst(w, at, m);
    if (worst >= RESULT_DEGRADED)
        return health_of_result(worst);
    size_t n = 0, known = 0;
    bool counts = speaks(w, m, v);
    for (size_t i = 0; v && v->said && i < w->n_checks; i++) {
        if (!(v->said[i] & SAID_ASSIGNED) || !w->rules[i].repeats || check_at(w, i)->observe)
            continue;
        enum result r = counts ? said_of(w, at, v, i) : RESULT_UNKNOWN;
        n++;
        known += r != RESULT_UNKNOWN || (was_said(v, i) && (check_at(w, i)->when & CHECK_IDLE));
    }
    return n && known == n ? HEALTH_OK : HEALTH_UNKNOWN;
}

static void say(const struct watch *w, struct mono now, const struct member *m, size_t i, struct said *out)
{
    const struct vitals *v = vitals_find(w, m);
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
                                                   : "it has said nothing on this boot"
                       : !watch_live(w, m) ? "the node is not heard"
                       : s && s->blind     ? s->text
                                           : "what it said is out of date");
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
    for (size_t i = 0; i < w->n_checks; i++) {
        if (!check_runs(w, m, i))
            continue;
        say(w, watch_awake(w, now), m, i, said);
        fn(arg, said);
    }
    outside_each(w, watch_awake(w, now), m, said, fn, arg);
}

void watch_each_result(const struct watch *w, struct mono now, const struct member *m, result_fn *fn,
                       void *arg)
{
    struct mono at = watch_awake(w, now);
    for (size_t i = 0; i < w->n_checks; i++)
        if (check_runs(w, m, i))
            fn(arg, check_at(w, i), said_now(w, at, m, i));
}

bool watch_provisioned(const struct watch *w, struct mono now, const struct member *m, struct text *why)
{
    const struct vitals *v = vitals_find(w, m);
    struct mono at = watch_awake(w, now);
    size_t missing = 0;
    text_clear(why);
    if (!watch_live(w, m)) {
        text_add(why, "it is not heard");
        return false;
    }
    for (size_t i = 0; i < w->n_checks; i++) {
        const struct check *k = check_at(w, i);
        if (!check_repeats(k) || k->observe || !check_runs(w, m, i))
            continue;
        enum result r = said_now(w, at, m, i);
        bool doubts = forget_doubts(w, m, i);
        if (r != RESULT_UNKNOWN && !result_fails(r) && !doubts)
            continue;
        if (missing++ < 8)
            text_printf(why, "%s%s %s", why->len ? ", " : "", k->name,
                        doubts                ? "is to forget what was said before"
                        : r != RESULT_UNKNOWN ? result_name(r)
                        : was_said(v, i)      ? "unknown"
                                              : "has said nothing");
    }
    if (missing > 8)
        text_printf(why, ", %zu more", missing - 8);
    return !missing;
}

/* A node of which something is out of date, or waits for a look after its step began. */
static bool untold(const struct watch *w, struct mono now, const struct member *m, const struct vitals *v)
{
    if (!v->said || !watch_live(w, m))
        return false;
    if (!told_anew(v))
        return true;
    const struct repair *r = member_treated(m);
    bool counts = speaks(w, m, v);
    bool waits = r && (r->step == STEP_EXAMINE || r->step == STEP_PROVISION || r->step == STEP_REMEDY ||
                       r->step == STEP_REPLACE || r->step == STEP_TEND);
    bool returns = r && (r->step == STEP_PROVISION || r->step == STEP_TEND) && v->stage.ns == r->since.ns;
    for (size_t i = 0; i < w->n_checks; i++) {
        if (!(v->said[i] & SAID_ASSIGNED) || !w->rules[i].repeats)
            continue;
        uint8_t said = v->said[i] & SAID_RESULT;
        enum result now_is = counts ? said_of(w, now, v, i) : RESULT_UNKNOWN;
        if (!said || (now_is == RESULT_UNKNOWN && w->rules[i].age_max_ns < INT64_MAX) ||
            (said > RESULT_WARN + 1 && !said_fresh(w, now, v, i)) || (waits && now_is != RESULT_OK) ||
            (returns && said_looked(w, v, i).ns < v->stage_at.ns))
            return true;
    }
    return false;
}

void watch_untold(struct watch *w, struct mono now, tell_fn *fn, void *arg)
{
    struct mono at = watch_awake(w, now);
    size_t n = w->n_vitals, share = n / UNTOLD_SHARE > UNTOLD_MIN ? n / UNTOLD_SHARE : UNTOLD_MIN;
    for (size_t id = 0; id < n; id++) {
        struct vitals *v = w->vitals[id];
        struct member *m = cluster_by_id(w->cluster, (uint32_t)id);
        bool turn = (id + n - w->untold_from) % n < share;
        if (!v || !(turn || v->n_sayings || member_treated(m)) ||
            (v->tell_at.ns && within(at, v->tell_at, TELL_REST_S)) || !untold(w, at, m, v))
            continue;
        v->tell_at = at;
        v->anew = v->anew == ANEW_NOT ? ANEW_ASKED : v->anew;
        fn(arg, m);
    }
    w->untold_from = n ? (w->untold_from + share) % n : 0;
}
