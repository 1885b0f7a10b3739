/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit log without a controller around it: entries that are committed in batches and added to the tree,
 * proofs, and the verification of an export.
 * usage: bench-audit DIR DURABLE ENTRIES      DURABLE are committed, of ENTRIES the tree and the export are
 * made
 */
#include "archive/verify.h"
#include "audit/leaf.h"
#include "base/clock.h"
#include "controller/audit/audit_inside.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROOFS = 20000, BETWEEN = 30 /* batches, and then the tree is synced */ };

static void must(int r, const struct err *e)
{
    if (r == 0)
        return;
    fprintf(stderr, "bench-audit: %s\n", e->msg);
    exit(1);
}

static double seconds(struct mono since)
{
    return (double)mono_sub(mono_now(), since).ns / 1e9;
}

static struct store_entry sample(uint64_t i)
{
    return (struct store_entry){.at = {INT64_C(1795211336000000000) + (int64_t)i * 1000000},
                                .actor = "fettled",
                                .what = "health.findings",
                                .nodes = "lx[0001-0004]",
                                .text = "a GPU fell off its bus; isolated: gpu.count failed, 7 of 8",
                                .about = "1.4711 1.4712",
                                .fields = "\"claims\":[\"1.4711\"],\"incidents\":[\"1.4712\"]"};
}

static void add_leaf(struct treefile *t, struct treefile_place place, const struct store_entry *entry,
                     struct err *e)
{
    CLEANUP_TEXT struct text bytes = {0};
    trail_format(place.revision, place.n, entry, &bytes);
    const struct tree_hash leaf = tree_leaf(bytes.s, bytes.len);
    must(treefile_add(t, &place, &leaf, e), e);
}

struct following {
    struct treefile *tree;
    struct trail_walk walk;
};

static int follow_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct following *f = arg;
    add_leaf(f->tree, trail_next(&f->walk, revision), entry, e);
    return 0;
}

/* Entries a second, each durable: with the tree, or of the store alone. */
static double commit_all(const char *dir, uint64_t n, struct treefile *tree)
{
    struct err e;
    struct store *s;
    uint64_t term, revision = 0, after = 0, batches = 0;
    struct store_entry entries[STORE_ENTRIES_MAX];
    const struct store_op op = {.key = "surge/isolated", .value = "{\"at\":[]}"};
    const struct store_batch batch = {1, &op, STORE_ENTRIES_MAX, entries};
    must(store_open_sqlite(dir, &s, &e), &e);
    must(store_campaign(s, &term, &e), &e);
    struct mono began = mono_now();
    for (uint64_t i = 0; i < n; i += STORE_ENTRIES_MAX) {
        for (uint64_t k = 0; k < STORE_ENTRIES_MAX; k++)
            entries[k] = sample(i + k);
        must(store_commit(s, term, &batch, &revision, &e), &e);
        if (!tree || (++batches % BETWEEN && i + STORE_ENTRIES_MAX < n))
            continue;
        struct following f = {.tree = tree};
        must(store_journal(s, after, SIZE_MAX, follow_entry, &f, &e), &e);
        must(treefile_sync(tree, &e), &e);
        after = revision;
    }
    double took = seconds(began);
    store_close(s);
    return (double)n / took;
}

static void fill(struct treefile *t, uint64_t n)
{
    struct err e;
    for (uint64_t i = 0; i < n; i++) {
        const struct store_entry entry = sample(i);
        add_leaf(t, (struct treefile_place){i + 1, 0}, &entry, &e);
    }
    must(treefile_sync(t, &e), &e);
}

static double proofs_us(struct treefile *t, uint64_t n)
{
    struct err e;
    struct tree_proof p;
    const struct tree_reader reader = treefile_reader(t);
    unsigned seed = 1;
    struct mono began = mono_now();
    for (int i = 0; i < PROOFS; i++)
        must(tree_inclusion(&reader, (uint64_t)rand_r(&seed) % n, n, &p, &e), &e);
    return seconds(began) / PROOFS * 1e6;
}

static int fetch(void *arg, const struct tile *tile, struct text *out, struct err *e)
{
    struct tree_hash hashes[TILE_WIDTH];
    for (unsigned i = 0; tile->entries && i < tile->width; i++) {
        CLEANUP_TEXT struct text bytes = {0};
        const struct store_entry entry = sample(tile->index * TILE_WIDTH + i);
        trail_format(tile->index * TILE_WIDTH + i + 1, 0, &entry, &bytes);
        bundle_add(out, bytes.s, bytes.len);
    }
    if (tile->entries)
        return 0;
    int r = treefile_tile(arg, tile, hashes, e);
    text_add_bytes(out, hashes, tile->width * sizeof *hashes);
    return r;
}

static double verify_s(const char *dir, struct treefile *t)
{
    struct err e;
    struct archive *a;
    struct checkpoint head;
    struct verified v;
    CLEANUP_TEXT struct text note = {0};
    const struct archive_source source = {fetch, t};
    treefile_head(t, &head, &note);
    must(archive_open(dir, treefile_key(t), &a, &e), &e);
    must(archive_go_on(a, &note, true, &source, &e), &e);
    struct mono began = mono_now();
    must(archive_verify(a, NULL, &v, &e), &e);
    double took = seconds(began);
    archive_close(a);
    return took;
}

int main(int argc, char **argv)
{
    uint64_t durable, n;
    struct err e;
    struct treefile *t;
    CLEANUP_TEXT struct text alone = {0}, with = {0}, tree = {0}, large = {0}, export = {0};
    if (argc != 4 || text_parse_u64(argv[2], 1, 10000000, &durable, NULL) < 0 ||
        text_parse_u64(argv[3], 1, 10000000, &n, NULL) < 0)
        return 2;
    text_printf(&alone, "%s/alone", argv[1]);
    text_printf(&with, "%s/with", argv[1]);
    text_printf(&tree, "%s/audit", argv[1]);
    text_printf(&large, "%s/large", argv[1]);
    text_printf(&export, "%s/export", argv[1]);
    double before = commit_all(alone.s, durable, NULL);
    must(treefile_open(tree.s, "fettle/bench", &t, &e), &e);
    double after = commit_all(with.s, durable, t);
    treefile_close(t);
    must(treefile_open(large.s, "fettle/bench", &t, &e), &e);
    fill(t, n);
    double proof = proofs_us(t, n), verify = verify_s(export.s, t);
    treefile_close(t);
    printf("{\"alone\":%.0f,\"with\":%.0f,\"proof_us\":%.2f,\"verify_s\":%.3f}\n", before, after, proof,
           verify);
    return 0;
}
