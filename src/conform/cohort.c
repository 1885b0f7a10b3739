/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node costs three numbers: its cohort and its neighbours in the cohort's ring. Cohorts are kept in a table
 * by fingerprint, in an array by number, and in a heap with the largest on top. A change moves two of them a
 * few places, and the largest is at hand, even when every node is a cohort of its own.
 */
#include "conform/cohort.h"

#include "base/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct group {
    struct cohort cohort; /* first */
    uint32_t ring;        /* any node in it */
    uint32_t heap_at;
    UT_hash_handle hh;
};

struct ring_place {
    uint32_t cohort; /* the cohort's number; COHORT_NONE: prev and next mean nothing */
    uint32_t next, prev;
};

struct cohorts {
    struct ring_place *places; /* by node */
    uint32_t n_places;
    struct group *by_id;
    struct group **by_number;        /* from 1 to number_max; NULL: free */
    uint32_t number_max, number_cap; /* numbers */
    uint32_t *free_numbers;          /* a stack, of number_cap */
    uint32_t n_free;
    struct group **heap; /* of number_cap */
    uint32_t n;
};

struct cohorts *cohorts_create(void)
{
    return mem_alloc(sizeof(struct cohorts));
}

void cohorts_destroy(struct cohorts *c)
{
    if (!c)
        return;
    HASH_CLEAR(hh, c->by_id);
    for (uint32_t i = 0; i < c->n; i++)
        free(c->heap[i]);
    free(c->heap);
    free(c->by_number);
    free(c->free_numbers);
    free(c->places);
    free(c);
}

/* --- the heap ------------------------------------------------------------------------------------ */

/* Negative when a ranks before b: more nodes, then the lower fingerprint. */
static int cohort_rank(const struct cohort *a, const struct cohort *b)
{
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return fingerprint_compare(&a->id, &b->id);
}

static void heap_put(struct cohorts *c, uint32_t at, struct group *g)
{
    c->heap[at] = g;
    g->heap_at = at;
}

static void heap_rise(struct cohorts *c, struct group *g)
{
    uint32_t at = g->heap_at;
    for (; at > 0 && cohort_rank(&g->cohort, &c->heap[(at - 1) / 2]->cohort) < 0; at = (at - 1) / 2)
        heap_put(c, at, c->heap[(at - 1) / 2]);
    heap_put(c, at, g);
}

static void heap_sink(struct cohorts *c, struct group *g)
{
    uint32_t at = g->heap_at;
    for (uint32_t child; (child = 2 * at + 1) < c->n; at = child) {
        if (child + 1 < c->n && cohort_rank(&c->heap[child + 1]->cohort, &c->heap[child]->cohort) < 0)
            child++;
        if (cohort_rank(&c->heap[child]->cohort, &g->cohort) >= 0)
            break;
        heap_put(c, at, c->heap[child]);
    }
    heap_put(c, at, g);
}

/* --- cohorts come and go --------------------------------------------------------------------------- */

static uint32_t number_take(struct cohorts *c)
{
    if (c->n_free > 0)
        return c->free_numbers[--c->n_free];
    if (c->number_max == c->number_cap) {
        c->number_cap = c->number_cap ? c->number_cap * 2 : 64;
        c->by_number = mem_grow(c->by_number, (c->number_cap + 1) * sizeof(struct group *));
        c->heap = mem_grow(c->heap, c->number_cap * sizeof(struct group *));
        c->free_numbers = mem_grow(c->free_numbers, c->number_cap * sizeof(uint32_t));
    }
    return ++c->number_max;
}

static struct group *group_get(struct cohorts *c, const struct fingerprint *id)
{
    struct group *g;
    HASH_FIND(hh, c->by_id, id, sizeof *id, g);
    if (g)
        return g;
    g = mem_alloc(sizeof *g);
    g->cohort = (struct cohort){.id = *id, .number = number_take(c)};
    c->by_number[g->cohort.number] = g;
    HASH_ADD(hh, c->by_id, cohort.id, sizeof g->cohort.id, g);
    heap_put(c, c->n++, g);
    return g;
}

static void group_remove(struct cohorts *c, struct group *g)
{
    struct group *last = c->heap[--c->n];
    if (last != g) {
        heap_put(c, g->heap_at, last);
        heap_rise(c, last);
        heap_sink(c, last);
    }
    HASH_DEL(c->by_id, g);
    c->by_number[g->cohort.number] = NULL;
    c->free_numbers[c->n_free++] = g->cohort.number;
    free(g);
}

/* --- nodes ----------------------------------------------------------------------------------------- */

/* Makes room for the node; an eighth more than needed, so that a node costs at most 14 bytes. */
static void place_make(struct cohorts *c, uint32_t node)
{
    if (node < c->n_places)
        return;
    uint32_t n = node + 1 + node / 8;
    c->places = mem_grow(c->places, n * sizeof *c->places);
    memset(c->places + c->n_places, 0, (n - c->n_places) * sizeof *c->places);
    c->n_places = n;
}

static void cohort_join(struct cohorts *c, uint32_t node, struct group *g)
{
    struct ring_place *s = &c->places[node];
    if (g->cohort.n == 0) {
        s->next = s->prev = node;
    } else {
        s->next = g->ring;
        s->prev = c->places[g->ring].prev;
        c->places[s->prev].next = node;
        c->places[s->next].prev = node;
    }
    s->cohort = g->cohort.number;
    g->ring = node;
    g->cohort.n++;
    heap_rise(c, g);
}

static void cohort_leave(struct cohorts *c, uint32_t node)
{
    struct ring_place *s = &c->places[node];
    if (s->cohort == COHORT_NONE)
        return;
    struct group *g = c->by_number[s->cohort];
    s->cohort = COHORT_NONE;
    g->ring = s->next;
    c->places[s->prev].next = s->next;
    c->places[s->next].prev = s->prev;
    if (--g->cohort.n == 0)
        group_remove(c, g);
    else
        heap_sink(c, g);
}

void cohorts_set(struct cohorts *c, uint32_t node, const struct fingerprint *id)
{
    assert(node != UINT32_MAX);
    place_make(c, node);
    const struct cohort *was = cohorts_of(c, node);
    if (!id) {
        cohort_leave(c, node);
    } else if (!was || !fingerprint_equal(&was->id, id)) {
        struct group *g = group_get(c, id);
        cohort_leave(c, node);
        cohort_join(c, node, g);
    }
}

/* --- looking ----------------------------------------------------------------------------------------- */

uint32_t cohorts_number_of(const struct cohorts *c, uint32_t node)
{
    return node < c->n_places ? c->places[node].cohort : (uint32_t)COHORT_NONE;
}

const struct cohort *cohorts_by_number(const struct cohorts *c, uint32_t number)
{
    if (number == COHORT_NONE || number > c->number_max || !c->by_number[number])
        return NULL;
    return &c->by_number[number]->cohort;
}

const struct cohort *cohorts_of(const struct cohorts *c, uint32_t node)
{
    return cohorts_by_number(c, cohorts_number_of(c, node));
}

const struct cohort *cohorts_find(const struct cohorts *c, const struct fingerprint *id)
{
    struct group *g;
    HASH_FIND(hh, c->by_id, id, sizeof *id, g);
    return g ? &g->cohort : NULL;
}

size_t cohorts_count(const struct cohorts *c)
{
    return c->n;
}

uint32_t cohorts_number_max(const struct cohorts *c)
{
    return c->number_max;
}

const struct cohort *cohorts_largest(const struct cohorts *c)
{
    return c->n > 0 ? &c->heap[0]->cohort : NULL;
}

static int by_rank(const void *a, const void *b)
{
    return cohort_rank(*(const struct cohort *const *)a, *(const struct cohort *const *)b);
}

void cohorts_list(const struct cohorts *c, const struct cohort ***out)
{
    *out = mem_alloc(c->n * sizeof **out);
    for (uint32_t i = 0; i < c->n; i++)
        (*out)[i] = &c->heap[i]->cohort;
    if (c->n > 1)
        qsort(*out, c->n, sizeof **out, by_rank);
}

void cohort_each(const struct cohorts *c, const struct cohort *k, cohort_node_fn *fn, void *arg)
{
    uint32_t node = c->by_number[k->number]->ring;
    for (uint32_t left = k->n; left > 0; left--) {
        uint32_t next = c->places[node].next;
        fn(arg, node);
        node = next;
    }
}
