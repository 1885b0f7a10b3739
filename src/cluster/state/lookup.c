/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of members, and what is looked up in a cluster. Members are never freed before the cluster: their
 * number is bounded by the names that the authority has signed, and everything observed hangs on their id.
 */
#include "cluster/state/state.h"

#include "base/digest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct member *cluster_find(const struct cluster *c, const char *name)
{
    struct member_slot *s;
    HASH_FIND_STR(c->members, name, s);
    return s ? &s->m : NULL;
}

/* A look-up in the table costs several misses of the cache; the member behind the one before is near. */
struct member *cluster_find_next(const struct cluster *c, size_t *place, const char *name)
{
    struct member *m = *place < c->n_listed ? c->order[*place] : NULL;
    if (!m || strcmp(m->name, name) != 0)
        m = cluster_find(c, name);
    if (m && m->listed)
        *place = m->place + 1;
    return m;
}

void member_classify(const struct cluster *c, struct member *m)
{
    m->class = classes_match(&c->classes, c->index, m->name, &m->spec);
    assert(m->class < c->classes.n);
}

const struct node_class *member_class(const struct cluster *c, const struct member *m)
{
    assert(m->class < c->classes.n);
    return &c->classes.list[m->class];
}

struct member *cluster_meet(struct cluster *c, const char *name)
{
    assert(name && *name);
    struct member *known = cluster_find(c, name);
    if (known) {
        known->gone = false;
        return known;
    }
    struct member_slot *s = mem_alloc(sizeof *s);
    s->m.name = mem_dup(name);
    s->m.id = (uint32_t)c->n;
    spec_init(&s->m.spec);
    member_classify(c, &s->m);
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 64;
        c->by_id = mem_grow(c->by_id, c->cap * sizeof *c->by_id);
        c->order = mem_grow(c->order, c->cap * sizeof *c->order);
        c->marks = mem_grow(c->marks, c->cap * sizeof *c->marks);
    }
    c->marks[c->n] = 0;
    c->by_id[c->n] = &s->m;
    c->order[c->n] = &s->m;
    c->n++;
    *c->order_stale = true;
    HASH_ADD_KEYPTR(hh, c->members, s->m.name, strlen(s->m.name), s);
    return &s->m;
}

bool cluster_let_go(struct cluster *c, struct member *m)
{
    bool recorded = m->n_claims || m->admitted || m->held_outside || m->machine || m->edit || m->bmc ||
                    m->seen || m->owner || m->wiped;
    m->gone = !m->listed && !recorded && !m->past;
    return m->gone;
}

size_t cluster_count(const struct cluster *c)
{
    return c->n;
}

struct member *cluster_by_id(const struct cluster *c, uint32_t id)
{
    assert(id < c->n);
    return c->by_id[id];
}

static int by_name(const void *a, const void *b)
{
    const struct member *x = *(struct member *const *)a, *y = *(struct member *const *)b;
    return strcmp(x->name, y->name);
}

/* Unlisted nodes stand behind the roster. They are sorted at the first question after one was met. */
struct member *cluster_at(const struct cluster *c, size_t order)
{
    assert(order < c->n);
    if (*c->order_stale) {
        qsort(c->order + c->n_listed, c->n - c->n_listed, sizeof *c->order, by_name);
        *c->order_stale = false;
    }
    return c->order[order];
}

const struct claim *cluster_claim(const struct cluster *c, const char *id)
{
    struct claim_slot *s;
    HASH_FIND_STR(c->claims, id, s);
    return s ? &s->c : NULL;
}

const struct token *cluster_token(const struct cluster *c, const char *hash)
{
    struct token *t;
    HASH_FIND_STR(c->tokens, hash, t);
    return t;
}

bool cluster_token_known(const struct cluster *c, const char *hash)
{
    return cluster_token(c, hash);
}

const char *cluster_token_record(const struct cluster *c, const char *hash)
{
    const struct token *t = cluster_token(c, hash);
    return t ? t->value : NULL;
}

void cluster_each_token(const struct cluster *c, token_fn *fn, void *arg)
{
    for (const struct token *t = c->tokens; t; t = t->hh.next)
        fn(arg, t->hash);
}

size_t cluster_partitions(const struct cluster *c, const struct partition **out)
{
    *out = c->partitions;
    return c->n_partitions;
}

const struct classes *cluster_classes(const struct cluster *c)
{
    return &c->classes;
}

struct listings *cluster_listings(const struct cluster *c)
{
    return c->listings;
}

bool cluster_excepts(const struct cluster *c, const struct member *m)
{
    return m->spec.excepted || member_class(c, m)->excepted;
}

uint64_t record_sum(const char *key, const char *value)
{
    assert(key && value);
    return digest_fnv(digest_fnv(DIGEST_FNV_START, key, strlen(key)), value, strlen(value));
}

const char *cluster_authority(const struct cluster *c)
{
    return c->authority;
}

const struct backup_made *cluster_backup(const struct cluster *c)
{
    return &c->backup;
}

const struct state_restored *cluster_restored(const struct cluster *c)
{
    return &c->restored;
}

const char *cluster_origin(const struct cluster *c)
{
    return c->origin;
}

const struct floor_value *floor_value(const struct floor_node *n, const char *what)
{
    for (size_t i = 0; i < n->n; i++)
        if (strcmp(n->values[i].what, what) == 0)
            return &n->values[i];
    return NULL;
}
