/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the class of a node. Classes are tried in their order. The index, sorted pairs (name, class), says
 * which classes with host lists a name can be in at all.
 */
#include "conform/class.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *name; /* the class's */
    uint16_t class;
};

struct class_index {
    size_t n;
    struct entry *entries;
};

static int by_name(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int d = strcmp(x->name, y->name);
    return d ? d : (int)x->class - (int)y->class;
}

struct class_index *class_index_create(const struct classes *c)
{
    assert(c->n <= UINT16_MAX);
    struct class_index *x = mem_alloc(sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->list[i].nodes.n;
    x->entries = mem_alloc(n * sizeof *x->entries);
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->list[i].nodes.n; j++)
            x->entries[x->n++] = (struct entry){c->list[i].nodes.names[j], (uint16_t)i};
    if (x->n > 1)
        qsort(x->entries, x->n, sizeof *x->entries, by_name);
    return x;
}

void class_index_destroy(struct class_index *x)
{
    if (!x)
        return;
    free(x->entries);
    free(x);
}

/* The first entry of a name, or the place where it belongs. */
static size_t index_at(const struct class_index *x, const char *name)
{
    size_t low = 0, high = x->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(x->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Whether one field of a node has the value that the class asks for. Flags, group and partitions have a value
 * even when they are not specified. */
static bool field_matches(const struct spec *k, const struct spec *s, enum field f)
{
    if (f == FIELD_SENSITIVE)
        return k->sensitive == s->sensitive;
    if (f == FIELD_BORROWED)
        return k->borrowed == s->borrowed;
    if (f == FIELD_GROUP)
        return k->group == s->group;
    if (f == FIELD_PARTITION)
        return memcmp(&k->partitions, &s->partitions, sizeof k->partitions) == 0;
    if (!spec_given(s, f))
        return false;
    if (f == FIELD_OS)
        return same_text(k->os, s->os);
    if (f == FIELD_XNAME)
        return same_text(k->xname, s->xname);
    if (f == FIELD_CPUS)
        return k->cpus == s->cpus;
    if (f == FIELD_SPEED)
        return k->speed_milli == s->speed_milli;
    if (f == FIELD_REAL_MEMORY)
        return k->real_memory_mb == s->real_memory_mb;
    if (f == FIELD_VIRTUAL_MEMORY)
        return k->virtual_memory_mb == s->virtual_memory_mb;
    return f == FIELD_TMP_DISK && k->tmp_disk_mb == s->tmp_disk_mb;
}

static bool spec_matches(const struct node_class *k, const struct spec *s)
{
    for (int f = 0; k->has_spec && f <= FIELD_XNAME; f++)
        if (spec_given(&k->spec, (enum field)f) && !field_matches(&k->spec, s, (enum field)f))
            return false;
    return true;
}

static bool has_name(const struct hostlist *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(h->names[i], name) == 0)
            return true;
    return false;
}

uint16_t classes_match(const struct classes *c, const struct class_index *x, const char *name,
                       const struct spec *s)
{
    assert(c->n > 0 && "the default class is always there");
    size_t at = x ? index_at(x, name) : 0;
    for (size_t i = 0; i + 1 < c->n; i++) {
        const struct node_class *k = &c->list[i];
        bool named = k->nodes.n == 0;
        if (!named && x) {
            named = at < x->n && x->entries[at].class == i && strcmp(x->entries[at].name, name) == 0;
            at += named;
        } else if (!named) {
            named = has_name(&k->nodes, name);
        }
        if (named && spec_matches(k, s))
            return (uint16_t)i;
    }
    return (uint16_t)(c->n - 1);
}
