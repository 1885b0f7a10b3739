/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves are made from the journal whenever they are wanted, and compared with the tree. */
#include "audit/leaf.h"
#include "controller/audit/audit_inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_ENTRIES = 300 };

char *auditor_name(const char *origin, char out[static AUDITOR_NAME_BYTES])
{
    snprintf(out, AUDITOR_NAME_BYTES, "fettle/%.32s", origin);
    return out;
}

void trail_format(uint64_t revision, uint64_t n, const struct store_entry *entry, struct text *out)
{
    const struct leaf leaf = {.revision = revision,
                              .n = n,
                              .at = entry->at,
                              .actor = entry->actor,
                              .what = entry->what,
                              .nodes = entry->nodes,
                              .text = entry->text,
                              .about = entry->about,
                              .fields = entry->fields};
    leaf_format(&leaf, out);
}

struct treefile_place trail_next(struct trail_walk *w, uint64_t revision)
{
    w->n = w->any && w->revision == revision ? w->n + 1 : 0;
    w->revision = revision;
    w->any = true;
    return (struct treefile_place){revision, w->n};
}

/* --- bundles --------------------------------------------------------------------------------- */

/* Entries that are read as leaves with these hashes. */
struct gathering {
    struct trail_walk walk;
    struct treefile_place first;
    struct tree_hash hashes[TILE_WIDTH];
    unsigned n, width;
    struct text *bundle; /* NULL: they are compared alone */
};

static int gather_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct gathering *g = arg;
    CLEANUP_TEXT struct text bytes = {0};
    const struct treefile_place place = trail_next(&g->walk, revision);
    if (g->n == g->width || (revision == g->first.revision && place.n < g->first.n))
        return 0;
    trail_format(revision, place.n, entry, &bytes);
    const struct tree_hash leaf = tree_leaf(bytes.s, bytes.len);
    if (!tree_same(&leaf, &g->hashes[g->n]))
        return err_set(e, -EILSEQ, "entry %llu.%llu of the journal is not what was logged",
                       (unsigned long long)revision, (unsigned long long)place.n);
    if (g->bundle)
        bundle_add(g->bundle, bytes.s, bytes.len);
    g->n++;
    return 0;
}

static int gathering_begin(struct treefile *tree, const struct tile *tile, struct gathering *g, struct err *e)
{
    const struct tile hashes = {false, 0, tile->index, tile->width};
    g->width = tile->width;
    int r = treefile_place(tree, tile->index * TILE_WIDTH, &g->first, e);
    return r ? r : treefile_tile(tree, &hashes, g->hashes, e);
}

static int bundle_of_journal(struct trail *t, const struct tile *tile, struct text *out, struct err *e)
{
    struct gathering *g = mem_alloc(sizeof *g);
    g->bundle = out;
    int r = gathering_begin(t->tree, tile, g, e);
    uint64_t after = g->first.revision - 1;
    for (unsigned before = UINT32_MAX; r == 0 && g->n < g->width && g->n != before;) {
        before = g->n;
        r = committer_journal_wait(t->committer, after, PAGE_ENTRIES, gather_entry, g, e);
        after = g->walk.revision;
    }
    if (r == 0 && g->n < g->width)
        r = err_set(e, -ENOENT, "the entries from %llu.%llu on are not kept any more",
                    (unsigned long long)g->first.revision, (unsigned long long)g->first.n);
    free(g);
    return r;
}

/* Whether the archive's bundle is what was logged. */
static int bundle_judge(struct trail *t, const struct tile *tile, const struct text *bundle, size_t from,
                        struct err *e)
{
    struct tree_hash hashes[TILE_WIDTH];
    const struct tile leaves = {false, 0, tile->index, tile->width};
    struct bundle_walk w = {bundle->s + from, bundle->s + bundle->len};
    const char *bytes;
    size_t len;
    int r = treefile_tile(t->tree, &leaves, hashes, e);
    for (unsigned i = 0; r == 0 && i < tile->width; i++) {
        struct tree_hash leaf = {{0}};
        if (bundle_next(&w, &bytes, &len, NULL) == 1)
            leaf = tree_leaf(bytes, len);
        if (!tree_same(&leaf, &hashes[i]))
            r = err_set(e, -EILSEQ, "entry %llu of the archive %s is not what was logged",
                        (unsigned long long)(tile->index * TILE_WIDTH + i), t->archive_dir);
    }
    return r;
}

int trail_bundle(struct trail *t, const struct tile *tile, struct text *out, struct err *e)
{
    size_t before = out->len;
    bool archived = t->archive && tile->index * TILE_WIDTH + tile->width <= t->archived;
    int r = archived ? archive_tile(t->archive, tile, out, e) : -ENOENT;
    if (r == 0)
        return bundle_judge(t, tile, out, before, e);
    out->len = before;
    return r == -ENOENT ? bundle_of_journal(t, tile, out, e) : r;
}

/* --- at the start ---------------------------------------------------------------------------- */

/* The journal, of a store or of a committer. */
struct journal {
    uint64_t first; /* revision that has entries */
    int (*read)(void *of, uint64_t after, size_t max, store_journal_fn *fn, void *arg, struct err *e);
    void *of;
};

static int journal_of_store(void *of, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                            struct err *e)
{
    return store_journal(of, after, max, fn, arg, e);
}

static int journal_of_committer(void *of, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                                struct err *e)
{
    return committer_journal_wait(of, after, max, fn, arg, e);
}

static struct tile tile_last(uint64_t size)
{
    struct tile tile = {.entries = true, .index = (size - 1) / TILE_WIDTH};
    tile.width = tile_width(0, tile.index, size);
    return tile;
}

static int journal_compare(struct treefile *tree, const struct journal *j, uint64_t size, struct err *e)
{
    struct gathering *g = mem_alloc(sizeof *g);
    const struct tile last = tile_last(size);
    int r = gathering_begin(tree, &last, g, e);
    uint64_t after = g->first.revision - 1;
    if (r == 0 && j->first > g->first.revision) /* they were archived, and then left the journal */
        g->width = 0;
    for (unsigned before = UINT32_MAX; r == 0 && g->n < g->width && g->n != before;) {
        before = g->n;
        r = j->read(j->of, after, PAGE_ENTRIES, gather_entry, g, e);
        after = g->walk.revision;
    }
    if (r == 0 && g->n < g->width)
        r = err_set(e, -EILSEQ, "entry %llu.%llu is in the audit log, and not in the journal",
                    (unsigned long long)g->first.revision, (unsigned long long)(g->first.n + g->n));
    free(g);
    return r;
}

int trail_compare(struct trail *t, struct err *e)
{
    struct checkpoint head;
    const struct journal j = {.first = t->first, .read = journal_of_committer, .of = t->committer};
    treefile_head(t->tree, &head, NULL);
    if (head.size == 0)
        return 0;
    int r = journal_compare(t->tree, &j, head.size, e);
    return r == -EILSEQ ? err_wrap(e, r, "the audit log of this controller is not that of the journal") : r;
}

int auditor_compare(struct treefile *tree, struct store *s, uint64_t revision, struct err *e)
{
    struct checkpoint head;
    treefile_head(tree, &head, NULL);
    struct treefile_place last = treefile_last(tree);
    if (head.size == 0)
        return 0;
    if (last.revision > revision)
        return err_set(
            e, -EILSEQ,
            "the audit log has entries up to revision %llu, and the state stands at revision %llu: it "
            "was restored from an older copy; restore audit/ of the same copy with it, or move audit/ "
            "away to begin another log",
            (unsigned long long)last.revision, (unsigned long long)revision);
    struct journal j = {.read = journal_of_store, .of = s};
    int r = store_first(s, &j.first, e);
    if (r == 0)
        r = journal_compare(tree, &j, head.size, e);
    return r == -EILSEQ
               ? err_wrap(e, r, "the state is not the one that was audited; restore both from one copy")
               : r;
}
