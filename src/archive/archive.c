/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is fetched is believed only when it hashes to a head that the log's key signed, and when the tree that
 * is here already is its beginning. So the head is written last: before that, nothing says that the new files
 * belong to the log.
 */
#include "archive/archive.h"

#include "archive/inside.h"
#include "audit/leaf.h"
#include "link/notary.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char key_path[] = "log.vkey";

/* --- opening --------------------------------------------------------------------------------- */

static int dir_open(const char *dir, bool make, struct archive **out, struct err *e)
{
    if (make && mkdir(dir, 0700) && errno != EEXIST)
        return err_set(e, -errno, "%s: %s", dir, strerror(errno));
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, -errno, "%s: %s", dir, strerror(errno));
    struct archive *a = mem_alloc(sizeof *a);
    a->dir = mem_dup(dir);
    a->fd = fd;
    *out = a;
    return 0;
}

void archive_close(struct archive *a)
{
    if (!a)
        return;
    close(a->fd);
    free(a->dir);
    free(a);
}

static int key_read(const struct archive *a, struct note_key *out, struct err *e)
{
    CLEANUP_TEXT struct text line = {0};
    int r = files_read(a, key_path, &line, e);
    if (r)
        return r;
    bool good = line.len > 0 && strlen(line.s) == line.len && line.s[line.len - 1] == '\n';
    if (good)
        line.s[--line.len] = '\0';
    return good && note_key_parse(line.s, out, NULL) == 0
               ? 0
               : err_set(e, -EILSEQ, "%s/%s is not the key of a log", a->dir, key_path);
}

int archive_read(const char *dir, struct archive **out, struct err *e)
{
    struct archive *a = NULL;
    int r = dir_open(dir, false, &a, e);
    if (r == 0)
        r = key_read(a, &a->key, e);
    if (r) {
        archive_close(a);
        return r;
    }
    *out = a;
    return 0;
}

int archive_open(const char *dir, const struct note_key *key, struct archive **out, struct err *e)
{
    struct archive *a = NULL;
    struct note_key there;
    CLEANUP_TEXT struct text line = {0};
    int r = dir_open(dir, true, &a, e);
    if (r)
        return r;
    a->key = *key;
    note_key_format(key, &line);
    text_add_char(&line, '\n');
    r = key_read(a, &there, e);
    if (r == -ENOENT)
        r = files_put(a, key_path, line.s, line.len, e);
    else if (r == 0 && (there.id != key->id || strcmp(there.name, key->name) != 0 ||
                        memcmp(there.public, key->public, sizeof key->public) != 0))
        r = err_set(e, -EEXIST, "%s has another log, that of %s+%08" PRIx32, dir, there.name, there.id);
    if (r) {
        archive_close(a);
        return r;
    }
    *out = a;
    return 0;
}

const struct note_key *archive_key(const struct archive *a)
{
    return &a->key;
}

void archive_believe(struct archive *a, const struct note_key *key)
{
    a->key = *key;
}

/* --- reading --------------------------------------------------------------------------------- */

int archive_checkpoint(const char *bytes, size_t len, const struct note_key *k, struct checkpoint *out,
                       struct err *e)
{
    struct signed_note note;
    int r = notary_verify(bytes, len, k, &note, e);
    if (r == 0)
        r = checkpoint_parse(note.text, note.len, out, e);
    if (r == 0 && strcmp(out->origin, k->name) != 0)
        r = err_set(e, -EILSEQ, "it is the checkpoint of %s", out->origin);
    return r;
}

int head_read(const struct archive *a, const char *path, struct checkpoint *head, struct text *note,
              struct err *e)
{
    CLEANUP_TEXT struct text own = {0};
    struct text *to = note ? note : &own;
    text_clear(to);
    int r = files_read(a, path, to, e);
    if (r)
        return r;
    r = archive_checkpoint(to->s, to->len, &a->key, head, e);
    return r ? err_wrap(e, r, "%s/%s", a->dir, path) : 0;
}

int archive_head(const struct archive *a, struct checkpoint *head, struct text *note, struct err *e)
{
    *head = (struct checkpoint){.size = 0};
    return head_read(a, "checkpoint", head, note, e);
}

int archive_minimum(const struct archive *a, uint64_t *index, struct text *note, struct err *e)
{
    CLEANUP_TEXT struct text own = {0};
    struct text *to = note ? note : &own;
    struct signed_note n;
    *index = 0;
    text_clear(to);
    int r = files_read(a, "minimum", to, e);
    if (r)
        return r == -ENOENT ? 0 : r;
    r = notary_verify(to->s, to->len, &a->key, &n, e);
    if (r == 0)
        r = minimum_parse(n.text, n.len, a->key.name, index, e);
    if (r == 0 && *index % TILE_WIDTH != 0)
        r = err_set(e, -EILSEQ, "bundles are removed as a whole");
    return r ? err_wrap(e, r, "%s/minimum", a->dir) : 0;
}

/* The length of the first `n` entries of a bundle; 0 when it has fewer. */
static size_t bundle_length(const struct text *t, size_t from, unsigned n)
{
    struct bundle_walk w = {t->s + from, t->s + t->len};
    const char *bytes;
    size_t len;
    for (; n > 0; n--)
        if (bundle_next(&w, &bytes, &len, NULL) != 1)
            return 0;
    return (size_t)(w.at - (t->s + from));
}

int archive_tile(const struct archive *a, const struct tile *t, struct text *out, struct err *e)
{
    char path[TILE_PATH_BYTES];
    size_t before = out->len;
    int r = files_read(a, tile_format(t, path), out, e);
    bool cut = r == -ENOENT && t->width < TILE_WIDTH;
    if (cut) {
        const struct tile full = {t->entries, t->level, t->index, TILE_WIDTH};
        r = files_read(a, tile_format(&full, path), out, e);
    }
    if (r)
        return r;
    size_t len = t->entries ? bundle_length(out, before, t->width) : t->width * sizeof(struct tree_hash);
    if (len == 0 || out->len - before < len || (!cut && out->len - before != len))
        return err_set(e, -EILSEQ, "%s/%s has another length than %u %s take", a->dir, path, t->width,
                       t->entries ? "entries" : "hashes");
    out->len = before + len;
    return 0;
}

static int reader_node(void *arg, unsigned height, uint64_t index, struct tree_hash *out, struct err *e)
{
    struct archive_reader *r = arg;
    struct tile t = {.level = height / TILE_HEIGHT};
    t.index = index >> (TILE_HEIGHT - height % TILE_HEIGHT);
    t.width = tile_width(t.level, t.index, r->size);
    if (r->tile.width != t.width || r->tile.level != t.level || r->tile.index != t.index) {
        CLEANUP_TEXT struct text bytes = {0};
        int rc = archive_tile(r->archive, &t, &bytes, e);
        if (rc)
            return rc;
        memcpy(r->hashes, bytes.s, bytes.len);
        r->tile = t;
    }
    *out = tile_node(r->hashes, height, index);
    return 0;
}

struct tree_reader archive_reader(struct archive_reader *r)
{
    r->tile.width = 0;
    return (struct tree_reader){reader_node, r};
}

/* --- going on -------------------------------------------------------------------------------- */

struct going_on {
    struct archive *archive;
    const struct archive_source *from;
    const struct checkpoint *had, *head;
};

/* Whether a bundle's entries hash to the tile of level 0 that came before it. */
static int bundle_check(const struct archive *a, const struct tile *t, const struct text *bundle,
                        struct err *e)
{
    const struct tile hashes = {false, 0, t->index, t->width};
    CLEANUP_TEXT struct text tile = {0};
    int r = archive_tile(a, &hashes, &tile, e);
    struct bundle_walk w = {bundle->s, bundle->s + bundle->len};
    const char *bytes = "";
    size_t len = 0;
    for (unsigned i = 0; i < t->width && r == 0; i++) {
        if (bundle_next(&w, &bytes, &len, e) != 1)
            return err_set(e, -EILSEQ, "a bundle has %u of %u entries", i, t->width);
        const struct tree_hash leaf = tree_leaf(bytes, len);
        if (memcmp(leaf.bytes, tile.s + i * sizeof leaf, sizeof leaf) != 0)
            r = err_set(e, -EILSEQ, "entry %llu is not what was logged",
                        (unsigned long long)(t->index * TILE_WIDTH + i));
    }
    if (r == 0 && w.at != w.end)
        r = err_set(e, -EILSEQ, "a bundle has more than %u entries", t->width);
    return r;
}

/* Whether the new tile begins with what the archive has of it. */
static int tile_check(const struct going_on *g, const struct tile *t, const struct text *bytes, struct err *e)
{
    const struct tile old = {false, t->level, t->index, tile_width(t->level, t->index, g->had->size)};
    CLEANUP_TEXT struct text there = {0};
    char path[TILE_PATH_BYTES];
    if (bytes->len != t->width * sizeof(struct tree_hash))
        return err_set(e, -EILSEQ, "%s has another length than %u hashes take", tile_format(t, path),
                       t->width);
    int r = old.width > 0 ? archive_tile(g->archive, &old, &there, e) : 0;
    if (r == 0 && old.width > 0 && memcmp(there.s, bytes->s, there.len) != 0)
        r = err_set(e, -EILSEQ, "%s is not what it was: the log was changed, or is another one",
                    tile_format(t, path));
    return r;
}

static int tile_take(void *arg, const struct tile *t, struct err *e)
{
    const struct going_on *g = arg;
    CLEANUP_TEXT struct text bytes = {0};
    char path[TILE_PATH_BYTES];
    int r = g->from->fetch(g->from->arg, t, &bytes, e);
    if (r == -ENOENT && t->entries)
        return 0; /* which entries the log keeps is said in its minimum */
    if (r == 0)
        r = t->entries ? bundle_check(g->archive, t, &bytes, e) : tile_check(g, t, &bytes, e);
    return r ? r : files_put(g->archive, tile_format(t, path), bytes.s, bytes.len, e);
}

/* Removes a partial tile that the new tree has a wider one of. */
static int edge_forget(const struct going_on *g, bool entries, unsigned level, struct err *e)
{
    uint64_t nodes = g->had->size >> (TILE_HEIGHT * level);
    const struct tile old = {entries, level, nodes / TILE_WIDTH, (unsigned)(nodes % TILE_WIDTH)};
    char path[TILE_PATH_BYTES];
    if (old.width == 0 || tile_width(level, old.index, g->head->size) == old.width)
        return 0;
    return files_remove(g->archive, tile_format(&old, path), e);
}

static int edges_forget(const struct going_on *g, struct err *e)
{
    int r = edge_forget(g, true, 0, e);
    for (unsigned level = 0; level < TILE_LEVELS && r == 0; level++)
        r = edge_forget(g, false, level, e);
    return r;
}

/* The new tiles make the head. */
static int root_check(struct archive *a, const struct checkpoint *head, struct err *e)
{
    struct archive_reader reader = {.archive = a, .size = head->size};
    const struct tree_reader nodes = archive_reader(&reader);
    struct tree_hash root;
    int r = tree_root(&nodes, head->size, &root, e);
    return r || tree_same(&root, &head->root)
               ? r
               : err_set(e, -EILSEQ, "the tiles of %s do not make the root of its checkpoint", head->origin);
}

int archive_go_on(struct archive *a, const struct text *note, bool remember,
                  const struct archive_source *from, struct err *e)
{
    struct checkpoint had, head;
    char path[HEAD_PATH_BYTES];
    int r = archive_head(a, &had, NULL, e);
    if (r == 0 || r == -ENOENT)
        r = archive_checkpoint(note->s, note->len, &a->key, &head, e);
    if (r)
        return r;
    if (head.size < had.size)
        return err_set(e, -EILSEQ, "the log has %" PRIu64 " entries, and had %" PRIu64, head.size, had.size);
    struct going_on g = {a, from, &had, &head};
    r = tiles_each(had.size, head.size, tile_take, &g, e);
    if (r == 0)
        r = root_check(a, &head, e);
    if (r == 0 && remember)
        r = files_put(a, head_path(head.size, path), note->s, note->len, e);
    if (r == 0)
        r = files_replace(a, "checkpoint", note->s, note->len, e);
    return r ? r : edges_forget(&g, e);
}

/* --- retention ------------------------------------------------------------------------------- */

int archive_take_minimum(struct archive *a, const struct text *note, struct err *e)
{
    struct signed_note n;
    uint64_t index, had;
    int r = notary_verify(note->s, note->len, &a->key, &n, e);
    if (r == 0)
        r = minimum_parse(n.text, n.len, a->key.name, &index, e);
    if (r == 0)
        r = archive_minimum(a, &had, NULL, e);
    return r || index <= had ? r : files_replace(a, "minimum", note->s, note->len, e);
}

/* When the last entry of a bundle was. */
static int bundle_ends(const struct archive *a, const struct tile *t, struct wall *at, struct err *e)
{
    CLEANUP_TEXT struct text bundle = {0};
    struct leaf_head leaf = {0};
    int r = archive_tile(a, t, &bundle, e);
    struct bundle_walk w = {bundle.s, bundle.s + bundle.len};
    const char *bytes;
    size_t len;
    while (r == 0 && bundle_next(&w, &bytes, &len, NULL) == 1)
        if (!leaf_head(bytes, len, &leaf))
            r = err_set(e, -EILSEQ, "bundle %" PRIu64 " has what is no entry", t->index);
    *at = leaf.at;
    return r;
}

int archive_forget(struct archive *a, struct wall before, archive_sign_fn *sign, void *arg, bool *removed,
                   struct err *e)
{
    struct tile oldest = {.entries = true, .width = TILE_WIDTH};
    struct checkpoint head;
    struct wall at;
    char path[TILE_PATH_BYTES];
    uint64_t index;
    *removed = false;
    int r = archive_head(a, &head, NULL, e);
    if (r == 0)
        r = archive_minimum(a, &index, NULL, e);
    if (r == 0 && index > 0) { /* a process may have ended between the two steps below */
        oldest.index = index / TILE_WIDTH - 1;
        r = files_remove(a, tile_format(&oldest, path), e);
    }
    if (r || index + TILE_WIDTH > head.size)
        return r;
    oldest.index = index / TILE_WIDTH;
    r = bundle_ends(a, &oldest, &at, e);
    if (r || at.ns >= before.ns)
        return r;
    CLEANUP_TEXT struct text note = {0};
    minimum_format(a->key.name, index + TILE_WIDTH, &note);
    r = sign(arg, &note, e);
    if (r == 0)
        r = files_replace(a, "minimum", note.s, note.len, e);
    if (r == 0)
        r = files_remove(a, tile_format(&oldest, path), e);
    *removed = r == 0;
    return r;
}
