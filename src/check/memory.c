/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include "base/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORIES_MAX = 4096, SLICES = 8 };

struct item {
    char *name;
    struct counter counter;
    int64_t number;
    uint64_t slices[SLICES]; /* the growth in each eighth of the window */
    int64_t slice;           /* the number of the newest, from the clock's start */
    bool kept;               /* as a number; over a restart */
    bool asked;              /* in this look */
    UT_hash_handle hh;
};

struct memory {
    struct item *items; /* by name */
    struct item beyond; /* for what there is no room to remember: always new */
    bool news;          /* the kept value is of another number */
};

struct memory *memory_create(void)
{
    return mem_alloc(sizeof(struct memory));
}

static void memory_drop(struct memory *m, struct item *i)
{
    HASH_DEL(m->items, i);
    free(i->name);
    free(i);
}

void memory_forget(struct memory *m)
{
    struct item *i, *next;
    HASH_ITER (hh, m->items, i, next)
        memory_drop(m, i);
}

void memory_destroy(struct memory *m)
{
    if (m)
        memory_forget(m);
    free(m);
}

void memory_turn(struct memory *m)
{
    struct item *i, *next;
    HASH_ITER (hh, m->items, i, next) {
        if (!i->asked)
            memory_drop(m, i);
        else
            i->asked = false;
    }
}

static struct item *item_get(struct memory *m, const char *name)
{
    struct item *i;
    HASH_FIND_STR(m->items, name, i);
    if (!i && HASH_COUNT(m->items) == MEMORIES_MAX) {
        m->beyond = (struct item){0};
        return &m->beyond;
    }
    if (!i) {
        i = mem_alloc(sizeof *i);
        i->name = mem_dup(name);
        HASH_ADD_KEYPTR(hh, m->items, i->name, strlen(i->name), i);
    }
    i->asked = true;
    return i;
}

struct counter *memory_counter(struct memory *m, const char *name)
{
    return &item_get(m, name)->counter;
}

int64_t *memory_number(struct memory *m, const char *name)
{
    return &item_get(m, name)->number;
}

void memory_keep(struct memory *m, const char *name, int64_t number)
{
    struct item *i = item_get(m, name);
    m->news |= i != &m->beyond && (!i->kept || i->number != number);
    i->kept = true;
    i->number = number;
}

bool memory_news(struct memory *m)
{
    bool news = m->news;
    m->news = false;
    return news;
}

void memory_save(const struct memory *m, json_t *into)
{
    for (const struct item *i = m->items; i; i = i->hh.next)
        if (i->kept)
            json_object_set_new(into, i->name, json_integer((json_int_t)i->number));
}

void memory_restore(struct memory *m, const json_t *kept)
{
    const char *name;
    json_t *number;
    JSON_OBJECT_EACH (kept, name, number)
        if (json_is_integer(number))
            memory_keep(m, name, (int64_t)json_integer_value(number));
    m->news = false;
}

uint64_t memory_window(struct memory *m, const char *name, struct mono now, struct span window,
                       uint64_t growth)
{
    assert(now.ns >= 0 && "the clock begins with the boot");
    struct item *i = item_get(m, name);
    int64_t slice = now.ns / (window.ns / SLICES > 0 ? window.ns / SLICES : 1);
    if (slice - i->slice >= SLICES || slice < i->slice)
        memset(i->slices, 0, sizeof i->slices);
    else
        while (i->slice < slice)
            i->slices[++i->slice % SLICES] = 0;
    i->slice = slice;
    uint64_t *newest = &i->slices[slice % SLICES], sum = 0;
    if (__builtin_add_overflow(*newest, growth, newest))
        *newest = UINT64_MAX;
    for (int s = 0; s < SLICES; s++)
        if (__builtin_add_overflow(sum, i->slices[s], &sum))
            return UINT64_MAX;
    return sum;
}
