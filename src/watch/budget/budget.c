/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budgets: how many nodes are out by Fettle's decision, and how many may be, in the cluster, a class, a
 * rack and a partition. A node counts as out from the proposal on and not from the record on, so ten findings
 * of the same moment take account of each other.
 */
#include "watch/budget/budget.h"
#include "watch/budget/budget_inside.h"
#include "watch/budget/shell.h"
#include "watch/health/health.h"
#include "watch/view/alarm.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ISOLATING_S =
        300 /* a slow store may still record the isolation in this time: until then the node keeps its room */
};

static bool is_out(const struct watch *w, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    return member_is_out(m) || trial_holds(w, m) || (!member_repair(m) && v && v->isolating);
}

void budget_patient(struct watch *w, const struct member *m)
{
    struct health_state *v = health_state_of(w, m);
    if (member_repair(m))
        v->isolating = false;
    bool out = is_out(w, m);
    if (out == v->patient)
        return;
    v->patient = out;
    if (out) {
        w->budgets->patients =
            mem_grow(w->budgets->patients, (w->budgets->n_patients + 1) * sizeof *w->budgets->patients);
        w->budgets->patients[w->budgets->n_patients++] = m->id;
        return;
    }
    for (size_t i = 0; i < w->budgets->n_patients; i++)
        if (w->budgets->patients[i] == m->id)
            w->budgets->patients[i] = w->budgets->patients[--w->budgets->n_patients];
}

static void budget_of(const struct watch *w, enum scope s, unsigned number, struct budget *b)
{
    assert((size_t)s < SCOPES);
    unsigned out = 0;
    for (size_t i = 0; i < w->budgets->n_patients; i++) {
        const struct member *m = cluster_by_id(w->cluster, w->budgets->patients[i]);
        out +=
            m->listed && member_in_scope(m, s, number); /* a node that left the configuration takes no room */
    }
    budget_of_scope(w->cluster, s, number, w->policy.health.limits.percent[s], out, b);
}

bool budget_allows(struct watch *w, const struct member *m, unsigned more, struct budget *b)
{
    budget_of(w, SCOPE_CLUSTER, 0, b);
    if (b->out + more > b->limit)
        return false;
    budget_of(w, SCOPE_CLASS, m->class, b);
    if (b->out + more > b->limit)
        return false;
    if (m->spec.group) {
        budget_of(w, SCOPE_GROUP, m->spec.group, b);
        if (b->out + more > b->limit)
            return false;
    }
    for (unsigned p = 0; p <= PARTITION_MAX; p++) {
        if (!partition_has(&m->spec.partitions, p))
            continue;
        budget_of(w, SCOPE_PARTITION, p, b);
        if (b->out + more > b->limit)
            return false;
    }
    return true;
}

unsigned budget_listed(struct watch *w)
{
    return scope_nodes(w->cluster, SCOPE_CLUSTER, 0);
}

bool budget_room(struct watch *w, const struct member *m)
{
    struct budget full;
    return budget_allows(w, m, health_state_of(w, m)->patient ? 0 : 1, &full);
}

struct telling {
    const struct watch *w;
    budget_fn *fn;
    void *arg;
};

static void tell_scope(void *arg, enum scope s, unsigned number)
{
    const struct telling *t = arg;
    struct budget b;
    budget_of(t->w, s, number, &b);
    t->fn(t->arg, &b);
}

void watch_each_budget(const struct watch *w, budget_fn *fn, void *arg)
{
    struct telling t = {w, fn, arg};
    cluster_each_scope(w->cluster, tell_scope, &t);
}

void budget_tell(struct watch *w, const struct member *m, const struct budget *b)
{
    CLEANUP_TEXT struct text t = {0};
    struct health_state *v = health_state_of(w, m);
    w->budgets->waiting++;
    v->waits = true;
    if (w->budgets->alarm)
        return;
    w->budgets->alarm = true;
    text_printf(&t, "stays in service: %u of %u nodes of %s%s are out, and at most %u may be", b->out,
                b->nodes, strcmp(b->scope, "cluster") == 0 ? "the " : "", b->scope, b->limit);
    alarms_raise(&w->alarms, ALARM_BUDGET, "", m->name, t.s, w->wall);
}

void budget_waits(struct watch *w, const struct health_state *v)
{
    w->budgets->waiting += v->waits;
}

bool budget_is_waited_for(const struct watch *w)
{
    return w->budgets->waiting > 0;
}

struct member *budget_patient_at(const struct watch *w, size_t i)
{
    return i < w->budgets->n_patients ? cluster_by_id(w->cluster, w->budgets->patients[i]) : NULL;
}

void budgets_end_sweep(struct watch *w)
{
    if (w->budgets->alarm && !w->budgets->waiting) {
        w->budgets->alarm = false;
        alarms_end(&w->alarms, ALARM_BUDGET, "", "no node waits for room in a budget any more");
    }
    w->budgets->waiting = 0;
    for (size_t i = w->budgets->n_patients; i-- > 0;) {
        const struct member *m = cluster_by_id(w->cluster, w->budgets->patients[i]);
        struct health_state *v = health_state_of(w, m);
        if (v->isolating && !within(watch_awake(w, w->last_tick), v->asked_at, ISOLATING_S)) {
            v->isolating = false;
            budget_patient(w, m);
        }
    }
}

void budgets_destroy(struct watch *w)
{
    free(w->budgets->patients);
}
