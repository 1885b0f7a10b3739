/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listings answer the question, not nodes. The nodes of a cohort have the same components where these count,
 * so one of them stands for all. A node in no cohort stands for itself and for the nodes with the same
 * listing. Such a set of nodes is called a kind here.
 */
#include "api/also.h"

#include "api/render.h"
#include "base/table.h"

#include <stdlib.h>

enum {
    LOOKUPS_MAX = 40000,       /* look-ups of a component in a listing: some 10 ms for a whole answer */
    NAMES_BYTES_MAX = 1 << 20, /* all lists of names in one answer */
    KIND_NONE = 0
};

struct kind {
    const struct listing *listing;
    size_t n, from; /* part of `ids` */
};

struct by_listing {
    const struct listing *listing;
    uint32_t kind;
    UT_hash_handle hh;
};

struct also {
    struct call *call;
    uint32_t n, cap; /* number of kinds, the first of which is KIND_NONE */
    struct kind *kinds;
    uint32_t *ids; /* ids of members, those of one kind together */
    size_t lookups, bytes;
};

static uint32_t kind_new(struct also *a, const struct listing *g)
{
    if (a->n == a->cap) {
        a->cap = a->cap ? a->cap * 2 : 64;
        a->kinds = mem_grow(a->kinds, a->cap * sizeof *a->kinds);
    }
    a->kinds[a->n] = (struct kind){.listing = g};
    return a->n++;
}

static const struct listing *listing_of(const struct also *a, const struct member *m)
{
    struct standing s;
    watch_standing(a->call->api->watch, a->call->now, m, &s, NULL);
    return s.listing && s.listing->known ? s.listing : NULL;
}

/* The listing of a node in no cohort: only when it is alone because a component is unknown. A node that is
 * alone because it is silent or stale is not known to have anything. */
static const struct listing *listing_of_loner(const struct also *a, const struct member *m)
{
    const struct listing *g = listing_of(a, m);
    enum liveness l = watch_observed(a->call->api->watch, m)->beat.liveness;
    return g && g->n_unknown > 0 && (l == LIVENESS_LIVE || l == LIVENESS_LATE) ? g : NULL;
}

static uint32_t kind_by_cohort(struct also *a, uint32_t *known, const struct member *m)
{
    const struct listing *g = *known == KIND_NONE ? listing_of(a, m) : NULL;
    if (g)
        *known = kind_new(a, g);
    return *known;
}

static uint32_t kind_of_loner(struct also *a, struct by_listing **table, const struct member *m)
{
    const struct listing *g = listing_of_loner(a, m);
    struct by_listing *x;
    if (!g)
        return KIND_NONE;
    HASH_FIND_PTR(*table, &g, x);
    if (x)
        return x->kind;
    x = mem_alloc(sizeof *x);
    *x = (struct by_listing){.listing = g, .kind = kind_new(a, g)};
    HASH_ADD_PTR(*table, listing, x);
    return x->kind;
}

static void forget_table(struct by_listing *table)
{
    struct by_listing *x, *next;
    HASH_ITER (hh, table, x, next) {
        HASH_DEL(table, x);
        free(x);
    }
}

/* The kind of each member, by id. Judging one may put it into a cohort that is new since this began: that is
 * left for the next time. */
static uint32_t *sort_into_kinds(struct also *a, const struct member *self)
{
    const struct cluster *c = a->call->api->cluster;
    const struct cohorts *cohorts = watch_cohorts(a->call->api->watch);
    const uint32_t max = cohorts_number_max(cohorts);
    CLEANUP_FREE uint32_t *by_cohort = mem_alloc(((size_t)max + 1) * sizeof *by_cohort);
    uint32_t *kind = mem_alloc((cluster_count(c) + 1) * sizeof *kind);
    struct by_listing *table = NULL;
    for (uint32_t id = 0; id < cluster_count(c); id++) {
        const struct member *m = cluster_by_id(c, id);
        if (m == self || m->class != self->class)
            continue;
        uint32_t cohort = cohorts_number_of(cohorts, id);
        if (cohort > max)
            continue;
        kind[id] =
            cohort == COHORT_NONE ? kind_of_loner(a, &table, m) : kind_by_cohort(a, &by_cohort[cohort], m);
        a->kinds[kind[id]].n++;
    }
    forget_table(table);
    return kind;
}

struct also *also_create(struct call *c, const struct member *self)
{
    struct also *a = mem_alloc(sizeof *a);
    a->call = c;
    kind_new(a, NULL);
    CLEANUP_FREE uint32_t *kind = sort_into_kinds(a, self);
    a->kinds[KIND_NONE].n = 0;
    size_t from = 0;
    for (uint32_t k = 0; k < a->n; k++) {
        a->kinds[k].from = from;
        from += a->kinds[k].n;
        a->kinds[k].n = 0;
    }
    a->ids = mem_alloc((from + 1) * sizeof *a->ids);
    for (uint32_t id = 0; id < cluster_count(c->api->cluster); id++) {
        struct kind *k = &a->kinds[kind[id]];
        if (kind[id] != KIND_NONE)
            a->ids[k->from + k->n++] = id;
    }
    return a;
}

void also_destroy(struct also *a)
{
    if (!a)
        return;
    free(a->kinds);
    free(a->ids);
    free(a);
}

static bool is_absent(const struct component *c)
{
    return !c || c->state == COMPONENT_ABSENT;
}

static bool has_same(const struct listing *g, const struct difference *d)
{
    const struct component *c = listing_look(g, d->name);
    return is_absent(d->actual) ? is_absent(c) : c == d->actual;
}

void also_render(struct also *a, const struct difference *d, struct text *t)
{
    const char *names[ALSO_NAMES_MAX];
    size_t n = 0, count = 0;
    a->lookups += a->n;
    if (a->lookups > LOOKUPS_MAX || a->bytes > NAMES_BYTES_MAX) {
        text_add(t, "\"also\":null,\"also_count\":null");
        return;
    }
    for (uint32_t i = KIND_NONE + 1; i < a->n; i++) {
        const struct kind *k = &a->kinds[i];
        if (!has_same(k->listing, d))
            continue;
        count += k->n;
        for (size_t j = 0; j < k->n && n < ALSO_NAMES_MAX; j++)
            names[n++] = cluster_by_id(a->call->api->cluster, a->ids[k->from + j])->name;
    }
    size_t before = t->len;
    text_add(t, "\"also\":");
    render_fold(t, names, n);
    a->bytes += t->len - before;
    text_printf(t, ",\"also_count\":%zu", count);
}
