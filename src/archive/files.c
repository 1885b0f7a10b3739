/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 << 10, HEADS_MAX = 1 << 20 };

static int files_failed(const struct archive *a, const char *path, struct err *e)
{
    int code = errno ? errno : EIO;
    return err_set(e, -code, "%s/%s: %s", a->dir, path, strerror(code));
}

int files_read(const struct archive *a, const char *path, struct text *out, struct err *e)
{
    int fd = openat(a->fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return files_failed(a, path, e);
    size_t before = out->len;
    ssize_t n;
    text_add(out, "");
    while ((n = read(fd, text_room(out, CHUNK_BYTES), CHUNK_BYTES)) > 0 &&
           out->len - before <= ARCHIVE_FILE_BYTES_MAX)
        out->len += (size_t)n;
    int r = n < 0 ? files_failed(a, path, e) : 0;
    close(fd);
    out->s[out->len] = '\0';
    return r || n == 0 ? r : err_set(e, -EILSEQ, "%s/%s is too large", a->dir, path);
}

/* The directory of a path, synced, so that a name in it is durable. */
static int parent_sync(const struct archive *a, const char *path, struct err *e)
{
    CLEANUP_FREE char *parent = mem_dup(path);
    char *slash = strrchr(parent, '/');
    if (slash)
        *slash = '\0';
    int fd = slash ? openat(a->fd, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : a->fd;
    int r = fd < 0 || fsync(fd) ? files_failed(a, path, e) : 0;
    if (slash && fd >= 0)
        close(fd);
    return r;
}

static int parents_make(const struct archive *a, const char *path, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(path);
    for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdirat(a->fd, copy, 0700) == 0;
        if (!made && errno != EEXIST)
            return files_failed(a, copy, e);
        int r = made ? parent_sync(a, copy, e) : 0;
        if (r)
            return r;
        *slash = '/';
    }
    return 0;
}

/* Writes the bytes under another name, durably. */
static int fresh_write(const struct archive *a, const char *fresh, const char *bytes, size_t len,
                       struct err *e)
{
    unlinkat(a->fd, fresh, 0);
    int fd = openat(a->fd, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
    if (fd < 0)
        return files_failed(a, fresh, e);
    int r = 0;
    for (size_t done = 0; done < len && r == 0;) {
        errno = 0;
        ssize_t n = write(fd, bytes + done, len - done);
        if (n <= 0)
            r = files_failed(a, fresh, e);
        else
            done += (size_t)n;
    }
    if (r == 0 && fsync(fd))
        r = files_failed(a, fresh, e);
    close(fd);
    return r;
}

int files_replace(const struct archive *a, const char *path, const void *bytes, size_t len, struct err *e)
{
    CLEANUP_TEXT struct text fresh = {0};
    text_printf(&fresh, "%s.new", path);
    int r = parents_make(a, path, e);
    if (r == 0)
        r = fresh_write(a, fresh.s, bytes, len, e);
    if (r == 0 && renameat(a->fd, fresh.s, a->fd, path))
        r = files_failed(a, path, e);
    return r ? r : parent_sync(a, path, e);
}

int files_put(const struct archive *a, const char *path, const void *bytes, size_t len, struct err *e)
{
    CLEANUP_TEXT struct text there = {0};
    struct err why;
    int r = files_read(a, path, &there, &why);
    if (r == -ENOENT)
        return files_replace(a, path, bytes, len, e);
    if (r)
        return err_set(e, r, "%s", why.msg);
    return there.len == len && memcmp(there.s, bytes, len) == 0
               ? 0
               : err_set(e, -EEXIST,
                         "%s/%s has another content already, and files of an archive are written once",
                         a->dir, path);
}

int files_remove(const struct archive *a, const char *path, struct err *e)
{
    if (unlinkat(a->fd, path, 0) == 0)
        return parent_sync(a, path, e);
    return errno == ENOENT ? 0 : files_failed(a, path, e);
}

char *head_path(uint64_t size, char out[static HEAD_PATH_BYTES])
{
    snprintf(out, HEAD_PATH_BYTES, "checkpoints/%" PRIu64, size);
    return out;
}

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int files_heads(const struct archive *a, uint64_t **sizes, size_t *n, struct err *e)
{
    *sizes = NULL;
    *n = 0;
    int fd = openat(a->fd, "checkpoints", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : files_failed(a, "checkpoints", e);
    DIR *dir = fdopendir(fd);
    int r = 0;
    if (!dir) {
        close(fd);
        return files_failed(a, "checkpoints", e);
    }
    for (const struct dirent *d; r == 0 && (d = readdir(dir));) {
        uint64_t size;
        if (d->d_name[0] == '.' || strstr(d->d_name, ".new"))
            continue;
        if (text_parse_u64(d->d_name, 0, INT64_MAX, &size, NULL) < 0 || *n == HEADS_MAX) {
            r = err_set(e, -EILSEQ, "%s/checkpoints/%.80s is not the size of a log", a->dir, d->d_name);
            continue;
        }
        *sizes = mem_grow(*sizes, (*n + 1) * sizeof **sizes);
        (*sizes)[(*n)++] = size;
    }
    closedir(dir);
    if (r == 0 && *n > 0)
        qsort(*sizes, *n, sizeof **sizes, compare_sizes);
    return r;
}
