/* SPDX-License-Identifier: Apache-2.0 */
#include "store/begun.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A symbolic link is not resolved: the note lies beside /var/lib/fettle, wherever that points. */
static char *begun_dir(const char *dir)
{
    CLEANUP_FREE char *copy = mem_dup(dir);
    const char *base = basename(copy);
    struct text t = {0};
    if (strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
        CLEANUP_FREE char *whole = realpath(dir, NULL);
        text_printf(&t, "%s-begun", whole ? whole : dir);
        return text_take(&t);
    }
    size_t len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/')
        len--;
    text_printf(&t, "%.*s-begun", (int)len, dir);
    return text_take(&t);
}

static char *note_path(const char *begun)
{
    struct text t = {0};
    text_printf(&t, "%s/state", begun);
    return text_take(&t);
}

char *begun_find(const char *dir)
{
    CLEANUP_FREE char *begun = begun_dir(dir);
    char *note = note_path(begun);
    if (access(note, F_OK) == 0 || errno != ENOENT)
        return note; /* a note that cannot be examined may exist */
    free(note);
    return NULL;
}

static int sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 || fsync(fd) ? -errno : 0;
    if (fd >= 0)
        close(fd);
    return r;
}

static int note_write(const char *note, const char *dir)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "A state of Fettle was begun in %s.\n", dir);
    int fd = open(note, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    ssize_t n = write(fd, t.s, t.len);
    int r = n < 0 ? -errno : n != (ssize_t)t.len ? -ENOSPC : fsync(fd) ? -errno : 0;
    close(fd);
    return r;
}

int begun_note(const char *dir, struct err *e)
{
    CLEANUP_FREE char *begun = begun_dir(dir), *note = note_path(begun), *copy = mem_dup(begun);
    if (access(note, F_OK) == 0)
        return 0;
    int r = mkdir(begun, 0700) && errno != EEXIST ? -errno : 0;
    if (!r)
        r = note_write(note, dir);
    if (!r)
        r = sync_dir(begun);
    if (!r)
        r = sync_dir(dirname(copy));
    if (!r)
        return 0;
    unlink(note); /* the note is whole or absent: the next start makes it */
    return err_set(
        e, r,
        "cannot make %s, by which a lost state is told from a new one: %s; make the directory %s for the "
        "user of fettled",
        note, strerror(-r), begun);
}
