/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the entries. Each leaf is hashed from its bundle, compared with the tile that has its hash,
 * and added to a tree in memory; nodes that become complete are compared with the tiles above, and the root,
 * at the size of each head, with that head.
 *
 * The root decides: when the entries make it, a tile that differs is what was changed; when they do not, the
 * first entry whose hash is not the tile's is. Somebody who changes an entry, its tile and those above it is
 * left with a head that nobody signed; then the earlier heads say how far the log is good.
 */
#include "archive/verify.h"

#include "archive/inside.h"
#include "audit/leaf.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The tile of a level above the first with which nodes are compared. */
struct upper {
    struct tile tile; /* its width is 0 while none was read */
    struct text bytes;
};

struct verifying {
    const struct archive *archive;
    struct checkpoint head;
    uint64_t from;
    uint64_t *sizes; /* of the earlier heads */
    size_t n_sizes, passed;
    const struct checkpoint *old;
    struct tree_edge edge;
    struct upper uppers[TILE_LEVELS];
    struct leaf_head last;
    struct err entry; /* the first entry that is not the tile's */
    struct err tile;  /* the first tile that is not as the entries make it */
};

/* Of the faults of one kind, the first counts. */
static void note_fault(struct err *fault, const char *path, const char *what)
{
    if (!fault->code)
        err_set(fault, -EILSEQ, "%s %s", path, what);
}

/* --- tiles ----------------------------------------------------------------------------------- */

static void on_node(void *arg, unsigned height, uint64_t index, const struct tree_hash *node)
{
    struct verifying *v = arg;
    if (height == 0 || height % TILE_HEIGHT)
        return;
    unsigned level = height / TILE_HEIGHT;
    struct upper *u = &v->uppers[level];
    char path[TILE_PATH_BYTES];
    struct err why;
    if (u->tile.width == 0 || u->tile.index != index / TILE_WIDTH) {
        u->tile = (struct tile){false, level, index / TILE_WIDTH,
                                tile_width(level, index / TILE_WIDTH, v->head.size)};
        text_clear(&u->bytes);
        if (archive_tile(v->archive, &u->tile, &u->bytes, &why)) {
            text_clear(&u->bytes);
            if (!v->tile.code)
                v->tile = why;
        }
    }
    size_t at = (index % TILE_WIDTH) * sizeof *node;
    if (u->bytes.len > at && memcmp(u->bytes.s + at, node->bytes, sizeof *node) != 0)
        note_fault(&v->tile, tile_format(&u->tile, path), "is not what was logged");
}

/* --- heads ----------------------------------------------------------------------------------- */

static int head_compare(const struct verifying *v, const struct checkpoint *head, const char *name,
                        struct err *e)
{
    struct tree_hash root;
    tree_edge_root(&v->edge, &root);
    if (tree_same(&root, &head->root))
        return 0;
    if (v->entry.code)
        return err_set(e, -EILSEQ, "%s", v->entry.msg);
    if (v->tile.code && v->passed == 0)
        return err_set(e, -EILSEQ, "%s", v->tile.msg);
    return err_set(e, -EILSEQ,
                   "%s: the first %" PRIu64
                   " entries are not those that it was signed for%s; it is the first "
                   "head that differs",
                   name, head->size, v->passed > 0 ? ", those of the head before it are" : "");
}

/* Compares the earlier heads that are of the present size. */
static int heads_compare(struct verifying *v, struct err *e)
{
    int r = 0;
    while (r == 0 && v->passed < v->n_sizes && v->sizes[v->passed] == v->edge.size) {
        struct checkpoint head;
        char path[HEAD_PATH_BYTES];
        r = head_read(v->archive, head_path(v->edge.size, path), &head, NULL, e);
        if (r == 0 && head.size != v->edge.size)
            r = err_set(e, -EILSEQ, "%s/%s is of another size", v->archive->dir, path);
        if (r == 0)
            r = head_compare(v, &head, path, e);
        v->passed++;
    }
    if (r == 0 && v->old && v->old->size == v->edge.size)
        r = head_compare(v, v->old, "the head that is remembered", e);
    return r;
}

/* --- entries --------------------------------------------------------------------------------- */

static bool bundle_follows(const struct leaf_head *a, const struct leaf_head *b)
{
    return b->revision > a->revision || (b->revision == a->revision && b->n > a->n);
}

/* What an entry says of its place; entries come in order. */
static int entry_judge(struct verifying *v, uint64_t index, const char *bytes, size_t len, struct err *e)
{
    struct leaf_head head;
    if (!leaf_head(bytes, len, &head))
        return err_set(e, -EILSEQ, "entry %" PRIu64 " is none of a journal", index);
    if (!bundle_follows(&v->last, &head))
        return err_set(e, -EILSEQ,
                       "entry %" PRIu64 " (%" PRIu64 ".%" PRIu64 ") does not follow the one before it", index,
                       head.revision, head.n);
    v->last = head;
    return 0;
}

static void note_entry(struct verifying *v, uint64_t index, const char *bytes, size_t len)
{
    struct leaf_head head;
    if (v->entry.code)
        return;
    if (leaf_head(bytes, len, &head))
        err_set(&v->entry, -EILSEQ, "entry %" PRIu64 " (%" PRIu64 ".%" PRIu64 ") is not what was logged",
                index, head.revision, head.n);
    else
        err_set(&v->entry, -EILSEQ, "entry %" PRIu64 " is not what was logged", index);
}

/* The leaves of a bundle; without it, those of its tile. */
static int leaves_add(struct verifying *v, const struct tile *t, const struct text *bundle,
                      const struct text *hashes, struct err *e)
{
    struct bundle_walk w = {bundle->s, bundle->s + bundle->len};
    struct err order = {0};
    int r = 0;
    for (unsigned i = 0; i < t->width && r == 0; i++) {
        uint64_t index = t->index * TILE_WIDTH + i;
        const char *bytes = "";
        size_t len = 0;
        struct tree_hash leaf;
        if (bundle->len == 0) {
            memcpy(leaf.bytes, hashes->s + i * sizeof leaf, sizeof leaf);
        } else if (bundle_next(&w, &bytes, &len, NULL) != 1) {
            return err_set(e, -EILSEQ, "entry %" PRIu64 " is gone: its bundle is cut off", index);
        } else {
            leaf = tree_leaf(bytes, len);
            if (hashes->len && memcmp(leaf.bytes, hashes->s + i * sizeof leaf, sizeof leaf) != 0)
                note_entry(v, index, bytes, len);
            if (!order.code && !v->entry.code)
                entry_judge(v, index, bytes, len, &order);
        }
        tree_grow(&v->edge, &leaf, on_node, v);
        r = heads_compare(v, e);
    }
    return r || !order.code ? r : err_set(e, -EILSEQ, "%s", order.msg);
}

static int bundle_verify(struct verifying *v, const struct tile *t, struct err *e)
{
    CLEANUP_TEXT struct text bundle = {0}, hashes = {0};
    const struct tile leaves = {false, 0, t->index, t->width};
    char path[TILE_PATH_BYTES];
    bool kept = t->index * TILE_WIDTH >= v->from;
    int r = archive_tile(v->archive, t, &bundle, e);
    if (r == -ENOENT)
        r = kept ? err_set(e, -EILSEQ, "entry %" PRIu64 " is gone: there is no %s", t->index * TILE_WIDTH,
                           tile_format(t, path))
                 : 0;
    if (r)
        return r;
    r = archive_tile(v->archive, &leaves, &hashes, e);
    if (r) /* the entries may still make the root: then this is all that is wrong */
        return r == -ENOENT ? err_set(e, -EILSEQ, "there is no %s", tile_format(&leaves, path)) : r;
    return leaves_add(v, t, &bundle, &hashes, e);
}

static int entries_verify(struct verifying *v, struct err *e)
{
    struct tile t = {.entries = true};
    int r = heads_compare(v, e);
    for (; r == 0 && (t.width = tile_width(0, t.index, v->head.size)) > 0; t.index++)
        r = bundle_verify(v, &t, e);
    return r;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int verify_begin(struct verifying *v, struct err *e)
{
    char path[HEAD_PATH_BYTES];
    int r = archive_head(v->archive, &v->head, NULL, e);
    if (r == 0)
        r = archive_minimum(v->archive, &v->from, NULL, e);
    if (r == 0)
        r = files_heads(v->archive, &v->sizes, &v->n_sizes, e);
    if (r)
        return r;
    if (v->from > v->head.size)
        return err_set(e, -EILSEQ, "%s/minimum is beyond the last entry", v->archive->dir);
    if (v->n_sizes > 0 && v->sizes[v->n_sizes - 1] > v->head.size)
        return err_set(e, -EILSEQ,
                       "the log was cut off: it has %" PRIu64 " entries, and %s/%s is a head of more",
                       v->head.size, v->archive->dir, head_path(v->sizes[v->n_sizes - 1], path));
    if (v->old && v->old->size > v->head.size)
        return err_set(e, -EILSEQ,
                       "the log was cut off: it has %" PRIu64 " entries, and had %" PRIu64
                       " when its head was remembered",
                       v->head.size, v->old->size);
    return 0;
}

int archive_verify(struct archive *a, const struct checkpoint *old, struct verified *out, struct err *e)
{
    struct verifying *v = mem_alloc(sizeof *v);
    v->archive = a;
    v->old = old;
    int r = verify_begin(v, e);
    if (r == 0)
        r = entries_verify(v, e);
    if (r == 0)
        r = head_compare(v, &v->head, "checkpoint", e);
    if (r == 0 && v->entry.code) /* the entries make the root */
        r = err_set(e, -EILSEQ, "%s: its tile was changed, the entries are good", v->entry.msg);
    if (r == 0 && v->tile.code)
        r = err_set(e, -EILSEQ, "%s; the entries are good", v->tile.msg);
    if (r == 0)
        *out = (struct verified){v->head, v->from, v->n_sizes, v->last.at};
    for (unsigned i = 0; i < TILE_LEVELS; i++)
        text_fini(&v->uppers[i].bytes);
    free(v->sizes);
    free(v);
    return r;
}

/* --- proofs ---------------------------------------------------------------------------------- */

int verify_proof(const struct proof *p, const struct note_key *k, const struct checkpoint *old,
                 struct checkpoint *head, struct err *e)
{
    int r = archive_checkpoint(p->note, p->note_len, k, head, e);
    if (r)
        return r;
    if (p->kind == PROOF_CONSISTENCY) {
        assert(old && "the caller knows the head from which the proof leads");
        return old->size == p->place &&
                       tree_consistent(old->size, &old->root, head->size, &head->root, &p->path)
                   ? 0
                   : err_set(e, -EILSEQ, "the log has not grown from the head that is remembered");
    }
    if (p->entry.len == 0)
        return err_set(e, -ENODATA, "the proof has no entry");
    const struct tree_hash leaf = tree_leaf(p->entry.s, p->entry.len);
    return tree_included(&leaf, p->place, head->size, &p->path, &head->root)
               ? 0
               : err_set(e, -EILSEQ, "the entry is not in the log");
}
