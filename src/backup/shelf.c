/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of backups. Whole backups come and go by a rename: from `unfinished`, and to `discarded`. So a
 * process that is killed leaves no half backup under a backup's name, and the next one knows what to remove.
 */
#include "backup/backup_inside.h"

#include "base/directory.h"
#include "base/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DISCARDED "discarded"
#define LOCK "lock"

char *shelf_path(const char *dir, const char *name)
{
    struct text t = {0};
    text_printf(&t, "%s/%s", dir, name);
    return text_take(&t);
}

int shelf_failed(const char *path, struct err *e)
{
    int code = errno;
    return err_set(e, -code, "%s: %s", path, strerror(code));
}

static int shelf_make(const char *directory, struct err *e)
{
    if (mkdir(directory, 0700) == 0) {
        CLEANUP_FREE char *copy = mem_dup(directory);
        int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = fd < 0 || fsync(fd) < 0 ? shelf_failed(directory, e) : 0;
        if (fd >= 0)
            close(fd);
        return r;
    }
    return errno == EEXIST ? 0 : shelf_failed(directory, e);
}

static int lock_take(int dir, const char *directory, int *lock, struct err *e)
{
    *lock = openat(dir, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    int r = *lock >= 0 && errno == EWOULDBLOCK
                ? err_set(e, -EBUSY, "another process makes a backup in %s", directory)
                : shelf_failed(directory, e);
    if (*lock >= 0)
        close(*lock);
    return r;
}

int shelf_open(const char *directory, int *dir, int *lock, struct err *e)
{
    int r = shelf_make(directory, e);
    if (!r)
        r = private_check(directory, PRIVATE_TO_READ, e);
    if (r)
        return r;
    *dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*dir < 0)
        return shelf_failed(directory, e);
    r = lock_take(*dir, directory, lock, e);
    if (r)
        close(*dir);
    return r;
}

int shelf_remove(int dir, const char *name)
{
    int r = directory_remove(dir, name);
    if (r)
        return r == -ENOENT ? 0 : r;
    return fsync(dir) ? -errno : 0;
}

int shelf_tidy(int dir, const char *directory, struct err *e)
{
    static const char *const left[] = {BACKUP_UNFINISHED, DISCARDED};
    int r = 0;
    for (size_t i = 0; i < 2 && !r; i++) {
        r = shelf_remove(dir, left[i]);
        if (r)
            err_set(e, r, "cannot remove %s/%s: %s", directory, left[i], strerror(-r));
    }
    return r;
}

int shelf_copy(int from, int to)
{
    enum { CHUNK_BYTES = 256 << 10 };
    CLEANUP_FREE char *chunk = mem_alloc(CHUNK_BYTES);
    ssize_t n;
    while ((n = read(from, chunk, CHUNK_BYTES)) > 0)
        for (ssize_t done = 0, m; done < n; done += m)
            if ((m = write(to, chunk + done, (size_t)(n - done))) < 0)
                return -errno;
    return n < 0 || fsync(to) < 0 ? -errno : 0;
}

int shelf_manifest(const char *path, struct manifest *m, struct err *e)
{
    CLEANUP_FREE char *file = shelf_path(path, MANIFEST_NAME);
    CLEANUP_FREE char *bytes = mem_alloc(MANIFEST_BYTES_MAX + 1);
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT
                   ? err_set(e, -ENOENT, "%s has no " MANIFEST_NAME ", so it is no complete backup", path)
                   : shelf_failed(file, e);
    ssize_t n = read(fd, bytes, MANIFEST_BYTES_MAX + 1);
    int r = n < 0 ? shelf_failed(file, e) : 0;
    close(fd);
    if (r)
        return r;
    r = manifest_parse(bytes, (size_t)n, m, e);
    return r ? err_wrap(e, r, "%s", file) : 0;
}

/* --- the list --------------------------------------------------------------------------------- */

/* 20261126T110000Z-r1234 */
static bool is_backup_name(const char *name)
{
    static const char form[] = "00000000T000000Z-r0";
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (i >= len || (form[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != form[i]))
            return false;
    return len <= BACKUP_NAME_BYTES_MAX &&
           strspn(name + sizeof form - 2, "0123456789") == len - sizeof form + 2;
}

static int newer_first(const void *a, const void *b)
{
    return strcmp(((const struct backup_entry *)b)->name, ((const struct backup_entry *)a)->name);
}

int backup_list(const char *directory, struct backup_entry **out, size_t *n, struct err *e)
{
    DIR *list = opendir(directory);
    *out = NULL;
    *n = 0;
    if (!list)
        return shelf_failed(directory, e);
    struct backup_entry *all = mem_alloc(BACKUP_LIST_MAX * sizeof *all);
    for (struct dirent *d; *n < BACKUP_LIST_MAX && (d = readdir(list));) {
        if (!is_backup_name(d->d_name))
            continue;
        struct backup_entry *b = &all[(*n)++];
        CLEANUP_FREE char *path = shelf_path(directory, d->d_name);
        snprintf(b->name, sizeof b->name, "%s", d->d_name);
        shelf_manifest(path, &b->manifest, &b->why);
    }
    closedir(list);
    qsort(all, *n, sizeof *all, newer_first);
    *out = all;
    return 0;
}

/* --- retention -------------------------------------------------------------------------------- */

static int backup_discard(int dir, const char *directory, const char *name, struct err *e)
{
    if (renameat(dir, name, dir, DISCARDED) || fsync(dir)) {
        int code = errno;
        return err_set(e, -code, "cannot remove %s/%s: %s", directory, name, strerror(code));
    }
    return shelf_tidy(dir, directory, e);
}

int shelf_retain(int dir, const char *directory, const char *cluster, size_t keep, struct err *e)
{
    struct backup_entry *all = NULL;
    size_t n = 0, own = 0;
    int r = backup_list(directory, &all, &n, e);
    for (size_t i = 0; i < n && !r; i++)
        if (all[i].why.code == 0 && strcmp(all[i].manifest.cluster, cluster) == 0 && ++own > keep)
            r = backup_discard(dir, directory, all[i].name, e);
    free(all);
    return r;
}
