/* SPDX-License-Identifier: Apache-2.0 */
#include "fair/fair.h"

#include "base/table.h"
#include "base/text.h"

#include <assert.h>
#include <utlist.h>

/* The guests of one name, the oldest first. */
struct company {
    struct crowd *crowd;
    struct guest *guests;
    size_t n;
    struct company *prev, *next; /* neighbours of the same size */
    UT_hash_handle hh;
    char name[];
};

/* Companies are ordered by size, so that the largest is found at once however many there are. */
struct crowd {
    struct crowd_limits limits;
    struct company *companies;
    struct company **by_size; /* the company that has had this size longest is first; [0] is empty */
    size_t sizes, greatest;
    size_t n;
};

struct crowd *crowd_create(const struct crowd_limits *limits)
{
    assert(limits->each >= 1);
    struct crowd *c = mem_alloc(sizeof *c);
    crowd_limit(c, limits);
    return c;
}

void crowd_limit(struct crowd *c, const struct crowd_limits *limits)
{
    size_t most = limits->each < limits->all ? limits->each : limits->all;
    c->limits = *limits;
    if (most + 2 <= c->sizes) /* a newcomer is one too many for a moment */
        return;
    c->by_size = mem_grow(c->by_size, (most + 2) * sizeof(struct company *));
    memset(c->by_size + c->sizes, 0, (most + 2 - c->sizes) * sizeof(struct company *));
    c->sizes = most + 2;
}

void crowd_destroy(struct crowd *c)
{
    if (!c)
        return;
    free(c->by_size);
    free(c);
}

static struct company *company_get(struct crowd *c, const char *name)
{
    struct company *y;
    size_t len = strlen(name);
    HASH_FIND(hh, c->companies, name, len, y);
    if (y)
        return y;
    y = mem_alloc(sizeof *y + len + 1);
    y->crowd = c;
    memcpy(y->name, name, len);
    HASH_ADD_KEYPTR(hh, c->companies, y->name, len, y);
    return y;
}

static void company_resize(struct company *y, size_t n)
{
    struct crowd *c = y->crowd;
    if (y->n > 0)
        DL_DELETE(c->by_size[y->n], y);
    if (n > 0)
        DL_APPEND(c->by_size[n], y);
    c->n += n - y->n;
    y->n = n;
    if (n > c->greatest)
        c->greatest = n;
    while (c->greatest > 0 && !c->by_size[c->greatest])
        c->greatest--;
}

void *crowd_enter(struct crowd *c, struct guest *g, const char *name)
{
    assert(g && name);
    crowd_leave(g); /* it may have been the last of its name */
    struct company *y = company_get(c, name);
    g->company = y;
    DL_APPEND(y->guests, g);
    company_resize(y, y->n + 1);
    if (y->n <= c->limits.each && c->n <= c->limits.all)
        return NULL;
    if (y->n <= c->limits.each)
        y = c->by_size[c->greatest];
    struct guest *late = y->guests;
    crowd_leave(late);
    return late->owner;
}

void crowd_leave(struct guest *g)
{
    struct company *y = g->company;
    if (!y)
        return;
    g->company = NULL;
    DL_DELETE(y->guests, g);
    company_resize(y, y->n - 1);
    if (y->n > 0)
        return;
    HASH_DEL(y->crowd->companies, y);
    free(y);
}
