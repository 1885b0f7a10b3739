/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's lock is held for a slice of entries at a time. A step ends with one sync of the tree, so a
 * journal of before is read in a few hundred steps, and an entry of a quiet controller costs one.
 */
#include "audit/leaf.h"
#include "controller/audit/audit_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLICE_ENTRIES = 500,
    STEP_ENTRIES = 4000,
    ARCHIVE_STEP = 4096 /* entries, and the sizes of which the archive remembers a head */
};

struct following {
    struct treefile *tree;
    bool is_shared;
    struct trail_walk walk;
    size_t n;
};

/* A log that lacks an entry is another one than that of the other controllers. */
static int follow_gap(const struct following *f, uint64_t revision, struct err *e)
{
    uint64_t last = treefile_last(f->tree).revision;
    if (!f->is_shared || revision <= last + 1)
        return 0;
    return err_set(
        e, -ENOENT,
        "the audit log here lacks the revisions %" PRIu64 " to %" PRIu64
        ", which etcd does not have any more; stop this controller and another one, and copy audit/ "
        "of that one's state directory here",
        last + 1, revision - 1);
}

static int follow_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct following *f = arg;
    CLEANUP_TEXT struct text bytes = {0};
    const struct treefile_place place = trail_next(&f->walk, revision);
    int r = follow_gap(f, revision, e);
    if (r)
        return r;
    trail_format(revision, place.n, entry, &bytes);
    const struct tree_hash leaf = tree_leaf(bytes.s, bytes.len);
    f->n++;
    return treefile_add(f->tree, &place, &leaf, e);
}

int trail_follow(struct trail *t, bool *more, struct err *e)
{
    struct following f = {.tree = t->tree, .is_shared = t->is_shared};
    int r = 0;
    size_t before;
    *more = false;
    if (t->differs.code)
        return 0;
    if (t->is_shared && !t->is_compared)
        r = trail_compare(t, e);
    if (r)
        return r;
    t->is_compared = true;
    do {
        before = f.n;
        r = committer_journal_wait(t->committer, treefile_last(t->tree).revision, SLICE_ENTRIES, follow_entry,
                                   &f, e);
    } while (r == 0 && f.n > before && f.n < STEP_ENTRIES);
    *more = r == 0 && f.n > before;
    int synced = treefile_sync(t->tree, r ? NULL : e);
    return r ? r : synced;
}

/* --- the archive ----------------------------------------------------------------------------- */

static int fetch_tile(void *arg, const struct tile *tile, struct text *out, struct err *e)
{
    struct trail *t = arg;
    struct tree_hash hashes[TILE_WIDTH];
    if (tile->entries)
        return trail_bundle(t, tile, out, e);
    int r = treefile_tile(t->tree, tile, hashes, e);
    text_add_bytes(out, hashes, tile->width * sizeof *hashes);
    return r;
}

static int sign_note(void *arg, struct text *text, struct err *e)
{
    return treefile_sign(arg, text, e);
}

static int trail_archive_open(struct trail *t, struct err *e)
{
    struct checkpoint head;
    if (t->archive)
        return 0;
    int r = archive_open(t->archive_dir, treefile_key(t->tree), &t->archive, e);
    if (r)
        return r;
    r = archive_head(t->archive, &head, NULL, e);
    t->archived = head.size;
    if (r == 0 || r == -ENOENT)
        return 0;
    archive_close(STEAL(t->archive));
    return r;
}

/* A head of an earlier size than the present one. */
static int head_sign(struct trail *t, uint64_t size, struct text *note, struct err *e)
{
    const struct tree_reader reader = treefile_reader(t->tree);
    struct checkpoint head = {.size = size};
    memcpy(head.origin, treefile_key(t->tree)->name, sizeof head.origin);
    int r = tree_root(&reader, size, &head.root, e);
    if (r)
        return r;
    checkpoint_format(&head, note);
    return treefile_sign(t->tree, note, e);
}

/* The entries to which the next step goes: whole bundles. */
static uint64_t archive_target(uint64_t archived, uint64_t size)
{
    uint64_t full = size / TILE_WIDTH * TILE_WIDTH, step = (archived / ARCHIVE_STEP + 1) * ARCHIVE_STEP;
    return full < step ? full : step;
}

/* The newest entry of the archive tells the time, too: a clock that is years ahead for a moment removes
 * nothing. */
static int archive_newest(struct trail *t, struct wall *at, struct err *e)
{
    const struct tile tile = {.entries = true, .index = t->archived / TILE_WIDTH - 1, .width = TILE_WIDTH};
    CLEANUP_TEXT struct text bundle = {0};
    int r = archive_tile(t->archive, &tile, &bundle, e);
    struct bundle_walk w = {bundle.s, bundle.s + bundle.len};
    struct leaf_head head = {0};
    const char *bytes;
    size_t len;
    while (r == 0 && bundle_next(&w, &bytes, &len, NULL) == 1)
        leaf_head(bytes, len, &head);
    *at = head.at;
    return r;
}

static int archive_retain(struct trail *t, struct wall now, bool *more, struct err *e)
{
    struct wall newest;
    if (t->archived == 0)
        return 0;
    int r = archive_newest(t, &newest, e);
    if (r == -ENOENT)
        return 0; /* all of it is older */
    if (r)
        return r;
    const struct wall before = {(newest.ns < now.ns ? newest.ns : now.ns) - t->keep.ns};
    return archive_forget(t->archive, before, sign_note, t->tree, more, e);
}

int trail_archive(struct trail *t, struct wall now, bool *more, struct err *e)
{
    CLEANUP_TEXT struct text note = {0};
    struct checkpoint head;
    const struct archive_source source = {fetch_tile, t};
    *more = false;
    int r = trail_archive_open(t, e);
    if (r)
        return r;
    treefile_head(t->tree, &head, NULL);
    uint64_t target = archive_target(t->archived, head.size);
    if (target <= t->archived)
        return archive_retain(t, now, more, e);
    r = head_sign(t, target, &note, e);
    if (r == 0)
        r = archive_go_on(t->archive, &note, target % ARCHIVE_STEP == 0, &source, e);
    if (r == 0)
        t->archived = target;
    *more = r == 0 && archive_target(target, head.size) > target;
    return r;
}

int trail_stays_from(struct trail *t, uint64_t *revision, struct err *e)
{
    struct checkpoint head;
    struct treefile_place place;
    treefile_head(t->tree, &head, NULL);
    *revision = treefile_last(t->tree).revision + 1;
    if (t->archived >= head.size)
        return 0;
    int r = treefile_place(t->tree, t->archived, &place, e);
    if (r == 0)
        *revision = place.revision;
    return r;
}
