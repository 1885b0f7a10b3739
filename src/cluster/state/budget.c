/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets. The nodes that are out stand in a list of their own, and the nodes of each scope are counted where
 * they change: a decision asks for both, and must not count a hundred thousand nodes each time.
 */
#include "cluster/state/state.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct limits *cluster_limits(const struct cluster *c)
{
    return &c->limits;
}

/* --- who is out -------------------------------------------------------------------------------- */

bool member_is_out(const struct member *m)
{
    const struct repair *r = member_repair(m);
    if (member_held_by(m, CLAIM_TRIAL))
        return true;
    if (r && (r->step == STEP_WIPE || strcmp(r->problem, PROBLEM_WIPE) == 0))
        return false; /* by the word of the person who released it */
    return r && !r->manual && r->step != STEP_QUARANTINE && r->step != STEP_RETIRED && !member_is_new(m);
}

void member_count_out(struct cluster *c, struct member *m)
{
    assert(m->out_place <= c->n_out);
    bool out = member_is_out(m);
    if (out == (m->out_place > 0))
        return;
    if (out) {
        c->out = mem_grow(c->out, (c->n_out + 1) * sizeof(struct member *));
        c->out[c->n_out++] = m;
        m->out_place = (uint32_t)c->n_out;
        return;
    }
    struct member *last = c->out[--c->n_out];
    c->out[m->out_place - 1] = last;
    last->out_place = m->out_place;
    m->out_place = 0;
}

struct member *cluster_out(const struct cluster *c, size_t i)
{
    return i < c->n_out ? c->out[i] : NULL;
}

/* --- nodes of a scope -------------------------------------------------------------------------- */

static void totals_add(struct totals *t, const struct member *m, uint32_t by)
{
    assert(m->class < t->n_classes && m->spec.group <= GROUP_MAX);
    t->all += by;
    t->classes[m->class] += by;
    t->groups[m->spec.group] += by;
    for (unsigned word = 0; word < sizeof m->spec.partitions.bits / sizeof m->spec.partitions.bits[0]; word++)
        for (uint64_t bits = m->spec.partitions.bits[word]; bits; bits &= bits - 1)
            t->partitions[word * 64 + (unsigned)__builtin_ctzll(bits)] += by;
}

void totals_add_member(struct cluster *c, const struct member *m)
{
    if (m->listed)
        totals_add(&c->totals, m, 1);
}

void totals_take_member(struct cluster *c, const struct member *m)
{
    if (m->listed)
        totals_add(&c->totals, m, UINT32_MAX);
}

void totals_free(struct totals *t)
{
    free(t->classes);
    free(t->groups);
    *t = (struct totals){0};
}

void totals_count(struct cluster *c)
{
    totals_free(&c->totals);
    c->totals.n_classes = c->classes.n;
    c->totals.classes = mem_alloc((c->classes.n + 1) * sizeof *c->totals.classes);
    c->totals.groups = mem_alloc((GROUP_MAX + 1) * sizeof *c->totals.groups);
    for (size_t id = 0; id < c->n; id++)
        totals_add_member(c, c->by_id[id]);
}

unsigned scope_nodes(const struct cluster *c, enum scope s, unsigned number)
{
    const struct totals *t = &c->totals;
    switch (s) {
    case SCOPE_CLUSTER: return t->all;
    case SCOPE_CLASS: return number < t->n_classes ? t->classes[number] : 0;
    case SCOPE_GROUP: return number <= GROUP_MAX ? t->groups[number] : 0;
    case SCOPE_PARTITION: return number <= PARTITION_MAX ? t->partitions[number] : 0;
    case SCOPES: break;
    }
    return 0;
}

bool member_in_scope(const struct member *m, enum scope s, unsigned number)
{
    switch (s) {
    case SCOPE_CLUSTER: return true;
    case SCOPE_CLASS: return m->class == number;
    case SCOPE_GROUP: return m->spec.group == number;
    case SCOPE_PARTITION: return partition_has(&m->spec.partitions, number);
    case SCOPES: break;
    }
    return false;
}

/* Group 0 is no group. */
void cluster_each_scope(const struct cluster *c, scope_fn *fn, void *arg)
{
    const struct {
        enum scope scope;
        unsigned first, end;
    } all[] = {{SCOPE_CLASS, 0, (unsigned)c->totals.n_classes},
               {SCOPE_GROUP, 1, GROUP_MAX + 1},
               {SCOPE_PARTITION, 0, PARTITION_MAX + 1}};
    fn(arg, SCOPE_CLUSTER, 0);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (unsigned number = all[i].first; number < all[i].end; number++)
            if (scope_nodes(c, all[i].scope, number))
                fn(arg, all[i].scope, number);
}

static void name_scope(const struct cluster *c, enum scope s, unsigned number, struct budget *b)
{
    char word[PARTITION_WORD_BYTES];
    switch (s) {
    case SCOPE_CLASS:
        snprintf(b->scope, sizeof b->scope, "class %.50s", c->classes.list[number].name);
        return;
    case SCOPE_GROUP: snprintf(b->scope, sizeof b->scope, "group %u", number); return;
    case SCOPE_PARTITION:
        snprintf(b->scope, sizeof b->scope, "partition %s",
                 partition_word(c->partitions, c->n_partitions, number, word));
        return;
    case SCOPE_CLUSTER:
    case SCOPES: snprintf(b->scope, sizeof b->scope, "cluster"); return;
    }
}

void budget_of_scope(const struct cluster *c, enum scope s, unsigned number, unsigned percent, unsigned out,
                     struct budget *b)
{
    assert(s < SCOPES && percent <= 100);
    *b = (struct budget){.nodes = scope_nodes(c, s, number), .out = out};
    b->limit = (unsigned)((uint64_t)b->nodes * percent / 100);
    if (b->limit == 0)
        b->limit = 1;
    name_scope(c, s, number, b);
}
