/* SPDX-License-Identifier: Apache-2.0 */
/* Each proof is verified before it is given: a tree that was damaged proves nothing false. */
#include "audit/leaf.h"
#include "audit/proof.h"
#include "base/base64.h"
#include "controller/audit/audit_inside.h"

#include <errno.h>
#include <string.h>

static int answer_show(struct trail *t, struct text *out, struct err *e)
{
    CLEANUP_TEXT struct text key = {0}, root = {0};
    struct checkpoint head;
    uint64_t first = 0;
    treefile_head(t->tree, &head, NULL);
    note_key_format(treefile_key(t->tree), &key);
    base64_add(&root, head.root.bytes, sizeof head.root.bytes);
    int r = t->archive ? archive_minimum(t->archive, &first, NULL, e) : 0;
    text_add_member(out, "origin", head.origin);
    text_add_member(out, "key", key.s);
    text_printf(out, ",\"size\":%llu", (unsigned long long)head.size);
    text_add_member(out, "root", root.s);
    text_printf(out, ",\"first\":%llu,\"archived\":%llu}", (unsigned long long)first,
                (unsigned long long)t->archived);
    return r;
}

static int answer_checkpoint(struct trail *t, struct text *out)
{
    struct checkpoint head;
    treefile_head(t->tree, &head, out);
    return 0;
}

static int answer_minimum(struct trail *t, struct text *out, struct err *e)
{
    uint64_t first = 0;
    int r = t->archive ? archive_minimum(t->archive, &first, out, e) : 0;
    return r || first > 0 ? r : err_set(e, -ENOENT, "all entries are kept");
}

static int answer_tile(struct trail *t, const struct tile *tile, struct text *out, struct err *e)
{
    struct tree_hash hashes[TILE_WIDTH];
    struct checkpoint head;
    char path[TILE_PATH_BYTES];
    treefile_head(t->tree, &head, NULL);
    if (tile->width > tile_width(tile->level, tile->index, head.size))
        return err_set(e, -ENOENT, "a log of %llu entries has no %s", (unsigned long long)head.size,
                       tile_format(tile, path));
    if (tile->entries)
        return trail_bundle(t, tile, out, e);
    int r = treefile_tile(t->tree, tile, hashes, e);
    text_add_bytes(out, hashes, tile->width * sizeof *hashes);
    return r;
}

/* The bytes of one entry. */
static int entry_read(struct trail *t, uint64_t index, uint64_t size, struct text *out, struct err *e)
{
    struct tile tile = {.entries = true, .index = index / TILE_WIDTH};
    CLEANUP_TEXT struct text bundle = {0};
    tile.width = tile_width(0, tile.index, size);
    int r = trail_bundle(t, &tile, &bundle, e);
    struct bundle_walk w = {bundle.s, bundle.s + bundle.len};
    const char *bytes = "";
    size_t len = 0;
    for (uint64_t i = 0; r == 0 && i <= index % TILE_WIDTH; i++)
        bundle_next(&w, &bytes, &len, NULL);
    text_add_bytes(out, bytes, len);
    return r;
}

static int answer_damaged(struct err *e)
{
    return err_set(e, -EILSEQ, "the tree of the audit log is damaged");
}

static int answer_proof(struct trail *t, const struct treefile_place *place, struct text *out, struct err *e)
{
    CLEANUP_TEXT struct text note = {0};
    const struct tree_reader reader = treefile_reader(t->tree);
    struct checkpoint head;
    struct proof p = {.kind = PROOF_INCLUSION};
    treefile_head(t->tree, &head, &note);
    int r = treefile_find(t->tree, head.size, place, &p.place, e);
    if (r == 0)
        r = entry_read(t, p.place, head.size, &p.entry, e);
    if (r == 0)
        r = tree_inclusion(&reader, p.place, head.size, &p.path, e);
    if (r == 0) {
        const struct tree_hash leaf = tree_leaf(p.entry.s, p.entry.len);
        p.note = note.s;
        p.note_len = note.len;
        r = tree_included(&leaf, p.place, head.size, &p.path, &head.root) ? 0 : answer_damaged(e);
    }
    if (r == 0)
        proof_format(&p, out);
    proof_fini(&p);
    return r;
}

static int answer_consistency(struct trail *t, uint64_t old, struct text *out, struct err *e)
{
    CLEANUP_TEXT struct text note = {0};
    const struct tree_reader reader = treefile_reader(t->tree);
    struct checkpoint head;
    struct tree_hash before;
    struct proof p = {.kind = PROOF_CONSISTENCY, .place = old};
    treefile_head(t->tree, &head, &note);
    if (old > head.size)
        return err_set(e, -ENOENT, "the audit log has %llu entries, and not %llu",
                       (unsigned long long)head.size, (unsigned long long)old);
    int r = tree_root(&reader, old, &before, e);
    if (r == 0)
        r = tree_consistency(&reader, old, head.size, &p.path, e);
    if (r == 0 && !tree_consistent(old, &before, head.size, &head.root, &p.path))
        r = answer_damaged(e);
    p.note = note.s;
    p.note_len = note.len;
    if (r == 0)
        proof_format(&p, out);
    return r;
}

/* Whoever asks for the head, or for an entry, has just seen what it is about: the tree follows first. */
int trail_answer(struct trail *t, const struct auditor_ask *ask, struct text *out, struct err *e)
{
    bool more = true;
    int r = ask->kind == AUDITOR_TILE || ask->kind == AUDITOR_MINIMUM ? 0 : trail_follow(t, &more, e);
    if (r)
        return r;
    switch (ask->kind) {
    case AUDITOR_SHOW: return answer_show(t, out, e);
    case AUDITOR_CHECKPOINT: return answer_checkpoint(t, out);
    case AUDITOR_MINIMUM: return answer_minimum(t, out, e);
    case AUDITOR_TILE: return answer_tile(t, &ask->tile, out, e);
    case AUDITOR_PROOF: return answer_proof(t, &ask->place, out, e);
    case AUDITOR_CONSISTENCY: return answer_consistency(t, ask->old, out, e);
    }
    return 0;
}
