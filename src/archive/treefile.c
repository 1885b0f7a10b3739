/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of a file of nodes has what is in one tile: its 256 hashes, then the 128 nodes above pairs of them,
 * and so on up to the two whose parent is in the next level's tile. So a tile is read in one piece, and a
 * proof computes nothing but the tree's right edge.
 *
 * Everything is appended. The head is written last, under another name first, so after a crash the files have
 * at least what the head says. A leaf that is added again gets the same bytes at the same place.
 */
#include "archive/treefile.h"

#include "link/notary.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK_HASHES = 2 * TILE_WIDTH, /* 510, and room for two */
    PLACE_BYTES = 16,
    PENDING_MAX = 4096 /* places that wait in memory */
};

/* The end of one level. */
struct level {
    int fd; /* -1: no file yet */
    uint64_t block;
    bool dirty;   /* the block differs from that in the file */
    bool written; /* and the file from what is on the disk */
    struct tree_hash hashes[BLOCK_HASHES];
};

struct treefile {
    char *dir;
    int dir_fd, places_fd;
    struct notary *notary;
    struct tree_edge edge; /* with the leaves that are not synced */
    struct treefile_place last;
    struct level *levels[TILE_LEVELS];
    unsigned char pending[PENDING_MAX * PLACE_BYTES];
    size_t n_pending;
    struct err failed;    /* of a node that could not be written while leaves were added */
    pthread_mutex_t lock; /* of the two below */
    struct checkpoint head;
    struct text note;
};

static int treefile_failed(const struct treefile *t, const char *name, struct err *e)
{
    int code = errno ? errno : EIO;
    return err_set(e, -code, "%s/%s: %s", t->dir, name, strerror(code));
}

static int treefile_damaged(const struct treefile *t, const char *what, struct err *e)
{
    return err_set(e, -EILSEQ,
                   "the tree of the audit log in %s is damaged: %s; restore a copy of it, or move it away to "
                   "begin another log",
                   t->dir, what);
}

/* --- files ----------------------------------------------------------------------------------- */

static int file_open(const struct treefile *t, const char *name, int flags, int *fd, struct err *e)
{
    *fd = openat(t->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    return *fd < 0 ? treefile_failed(t, name, e) : 0;
}

static int bytes_write(const struct treefile *t, const char *name, int fd, const void *bytes, size_t len,
                       uint64_t at, struct err *e)
{
    const char *p = bytes;
    while (len > 0) {
        errno = 0;
        ssize_t n = pwrite(fd, p, len, (off_t)at);
        if (n <= 0)
            return treefile_failed(t, name, e);
        p += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

static int bytes_read(const struct treefile *t, const char *name, int fd, void *bytes, size_t len,
                      uint64_t at, struct err *e)
{
    ssize_t n = pread(fd, bytes, len, (off_t)at);
    if (n < 0)
        return treefile_failed(t, name, e);
    return (size_t)n == len ? 0 : treefile_damaged(t, "a file is too short", e);
}

/* --- nodes ----------------------------------------------------------------------------------- */

static const char *level_name(unsigned level, char out[static 16])
{
    snprintf(out, 16, "nodes-%u", level);
    return out;
}

static int level_open(struct treefile *t, unsigned level, bool make, struct err *e)
{
    char name[16];
    if (t->levels[level])
        return 0;
    int fd, r = file_open(t, level_name(level, name), make ? O_CREAT : 0, &fd, e);
    if (r)
        return r;
    struct level *l = mem_alloc(sizeof *l);
    l->fd = fd;
    t->levels[level] = l;
    return 0;
}

/* Where a node is in the blocks of its level. */
static unsigned node_slot(unsigned height, uint64_t index, uint64_t *block)
{
    unsigned above = height % TILE_HEIGHT, row = TILE_WIDTH >> above;
    *block = index >> (TILE_HEIGHT - above);
    return BLOCK_HASHES - 2 * row + (unsigned)(index & (row - 1));
}

static int level_flush(struct treefile *t, unsigned level, struct err *e)
{
    struct level *l = t->levels[level];
    char name[16];
    if (!l || !l->dirty)
        return 0;
    int r = bytes_write(t, level_name(level, name), l->fd, l->hashes, sizeof l->hashes,
                        l->block * sizeof l->hashes, e);
    l->dirty = r != 0;
    l->written = true;
    return r;
}

/* Notes a node that became complete; its level's file exists. */
static int node_put(struct treefile *t, unsigned height, uint64_t index, const struct tree_hash *node,
                    struct err *e)
{
    unsigned level = height / TILE_HEIGHT;
    uint64_t block;
    unsigned slot = node_slot(height, index, &block);
    int r = level_open(t, level, true, e);
    if (r)
        return r;
    struct level *l = t->levels[level];
    if (l->block != block) {
        if ((r = level_flush(t, level, e)))
            return r;
        memset(l->hashes, 0, sizeof l->hashes);
        l->block = block;
    }
    l->hashes[slot] = *node;
    l->dirty = true;
    return 0;
}

static int node_read(void *arg, unsigned height, uint64_t index, struct tree_hash *out, struct err *e)
{
    struct treefile *t = arg;
    unsigned level = height / TILE_HEIGHT;
    uint64_t block;
    char name[16];
    unsigned slot = node_slot(height, index, &block);
    if (!t->levels[level])
        return treefile_damaged(t, "a file is gone", e);
    return bytes_read(t, level_name(level, name), t->levels[level]->fd, out, sizeof *out,
                      (block * BLOCK_HASHES + slot) * sizeof *out, e);
}

struct tree_reader treefile_reader(struct treefile *t)
{
    return (struct tree_reader){node_read, t};
}

int treefile_tile(struct treefile *t, const struct tile *tile, struct tree_hash *out, struct err *e)
{
    char name[16];
    assert(tile->level < TILE_LEVELS && tile->width <= TILE_WIDTH);
    if (!t->levels[tile->level])
        return treefile_damaged(t, "a file is gone", e);
    return bytes_read(t, level_name(tile->level, name), t->levels[tile->level]->fd, out,
                      tile->width * sizeof *out, tile->index * BLOCK_HASHES * sizeof *out, e);
}

/* --- places ---------------------------------------------------------------------------------- */

static void number_encode(uint64_t n, unsigned char out[static 8])
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(n >> (56 - 8 * i));
}

static uint64_t number_decode(const unsigned char in[static 8])
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n = n << 8 | in[i];
    return n;
}

int treefile_place(struct treefile *t, uint64_t index, struct treefile_place *out, struct err *e)
{
    unsigned char bytes[PLACE_BYTES] = {0};
    int r = bytes_read(t, "places", t->places_fd, bytes, sizeof bytes, index * PLACE_BYTES, e);
    *out = (struct treefile_place){number_decode(bytes), number_decode(bytes + 8)};
    return r;
}

static bool place_before(const struct treefile_place *a, const struct treefile_place *b)
{
    return a->revision < b->revision || (a->revision == b->revision && a->n < b->n);
}

int treefile_find(struct treefile *t, uint64_t size, const struct treefile_place *place, uint64_t *index,
                  struct err *e)
{
    uint64_t from = 0, to = size;
    struct treefile_place at = {0};
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        int r = treefile_place(t, middle, &at, e);
        if (r)
            return r;
        if (place_before(&at, place))
            from = middle + 1;
        else
            to = middle;
    }
    *index = from;
    int r = from < size ? treefile_place(t, from, &at, e) : 0;
    if (r)
        return r;
    return from < size && !place_before(place, &at)
               ? 0
               : err_set(e, -ENOENT, "no entry %llu.%llu in the audit log",
                         (unsigned long long)place->revision, (unsigned long long)place->n);
}

static int places_flush(struct treefile *t, struct err *e)
{
    if (t->n_pending == 0)
        return 0;
    int r = bytes_write(t, "places", t->places_fd, t->pending, t->n_pending * PLACE_BYTES,
                        (t->edge.size - t->n_pending) * PLACE_BYTES, e);
    if (r == 0)
        t->n_pending = 0;
    return r;
}

/* --- the head -------------------------------------------------------------------------------- */

static int head_write(const struct treefile *t, const struct text *note, struct err *e)
{
    int fd;
    unlinkat(t->dir_fd, "checkpoint.new", 0);
    int r = file_open(t, "checkpoint.new", O_CREAT | O_EXCL, &fd, e);
    if (r)
        return r;
    r = bytes_write(t, "checkpoint.new", fd, note->s, note->len, 0, e);
    if (r == 0 && fsync(fd))
        r = treefile_failed(t, "checkpoint.new", e);
    close(fd);
    if (r == 0 && (renameat(t->dir_fd, "checkpoint.new", t->dir_fd, "checkpoint") || fsync(t->dir_fd)))
        r = treefile_failed(t, "checkpoint", e);
    return r;
}

/* The head of all leaves, signed, on the disk. */
static int head_make(struct treefile *t, struct err *e)
{
    struct checkpoint head = {.size = t->edge.size};
    struct text note = {0};
    memcpy(head.origin, treefile_key(t)->name, sizeof head.origin);
    tree_edge_root(&t->edge, &head.root);
    checkpoint_format(&head, &note);
    int r = notary_sign(t->notary, &note, e);
    if (r == 0)
        r = head_write(t, &note, e);
    if (r) {
        text_fini(&note);
        return r;
    }
    pthread_mutex_lock(&t->lock);
    text_fini(&t->note);
    t->note = note;
    t->head = head;
    pthread_mutex_unlock(&t->lock);
    return 0;
}

static int head_read(struct treefile *t, struct err *e)
{
    char bytes[4096];
    int fd, r = file_open(t, "checkpoint", 0, &fd, e);
    if (r)
        return r == -ENOENT ? treefile_damaged(t, "its checkpoint is gone", e) : r;
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    if (n < 0)
        return treefile_failed(t, "checkpoint", e);
    struct signed_note note;
    struct err why;
    if (notary_verify(bytes, (size_t)n, treefile_key(t), &note, &why) ||
        checkpoint_parse(note.text, note.len, &t->head, &why))
        return treefile_damaged(t, why.msg, e);
    text_add_bytes(&t->note, bytes, (size_t)n);
    return 0;
}

/* Reads the block in which a level's next node goes, after `n` of them. */
static int level_read(struct treefile *t, unsigned level, uint64_t n, struct err *e)
{
    char name[16];
    struct level *l = t->levels[level];
    memset(l->hashes, 0, sizeof l->hashes);
    l->dirty = false;
    l->block = n / TILE_WIDTH;
    return n % TILE_WIDTH ? bytes_read(t, level_name(level, name), l->fd, l->hashes, sizeof l->hashes,
                                       l->block * sizeof l->hashes, e)
                          : 0;
}

static int levels_read(struct treefile *t, struct err *e)
{
    int r = 0;
    for (unsigned level = 0; level < TILE_LEVELS && r == 0; level++) {
        uint64_t n = t->head.size >> (TILE_HEIGHT * level);
        r = n > 0 ? level_open(t, level, false, e) : 0;
        if (r == -ENOENT)
            return treefile_damaged(t, "a file is gone", e);
        if (r == 0 && t->levels[level])
            r = level_read(t, level, n, e);
    }
    return r;
}

/* Goes back to the head: leaves that were added since do not count. */
static int treefile_rewind(struct treefile *t, struct err *e)
{
    const struct tree_reader reader = treefile_reader(t);
    struct tree_hash root;
    t->n_pending = 0;
    t->last = (struct treefile_place){0};
    t->failed = (struct err){0};
    int r = levels_read(t, e);
    if (r == 0)
        r = tree_edge_read(&reader, t->head.size, &t->edge, e);
    if (r == 0 && t->head.size > 0)
        r = treefile_place(t, t->head.size - 1, &t->last, e);
    tree_edge_root(&t->edge, &root);
    return r || tree_same(&root, &t->head.root)
               ? r
               : treefile_damaged(t, "its nodes are not those of its head", e);
}

/* --- opening --------------------------------------------------------------------------------- */

static int dir_sync(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = fd < 0 || fsync(fd) ? errno : 0;
    if (fd >= 0)
        close(fd);
    return code ? err_set(e, -code, "%s: %s", path, strerror(code)) : 0;
}

static int key_open(struct treefile *t, const char *name, struct err *e)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/key", t->dir);
    t->dir_fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->dir_fd < 0)
        return treefile_failed(t, "", e);
    int r = notary_open(path.s, name, &t->notary, e);
    return r == -EILSEQ
               ? err_wrap(e, r, "restore the audit log of this state, or move %s away to begin another",
                          t->dir)
               : r;
}

/* Makes the directory under another name: one that has the name is complete. */
static int treefile_make(const char *dir, const char *name, struct err *e)
{
    CLEANUP_TEXT struct text fresh = {0}, parent = {0};
    struct treefile *t = mem_alloc(sizeof *t);
    text_printf(&fresh, "%s.new", dir);
    text_printf(&parent, "%s/..", fresh.s);
    t->dir = mem_dup(fresh.s);
    t->dir_fd = t->places_fd = -1;
    pthread_mutex_init(&t->lock, NULL);
    int r = mkdir(fresh.s, 0700) && errno != EEXIST ? treefile_failed(t, "", e) : key_open(t, name, e);
    if (r == 0)
        r = file_open(t, "places", O_CREAT, &t->places_fd, e);
    if (r == 0)
        r = head_make(t, e);
    if (r == 0 && rename(fresh.s, dir))
        r = treefile_failed(t, "", e);
    text_clear(&parent);
    text_printf(&parent, "%s/..", dir);
    if (r == 0)
        r = dir_sync(parent.s, e);
    treefile_close(t);
    return r;
}

int treefile_open(const char *dir, const char *name, struct treefile **out, struct err *e)
{
    struct stat st;
    int r = stat(dir, &st) && errno == ENOENT ? treefile_make(dir, name, e) : 0;
    if (r)
        return r;
    struct treefile *t = mem_alloc(sizeof *t);
    t->dir = mem_dup(dir);
    t->dir_fd = t->places_fd = -1;
    pthread_mutex_init(&t->lock, NULL);
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "%s/key", dir);
    r = access(key.s, F_OK) && errno == ENOENT ? treefile_damaged(t, "its key is gone", e)
                                               : key_open(t, name, e);
    if (r == 0)
        r = file_open(t, "places", 0, &t->places_fd, e);
    if (r == 0)
        r = head_read(t, e);
    if (r == 0)
        r = treefile_rewind(t, e);
    if (r) {
        treefile_close(t);
        return r;
    }
    *out = t;
    return 0;
}

void treefile_close(struct treefile *t)
{
    if (!t)
        return;
    for (unsigned i = 0; i < TILE_LEVELS; i++) {
        if (t->levels[i])
            close(t->levels[i]->fd);
        free(t->levels[i]);
    }
    if (t->dir_fd >= 0)
        close(t->dir_fd);
    if (t->places_fd >= 0)
        close(t->places_fd);
    notary_close(t->notary);
    pthread_mutex_destroy(&t->lock);
    text_fini(&t->note);
    free(t->dir);
    free(t);
}

/* --- what others call ------------------------------------------------------------------------ */

const struct note_key *treefile_key(const struct treefile *t)
{
    return notary_key(t->notary);
}

int treefile_sign(const struct treefile *t, struct text *text, struct err *e)
{
    return notary_sign(t->notary, text, e);
}

void treefile_head(struct treefile *t, struct checkpoint *head, struct text *note)
{
    pthread_mutex_lock(&t->lock);
    *head = t->head;
    if (note) {
        text_clear(note);
        text_add_bytes(note, t->note.s, t->note.len);
    }
    pthread_mutex_unlock(&t->lock);
}

struct treefile_place treefile_last(const struct treefile *t)
{
    return t->last;
}

static void on_node(void *arg, unsigned height, uint64_t index, const struct tree_hash *node)
{
    struct treefile *t = arg;
    if (t->failed.code == 0)
        node_put(t, height, index, node, &t->failed);
}

int treefile_add(struct treefile *t, const struct treefile_place *place, const struct tree_hash *leaf,
                 struct err *e)
{
    struct err why = {0};
    assert(t->edge.size == 0 || place_before(&t->last, place));
    int r = t->n_pending == PENDING_MAX ? places_flush(t, &why) : 0;
    if (r == 0) {
        number_encode(place->revision, t->pending + t->n_pending * PLACE_BYTES);
        number_encode(place->n, t->pending + t->n_pending * PLACE_BYTES + 8);
        t->n_pending++;
        t->last = *place;
        tree_grow(&t->edge, leaf, on_node, t);
        why = t->failed;
        r = why.code;
    }
    if (r == 0)
        return 0;
    treefile_rewind(t, NULL);
    return err_set(e, r, "%s", why.msg);
}

static int levels_sync(struct treefile *t, struct err *e)
{
    char name[16];
    int r = 0;
    for (unsigned level = 0; level < TILE_LEVELS && r == 0; level++) {
        struct level *l = t->levels[level];
        r = level_flush(t, level, e);
        if (r || !l || !l->written)
            continue;
        r = fdatasync(l->fd) ? treefile_failed(t, level_name(level, name), e) : 0;
        l->written = r != 0;
    }
    return r;
}

int treefile_sync(struct treefile *t, struct err *e)
{
    if (t->edge.size == t->head.size)
        return 0;
    int r = places_flush(t, e);
    if (r == 0 && fdatasync(t->places_fd))
        r = treefile_failed(t, "places", e);
    if (r == 0)
        r = levels_sync(t, e);
    if (r == 0)
        r = head_make(t, e);
    if (r)
        treefile_rewind(t, NULL);
    return r;
}
