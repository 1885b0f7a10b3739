/* SPDX-License-Identifier: Apache-2.0 */
#include "base/private.h"

#include "base/text.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int mode_check(const char *path, const struct stat *st, enum private_access access, struct err *e)
{
    bool secret = access == PRIVATE_TO_READ;
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return err_set(e, -EACCES, "%s belongs to user %u, who may change it; mend it with \"chown %u %s\"",
                       path, st->st_uid, geteuid(), path);
    if (st->st_mode & (mode_t)access)
        return err_set(e, -EACCES,
                       "others than its owner may %s %s (mode %04o); mend it with \"chmod %s %s\"",
                       secret ? "read or write" : "write", path, (unsigned)st->st_mode & 07777,
                       secret ? "go-rwx" : "go-w", path);
    return 0;
}

int private_check(const char *path, enum private_access access, struct err *e)
{
    assert(path);
    struct stat st;
    if (stat(path, &st))
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    return mode_check(path, &st, access, e);
}

int private_open(const char *path, struct err *e)
{
    assert(path);
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe with this name does not hold us up */
    if (fd < 0)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    int rc = fstat(fd, &st)         ? err_set(e, -errno, "%s: %s", path, strerror(errno))
             : !S_ISREG(st.st_mode) ? err_set(e, -EINVAL, "%s is not a file", path)
                                    : mode_check(path, &st, PRIVATE_TO_READ, e);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

/* A killed process may leave NAME.new of a file that it was writing. */
static bool is_readable(const char *name, const char *const *patterns)
{
    CLEANUP_FREE char *whole = mem_dup(name);
    size_t len = strlen(name);
    if (len > 4 && strcmp(name + len - 4, ".new") == 0)
        whole[len - 4] = '\0';
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, whole, 0) == 0)
            return true;
    return false;
}

static int entry_check(const char *dir, const char *name, const char *const *readable, struct err *e)
{
    struct stat st;
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/%s", dir, name);
    if (stat(path.s, &st) || !S_ISREG(st.st_mode))
        return 0; /* the reader of the file reports what is wrong with it */
    return mode_check(path.s, &st, is_readable(name, readable) ? PRIVATE_TO_WRITE : PRIVATE_TO_READ, e);
}

int private_check_dir(const char *dir, const char *const *readable, struct err *e)
{
    DIR *list = opendir(dir);
    if (!list)
        return errno == ENOENT ? 0 : err_set(e, -errno, "%s: %s", dir, strerror(errno));
    int r = private_check(dir, PRIVATE_TO_WRITE, e);
    for (struct dirent *d; !r && (d = readdir(list));)
        r = entry_check(dir, d->d_name, readable, e);
    closedir(list);
    return r;
}
