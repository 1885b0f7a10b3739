/* SPDX-License-Identifier: Apache-2.0 */
#include "store/change.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct store_change *change_create(uint64_t revision)
{
    struct store_change *c = mem_alloc(sizeof *c);
    c->revision = revision;
    return c;
}

void change_destroy(struct store_change *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_own; i++)
        free(c->own[i]);
    free(c->own);
    free(c->ops);
    free(c->entries);
    free(c);
}

void changes_destroy(struct store_change *list)
{
    struct store_change *c, *tmp;
    DL_FOREACH_SAFE(list, c, tmp)
    change_destroy(c);
}

static const char *change_keep(struct store_change *c, const char *s)
{
    if (!s)
        return NULL;
    c->own = mem_grow(c->own, (c->n_own + 1) * sizeof *c->own);
    return c->own[c->n_own++] = mem_dup(s);
}

void change_add_op(struct store_change *c, const char *key, const char *value)
{
    size_t n = c->batch.n_ops++;
    assert(n < STORE_OPS_MAX); /* no engine commits more */
    c->ops = mem_grow(c->ops, (n + 1) * sizeof *c->ops);
    c->ops[n] = (struct store_op){change_keep(c, key), change_keep(c, value)};
    c->batch.ops = c->ops;
}

void change_add_entry(struct store_change *c, const struct store_entry *entry)
{
    size_t n = c->batch.n_entries++;
    assert(n < STORE_ENTRIES_MAX);
    c->entries = mem_grow(c->entries, (n + 1) * sizeof *c->entries);
    c->entries[n] = (struct store_entry){.at = entry->at,
                                         .actor = change_keep(c, entry->actor),
                                         .what = change_keep(c, entry->what),
                                         .nodes = change_keep(c, entry->nodes),
                                         .text = change_keep(c, entry->text),
                                         .about = change_keep(c, entry->about),
                                         .fields = change_keep(c, entry->fields)};
    c->batch.entries = c->entries;
}

static bool text_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool op_is_in(const struct store_batch *b, const struct store_op *op)
{
    for (size_t i = 0; i < b->n_ops; i++)
        if (strcmp(b->ops[i].key, op->key) == 0)
            return text_same(b->ops[i].value, op->value);
    return false;
}

static bool entry_same(const struct store_entry *a, const struct store_entry *b)
{
    return a->at.ns == b->at.ns && text_same(a->actor, b->actor) && text_same(a->what, b->what) &&
           text_same(a->nodes, b->nodes) && text_same(a->text, b->text);
}

bool change_is(const struct store_change *c, const struct store_batch *b)
{
    if (c->batch.n_ops != b->n_ops || c->batch.n_entries != b->n_entries)
        return false;
    for (size_t i = 0; i < b->n_ops; i++)
        if (!op_is_in(&c->batch, &b->ops[i]))
            return false;
    for (size_t i = 0; i < b->n_entries; i++)
        if (!entry_same(&c->batch.entries[i], &b->entries[i]))
            return false;
    return true;
}
