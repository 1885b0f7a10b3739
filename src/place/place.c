/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rule takes nodes from groups: the largest group first, among equals the first one, until there are
 * enough. A single group that is large enough is then the largest that fits. When none is, the largest are
 * merged whole, which makes the largest share as large and the groups as few as possible.
 *
 * Two plans are made, and the better score wins. SAME applies the rule to cohorts, in order of their first
 * row, and then, within the one cohort that is not taken whole, to topology groups, in order of their
 * numbers. NEAR applies it to topology groups alone, and then runs SAME on the rows of those groups.
 *
 * take_largest counts how many groups there are of each size instead of sorting them, so that the work grows
 * with the rows alone, however they are divided.
 *
 * Drifted rows are a second layer below the others, from which rows are taken only when the first layer is
 * used up.
 *
 * Rows are read once, to sift them, without a branch that depends on the row, because no processor can
 * predict whether a node is busy. The next steps walk over the rows that fit, in their order.
 */
#include "place/place_inside.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void place_answer_fini(struct place_answer *a)
{
    free(a->nodes);
    free(a->groups);
    *a = (struct place_answer){0};
}

/* --- scratch --------------------------------------------------------------------------------------- */

enum layer { PROPER, DRIFTED, LAYERS };
enum { TOPOLOGY_GROUPS = 65536, NO_GROUP = 0, RANKS = 4 };
static const uint32_t NO_SLOT = UINT32_MAX;

/* How many rows of a cohort fit, and how many to take. */
struct tally {
    uint32_t cohort;
    uint32_t fit[LAYERS], take[LAYERS];
    uint32_t chosen; /* by the plan that is being described */
};

struct placer {
    uint32_t *fits;  /* rows that fit, ascending */
    uint32_t *slots; /* for each of them: twice its tally, plus its layer */
    size_t n_fits, rows_cap;
    uint32_t *tally_of; /* by cohort number: its tally plus 1; 0: none. All 0 between calls */
    size_t tally_of_cap;
    struct tally *tallies; /* by first row */
    uint32_t n_tallies;
    uint32_t *sizes, *quotas; /* for take_largest, of rows_cap or TOPOLOGY_GROUPS */
    uint32_t *of_size;        /* groups of each size, of rows_cap + 1. All 0 between calls */
    size_t groups_cap;
    uint32_t *topology;      /* by number: rows to take from this topology group */
    uint32_t *ranked[RANKS]; /* by number: how these rows are divided by rank */
    bool *in_use;            /* by number: some of its rows are already taken */
};

struct placer *placer_create(void)
{
    struct placer *p = mem_alloc(sizeof *p);
    p->topology = mem_alloc(TOPOLOGY_GROUPS * sizeof *p->topology);
    for (int rank = 0; rank < RANKS; rank++)
        p->ranked[rank] = mem_alloc(TOPOLOGY_GROUPS * sizeof *p->ranked[rank]);
    p->in_use = mem_alloc(TOPOLOGY_GROUPS * sizeof *p->in_use);
    return p;
}

void placer_destroy(struct placer *p)
{
    if (!p)
        return;
    free(p->fits);
    free(p->slots);
    free(p->tally_of);
    free(p->tallies);
    free(p->sizes);
    free(p->quotas);
    free(p->of_size);
    free(p->topology);
    for (int rank = 0; rank < RANKS; rank++)
        free(p->ranked[rank]);
    free(p->in_use);
    free(p);
}

static void make_room(struct placer *p, size_t n_rows)
{
    if (p->tallies && n_rows <= p->rows_cap)
        return;
    size_t groups = n_rows + 1 > TOPOLOGY_GROUPS ? n_rows + 1 : TOPOLOGY_GROUPS;
    p->rows_cap = n_rows;
    p->fits = mem_grow(p->fits, (n_rows + 1) * sizeof *p->fits);
    p->slots = mem_grow(p->slots, n_rows * sizeof *p->slots);
    p->tallies = mem_grow(p->tallies, (n_rows + 1) * sizeof *p->tallies);
    p->sizes = mem_grow(p->sizes, groups * sizeof *p->sizes);
    p->quotas = mem_grow(p->quotas, groups * sizeof *p->quotas);
    free(p->of_size);
    p->of_size = mem_alloc((n_rows + 1) * sizeof *p->of_size);
}

/* --- tallies --------------------------------------------------------------------------------------- */

/* The first tally holds the rows without a cohort. */
static void tallies_start(struct placer *p)
{
    for (uint32_t i = 1; i < p->n_tallies; i++)
        p->tally_of[p->tallies[i].cohort] = 0;
    p->tallies[0] = (struct tally){.cohort = 0};
    p->n_tallies = 1;
}

static uint32_t tally_make(struct placer *p, uint32_t cohort)
{
    if (cohort >= p->tally_of_cap) {
        size_t cap = (size_t)cohort + 1 + cohort / 2;
        p->tally_of = mem_grow(p->tally_of, cap * sizeof *p->tally_of);
        memset(p->tally_of + p->tally_of_cap, 0, (cap - p->tally_of_cap) * sizeof *p->tally_of);
        p->tally_of_cap = cap;
    }
    p->tally_of[cohort] = p->n_tallies;
    p->tallies[p->n_tallies] = (struct tally){.cohort = cohort};
    return p->n_tallies++;
}

/* The number of a cohort's tally. */
static uint32_t tally_get(struct placer *p, uint32_t cohort)
{
    if (cohort == 0)
        return 0;
    if (cohort < p->tally_of_cap && p->tally_of[cohort])
        return p->tally_of[cohort];
    return tally_make(p, cohort);
}

/* --- constraints ----------------------------------------------------------------------------------- */

/* The result of one plan. */
struct plan {
    uint32_t *nodes;                            /* as many as wanted, ascending; NULL: the plan was not
                                                   made */
    uint32_t n_repaired, n_cramped, n_topology; /* among them */
    bool ungrouped;                             /* some are in no topology group */
    uint32_t fitness_milli[PLACE_TERMS];
    uint32_t score_milli;
};

/* One call. */
struct choice {
    struct placer *p;
    const struct place_row *rows;
    const struct place_ask *ask;
    bool hard;      /* conformant rows only */
    bool one_class; /* rows of this class only */
    uint8_t class;
    bool same;            /* sameness counts; otherwise all rows are one cohort */
    uint32_t fit[LAYERS]; /* rows that fit */
    uint16_t group_max;   /* highest topology group among them */
    uint32_t n;           /* nodes wanted */
    uint32_t split;       /* the slot whose rows are taken in part; NO_SLOT: none */
};

/* The reasons against this row, one bit each. Whether work runs on a node cannot be predicted, so nothing
 * branches on it. */
static uint32_t place_reasons(const struct choice *c, size_t i)
{
    const struct place_row *r = &c->rows[i];
    const uint8_t *among = c->ask->among;
    uint32_t bits = UINT32_C(1) << r->pass & ~(UINT32_C(1) << PASS_NONE);
    bits |= (uint32_t)(among && !among[i]) << PASS_NOT_NAMED;
    bits |= (uint32_t)(c->one_class & (r->class != c->class)) << PASS_OTHER_CLASS;
    bits |= (uint32_t)(c->hard & r->drifted) << PASS_DRIFTED;
    bits |= (uint32_t)(c->hard & r->unproven) << PASS_UNPROVEN;
    return bits;
}

static void place_sift(struct choice *c, size_t n_rows, uint32_t *passed)
{
    uint32_t *fits = c->p->fits, n_passed[PASSES + 1] = {0};
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        assert(c->rows[i].pass < PASSES);
        uint32_t bits = place_reasons(c, i);
        n_passed[__builtin_ctz(bits | UINT32_C(1) << PASSES)]++;
        fits[n] = (uint32_t)i;
        n += bits == 0;
    }
    c->p->n_fits = n;
    memcpy(passed, n_passed, sizeof *passed * PASSES);
    passed[PASS_NONE] = (uint32_t)n;
}

static void tally_fits(struct choice *c)
{
    struct placer *p = c->p;
    tallies_start(p);
    memset(c->fit, 0, sizeof c->fit);
    for (size_t i = 0; i < p->n_fits; i++) {
        const struct place_row *r = &c->rows[p->fits[i]];
        uint32_t t = tally_get(p, c->same ? r->cohort : 0);
        p->slots[i] = t * LAYERS + (r->drifted ? DRIFTED : PROPER);
        p->tallies[t].fit[r->drifted ? DRIFTED : PROPER]++;
        c->group_max = r->group > c->group_max ? r->group : c->group_max;
    }
    for (uint32_t t = 0; t < p->n_tallies; t++)
        for (int l = 0; l < LAYERS; l++)
            c->fit[l] += p->tallies[t].fit[l];
}

static int refuse_number(const struct choice *c, const uint32_t *passed, struct err *e)
{
    CLEANUP_TEXT struct text why = {0};
    for (int i = PASS_NONE + 1; i < PASSES; i++)
        if (passed[i])
            text_printf(&why, "%s%u %s", why.len ? ", " : "; passed over: ", passed[i],
                        place_pass_name((enum place_pass)i));
    return err_set(e, -ENODEV, "%zu nodes are asked for and %u fit%s", c->ask->n, passed[PASS_NONE],
                   why.len ? why.s : "");
}

/* --- cohorts --------------------------------------------------------------------------------------- */

static uint32_t place_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Fills quotas: takes k rows from n groups of these sizes, from the largest down, the first among equals.
 * Takes all when there are fewer. Returns how many are missing. */
static uint32_t take_largest(struct placer *p, size_t n, uint32_t k)
{
    uint32_t size = 0;
    for (size_t i = 0; i < n; i++) {
        p->of_size[p->sizes[i]]++;
        if (p->sizes[i] > size)
            size = p->sizes[i];
    }
    for (; size > 0 && p->of_size[size] * size < k; size--)
        k -= p->of_size[size] * size;
    for (size_t i = 0; i < n; i++) {
        p->of_size[p->sizes[i]] = 0;
        p->quotas[i] = p->sizes[i] > size ? p->sizes[i] : p->sizes[i] == size ? place_least(size, k) : 0;
        if (p->sizes[i] == size)
            k -= p->quotas[i];
    }
    return k;
}

/* k rows of a layer from the cohorts whose size is in sizes, then from those without a cohort. */
static void take_layer(struct placer *p, enum layer layer, uint32_t k)
{
    k = take_largest(p, p->n_tallies - 1, k);
    for (uint32_t i = 1; i < p->n_tallies; i++)
        p->tallies[i].take[layer] += p->quotas[i - 1];
    p->tallies[0].take[layer] = place_least(p->tallies[0].fit[layer], k);
}

static uint32_t take_drifted(struct tally *t, uint32_t k)
{
    t->take[DRIFTED] = place_least(t->fit[DRIFTED], k);
    return k - t->take[DRIFTED];
}

/* Takes all other rows, and k that drifted: first from the cohort that becomes the largest by it, then from
 * cohorts that are in use, then from the largest others. */
static void add_drifted(struct placer *p, uint32_t k)
{
    struct tally *best = NULL;
    for (uint32_t i = 1; i < p->n_tallies; i++) {
        struct tally *t = &p->tallies[i];
        if (!best || t->fit[PROPER] + place_least(t->fit[DRIFTED], k) >
                         best->fit[PROPER] + place_least(best->fit[DRIFTED], k))
            best = t;
    }
    if (best)
        k = take_drifted(best, k);
    for (uint32_t i = 1; i < p->n_tallies; i++) {
        struct tally *t = &p->tallies[i];
        if (t != best && t->fit[PROPER] > 0)
            k = take_drifted(t, k);
        p->sizes[i - 1] = t != best && t->fit[PROPER] == 0 ? t->fit[DRIFTED] : 0;
    }
    take_layer(p, DRIFTED, k);
}

static void take_same(struct choice *c)
{
    struct placer *p = c->p;
    for (uint32_t i = 1; i < p->n_tallies; i++)
        p->sizes[i - 1] = p->tallies[i].fit[PROPER];
    take_layer(p, PROPER, c->n);
    if (c->fit[PROPER] < c->n)
        add_drifted(p, c->n - c->fit[PROPER]);
}

/* Takes the cohort with the most rows that did not drift, among those that are large enough. */
static int take_one_cohort(struct choice *c, struct err *e)
{
    struct placer *p = c->p;
    struct tally *best = NULL;
    uint32_t largest = 1;
    for (uint32_t i = 1; i < p->n_tallies; i++) {
        struct tally *t = &p->tallies[i];
        uint32_t all = t->fit[PROPER] + t->fit[DRIFTED];
        largest = all > largest ? all : largest;
        if (all >= c->n && (!best || t->fit[PROPER] > best->fit[PROPER] ||
                            (t->fit[PROPER] == best->fit[PROPER] && t->fit[DRIFTED] > best->fit[DRIFTED])))
            best = t;
    }
    if (!best)
        return err_set(
            e, -EMEDIUMTYPE,
            "%u nodes of one cohort are asked for; %zu nodes fit, at most %u of them of one cohort", c->n,
            p->n_fits, largest);
    best->take[PROPER] = place_least(best->fit[PROPER], c->n);
    best->take[DRIFTED] = c->n - best->take[PROPER];
    return 0;
}

/* --- topology -------------------------------------------------------------------------------------- */

static uint32_t taken_of(const struct placer *p, uint32_t slot)
{
    return p->tallies[slot / LAYERS].take[slot % LAYERS];
}

static void find_split(struct choice *c)
{
    c->split = NO_SLOT;
    for (uint32_t slot = 0; slot < c->p->n_tallies * LAYERS; slot++) {
        uint32_t taken = taken_of(c->p, slot);
        if (taken == 0 || taken == c->p->tallies[slot / LAYERS].fit[slot % LAYERS])
            continue;
        assert(c->split == NO_SLOT);
        c->split = slot;
    }
}

/* Divides k of the rows that p->topology counts among the topology groups: groups in use first, then the
 * largest, and at last rows without a group. p->topology then holds how many to take. */
static void place_share(struct choice *c, uint32_t k)
{
    struct placer *p = c->p;
    for (uint32_t g = NO_GROUP + 1; g <= c->group_max; g++) {
        p->sizes[g - 1] = p->in_use[g] ? 0 : p->topology[g];
        p->topology[g] = p->in_use[g] ? place_least(p->topology[g], k) : 0;
        k -= p->topology[g];
    }
    k = take_largest(p, c->group_max, k);
    for (uint32_t g = NO_GROUP + 1; g <= c->group_max; g++)
        p->topology[g] += p->quotas[g - 1];
    p->topology[NO_GROUP] = k;
}

static void clear_topology(struct choice *c)
{
    size_t n = (size_t)c->group_max + 1;
    memset(c->p->topology, 0, n * sizeof *c->p->topology);
    for (int rank = 0; rank < RANKS; rank++)
        memset(c->p->ranked[rank], 0, n * sizeof *c->p->ranked[rank]);
    memset(c->p->in_use, 0, n * sizeof *c->p->in_use);
}

/* The order within a topology group: a node that was repaired lately is likelier to fail than one that lacks
 * room. */
static unsigned rank_of(const struct place_row *r)
{
    return 2U * r->repaired + r->cramped;
}

static void share_split(struct choice *c)
{
    struct placer *p = c->p;
    for (size_t i = 0; i < p->n_fits; i++) {
        const struct place_row *r = &c->rows[p->fits[i]];
        if (p->slots[i] == c->split) {
            p->topology[r->group]++;
            p->ranked[rank_of(r)][r->group]++;
        } else if (taken_of(p, p->slots[i]) > 0) {
            p->in_use[r->group] = true;
        }
    }
    place_share(c, taken_of(p, c->split));
    for (uint32_t g = NO_GROUP; g <= c->group_max; g++)
        for (int rank = 0; rank < RANKS; rank++) {
            p->ranked[rank][g] = place_least(p->ranked[rank][g], p->topology[g]);
            p->topology[g] -= p->ranked[rank][g];
        }
}

static bool is_taken(const struct choice *c, size_t i)
{
    struct placer *p = c->p;
    if (p->slots[i] != c->split)
        return taken_of(p, p->slots[i]) > 0;
    const struct place_row *r = &c->rows[p->fits[i]];
    uint32_t *left = &p->ranked[rank_of(r)][r->group];
    bool taken = *left > 0;
    *left -= taken;
    return taken;
}

static void place_pick(struct choice *c, struct plan *out)
{
    struct placer *p = c->p;
    uint32_t n = 0;
    out->nodes = mem_alloc(c->n * sizeof *out->nodes);
    find_split(c);
    if (c->split != NO_SLOT)
        share_split(c);
    for (size_t i = 0; i < p->n_fits && n < c->n; i++) {
        if (!is_taken(c, i))
            continue;
        const struct place_row *r = &c->rows[p->fits[i]];
        out->nodes[n++] = p->fits[i];
        out->n_repaired += r->repaired;
        out->n_cramped += r->cramped;
        out->ungrouped |= r->group == NO_GROUP;
        p->in_use[r->group] = true;
    }
    assert(n == c->n);
    for (uint32_t g = NO_GROUP + 1; g <= c->group_max; g++)
        out->n_topology += p->in_use[g];
    clear_topology(c);
}

/* --- the nearest ----------------------------------------------------------------------------------- */

/* Keeps only rows in the fewest topology groups that suffice, and returns how many these groups are. Groups
 * that are used up stay. */
static uint32_t keep_near(struct choice *c)
{
    struct placer *p = c->p;
    enum layer split = c->fit[PROPER] < c->n ? DRIFTED : PROPER;
    for (size_t i = 0; i < p->n_fits; i++) {
        uint16_t g = c->rows[p->fits[i]].group;
        enum layer layer = p->slots[i] % LAYERS;
        p->topology[g] += layer == split;
        p->in_use[g] |= layer < split;
    }
    place_share(c, split == DRIFTED ? c->n - c->fit[PROPER] : c->n);
    size_t n = 0;
    for (size_t i = 0; i < p->n_fits; i++) {
        enum layer layer = p->slots[i] % LAYERS;
        p->fits[n] = p->fits[i];
        n += layer < split || (layer == split && p->topology[c->rows[p->fits[i]].group] > 0);
    }
    p->n_fits = n;
    uint32_t groups = 0;
    for (uint32_t g = NO_GROUP; g <= c->group_max; g++)
        groups += p->in_use[g] || p->topology[g] > 0;
    clear_topology(c);
    return groups;
}

/* --- the score ------------------------------------------------------------------------------------- */

static uint32_t share_milli(uint32_t part, uint32_t all)
{
    return (uint32_t)((uint64_t)place_least(part, all) * 1000 / all);
}

/* Counts the nodes of each cohort, and returns the largest count. */
static uint32_t largest_share(const struct choice *c, const struct plan *plan)
{
    struct placer *p = c->p;
    uint32_t largest = 1;
    tallies_start(p);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t t = tally_get(p, c->rows[plan->nodes[i]].cohort);
        p->tallies[t].chosen++;
        if (t > 0 && p->tallies[t].chosen > largest)
            largest = p->tallies[t].chosen;
    }
    return largest;
}

/* `fewest`: the fewest topology groups that have enough nodes. */
static void plan_score(const struct choice *c, uint32_t fewest, struct plan *p)
{
    const uint32_t *weight_milli = place_policies[c->ask->policy].weight_milli;
    p->fitness_milli[PLACE_SAMENESS] = share_milli(largest_share(c, p), c->n);
    p->fitness_milli[PLACE_TOPOLOGY] = share_milli(fewest, p->n_topology + p->ungrouped);
    p->fitness_milli[PLACE_SOUNDNESS] = share_milli(c->n - p->n_repaired, c->n);
    p->fitness_milli[PLACE_ROOM] = share_milli(c->n - p->n_cramped, c->n);
    uint32_t micro = 0;
    for (int t = 0; t < PLACE_TERMS; t++)
        micro += weight_milli[t] * p->fitness_milli[t];
    p->score_milli = micro / 1000;
}

/* --- the answer ------------------------------------------------------------------------------------ */

/* Most nodes first, then by number; groups of one at the end. */
static int by_rank(const void *a, const void *b)
{
    const struct place_group *x = a, *y = b;
    if (!x->cohort != !y->cohort)
        return x->cohort ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->cohort < y->cohort ? -1 : x->cohort > y->cohort;
}

static void place_describe(const struct choice *c, struct plan *plan, struct place_answer *out)
{
    struct placer *p = c->p;
    out->score_milli = plan->score_milli;
    for (int t = 0; t < PLACE_TERMS; t++)
        out->terms[t] =
            (struct place_score){plan->fitness_milli[t], place_policies[c->ask->policy].weight_milli[t]};
    out->n_topology = plan->n_topology;
    largest_share(c, plan);
    out->groups = mem_alloc(p->n_tallies * sizeof *out->groups);
    for (uint32_t i = 0; i < p->n_tallies; i++)
        if (p->tallies[i].chosen > 0)
            out->groups[out->n_groups++] = (struct place_group){p->tallies[i].cohort, p->tallies[i].chosen};
    qsort(out->groups, out->n_groups, sizeof *out->groups, by_rank);
    out->passed[PASS_NONE] -= c->n;
    out->n = c->n;
    out->nodes = plan->nodes;
    plan->nodes = NULL;
}

static int go_same(struct choice *c, struct plan *same, struct err *e)
{
    int rc = 0;
    if (c->ask->require_conformance)
        rc = take_one_cohort(c, e);
    else
        take_same(c);
    if (rc == 0)
        place_pick(c, same);
    return rc;
}

static void go_near(struct choice *c, struct plan *near)
{
    tally_fits(c);
    take_same(c);
    place_pick(c, near);
}

/* For one node, and for a policy that gives sameness no weight, only nearness counts. */
static bool is_sameness_asked(const struct place_ask *ask)
{
    return ask->n > 1 &&
           (ask->require_conformance || place_policies[ask->policy].weight_milli[PLACE_SAMENESS] > 0);
}

static int choice_make(struct choice *c, struct place_answer *out, struct err *e)
{
    struct plan same = {0}, near = {0};
    c->same = is_sameness_asked(c->ask);
    tally_fits(c);
    int rc = c->same ? go_same(c, &same, e) : 0;
    size_t n_fits = c->p->n_fits;
    uint32_t fewest = rc == 0 ? keep_near(c) : 0;
    bool one_cohort = c->n > 1 && c->ask->require_conformance;
    if (rc == 0 && !one_cohort && !(same.nodes && c->p->n_fits == n_fits))
        go_near(c, &near);
    if (same.nodes)
        plan_score(c, fewest, &same);
    if (near.nodes)
        plan_score(c, fewest, &near);
    if (rc == 0)
        place_describe(c, same.nodes && (!near.nodes || same.score_milli >= near.score_milli) ? &same : &near,
                       out);
    free(same.nodes);
    free(near.nodes);
    return rc;
}

int place_choose(struct placer *p, const struct place_row *rows, size_t n_rows, const struct place_ask *ask,
                 struct place_answer *out, struct err *e)
{
    assert(rows || n_rows == 0);
    assert(ask && out);
    place_answer_fini(out);
    if (ask->n == 0)
        return err_set(e, -EINVAL, "no nodes are asked for");
    struct choice c = {.p = p, .rows = rows, .ask = ask, .hard = place_policies[ask->policy].hard};
    c.one_class = ask->class >= 0;
    c.class = (uint8_t)(ask->class < UINT8_MAX ? ask->class : UINT8_MAX);
    make_room(p, n_rows);
    place_sift(&c, n_rows, out->passed);
    if (ask->n > p->n_fits)
        return refuse_number(&c, out->passed, e);
    c.n = (uint32_t)ask->n;
    return choice_make(&c, out, e);
}
