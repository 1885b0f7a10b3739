/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name that matches a pattern contains all runs of letters of the pattern. For each pattern four letters in
 * a row (a gram) are chosen, which few other patterns have. Only patterns whose gram is in the name are
 * tried. A pattern without four letters in a row is always tried.
 */
#include "conform/pattern.h"

#include "base/text.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GRAM = 4, BUCKET_BITS = 12, BUCKETS = 1 << BUCKET_BITS };
#define NONE UINT16_MAX

struct patterns {
    const char **list;
    uint16_t first[BUCKETS]; /* the first pattern whose gram falls into the bucket; NONE without one */
    uint16_t always;         /* the first pattern that has no gram */
    uint16_t *next;          /* in the same bucket, or among those without a gram */
};

/* Walks both at once; where they differ, the last '*' takes one character more. */
bool pattern_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static size_t bucket_of(const char *gram)
{
    uint32_t letters;
    memcpy(&letters, gram, GRAM);
    return letters * UINT32_C(2654435761) >> (32 - BUCKET_BITS);
}

/* The next place at or after `at` with four letters in a row; NULL when there is none. */
static const char *gram_next(const char *at)
{
    for (size_t run = 0; *at; at++) {
        run = *at == '*' ? 0 : run + 1;
        if (run == GRAM)
            return at - (GRAM - 1);
    }
    return NULL;
}

/* The bucket of the gram that fewest patterns have; BUCKETS for a pattern without any. */
static size_t pattern_rarest(const char *pattern, const uint32_t *count)
{
    size_t best = BUCKETS;
    for (const char *g = gram_next(pattern); g; g = gram_next(g + 1)) {
        size_t bucket = bucket_of(g);
        if (best == BUCKETS || count[bucket] < count[best])
            best = bucket;
    }
    return best;
}

struct patterns *patterns_create(const char *const *list, size_t n)
{
    assert(n <= UINT16_MAX);
    struct patterns *p = mem_alloc(sizeof *p);
    CLEANUP_FREE uint32_t *count = mem_alloc(BUCKETS * sizeof *count);
    p->list = mem_alloc((n + 1) * sizeof *p->list);
    p->next = mem_alloc((n + 1) * sizeof *p->next);
    p->always = NONE;
    memset(p->first, 0xff, sizeof p->first);
    for (size_t i = 0; i < n; i++)
        for (const char *g = gram_next(list[i]); g; g = gram_next(g + 1))
            count[bucket_of(g)]++;
    for (size_t i = 0; i < n; i++) {
        size_t bucket = pattern_rarest(list[i], count);
        uint16_t *first = bucket == BUCKETS ? &p->always : &p->first[bucket];
        p->list[i] = list[i];
        p->next[i] = *first;
        *first = (uint16_t)i;
    }
    return p;
}

void patterns_destroy(struct patterns *p)
{
    if (!p)
        return;
    free(p->list);
    free(p->next);
    free(p);
}

static void try_all(const struct patterns *p, uint16_t from, const char *name, pattern_fn *fn, void *arg)
{
    for (; from != NONE; from = p->next[from])
        if (pattern_matches(p->list[from], name))
            fn(arg, from);
}

void patterns_match(const struct patterns *p, const char *name, pattern_fn *fn, void *arg)
{
    size_t len = strlen(name);
    try_all(p, p->always, name, fn, arg);
    for (size_t i = 0; i + GRAM <= len; i++)
        try_all(p, p->first[bucket_of(name + i)], name, fn, arg);
}
