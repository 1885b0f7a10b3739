/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/shape.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *owned_keep(struct owned *o, void *p)
{
    o->list = mem_grow(o->list, (o->n + 1) * sizeof *o->list);
    return o->list[o->n++] = p;
}

void owned_fini(struct owned *o)
{
    for (size_t i = 0; i < o->n; i++)
        free(o->list[i]);
    free(o->list);
    *o = (struct owned){0};
}

static void *part_pointer(const void *it, const struct part *p)
{
    void *out;
    memcpy(&out, (const char *)it + p->at, sizeof out);
    return out;
}

static size_t part_count(const void *it, const struct part *p)
{
    size_t n;
    memcpy(&n, (const char *)it + p->count_at, sizeof n);
    return n;
}

/* --- copies ----------------------------------------------------------------------------------- */

static void *own_list(const struct part *p, const void *list, size_t n, struct owned *o)
{
    assert(n == 0 || list);
    char *copy = owned_keep(o, mem_alloc((n + 1) * p->of->size));
    if (n)
        memcpy(copy, list, n * p->of->size);
    for (size_t i = 0; i < n; i++)
        shape_own(p->of, copy + i * p->of->size, o);
    return copy;
}

void shape_own(const struct shape *s, void *it, struct owned *o)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct part *p = &s->parts[i];
        if (p->kind != PART_TEXT && p->kind != PART_LIST)
            continue;
        void *is = part_pointer(it, p);
        if (p->kind == PART_LIST)
            is = own_list(p, is, part_count(it, p), o);
        else if (is)
            is = owned_keep(o, mem_dup(is));
        memcpy((char *)it + p->at, &is, sizeof is);
    }
}

/* --- comparison ------------------------------------------------------------------------------- */

static bool same_list(const struct part *p, const void *a, const void *b)
{
    const char *x = part_pointer(a, p), *y = part_pointer(b, p);
    size_t n = part_count(a, p);
    if (n != part_count(b, p))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!shape_same(p->of, x + i * p->of->size, y + i * p->of->size))
            return false;
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_part(const struct part *p, const void *a, const void *b)
{
    const char *x = (const char *)a + p->at, *y = (const char *)b + p->at;
    switch (p->kind) {
    case PART_VALUE: return memcmp(x, y, p->size) == 0;
    case PART_WORD: return strcmp(x, y) == 0;
    case PART_TEXT: return same_text(part_pointer(a, p), part_pointer(b, p));
    case PART_LIST: return same_list(p, a, b);
    }
    return false;
}

bool shape_same(const struct shape *s, const void *a, const void *b)
{
    for (size_t i = 0; i < s->n; i++)
        if (!same_part(&s->parts[i], a, b))
            return false;
    return true;
}
