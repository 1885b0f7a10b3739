/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fixture_test.h"

#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *fixture_dir(void)
{
    char *dir = mem_dup("/tmp/fettle-store-XXXXXX");
    char *made = mkdtemp(dir);
    assert(made);
    return made;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    return remove(path);
}

/* Whatever a store left: in the directory, and the note beside it that one was begun there. */
void fixture_remove(char *dir)
{
    struct text begun = {0};
    text_printf(&begun, "%s-begun", dir);
    nftw(begun.s, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    text_fini(&begun);
    int r = nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    assert(r == 0);
    free(dir);
}

char *fixture_path(const char *dir, const char *name)
{
    struct text t = {0};
    text_printf(&t, "%s/%s", dir, name);
    return text_take(&t);
}

void fixture_read(const char *path, struct text *out)
{
    text_clear(out);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n;
    while ((n = read(fd, text_room(out, 65536), 65536)) > 0)
        out->len += (size_t)n;
    assert(n == 0);
    close(fd);
}

void fixture_write(const char *path, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert(fd >= 0);
    ssize_t n = write(fd, bytes, len);
    assert(n == (ssize_t)len);
    close(fd);
}

struct store *fixture_open(const char *dir)
{
    struct store *s = NULL;
    struct err e = {0};
    if (store_open_sqlite(dir, &s, &e))
        fprintf(stderr, "%s\n", e.msg);
    assert(s);
    return s;
}

int fixture_put(struct store *s, uint64_t term, const char *key, const char *value, uint64_t *revision,
                struct err *e)
{
    struct store_op op = {.key = key, .value = value};
    struct store_entry entry = {
        .at = {1795207317123000000}, .actor = "root", .what = "put", .nodes = "lx[01-64]", .text = key};
    struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
    return store_commit(s, term, &b, revision, e);
}

static int dump_record(void *arg, const char *key, const char *value, struct err *e)
{
    text_printf(arg, "%s = %s\n", key, value);
    return 0;
}

static int dump_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    text_printf(arg, "%" PRIu64 ": %" PRId64 " %s %s %s: %s%s%s%s%s\n", revision, entry->at.ns, entry->actor,
                entry->what, entry->nodes, entry->text, *entry->about ? " about " : "", entry->about,
                *entry->fields ? " with " : "", entry->fields);
    return 0;
}

int fixture_dump(struct store *s, struct text *out, struct err *e)
{
    text_clear(out);
    uint64_t revision = 0;
    int r = store_load(s, dump_record, out, &revision, e);
    if (!r)
        r = store_journal(s, 0, SIZE_MAX, dump_entry, out, e);
    if (!r)
        text_printf(out, "revision %" PRIu64 "\n", revision);
    return r;
}
