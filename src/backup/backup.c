/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/backup_inside.h"

#include "base/digest.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct backup {
    char *directory, *path;
    int dir, lock;
    int at; /* the directory of the backup itself */
    bool done;
};

int backup_begin(const char *directory, struct backup **out, struct err *e)
{
    struct backup *b = mem_alloc(sizeof *b);
    *b = (struct backup){.directory = mem_dup(directory),
                         .path = shelf_path(directory, BACKUP_UNFINISHED),
                         .dir = -1,
                         .lock = -1,
                         .at = -1};
    int r = shelf_open(directory, &b->dir, &b->lock, e);
    if (r) {
        b->dir = b->lock = -1;
        backup_close(b);
        return r;
    }
    r = shelf_tidy(b->dir, directory, e);
    if (!r && mkdirat(b->dir, BACKUP_UNFINISHED, 0700))
        r = shelf_failed(b->path, e);
    if (!r &&
        (b->at = openat(b->dir, BACKUP_UNFINISHED, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) < 0)
        r = shelf_failed(b->path, e);
    if (r) {
        backup_close(b);
        return r;
    }
    *out = b;
    return 0;
}

const char *backup_path(const struct backup *b)
{
    return b->path;
}

void backup_close(struct backup *b)
{
    if (!b)
        return;
    if (b->at >= 0)
        close(b->at);
    if (b->dir >= 0 && !b->done)
        shelf_remove(b->dir, BACKUP_UNFINISHED);
    if (b->lock >= 0)
        close(b->lock);
    if (b->dir >= 0)
        close(b->dir);
    free(b->directory);
    free(b->path);
    free(b);
}

int backup_retain(struct backup *b, const char *cluster, size_t keep, struct err *e)
{
    return shelf_retain(b->dir, b->directory, cluster, keep, e);
}

/* --- its files -------------------------------------------------------------------------------- */

static int file_failed(const struct backup *b, const char *name, int code, struct err *e)
{
    return err_set(e, code, "%s/%s: %s", b->path, name, strerror(-code));
}

/* The authority has its files since the first start, and never changes them. */
static int authority_copy(struct backup *b, const char *state_dir, const char *name, struct err *e)
{
    CLEANUP_FREE char *path = shelf_path(state_dir, name);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return shelf_failed(path, e);
    int to = openat(b->at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = to < 0 ? -errno : shelf_copy(from, to);
    if (to >= 0 && close(to) < 0 && !r)
        r = -errno;
    close(from);
    return r ? file_failed(b, name, r, e) : 0;
}

/* A file is on the disk before the manifest tells of it. */
static int file_add(struct backup *b, const struct manifest_name *k, struct manifest *m, struct err *e)
{
    struct manifest_file *f = &m->files[m->n];
    int fd = openat(b->at, k->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT && !k->always ? 0 : file_failed(b, k->name, -errno, e);
    int r = fsync(fd) < 0 ? -errno : digest_sha256_file(fd, &f->bytes, f->sha256);
    close(fd);
    if (r)
        return file_failed(b, k->name, r, e);
    snprintf(f->name, sizeof f->name, "%s", k->name);
    m->n++;
    return 0;
}

static int manifest_make(struct backup *b, const struct manifest *m, struct err *e)
{
    CLEANUP_TEXT struct text t = {0};
    manifest_write(m, &t);
    int fd = openat(b->at, MANIFEST_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t n = fd < 0 ? -1 : write(fd, t.s, t.len);
    int r = n < 0 ? -errno : n != (ssize_t)t.len ? -ENOSPC : fsync(fd) ? -errno : 0;
    if (fd >= 0)
        close(fd);
    if (!r && fsync(b->at))
        r = -errno;
    return r ? file_failed(b, MANIFEST_NAME, r, e) : 0;
}

static void name_make(const struct manifest *m, char name[static BACKUP_NAME_BYTES_MAX + 1])
{
    time_t s = (time_t)(m->at.ns / 1000000000);
    struct tm tm;
    char at[32];
    gmtime_r(&s, &tm);
    strftime(at, sizeof at, "%Y%m%dT%H%M%SZ", &tm);
    snprintf(name, BACKUP_NAME_BYTES_MAX + 1, "%s-r%llu", at, (unsigned long long)m->revision);
}

static int name_give(struct backup *b, const char *name, struct err *e)
{
    /* An empty directory of that name would be replaced. */
    struct stat st;
    int code = fstatat(b->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? EEXIST : 0;
    if (!code && renameat(b->dir, BACKUP_UNFINISHED, b->dir, name))
        code = errno;
    b->done = code == 0;
    if (!code && fsync(b->dir))
        code = errno;
    return code ? err_set(e, -code, "%s/%s: %s", b->directory, name, strerror(code)) : 0;
}

int backup_finish(struct backup *b, const char *state_dir, struct manifest *m,
                  char name[static BACKUP_NAME_BYTES_MAX + 1], struct err *e)
{
    assert(!b->done && m->n == 0);
    int r = authority_copy(b, state_dir, "ca.pem", e);
    if (!r)
        r = authority_copy(b, state_dir, "ca.key", e);
    for (const struct manifest_name *k = manifest_names; k->name && !r; k++)
        r = file_add(b, k, m, e);
    if (!r)
        r = manifest_make(b, m, e);
    name_make(m, name);
    return r ? r : name_give(b, name, e);
}
