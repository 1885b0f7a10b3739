/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostfold.h"

#include "base/hostset.h"
#include "base/text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Folding of several dimensions with the results of nodeset. Each row starts as a block of its own. In passes
 * over the sorted blocks, a block absorbs another one that differs from it in one dimension only. First come
 * passes that compare neighbours, until nothing changes; then passes that compare each block with all that
 * follow. Blocks never share a row.
 *
 * nodeset compares all pairs. Here a hash over all dimensions but one finds the blocks that may merge. The
 * hash proposes and a comparison decides, so that the result does not depend on the hash.
 *
 * Two cases need no passes: dimensions in which nothing varies are left out of them, and rows that are a full
 * product of their dimensions are one block.
 */

/* The different numbers of one dimension. Sets hold indexes into them. */
struct axis {
    uint64_t *numbers; /* sorted, each once */
    size_t n;
    uint32_t *place; /* the rank of each number when they are sorted as text; nodeset sorts blocks so */
};

struct set {
    uint32_t *members; /* NULL while `low` is the only one */
    uint32_t n, cap;
    uint32_t low, high;
    uint64_t hash; /* a sum over the members, independent of their order */
    bool sorted;
};

struct block {
    struct set *sets; /* one for each dimension that varies */
    uint64_t rows;
    size_t position; /* before sorting; the sort must be stable */
    bool gone;
};

/* An index of blocks by everything but one dimension. */
struct entry {
    uint64_t hash;
    size_t position;
};

struct folding {
    struct axis **axes; /* of the dimensions that vary */
    size_t dims;
    struct block *blocks;
    size_t n;
    struct set *sets;
    struct entry *index; /* one entry for each block and dimension */
};

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The number shifted so that comparing the results compares the digits as text, except for a text that is the
 * beginning of another. */
static uint64_t hostfold_aligned(uint64_t number)
{
    uint64_t value = hostnumber_value(number);
    for (unsigned digits = hostnumber_digits(number); digits < HOSTNUMBER_DIGITS_MAX; digits++)
        value *= 10;
    return value;
}

static int compare_as_text(const void *a, const void *b, void *numbers)
{
    uint64_t x = ((const uint64_t *)numbers)[*(const uint32_t *)a];
    uint64_t y = ((const uint64_t *)numbers)[*(const uint32_t *)b];
    uint64_t left_x = hostfold_aligned(x), left_y = hostfold_aligned(y);
    if (left_x != left_y)
        return left_x < left_y ? -1 : 1;
    return (x > y) - (x < y);
}

static void axis_init(struct axis *axis, const uint64_t *rows, size_t n, size_t dims, size_t d)
{
    uint64_t *numbers = mem_grow(NULL, n * sizeof *numbers);
    size_t kept = 0;
    bool is_sorted = true;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = rows[i * dims + d];
        if (kept > 0 && numbers[kept - 1] == number)
            continue;
        is_sorted = is_sorted && (kept == 0 || numbers[kept - 1] < number);
        numbers[kept++] = number;
    }
    if (!is_sorted)
        qsort(numbers, kept, sizeof *numbers, compare_numbers);
    axis->n = 0;
    for (size_t i = 0; i < kept; i++)
        if (axis->n == 0 || numbers[axis->n - 1] != numbers[i])
            numbers[axis->n++] = numbers[i];
    axis->numbers = numbers;
}

static void axis_sort_as_text(struct axis *axis)
{
    CLEANUP_FREE uint32_t *order = mem_grow(NULL, axis->n * sizeof *order);
    for (size_t i = 0; i < axis->n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, axis->n, sizeof *order, compare_as_text, axis->numbers);
    axis->place = mem_grow(NULL, axis->n * sizeof *axis->place);
    for (size_t i = 0; i < axis->n; i++)
        axis->place[order[i]] = (uint32_t)i;
}

static uint32_t axis_find(const struct axis *axis, uint64_t number)
{
    const uint64_t *found = bsearch(&number, axis->numbers, axis->n, sizeof number, compare_numbers);
    return (uint32_t)(found - axis->numbers);
}

/* The finishing steps of splitmix64 (public domain, Vigna). */
static uint64_t hostfold_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static struct set set_of(uint32_t member)
{
    return (struct set){.n = 1, .low = member, .high = member, .hash = hostfold_mix(member), .sorted = true};
}

static const uint32_t *set_members(const struct set *s)
{
    return s->members ? s->members : &s->low;
}

static int compare_members(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void set_sort(struct set *s)
{
    if (!s->sorted)
        qsort(s->members, s->n, sizeof *s->members, compare_members);
    s->sorted = true;
}

static bool set_seems_equal(const struct set *a, const struct set *b)
{
    return a->n == b->n && a->hash == b->hash;
}

static bool set_equal(struct set *a, struct set *b)
{
    if (!set_seems_equal(a, b))
        return false;
    set_sort(a);
    set_sort(b);
    return memcmp(set_members(a), set_members(b), a->n * sizeof(uint32_t)) == 0;
}

/* Moves the members of b to a. The two have none in common. */
static void set_take(struct set *a, struct set *b)
{
    if (a->n + b->n > a->cap) {
        uint32_t *members = mem_grow(a->members, (size_t)(a->n + b->n) * 2 * sizeof *members);
        if (!a->members)
            members[0] = a->low;
        a->members = members;
        a->cap = (a->n + b->n) * 2;
    }
    memcpy(a->members + a->n, set_members(b), b->n * sizeof *a->members);
    a->sorted = a->sorted && b->sorted && b->low > a->high;
    a->n += b->n;
    a->hash += b->hash;
    a->low = b->low < a->low ? b->low : a->low;
    a->high = b->high > a->high ? b->high : a->high;
    free(b->members);
    b->members = NULL;
}

/* Larger blocks first, then by dimension: more numbers, lower first number, lower last one, the
 * numbers compared as text. */
static int compare_blocks(const void *a, const void *b, void *folding)
{
    const struct block *x = a, *y = b;
    const struct folding *f = folding;
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    for (size_t d = 0; d < f->dims; d++) {
        const struct set *s = &x->sets[d], *t = &y->sets[d];
        const uint32_t *place = f->axes[d]->place;
        if (s->n != t->n)
            return s->n > t->n ? -1 : 1;
        if (s->low != t->low)
            return place[s->low] < place[t->low] ? -1 : 1;
        if (s->high != t->high)
            return place[s->high] < place[t->high] ? -1 : 1;
    }
    return (x->position > y->position) - (x->position < y->position);
}

/* Drops the blocks that are gone and sorts the rest. */
static void sort_blocks(struct folding *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (f->blocks[i].gone)
            continue;
        f->blocks[n] = f->blocks[i];
        f->blocks[n].position = n;
        n++;
    }
    f->n = n;
    qsort_r(f->blocks, n, sizeof *f->blocks, compare_blocks, f);
}

/* Merges b into a when they differ in one dimension only. */
static bool hostfold_merge(const struct folding *f, struct block *a, struct block *b)
{
    size_t differs = f->dims;
    for (size_t d = 0; d < f->dims; d++) {
        if (set_seems_equal(&a->sets[d], &b->sets[d]))
            continue;
        if (differs < f->dims)
            return false;
        differs = d;
    }
    if (differs == f->dims)
        return false;
    for (size_t d = 0; d < f->dims; d++)
        if (d != differs && !set_equal(&a->sets[d], &b->sets[d]))
            return false;
    set_take(&a->sets[differs], &b->sets[differs]);
    for (size_t d = 0; d < f->dims; d++)
        free(STEAL(b->sets[d].members));
    a->rows += b->rows;
    b->gone = true;
    return true;
}

static bool merge_neighbours(struct folding *f)
{
    bool changed = false;
    for (size_t i = 0, j; i < f->n; i = j) {
        for (j = i + 1; j < f->n && hostfold_merge(f, &f->blocks[i], &f->blocks[j]); j++)
            changed = true;
    }
    return changed;
}

static uint64_t hash_dimension(const struct set *s, size_t d)
{
    return hostfold_mix(s->hash + hostfold_mix(s->n) + d);
}

static uint64_t hash_block(const struct folding *f, const struct block *b)
{
    uint64_t hash = 0;
    for (size_t d = 0; d < f->dims; d++)
        hash += hash_dimension(&b->sets[d], d);
    return hash;
}

/* A hash of what all blocks have in common that differ from b in dimension d only. */
static uint64_t hash_without(const struct block *b, uint64_t whole, size_t d)
{
    return hostfold_mix(whole - hash_dimension(&b->sets[d], d)) + d;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static void index_blocks(struct folding *f)
{
    for (size_t i = 0; i < f->n; i++) {
        uint64_t whole = hash_block(f, &f->blocks[i]);
        for (size_t d = 0; d < f->dims; d++)
            f->index[i * f->dims + d] = (struct entry){hash_without(&f->blocks[i], whole, d), i};
    }
    qsort(f->index, f->n * f->dims, sizeof *f->index, compare_entries);
}

/* The next block after `after` with this hash in the index; f->n when there is none. */
static size_t find_after(const struct folding *f, uint64_t hash, size_t after)
{
    struct entry key = {hash, after};
    size_t low = 0, high = f->n * f->dims;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_entries(&f->index[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < f->n * f->dims && f->index[low].hash == hash && f->blocks[f->index[low].position].gone)
        low++;
    return low < f->n * f->dims && f->index[low].hash == hash ? f->index[low].position : f->n;
}

static size_t next_candidate(const struct folding *f, const struct block *b, size_t after)
{
    uint64_t whole = hash_block(f, b);
    size_t next = f->n;
    for (size_t d = 0; d < f->dims; d++) {
        size_t found = find_after(f, hash_without(b, whole, d), after);
        if (found < next)
            next = found;
    }
    return next;
}

static bool merge_all(struct folding *f)
{
    bool changed = false;
    index_blocks(f);
    for (size_t i = 0; i < f->n; i++) {
        struct block *b = &f->blocks[i];
        size_t at = i;
        while (!b->gone && (at = next_candidate(f, b, at)) < f->n)
            changed |= hostfold_merge(f, b, &f->blocks[at]);
    }
    return changed;
}

static void merge_blocks(struct folding *f)
{
    do
        sort_blocks(f);
    while (merge_neighbours(f));
    f->index = mem_grow(NULL, f->n * f->dims * sizeof *f->index);
    do
        sort_blocks(f);
    while (merge_all(f));
    free(f->index);
}

/* Copies a block's numbers to the pool at `to` and returns the pool's next place. b is NULL for
 * the one block that has all numbers of all dimensions. */
static uint64_t *write_block(struct block *b, const struct axis *axes, size_t dims,
                             struct hostfold_range *ranges, uint64_t *to)
{
    size_t v = 0;
    for (size_t d = 0; d < dims; d++) {
        struct set *s = b && axes[d].n > 1 ? &b->sets[v++] : NULL;
        size_t n = s ? s->n : axes[d].n;
        if (s)
            set_sort(s);
        for (size_t i = 0; i < n; i++)
            to[i] = axes[d].numbers[s ? set_members(s)[i] : i];
        ranges[d] = (struct hostfold_range){to, n};
        to += n;
        if (s)
            free(s->members);
    }
    return to;
}

static void write_product(struct hostfold *out, const struct axis *axes)
{
    size_t numbers = 0;
    for (size_t d = 0; d < out->dims; d++)
        numbers += axes[d].n;
    out->blocks = 1;
    out->pool = mem_grow(NULL, numbers * sizeof *out->pool);
    out->ranges = mem_alloc(out->dims * sizeof *out->ranges);
    write_block(NULL, axes, out->dims, out->ranges, out->pool);
}

static void write_blocks(struct hostfold *out, struct folding *f, const struct axis *axes)
{
    size_t numbers = f->n * (out->dims - f->dims);
    for (size_t b = 0; b < f->n; b++)
        for (size_t v = 0; v < f->dims; v++)
            numbers += f->blocks[b].sets[v].n;
    out->blocks = f->n;
    out->pool = mem_grow(NULL, numbers * sizeof *out->pool);
    out->ranges = mem_alloc(f->n * out->dims * sizeof *out->ranges);
    uint64_t *to = out->pool;
    for (size_t b = 0; b < f->n; b++)
        to = write_block(&f->blocks[b], axes, out->dims, out->ranges + b * out->dims, to);
}

static void fold_rows(struct hostfold *out, const uint64_t *rows, size_t n, struct axis *axes)
{
    CLEANUP_FREE size_t *varying = mem_alloc(out->dims * sizeof *varying);
    struct folding f = {.axes = mem_alloc(out->dims * sizeof(struct axis *)), .n = n};
    for (size_t d = 0; d < out->dims; d++) {
        if (axes[d].n == 1)
            continue;
        axis_sort_as_text(&axes[d]);
        varying[f.dims] = d;
        f.axes[f.dims++] = &axes[d];
    }
    f.blocks = mem_alloc(n * sizeof *f.blocks);
    f.sets = mem_alloc(n * f.dims * sizeof *f.sets);
    for (size_t i = 0; i < n; i++) {
        f.blocks[i] = (struct block){.sets = f.sets + i * f.dims, .rows = 1};
        for (size_t v = 0; v < f.dims; v++)
            f.blocks[i].sets[v] = set_of(axis_find(f.axes[v], rows[i * out->dims + varying[v]]));
    }
    merge_blocks(&f);
    write_blocks(out, &f, axes);
    free(f.blocks);
    free(f.sets);
    free(f.axes);
}

void hostfold_init(struct hostfold *f, const uint64_t *rows, size_t n, size_t dims)
{
    assert(n >= 1 && dims >= 1);
    *f = (struct hostfold){.dims = dims};
    struct axis *axes = mem_alloc(dims * sizeof *axes);
    size_t product = 1;
    for (size_t d = 0; d < dims; d++) {
        axis_init(&axes[d], rows, n, dims, d);
        product = product > n ? product : product * axes[d].n; /* any product above n will do */
    }
    if (product == n)
        write_product(f, axes);
    else
        fold_rows(f, rows, n, axes);
    for (size_t d = 0; d < dims; d++) {
        free(axes[d].numbers);
        free(axes[d].place);
    }
    free(axes);
}

void hostfold_fini(struct hostfold *f)
{
    free(f->ranges);
    free(f->pool);
    *f = (struct hostfold){0};
}
