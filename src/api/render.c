/* SPDX-License-Identifier: Apache-2.0 */
#include "api/render.h"

#include "api/seen.h"
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_null(struct text *t)
{
    text_add_bytes(t, "null", 4);
}

void render_held(const struct cluster *c, const struct hostlist *nodes, struct text *t)
{
    CLEANUP_FREE struct member **members = mem_alloc((nodes->n + 1) * sizeof *members);
    size_t n = 0, place = 0;
    text_add(t, ",\"held\":");
    for (size_t i = 0; i < nodes->n; i++) {
        members[n] = cluster_find_next(c, &place, nodes->names[i]);
        n += members[n] != NULL;
    }
    render_claims(members, n, t);
}

void render_word(struct text *t, const char *word)
{
    text_add_char(t, '"');
    text_add(t, word);
    text_add_char(t, '"');
}

void render_string(struct text *t, const char *s)
{
    if (s)
        text_add_json(t, s);
    else
        add_null(t);
}

void render_time(struct text *t, struct wall at)
{
    char buf[32];
    render_word(t, wall_format(at, buf));
}

void render_fingerprint(struct text *t, const struct fingerprint *f)
{
    char hex[FINGERPRINT_HEX + 1];
    render_word(t, fingerprint_format(f, hex));
}

void render_cohort(struct text *t, const struct cohort *k)
{
    char name[FINGERPRINT_SHORT_BYTES];
    render_string(t, k ? fingerprint_cohort(&k->id, name) : NULL);
}

void render_fold(struct text *t, const char *const *names, size_t n)
{
    CLEANUP_FREE char *folded = hostlist_fold(names, n);
    text_add_json(t, folded);
}

void render_suggestion(struct text *t, const struct cluster *c, struct watch *w, uint16_t class)
{
    uint32_t share = 0, all = 0;
    const struct member *m = cluster_baseline(c, cluster_classes(c)->list[class].name)
                                 ? NULL
                                 : watch_suggest(w, class, &share, &all);
    if (!m) {
        add_null(t);
        return;
    }
    text_add(t, "{\"node\":");
    text_add_json(t, m->name);
    text_printf(t, ",\"share\":%" PRIu32 ",\"of\":%" PRIu32 "}", share, all);
}

void render_claim(const struct claim *c, const char *nodes, struct text *t)
{
    assert(c && nodes);
    text_add(t, "{\"id\":");
    text_add_json(t, c->id);
    text_add(t, ",\"kind\":");
    render_word(t, claim_kind_name(c->kind));
    text_add(t, ",\"owner\":");
    text_add_json(t, c->owner);
    text_add(t, ",\"reason\":");
    text_add_json(t, c->reason);
    text_add(t, ",\"since\":");
    render_time(t, c->since);
    text_add(t, ",\"nodes\":");
    text_add_json(t, nodes);
    text_add_char(t, '}');
}

/* A claim, and the requested nodes that it holds. */
struct held {
    const struct claim *claim;
    struct hostfolder *nodes;
    UT_hash_handle hh;
};

/* "9" before "10". */
static int by_claim(const struct held *a, const struct held *b)
{
    const char *x = a->claim->id, *y = b->claim->id;
    int d = spec_compare_release(x, y);
    return d != 0 ? d : strcmp(x, y);
}

static struct held *held_get(struct held **all, const struct claim *claim)
{
    struct held *h;
    HASH_FIND_PTR(*all, &claim, h);
    if (!h) {
        h = mem_alloc(sizeof *h);
        *h = (struct held){.claim = claim, .nodes = hostfolder_create()};
        HASH_ADD_PTR(*all, claim, h);
    }
    return h;
}

/* Neighbours mostly have the same claims: ten thousand nodes of one claim cost one look-up in the table. */
void render_claims(struct member *const *nodes, size_t n, struct text *t)
{
    struct held *all = NULL, *h = NULL, *next;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < nodes[i]->n_claims; j++) {
            const struct claim *claim = nodes[i]->claims[j].claim;
            if (!h || h->claim != claim)
                h = held_get(&all, claim);
            hostfolder_add(h->nodes, nodes[i]->name);
        }
    }
    HASH_SORT(all, by_claim);
    text_add_char(t, '[');
    HASH_ITER (hh, all, h, next) {
        CLEANUP_FREE char *folded = hostfolder_end(h->nodes);
        if (h != all)
            text_add_char(t, ',');
        render_claim(h->claim, folded, t);
    }
    text_add_char(t, ']');
    HASH_ITER (hh, all, h, next) {
        HASH_DEL(all, h);
        free(h);
    }
}
