/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of the checks of each node. For a check that is ok a byte and a moment are kept, for others
 * also the findings. A result counts while the node is live, on the boot of the result, and not longer than
 * the check's own time allows. Otherwise the answer is unknown.
 */
#include "base/digest.h"
#include "watch/health/health.h"
#include "watch/health/health_state_inside.h"
#include "watch/health/measure_inside.h"
#include "watch/view/facts.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STALE_MIN_S = 120 };

size_t health_states_count(const struct watch *w)
{
    return w->health_states->n;
}

struct health_state *health_states_by_id(const struct watch *w, size_t id)
{
    assert(id < w->health_states->n);
    return w->health_states->of[id];
}

size_t check_count(const struct watch *w)
{
    return w->health_states->n_checks;
}

const struct check *check_at(const struct watch *w, size_t i)
{
    assert(w->policy.health.checks && i < w->policy.health.checks->n);
    return &w->policy.health.checks->list[i];
}

size_t check_place(const struct watch *w, const char *name)
{
    for (size_t i = 0; i < w->health_states->n_checks; i++)
        if (strcmp(w->health_states->names[i], name) == 0)
            return i;
    return SIZE_MAX;
}

uint32_t check_generation(const struct watch *w)
{
    return w->health_states->generation;
}

const struct check_rule *check_rule_of(const struct watch *w, size_t i)
{
    assert(i < w->health_states->n_checks);
    return &w->health_states->rules[i];
}

enum result said_of(const struct watch *w, struct mono now, const struct health_state *v, size_t i)
{
    int64_t age_ns = now.ns - w->created.ns - INT64_C(100000000) * v->looked_ds[i];
    uint8_t said = v->said[i] & SAID_RESULT;
    return !said || age_ns > w->health_states->rules[i].age_max_ns ? RESULT_UNKNOWN : (enum result)(said - 1);
}

bool check_repeats(const struct check *k)
{
    return (k->when & (CHECK_BOOT | CHECK_PERIODIC)) != 0;
}

bool check_runs(const struct watch *w, const struct member *m, size_t i)
{
    return check_applies(check_at(w, i), class_of(w, m)->name, m->name);
}

struct health_state *health_state_find(const struct watch *w, const struct member *m)
{
    return m->id < w->health_states->n ? w->health_states->of[m->id] : NULL;
}

struct health_state *health_state_of(struct watch *w, const struct member *m)
{
    if (m->id >= w->health_states->n) {
        size_t n = cluster_count(w->cluster);
        w->health_states->of = mem_grow(w->health_states->of, n * sizeof *w->health_states->of);
        for (; w->health_states->n < n; w->health_states->n++)
            w->health_states->of[w->health_states->n] = NULL;
    }
    struct health_state **v = &w->health_states->of[m->id];
    if (!*v) {
        *v = mem_alloc(sizeof **v);
        memcpy((*v)->boot, watch_of(w, m)->boot, sizeof(*v)->boot);
        (*v)->anew = ANEW_ASKED;
    }
    return *v;
}

void saying_fini(struct saying *s)
{
    free(s->text);
    free(s->findings);
}

void sayings_drop(struct health_state *v)
{
    for (size_t i = 0; i < v->n_sayings; i++)
        saying_fini(&v->sayings[i]);
    v->n_sayings = 0;
}

static void health_state_free(struct health_state *v)
{
    if (!v)
        return;
    sayings_drop(v);
    free(v->sayings);
    free(v->said);
    free(v->looked_ds);
    free(v);
}

void health_state_assign(struct watch *w, const struct member *m, struct health_state *v)
{
    if (v->said && v->checks == w->health_states->generation && v->class == m->class)
        return;
    if (!v->said) {
        v->said = mem_alloc(w->health_states->n_checks + 1);
        v->looked_ds = mem_alloc((w->health_states->n_checks + 1) * sizeof *v->looked_ds);
    }
    for (size_t i = 0; i < w->health_states->n_checks; i++)
        v->said[i] = (uint8_t)((v->said[i] & ~SAID_ASSIGNED) | (check_runs(w, m, i) ? SAID_ASSIGNED : 0));
    v->checks = w->health_states->generation;
    v->class = m->class;
}

const struct saying *saying_find(const struct health_state *v, size_t i)
{
    for (size_t k = 0; k < v->n_sayings; k++)
        if (v->sayings[k].check == i)
            return &v->sayings[k];
    return NULL;
}

void saying_remove(struct health_state *v, size_t i)
{
    for (size_t k = 0; k < v->n_sayings; k++) {
        if (v->sayings[k].check == i) {
            saying_fini(&v->sayings[k]);
            v->sayings[k] = v->sayings[--v->n_sayings];
            return;
        }
    }
}

void said_forget(struct health_state *v, size_t i)
{
    assert(v->said && "its checks are assigned");
    v->said[i] &= SAID_ASSIGNED;
    saying_remove(v, i);
}

/* Moves the results to the places that their checks have in the new records. */
static void health_state_rearrange(struct watch *w, struct health_state *v, const size_t *place, size_t was)
{
    uint8_t *said = mem_alloc(w->health_states->n_checks + 1);
    int32_t *looked = mem_alloc((w->health_states->n_checks + 1) * sizeof *looked);
    for (size_t i = 0; v->said && i < was; i++) {
        if (place[i] != SIZE_MAX) {
            said[place[i]] = v->said[i];
            looked[place[i]] = v->looked_ds[i];
        }
    }
    size_t kept = 0;
    for (size_t k = 0; k < v->n_sayings; k++) {
        size_t to = place[v->sayings[k].check];
        if (to == SIZE_MAX) {
            saying_fini(&v->sayings[k]);
            continue;
        }
        v->sayings[kept] = v->sayings[k];
        v->sayings[kept++].check = (uint16_t)to;
    }
    v->n_sayings = kept;
    free(v->said);
    free(v->looked_ds);
    v->said = said;
    v->looked_ds = looked;
    v->trial_known = false;
}

static uint64_t sum_of(const struct check *k)
{
    static const struct hostlist nobody;
    CLEANUP_TEXT struct text line = {0};
    check_format(k, &nobody, &line);
    return digest_fnv(DIGEST_FNV_START, line.s, line.len);
}

static struct check_rule rule_of(const struct check *k, uint32_t generation)
{
    int64_t age_ns = 3 * k->every.ns + k->deadline.ns;
    if (age_ns < span_s(STALE_MIN_S).ns)
        age_ns = span_s(STALE_MIN_S).ns;
    return (struct check_rule){check_ages(k) ? age_ns : INT64_MAX, check_repeats(k), sum_of(k), generation};
}

void health_states_reconfigure(struct watch *w)
{
    const struct checks *c = w->policy.health.checks;
    size_t n = c ? c->n : 0, was = w->health_states->n_checks;
    char **names = mem_alloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = mem_dup(c->list[i].name);
    CLEANUP_FREE size_t *place = mem_alloc((was + 1) * sizeof *place);
    char **before = w->health_states->names;
    w->health_states->names = names;
    w->health_states->n_checks = n;
    CLEANUP_FREE struct check_rule *rules_before = w->health_states->rules;
    w->health_states->rules = mem_alloc((n + 1) * sizeof *w->health_states->rules);
    w->health_states->generation++;
    for (size_t i = 0; i < n; i++)
        w->health_states->rules[i] = rule_of(&c->list[i], w->health_states->generation);
    for (size_t i = 0; i < was; i++) {
        place[i] = check_place(w, before[i]);
        if (place[i] != SIZE_MAX && w->health_states->rules[place[i]].sum != rules_before[i].sum)
            place[i] = SIZE_MAX; /* a result of a changed record does not count for the new one */
        if (place[i] != SIZE_MAX)
            w->health_states->rules[place[i]].since = rules_before[i].since;
        free(before[i]);
    }
    free(before);
    for (size_t id = 0; id < w->health_states->n; id++)
        if (w->health_states->of[id])
            health_state_rearrange(w, w->health_states->of[id], place, was);
}

void health_states_create(struct watch *w)
{
    w->health_states = mem_alloc(sizeof *w->health_states);
    w->measures = mem_alloc(sizeof *w->measures);
}

void health_states_destroy(struct watch *w)
{
    for (size_t i = 0; i < w->health_states->n; i++)
        health_state_free(w->health_states->of[i]);
    for (size_t i = 0; i < w->health_states->n_checks; i++)
        free(w->health_states->names[i]);
    free(w->health_states->names);
    free(w->health_states->rules);
    free(w->health_states->of);
    free(STEAL(w->health_states));
}

void health_states_doubt(struct watch *w)
{
    for (size_t id = 0; id < w->health_states->n; id++)
        if (w->health_states->of[id])
            w->health_states->of[id]->anew = ANEW_NOT;
}

bool told_anew(const struct health_state *v)
{
    return !v || !v->said || v->anew == ANEW_TOLD;
}

bool check_ages(const struct check *k)
{
    return (k->when & CHECK_PERIODIC) && !(k->when & CHECK_IDLE) && probe_row(k->probe)->how != PROBE_FOLLOW;
}

struct mono said_looked(const struct watch *w, const struct health_state *v, size_t i)
{
    return mono_add(w->created, span_ms(INT64_C(100) * v->looked_ds[i]));
}

bool was_said(const struct health_state *v, size_t i)
{
    return v && v->said && (v->said[i] & SAID_RESULT) != 0;
}

bool said_assigned(const struct health_state *v, size_t i)
{
    return (v->said[i] & SAID_ASSIGNED) != 0;
}

bool health_state_speaks(const struct watch *w, const struct member *m, const struct health_state *v)
{
    return v && v->said && watch_live(w, m) && strcmp(v->boot, watch_observed(w, m)->boot) == 0;
}

enum result said_now(const struct watch *w, struct mono now, const struct member *m, size_t i)
{
    const struct health_state *v = health_state_find(w, m);
    return was_said(v, i) && health_state_speaks(w, m, v) ? said_of(w, now, v, i) : RESULT_UNKNOWN;
}

/* A result from the kernel's log stays valid on this boot. Its age when it was told is what counts. */
bool said_fresh(const struct watch *w, struct mono now, const struct health_state *v, size_t i)
{
    const struct check *k = check_at(w, i);
    const struct saying *s = saying_find(v, i);
    if (!told_anew(v))
        return false;
    int64_t own = k->every.ns + k->deadline.ns, limit = w->policy.health.fresh.ns;
    struct mono at = s && !check_ages(k) ? s->told : now;
    return mono_sub(at, said_looked(w, v, i)).ns <= (own > limit ? own : limit);
}

/* The node has checks that must pass before it enters service. */
static bool has_checks(const struct watch *w, const struct member *m)
{
    for (size_t i = 0; i < check_count(w); i++)
        if (check_repeats(check_at(w, i)) && !check_at(w, i)->observe && check_runs(w, m, i))
            return true;
    return false;
}

bool repair_comes_up(const struct watch *w, const struct member *m)
{
    return m->listed && !member_repair(m) && watch_live(w, m) &&
           member_came_up(m, watch_observed(w, m)->boot) && acts_for(w, m) &&
           class_provisions(class_of(w, m), w->policy.health.provision_new) && !member_override(m) &&
           has_checks(w, m);
}

bool trial_holds(const struct watch *w, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    return (v && v->trial_out) || member_held_by(m, CLAIM_TRIAL);
}

bool examination_answered(const struct watch *w, const struct member *m, size_t i, enum result *out)
{
    const struct health_state *v = health_state_find(w, m);
    const struct repair *r = member_repair(m);
    const struct check *k = check_at(w, i);
    const struct ran_check *ran = r && r->step == STEP_EXAMINE ? repair_ran(r, k->name) : NULL;
    if (v && v->said && (v->said[i] & SAID_ANSWERED)) {
        *out = (enum result)((v->said[i] & SAID_RESULT) - 1);
        return true;
    }
    if (!ran || (result_fails(ran->result) && !k->observe))
        return false;
    *out = ran->result;
    return true;
}

bool trial_waits(const struct watch *w, const struct member *m, size_t check)
{
    const struct health_state *v = health_state_find(w, m);
    const struct repair *r = member_repair(m);
    enum result came_to;
    return r && r->step == STEP_EXAMINE && v && !v->trial && v->said && check_at(w, check)->group > 1 &&
           !examination_answered(w, m, check, &came_to);
}
