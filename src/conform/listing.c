/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/listing.h"

#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Two tables: listings by fingerprint, and components by content. A component's key is its state, name and
 * value in one piece of memory after it, and the component borrows name and value from there. Neither holds a
 * zero byte, so the piece is unambiguous.
 */

struct interned {
    struct component component; /* first: a pointer to the component is a pointer to its interned */
    uint32_t refs;
    UT_hash_handle hh;
    char key[]; /* state, name, zero, value, zero */
};

struct held {
    struct listing listing; /* first */
    UT_hash_handle hh;
};

struct listings {
    struct held *held;
    struct interned *interned;
    size_t known;
    size_t bytes;
};

struct listings *listings_create(void)
{
    return mem_alloc(sizeof(struct listings));
}

/* --- components --------------------------------------------------------------------------------- */

static size_t interned_bytes(const struct component *c)
{
    return sizeof(struct interned) + strlen(c->name) + strlen(c->value) + 3;
}

/* Where a component is in the table, or belongs. */
struct place {
    struct interned *found; /* NULL: not there */
    unsigned hash;
};

static struct place intern_look(const struct listings *l, const struct component *c, struct text *key)
{
    struct place at;
    text_clear(key);
    text_add_char(key, (char)c->state);
    text_add_bytes(key, c->name, strlen(c->name) + 1);
    text_add_bytes(key, c->value, strlen(c->value) + 1);
    HASH_VALUE(key->s, key->len, at.hash);
    HASH_FIND_BYHASHVALUE(hh, l->interned, key->s, key->len, at.hash, at.found);
    return at;
}

static struct interned *intern_add(struct listings *l, const struct component *c, unsigned hash)
{
    size_t name = strlen(c->name), value = strlen(c->value);
    struct interned *i = mem_alloc(interned_bytes(c));
    i->key[0] = (char)c->state;
    i->component = (struct component){.name = i->key + 1, .value = i->key + 1 + name + 1, .state = c->state};
    memcpy(i->component.name, c->name, name);
    memcpy(i->component.value, c->value, value);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, l->interned, i->key, name + value + 3, hash, i);
    l->bytes += interned_bytes(c);
    return i;
}

static void intern_unref(struct listings *l, struct component *c)
{
    struct interned *i = (struct interned *)(void *)c;
    if (--i->refs > 0)
        return;
    l->bytes -= interned_bytes(c);
    HASH_DEL(l->interned, i);
    free(i);
}

/* --- listings ----------------------------------------------------------------------------------- */

static void listing_empty(struct listings *l, struct listing *g)
{
    if (!g->known)
        return;
    for (uint32_t i = 0; i < g->n; i++)
        intern_unref(l, g->components[i]);
    free(g->components);
    l->bytes -= g->n * sizeof(struct component *);
    l->known--;
}

static void listing_drop(struct listings *l, struct held *h)
{
    listing_empty(l, &h->listing);
    HASH_DEL(l->held, h);
    free(h);
}

void listings_destroy(struct listings *l)
{
    if (!l)
        return;
    struct held *h, *next;
    HASH_ITER (hh, l->held, h, next)
        listing_drop(l, h);
    free(l);
}

struct listing *listings_find(const struct listings *l, const struct fingerprint *id)
{
    struct held *h;
    HASH_FIND(hh, l->held, id, sizeof *id, h);
    return h ? &h->listing : NULL;
}

struct listing *listings_get(struct listings *l, const struct fingerprint *id)
{
    struct listing *g = listings_find(l, id);
    if (g)
        return listing_ref(g);
    struct held *h = mem_alloc(sizeof *h);
    h->listing = (struct listing){.id = *id, .refs = 1};
    HASH_ADD(hh, l->held, listing.id, sizeof h->listing.id, h);
    return &h->listing;
}

struct listing *listing_ref(struct listing *g)
{
    g->refs++;
    return g;
}

void listing_unref(struct listings *l, struct listing *g)
{
    if (g && --g->refs == 0)
        listing_drop(l, (struct held *)(void *)g);
}

/* Looks up the components that exist already, and returns how many bytes the others will take. */
static size_t bytes_needed(const struct listings *l, const struct components *c, struct place *places)
{
    CLEANUP_TEXT struct text key = {0};
    size_t bytes = c->n * sizeof(struct component *);
    for (size_t i = 0; i < c->n; i++) {
        places[i] = intern_look(l, &c->list[i], &key);
        if (!places[i].found)
            bytes += interned_bytes(&c->list[i]);
    }
    return bytes;
}

static void listing_take(struct listings *l, struct listing *g, const struct components *c,
                         const struct place *places)
{
    g->known = true;
    g->n = (uint32_t)c->n;
    g->components = mem_alloc(c->n * sizeof(struct component *));
    for (size_t i = 0; i < c->n; i++) {
        struct interned *x = places[i].found ? places[i].found : intern_add(l, &c->list[i], places[i].hash);
        x->refs++;
        g->components[i] = &x->component;
        g->n_unknown += x->component.state == COMPONENT_UNKNOWN;
    }
    l->bytes += c->n * sizeof(struct component *);
    l->known++;
}

int listing_fill(struct listings *l, struct listing *g, const struct components *c, struct err *e)
{
    if (g->known)
        return 0;
    struct fingerprint has = components_fingerprint(c);
    if (!fingerprint_equal(&has, &g->id)) {
        char claimed[FINGERPRINT_HEX + 1], is[FINGERPRINT_HEX + 1];
        return err_set(e, -EBADMSG, "a list of components claims to be %s and is %s",
                       fingerprint_format(&g->id, claimed), fingerprint_format(&has, is));
    }
    CLEANUP_FREE struct place *places = mem_alloc(c->n * sizeof *places);
    size_t need = bytes_needed(l, c, places);
    if (need > LISTINGS_BYTES_MAX - l->bytes)
        return err_set(e, -ENOSPC,
                       "the lists of components have %zu bytes and this one %zu more; %d are allowed",
                       l->bytes, need, LISTINGS_BYTES_MAX);
    listing_take(l, g, c, places);
    return 0;
}

static int listing_copy(struct components *to, const struct listing *g, bool redfish, struct err *e)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < g->n; i++) {
        const struct component *c = g->components[i];
        if (component_is_redfish(c->name) == redfish)
            rc = components_add(to, c->name, c->state, c->value, e);
    }
    return rc;
}

struct listing *listings_join(struct listings *l, const struct listing *own, const struct listing *redfish,
                              struct err *e)
{
    assert(own->known && redfish->known);
    struct components both = {0};
    struct listing *g = NULL;
    int rc = listing_copy(&both, own, false, e);
    if (rc == 0)
        rc = listing_copy(&both, redfish, true, e);
    if (rc == 0)
        rc = components_sort(&both, e);
    if (rc == 0) {
        const struct fingerprint id = components_fingerprint(&both);
        g = listings_get(l, &id);
        rc = listing_fill(l, g, &both, e);
    }
    components_fini(&both);
    if (rc == 0)
        return g;
    listing_unref(l, g);
    return NULL;
}

/* --- what a listing holds ------------------------------------------------------------------------- */

static int name_against(const void *name, const void *component)
{
    return strcmp(name, (*(const struct component *const *)component)->name);
}

const struct component *listing_find(const struct listing *g, const char *name)
{
    assert(g->known);
    if (g->n == 0)
        return NULL;
    const struct component *const *found =
        bsearch(name, g->components, g->n, sizeof *g->components, name_against);
    return found ? *found : NULL;
}

const struct component *listing_look(const struct listing *g, const char *name)
{
    const struct component *c = listing_find(g, name);
    size_t len = strlen(name);
    if (c || len > COMPONENT_NAME_BYTES_MAX || g->n_unknown == 0)
        return c;
    char cover[COMPONENT_NAME_BYTES_MAX + 2];
    for (size_t at = len; at-- > 0;) {
        if (name[at] != '.')
            continue;
        memcpy(cover, name, at + 1);
        memcpy(cover + at + 1, "*", 2);
        c = listing_find(g, cover);
        if (c && c->state == COMPONENT_UNKNOWN)
            return c;
    }
    return NULL;
}

void listing_format(const struct listing *g, struct text *t)
{
    assert(g->known);
    struct components view = {.n = g->n, .sorted = true};
    CLEANUP_FREE struct component *list = view.list = mem_alloc(g->n * sizeof *list);
    for (uint32_t i = 0; i < g->n; i++)
        list[i] = *g->components[i];
    components_format(&view, t);
}

size_t listings_count(const struct listings *l)
{
    return l->known;
}

size_t listings_bytes(const struct listings *l)
{
    return l->bytes;
}
