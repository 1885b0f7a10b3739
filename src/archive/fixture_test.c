/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/fixture_test.h"

#include "audit/leaf.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

char *fixture_dir(void)
{
    char dir[] = "/tmp/fettle-archive-XXXXXX";
    assert_non_null(mkdtemp(dir));
    return mem_dup(dir);
}

char *fixture_path(const char *dir, const char *name)
{
    struct text t = {0};
    text_printf(&t, "%s/%s", dir, name);
    return text_take(&t);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

void fixture_remove(char *dir)
{
    char *roots[] = {dir, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *f; (f = fts_read(walk));)
        if (f->fts_info != FTS_D)
            assert_int_equal(remove(f->fts_accpath), 0);
    fts_close(walk);
    free(dir);
}

void fixture_files(const char *dir, struct text *out)
{
    CLEANUP_FREE char *copy = mem_dup(dir);
    char *roots[] = {copy, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (const FTSENT *f; (f = fts_read(walk));)
        if (f->fts_info == FTS_F)
            text_printf(out, "%s\n", f->fts_path);
    fts_close(walk);
}

void fixture_read(const char *path, struct text *out)
{
    char bytes[65536];
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        text_add_bytes(out, bytes, (size_t)n);
    close(fd);
}

void fixture_write(const char *path, const void *bytes, size_t len)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

struct treefile_place fixture_place(uint64_t i)
{
    return (struct treefile_place){1 + i / 2, i % 2};
}

void fixture_entry(uint64_t i, const char *other, struct text *out)
{
    CLEANUP_TEXT struct text said = {0};
    text_printf(&said, "entry %llu%s", (unsigned long long)i, i == 5 && other ? other : "");
    const struct leaf leaf = {.revision = fixture_place(i).revision,
                              .n = fixture_place(i).n,
                              .at = {INT64_C(1795211336000000000) + (int64_t)i * 1000000000},
                              .actor = "root",
                              .what = "node.drain",
                              .nodes = "lx01",
                              .text = said.s};
    leaf_format(&leaf, out);
}

void fixture_grow(struct treefile *t, uint64_t size, const char *other)
{
    struct checkpoint head;
    treefile_head(t, &head, NULL);
    for (uint64_t i = head.size; i < size; i++) {
        CLEANUP_TEXT struct text entry = {0};
        fixture_entry(i, other, &entry);
        const struct tree_hash leaf = tree_leaf(entry.s, entry.len);
        const struct treefile_place place = fixture_place(i);
        assert_int_equal(treefile_add(t, &place, &leaf, NULL), 0);
    }
    assert_int_equal(treefile_sync(t, NULL), 0);
}

static int log_fetch(void *arg, const struct tile *t, struct text *out, struct err *e)
{
    struct fixture_log *l = arg;
    l->fetched++;
    if (!t->entries) {
        struct tree_hash hashes[TILE_WIDTH];
        int r = treefile_tile(l->tree, t, hashes, e);
        text_add_bytes(out, hashes, t->width * sizeof *hashes);
        return r;
    }
    if (t->index * TILE_WIDTH < l->minimum)
        return err_set(e, -ENOENT, "it is not kept");
    for (unsigned i = 0; i < t->width; i++) {
        CLEANUP_TEXT struct text entry = {0};
        fixture_entry(t->index * TILE_WIDTH + i, l->other, &entry);
        bundle_add(out, entry.s, entry.len);
    }
    return 0;
}

struct archive_source fixture_source(struct fixture_log *l)
{
    return (struct archive_source){log_fetch, l};
}

int fixture_export(struct fixture_log *l, const char *dir, bool remember, struct err *e)
{
    struct archive *a;
    struct checkpoint head;
    CLEANUP_TEXT struct text note = {0};
    const struct archive_source source = fixture_source(l);
    treefile_head(l->tree, &head, &note);
    int r = archive_open(dir, treefile_key(l->tree), &a, e);
    if (r)
        return r;
    r = archive_go_on(a, &note, remember, &source, e);
    archive_close(a);
    return r;
}
