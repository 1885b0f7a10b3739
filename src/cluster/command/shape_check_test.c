/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/shape_check_test.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What no part covers is padding at most: a member that a shape forgets would be lost in a copy. */
static void check_covered(const char *name, const struct shape *s)
{
    CLEANUP_FREE bool *covered = mem_alloc(s->size + 1);
    for (size_t i = 0; i < s->n; i++) {
        const struct part *p = &s->parts[i];
        memset(covered + p->at, true, p->size);
        if (p->kind == PART_LIST) {
            memset(covered + p->count_at, true, sizeof(size_t));
            check_covered(name, p->of);
        }
    }
    for (size_t i = 0, bare = 0; i < s->size; i++) {
        bare = covered[i] ? 0 : bare + 1;
        if (bare >= sizeof(void *))
            fail_msg("%s: nothing covers the bytes up to %zu", name, i);
    }
}

static void part_put(char *it, const struct part *p, const void *pointer)
{
    memcpy(it + p->at, &pointer, sizeof pointer);
}

static void part_count_put(char *it, const struct part *p, size_t n)
{
    memcpy(it + p->count_at, &n, sizeof n);
}

/* Every member says something; a list has one element. What it points to is the caller's, in *o. */
static void shape_fill(const struct shape *s, char *it, struct owned *o)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct part *p = &s->parts[i];
        if (p->kind == PART_VALUE) {
            it[p->at] = 1;
        } else if (p->kind == PART_WORD) {
            it[p->at] = 'w';
        } else if (p->kind == PART_TEXT) {
            part_put(it, p, owned_keep(o, mem_dup("text")));
        } else {
            char *element = owned_keep(o, mem_alloc(p->of->size));
            shape_fill(p->of, element, o);
            part_put(it, p, element);
            part_count_put(it, p, 1);
        }
    }
}

static void pointer_wiped(const char *it, const struct part *p)
{
    char *at;
    memcpy(&at, it + p->at, sizeof at);
    memset(at, 'x', p->kind == PART_TEXT ? strlen("text") : p->of->size);
}

/* A copy does not change with what it was made of. */
static void check_owns(const char *name, const struct shape *s)
{
    struct owned given = {0}, own = {0}, other = {0};
    CLEANUP_FREE char *it = mem_alloc(s->size + 1), *copy = mem_alloc(s->size + 1),
                      *like = mem_alloc(s->size + 1);
    shape_fill(s, it, &given);
    shape_fill(s, like, &other);
    memcpy(copy, it, s->size);
    shape_own(s, copy, &own);
    for (size_t i = 0; i < s->n; i++)
        if (s->parts[i].kind == PART_TEXT || s->parts[i].kind == PART_LIST)
            pointer_wiped(it, &s->parts[i]);
    if (!shape_same(s, copy, like))
        fail_msg("%s: a copy does not own what it points to", name);
    owned_fini(&given);
    owned_fini(&own);
    owned_fini(&other);
}

static void part_change(char *it, const struct part *p)
{
    switch (p->kind) {
    case PART_VALUE: it[p->at + p->size - 1] ^= 0x40; return;
    case PART_WORD: it[p->at] = 'v'; return;
    case PART_TEXT: part_put(it, p, NULL); return;
    case PART_LIST: part_count_put(it, p, 0); return;
    }
}

static void check_differences(const char *name, const struct shape *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct owned a = {0}, b = {0};
        CLEANUP_FREE char *it = mem_alloc(s->size + 1), *other = mem_alloc(s->size + 1);
        shape_fill(s, it, &a);
        shape_fill(s, other, &b);
        assert_true(shape_same(s, it, other));
        part_change(other, &s->parts[i]);
        if (shape_same(s, it, other) || shape_same(s, other, it))
            fail_msg("%s: a difference in part %zu is not seen", name, i + 1);
        owned_fini(&a);
        owned_fini(&b);
        if (s->parts[i].kind == PART_LIST)
            check_differences(name, s->parts[i].of);
    }
}

void shape_check(const char *name, const struct shape *s)
{
    check_covered(name, s);
    check_owns(name, s);
    check_differences(name, s);
}
