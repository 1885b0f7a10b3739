/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With R responding collectors and N nodes to share, N % R collectors may have one node more than the others:
 * first those that already have more, then the first in order. Each collector keeps the nodes that it has, up
 * to its measure. The nodes above the measure, and those without a responding collector, go in configured
 * order to the first collector with room.
 */
#include "watch/share.h"

#include <stdlib.h>
#include <string.h>

struct keeper {
    struct member *collector;
    bool responds;
    bool changed;
    bool fresh; /* began to respond after the last balance, so it does not know its share */
    size_t n, measure;
    struct member **nodes; /* rebuilt by each balance */
};

struct share {
    struct cluster *cluster;
    size_t n_keepers;
    struct keeper *keepers; /* in the order of CollectorNodes */
    size_t n;
    uint32_t *keeper_of; /* by member id: index into keepers + 1, 0 for none */
    bool *collects;      /* by member id: the member is a collector */
};

struct share *share_create(struct cluster *c)
{
    struct share *s = mem_alloc(sizeof *s);
    s->cluster = c;
    return s;
}

static void keepers_free(struct keeper *k, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(k[i].nodes);
    free(k);
}

void share_destroy(struct share *s)
{
    if (!s)
        return;
    keepers_free(s->keepers, s->n_keepers);
    free(s->keeper_of);
    free(s->collects);
    free(s);
}

static void share_grow(struct share *s)
{
    size_t n = cluster_count(s->cluster);
    if (n <= s->n)
        return;
    s->keeper_of = mem_grow(s->keeper_of, n * sizeof *s->keeper_of);
    s->collects = mem_grow(s->collects, n * sizeof *s->collects);
    for (; s->n < n; s->n++) {
        s->keeper_of[s->n] = 0;
        s->collects[s->n] = false;
    }
}

static struct keeper *share_find(const struct share *s, const struct member *m)
{
    for (size_t i = 0; i < s->n_keepers; i++)
        if (s->keepers[i].collector == m)
            return &s->keepers[i];
    return NULL;
}

void share_configure(struct share *s, const struct hostlist *collectors)
{
    struct keeper *now = mem_alloc(collectors->n * sizeof *now);
    CLEANUP_FREE uint32_t *moved = mem_alloc((s->n_keepers + 1) * sizeof *moved);
    for (size_t i = 0; i < collectors->n; i++) {
        now[i].collector = cluster_meet(s->cluster, collectors->names[i]);
        const struct keeper *was = share_find(s, now[i].collector);
        if (was) {
            now[i].responds = was->responds;
            now[i].fresh = was->fresh;
            moved[was - s->keepers + 1] = (uint32_t)i + 1;
        }
    }
    for (size_t id = 0; id < s->n; id++)
        s->keeper_of[id] = moved[s->keeper_of[id]];
    keepers_free(s->keepers, s->n_keepers);
    s->keepers = now;
    s->n_keepers = collectors->n;
    share_grow(s);
    memset(s->collects, 0, s->n);
    for (size_t i = 0; i < s->n_keepers; i++)
        s->collects[now[i].collector->id] = true;
}

bool share_is_collector(const struct share *s, const struct member *m)
{
    return m->id < s->n && s->collects[m->id];
}

bool share_responds(const struct share *s, const struct member *collector)
{
    const struct keeper *k = share_find(s, collector);
    return k && k->responds;
}

bool share_complete(const struct share *s)
{
    for (size_t i = 0; i < s->n_keepers; i++)
        if (!s->keepers[i].responds)
            return false;
    return true;
}

void share_respond(struct share *s, struct member *collector, bool responds, struct member *const *held,
                   size_t n)
{
    struct keeper *k = share_find(s, collector);
    if (!k)
        return;
    share_grow(s);
    k->responds = k->fresh = responds;
    for (size_t i = 0; responds && i < n; i++) {
        uint32_t *of = &s->keeper_of[held[i]->id];
        if (*of == 0 || !s->keepers[*of - 1].responds)
            *of = (uint32_t)(k - s->keepers) + 1;
    }
}

/* Lists the nodes that are to be shared, by their ids in configured order. Releases the nodes that are not to
 * be shared, and counts the others for each keeper. */
static uint32_t *list_shared(struct share *s, size_t *n)
{
    size_t all = cluster_count(s->cluster);
    uint32_t *ids = mem_alloc((all + 1) * sizeof *ids);
    *n = 0;
    for (size_t i = 0; i < s->n_keepers; i++)
        s->keepers[i].n = 0;
    for (size_t i = 0; i < all; i++) {
        const struct member *m = cluster_at(s->cluster, i);
        uint32_t *of = &s->keeper_of[m->id];
        struct keeper *k = *of ? &s->keepers[*of - 1] : NULL;
        if (m->listed && !s->collects[m->id]) {
            ids[(*n)++] = m->id;
            if (k)
                k->n++;
        } else if (k) {
            k->changed = true;
            *of = 0;
        }
    }
    return ids;
}

static void set_measures(struct share *s, size_t nodes)
{
    size_t responding = 0;
    for (size_t i = 0; i < s->n_keepers; i++)
        responding += s->keepers[i].responds;
    size_t each = responding ? nodes / responding : 0, over = responding ? nodes % responding : 0;
    for (size_t i = 0; i < s->n_keepers; i++) {
        struct keeper *k = &s->keepers[i];
        k->measure = k->responds ? each : 0;
        if (k->responds && k->n > each && over > 0) {
            k->measure++;
            over--;
        }
    }
    for (size_t i = 0; i < s->n_keepers; i++) {
        struct keeper *k = &s->keepers[i];
        if (k->responds && k->measure == each && over > 0) {
            k->measure++;
            over--;
        }
        k->n = 0;
        k->changed |= k->fresh;
        k->fresh = false;
        k->nodes = mem_grow(k->nodes, k->measure * sizeof *k->nodes);
    }
}

static void share_take(const struct share *s, struct keeper *k, uint32_t id)
{
    k->nodes[k->n++] = cluster_by_id(s->cluster, id);
}

/* First pass: each collector keeps its nodes, up to its measure. The other nodes are marked as free. */
static void share_keep(struct share *s, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t *of = &s->keeper_of[ids[i]];
        struct keeper *k = *of ? &s->keepers[*of - 1] : NULL;
        if (!k)
            continue;
        if (k->responds && k->n < k->measure) {
            share_take(s, k, ids[i]);
        } else {
            k->changed = true;
            *of = 0;
        }
    }
}

/* Second pass: the free nodes go to collectors with room. Returns how many moved. */
static size_t hand_out(struct share *s, const uint32_t *ids, size_t n)
{
    size_t moved = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (s->keeper_of[ids[i]])
            continue;
        while (at < s->n_keepers && s->keepers[at].n >= s->keepers[at].measure)
            at++;
        if (at == s->n_keepers)
            break;
        share_take(s, &s->keepers[at], ids[i]);
        s->keepers[at].changed = true;
        s->keeper_of[ids[i]] = (uint32_t)at + 1;
        moved++;
    }
    return moved;
}

size_t share_balance(struct share *s, share_changed_fn *fn, void *arg)
{
    size_t n, moved;
    share_grow(s);
    CLEANUP_FREE uint32_t *ids = list_shared(s, &n);
    set_measures(s, n);
    share_keep(s, ids, n);
    moved = hand_out(s, ids, n);
    for (size_t i = 0; i < s->n_keepers; i++) {
        struct keeper *k = &s->keepers[i];
        if (k->changed)
            fn(arg, k->collector, k->nodes, k->n);
        k->changed = false;
    }
    return moved;
}

struct member *share_collector_of(const struct share *s, const struct member *m)
{
    if (m->id >= s->n || s->keeper_of[m->id] == 0)
        return NULL;
    return s->keepers[s->keeper_of[m->id] - 1].collector;
}

size_t share_members(struct share *s, const struct member *collector, struct member *const **out)
{
    const struct keeper *k = share_find(s, collector);
    *out = k ? k->nodes : NULL;
    return k ? k->n : 0;
}
