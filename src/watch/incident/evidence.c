/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a node's faults now, gathered from its own checks, from the checks of other systems, from
 * its silence and from its boots; and what that means for a recorded finding.
 */
#include "watch/health/health.h"
#include "watch/incident/evidence_inside.h"
#include "watch/incident/forget_inside.h"
#include "watch/incident/incident.h"
#include "watch/incident/shell.h"
#include "watch/outside/outside.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <stdlib.h>
#include <string.h>

void evidence_gather(const struct watch *w, struct mono now, const struct member *m,
                     struct evidence_list *out)
{
    const struct health_state *v = health_state_find(w, m);
    *out = (struct evidence_list){0};
    for (size_t i = 0; v && i < v->n_sayings; i++) {
        const struct saying *s = &v->sayings[i];
        if (!(v->said[s->check] & SAID_ASSIGNED) || said_now(w, now, m, s->check) < RESULT_WARN)
            continue;
        out->list = mem_grow(out->list, (out->n + s->n + 1) * sizeof *out->list);
        for (size_t k = 0; k < s->n; k++)
            if (s->findings[k].result >= RESULT_WARN &&
                !forget_covers(w, m, check_at(w, s->check), &s->findings[k], s->check,
                               said_looked(w, v, s->check)))
                out->list[out->n++] =
                    (struct evidence){check_at(w, s->check), &s->findings[k], s->check, NULL, 0};
    }
    if (lost_finding(w, m)) {
        out->list = mem_grow(out->list, (out->n + 1) * sizeof *out->list);
        out->list[out->n++] = (struct evidence){lost_record(), lost_finding(w, m), SIZE_MAX, NULL, 0};
    }
    if (boot_finding(w, m)) {
        out->list = mem_grow(out->list, (out->n + 1) * sizeof *out->list);
        out->list[out->n++] = (struct evidence){boot_record(), boot_finding(w, m), SIZE_MAX, NULL, 0};
    }
    for (const struct outside *x = v ? v->outside : NULL; x; x = x->next) {
        if (outside_now(w, now, m, x) < RESULT_WARN)
            continue;
        out->list = mem_grow(out->list, (out->n + x->n + 1) * sizeof *out->list);
        for (size_t k = 0; k < x->n; k++)
            if (x->findings[k].result >= RESULT_WARN &&
                !forget_covers(w, m, &x->record, &x->findings[k], SIZE_MAX, x->looked))
                out->list[out->n++] = (struct evidence){&x->record, &x->findings[k], SIZE_MAX, x, 0};
    }
}

bool evidence_is(const char *check, const struct finding *a, const char *other, const struct finding *b)
{
    return strcmp(check, other) == 0 && strcmp(a->device, b->device) == 0 && strcmp(a->code, b->code) == 0;
}

bool finding_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f)
{
    const struct health_state *v = health_state_find(w, m);
    if (lost_is(w, check))
        return watch_live(w, m) && !boot_unexplained(w, now, m);
    if (boot_is(w, check))
        return boot_gone(w, m, f);
    if (outside_is(w, check))
        return outside_gone(w, now, m, check, f);
    size_t i = check_place(w, check);
    if (i == SIZE_MAX || (v && v->said && !(v->said[i] & SAID_ASSIGNED)))
        return check_count(w) > 0; /* a person removed the check */
    const struct repair *r = member_repair(m);
    if (r && r->step == STEP_PROVISION && !check_repeats(check_at(w, i)) && !was_said(v, i))
        return true; /* the examination is over: a person, or a new instance, answers for its findings */
    if (!v || said_now(w, now, m, i) < RESULT_OK)
        return false;
    const struct saying *s = saying_find(v, i);
    for (size_t k = 0; s && k < s->n; k++)
        if (s->findings[k].result >= RESULT_WARN && evidence_is(check, &s->findings[k], check, f))
            return false;
    return !s || !s->more;
}

/* The check reports a fault now, and its result is fresh. */
static bool check_complains(const struct watch *w, struct mono now, const struct member *m, const char *check)
{
    const struct health_state *v = health_state_find(w, m);
    const struct outside *x = outside_find(v, check);
    size_t at = check_place(w, check);
    if (lost_is(w, check))
        return lost_stands(w, m);
    if (boot_is(w, check))
        return boot_finding(w, m) != NULL;
    if (outside_is(w, check))
        return x && outside_now(w, now, m, x) >= RESULT_WARN && outside_fresh(w, now, x);
    return at != SIZE_MAX && said_now(w, now, m, at) >= RESULT_WARN && said_fresh(w, now, v, at);
}

bool finding_left(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                  size_t k)
{
    bool all_gone = true;
    for (size_t n = 0; n < i->n; n++)
        all_gone = all_gone && finding_gone(w, now, m, i->findings[n].check, &i->findings[n].f);
    return all_gone || !finding_gone(w, now, m, i->findings[k].check, &i->findings[k].f);
}

static bool is_for(const struct watch *w, const struct member *m, const struct incident_finding *f,
                   const struct remedy *remedy)
{
    return remedy_helps(remedy, fault_of(f->check, &f->f), class_of(w, m)->name);
}

bool incident_is_for(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                     const struct remedy *remedy)
{
    bool any = false;
    for (size_t k = 0; k < i->n; k++)
        any |= is_for(w, m, &i->findings[k], remedy) && finding_left(w, now, m, i, k);
    return any;
}

bool incident_shown(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                    const struct remedy *remedy)
{
    bool any = false;
    for (size_t k = 0; health_state_find(w, m) && k < i->n; k++) {
        const struct incident_finding *f = &i->findings[k];
        any |= is_for(w, m, f, remedy) && check_complains(w, now, m, f->check) &&
               !finding_gone(w, now, m, f->check, &f->f);
    }
    return any;
}

bool evidence_fresh(const struct watch *w, struct mono now, const struct member *m, const struct evidence *ev)
{
    if (lost_is(w, ev->check->name))
        return lost_stands(w, m);
    if (boot_is(w, ev->check->name))
        return true;
    if (ev->outside)
        return outside_fresh(w, now, ev->outside);
    return said_fresh(w, now, health_state_find(w, m), ev->place);
}

/* What the tables say about the finding. For a finding without a table entry, the probe says what can cause
 * it. */
struct meaning evidence_meaning(const struct watch *w, const struct evidence *ev)
{
    struct meaning m;
    if (w->policy.health.meanings && *ev->f->code && meaning_find(w->policy.health.meanings, ev->f->code, &m))
        return m;
    bool boot = boot_is(w, ev->check->name);
    return (struct meaning){.act = ev->f->result == RESULT_LOST ? ACT_LOST : ACT_WATCH,
                            .blame = boot ? boot_blame(ev->f) : probe_row(ev->check->probe)->blame};
}

bool incident_lost(const struct watch *w, struct mono now, const struct member *m)
{
    struct evidence_list all;
    bool lost = false;
    evidence_gather(w, now, m, &all);
    for (size_t i = 0; i < all.n; i++) {
        const struct evidence *ev = &all.list[i];
        lost |= ev->f->result == RESULT_LOST && !ev->check->observe && evidence_fresh(w, now, m, ev);
    }
    free(all.list);
    return lost;
}

/* The finding of the kernel's log may end without another boot. */
static bool is_cured_at_once(const struct watch *w, const struct evidence *ev)
{
    return act_end(evidence_meaning(w, ev).act) != ACT_ENDS_BOOT;
}

void watch_cures(const struct watch *w, struct mono now, const struct member *m, const char *remedy,
                 struct text *out)
{
    const struct remedies *remedies = w->policy.health.remedies;
    const struct remedy *r = remedies ? remedies_find(remedies, remedy) : NULL;
    struct evidence_list all;
    evidence_gather(w, watch_awake(w, now), m, &all);
    text_add(out, "");
    for (size_t i = 0; r && i < all.n; i++) {
        const char *code = all.list[i].f->code;
        if (*code && is_cured_at_once(w, &all.list[i]) && remedy_helps(r, code, class_of(w, m)->name) &&
            !text_has_word(out->s, ' ', code) && out->len + strlen(code) < CURES_BYTES_MAX)
            text_printf(out, "%s%s", out->len ? " " : "", code);
    }
    free(all.list);
}
