/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budgets: how many nodes are out by Fettle's decision, and how many may be, of the cluster, a class, a
 * rack and a partition. Who is out counts from the proposal on, not from the record: ten findings of the same
 * moment see each other.
 */
#include "watch/budget_inside.h"
#include "watch/conformity_inside.h"
#include "watch/inside.h"
#include "watch/trial_inside.h"
#include "watch/vitals_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ISOLATING_S = 300 /* a store that is slow may still write it down: until then it has its room */ };

static bool is_out(const struct watch *w, const struct member *m)
{
    const struct repair *r = member_repair(m);
    const struct vitals *v = vitals_find(w, m);
    if (trial_holds(w, m))
        return true;
    if (!r)
        return v && v->isolating;
    return !r->manual && r->step != STEP_QUARANTINE && r->step != STEP_RETIRED && !member_is_new(m);
}

void budget_patient(struct watch *w, const struct member *m)
{
    struct vitals *v = vitals_of(w, m);
    if (member_repair(m))
        v->isolating = false;
    bool out = is_out(w, m);
    if (out == v->patient)
        return;
    v->patient = out;
    if (out) {
        w->budgets.patients =
            mem_grow(w->budgets.patients, (w->budgets.n_patients + 1) * sizeof *w->budgets.patients);
        w->budgets.patients[w->budgets.n_patients++] = m->id;
        return;
    }
    for (size_t i = 0; i < w->budgets.n_patients; i++)
        if (w->budgets.patients[i] == m->id)
            w->budgets.patients[i] = w->budgets.patients[--w->budgets.n_patients];
}

enum scope { SCOPE_CLUSTER, SCOPE_CLASS, SCOPE_GROUP, SCOPE_PARTITION };

static void totals_drop(struct totals *t)
{
    free(t->classes);
    free(t->groups);
    *t = (struct totals){0};
}

static void count_partitions(struct totals *t, const struct partition_set *p)
{
    for (unsigned word = 0; word < sizeof p->bits / sizeof p->bits[0]; word++)
        for (uint64_t bits = p->bits[word]; bits; bits &= bits - 1)
            t->partitions[word * 64 + (unsigned)__builtin_ctzll(bits)]++;
}

static void totals_begin(struct totals *t, const struct watch *w)
{
    size_t n = w->conformity.n_classes;
    totals_drop(t);
    *t = (struct totals){.good = true,
                         .n_classes = n,
                         .n_groups = GROUP_MAX + 1,
                         .classes = mem_alloc((n + 1) * sizeof *t->classes),
                         .groups = mem_alloc((GROUP_MAX + 1) * sizeof *t->groups)};
}

/* Whether they are of the classes that there are now. */
static bool totals_count_now(const struct totals *t, const struct watch *w)
{
    return t->good && t->n_classes == w->conformity.n_classes;
}

static void totals_add(struct totals *t, const struct member *m)
{
    t->all++;
    t->classes[m->class]++;
    t->groups[m->spec.group]++;
    count_partitions(t, &m->spec.partitions);
}

/* To count all nodes at once takes milliseconds: each sweep does it on its way. It is done at once only
 * before the end of the first sweep, and when the configuration was read anew. */
static const struct totals *totals_of(struct watch *w)
{
    struct totals *t = &w->budgets.totals;
    if (totals_count_now(t, w))
        return t;
    totals_begin(t, w);
    for (size_t i = 0; i < cluster_count(w->cluster); i++) {
        const struct member *m = cluster_by_id(w->cluster, (uint32_t)i);
        if (m->listed)
            totals_add(t, m);
    }
    return t;
}

void budget_look(struct watch *w, const struct member *m)
{
    if (totals_count_now(&w->budgets.counting, w))
        totals_add(&w->budgets.counting, m);
}

static bool in_scope(const struct member *m, enum scope s, unsigned number)
{
    switch (s) {
    case SCOPE_CLUSTER: return true;
    case SCOPE_CLASS: return m->class == number;
    case SCOPE_GROUP: return m->spec.group == number;
    case SCOPE_PARTITION: return partition_has(&m->spec.partitions, number);
    }
    return false;
}

static unsigned limit_of(const struct watch *w, enum scope s, unsigned nodes)
{
    const struct health_policy *p = &w->policy.health;
    const unsigned percent[] = {p->out_percent, p->out_class_percent, p->out_group_percent,
                                p->out_partition_percent};
    unsigned limit = (unsigned)((uint64_t)nodes * percent[s] / 100);
    return limit ? limit : 1;
}

static void name_partition(const struct watch *w, unsigned number, struct budget *b)
{
    char word[PARTITION_WORD_BYTES];
    const struct partition *list;
    size_t n = cluster_partitions(w->cluster, &list);
    snprintf(b->scope, sizeof b->scope, "partition %s", partition_word(list, n, number, word));
}

static void budget_of(struct watch *w, enum scope s, unsigned number, struct budget *b)
{
    const struct totals *t = totals_of(w);
    *b = (struct budget){0};
    b->nodes = s == SCOPE_CLUSTER ? t->all
               : s == SCOPE_CLASS ? t->classes[number]
               : s == SCOPE_GROUP ? t->groups[number]
                                  : t->partitions[number];
    b->limit = limit_of(w, s, b->nodes);
    for (size_t i = 0; i < w->budgets.n_patients; i++) {
        const struct member *m = cluster_by_id(w->cluster, w->budgets.patients[i]);
        b->out += m->listed && in_scope(m, s, number); /* who left the configuration takes nobody's room */
    }
    if (s == SCOPE_CLUSTER)
        snprintf(b->scope, sizeof b->scope, "cluster");
    else if (s == SCOPE_CLASS)
        snprintf(b->scope, sizeof b->scope, "class %.50s", w->conformity.classes[number].name);
    else if (s == SCOPE_GROUP)
        snprintf(b->scope, sizeof b->scope, "group %u", number);
    else
        name_partition(w, number, b);
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
    return totals_of(w)->all;
}

bool budget_room(struct watch *w, const struct member *m)
{
    struct budget full;
    return budget_allows(w, m, vitals_of(w, m)->patient ? 0 : 1, &full);
}

void watch_each_budget(struct watch *w, budget_fn *fn, void *arg)
{
    const struct totals *t = totals_of(w);
    struct budget b;
    budget_of(w, SCOPE_CLUSTER, 0, &b);
    fn(arg, &b);
    for (unsigned i = 0; i < t->n_classes; i++) {
        budget_of(w, SCOPE_CLASS, i, &b);
        if (b.nodes)
            fn(arg, &b);
    }
    for (unsigned i = 1; i < t->n_groups; i++) {
        if (!t->groups[i])
            continue;
        budget_of(w, SCOPE_GROUP, i, &b);
        fn(arg, &b);
    }
    for (unsigned i = 0; i <= PARTITION_MAX; i++) {
        if (!t->partitions[i])
            continue;
        budget_of(w, SCOPE_PARTITION, i, &b);
        fn(arg, &b);
    }
}

void budget_tell(struct watch *w, const struct member *m, const struct budget *b)
{
    CLEANUP_TEXT struct text t = {0};
    struct vitals *v = vitals_of(w, m);
    w->budgets.waiting++;
    v->waits = true;
    if (w->budgets.alarm)
        return;
    w->budgets.alarm = true;
    text_printf(&t, "stays in service: %u of %u nodes of %s%s are out, and at most %u may be", b->out,
                b->nodes, strcmp(b->scope, "cluster") == 0 ? "the " : "", b->scope, b->limit);
    alarms_raise(&w->alarms, ALARM_BUDGET, "", m->name, t.s, w->wall);
}

void budget_waits(struct watch *w, const struct vitals *v)
{
    w->budgets.waiting += v->waits;
}

bool budget_is_waited_for(const struct watch *w)
{
    return w->budgets.waiting > 0;
}

struct member *budget_patient_at(const struct watch *w, size_t i)
{
    return i < w->budgets.n_patients ? cluster_by_id(w->cluster, w->budgets.patients[i]) : NULL;
}

void budgets_recount(struct watch *w)
{
    w->budgets.totals.good = w->budgets.counting.good = false; /* which counted some as they were before */
}

static void end_counting(struct budgets *b, const struct watch *w)
{
    if (totals_count_now(&b->counting, w)) {
        totals_drop(&b->totals);
        b->totals = b->counting;
        b->counting = (struct totals){0};
    }
    totals_begin(&b->counting, w);
}

void budgets_end_sweep(struct watch *w)
{
    if (w->budgets.alarm && !w->budgets.waiting) {
        w->budgets.alarm = false;
        alarms_end(&w->alarms, ALARM_BUDGET, "", "no node waits for room in a budget any more");
    }
    w->budgets.waiting = 0;
    end_counting(&w->budgets, w);
    for (size_t i = w->budgets.n_patients; i-- > 0;) {
        const struct member *m = cluster_by_id(w->cluster, w->budgets.patients[i]);
        struct vitals *v = vitals_of(w, m);
        if (v->isolating && !within(watch_awake(w, w->last_tick), v->asked_at, ISOLATING_S)) {
            v->isolating = false;
            budget_patient(w, m);
        }
    }
}

void budgets_destroy(struct watch *w)
{
    totals_drop(&w->budgets.totals);
    totals_drop(&w->budgets.counting);
    free(w->budgets.patients);
}
