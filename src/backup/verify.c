/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/backup_inside.h"

#include "base/digest.h"
#include "store/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file_look(const char *path, int fd, const struct manifest_file *f, struct err *e)
{
    struct stat st;
    uint64_t bytes;
    char is[65];
    if (fstat(fd, &st))
        return shelf_failed(path, e);
    if (!S_ISREG(st.st_mode))
        return err_set(e, -EILSEQ, "%s is not a file", path);
    if (st.st_mode & 077)
        return err_set(
            e, -EACCES,
            "others than its owner may read or write %s (mode %04o); mend it with \"chmod go-rwx %s\"", path,
            (unsigned)st.st_mode & 07777, path);
    if ((uint64_t)st.st_size != f->bytes)
        return err_set(e, -EILSEQ, "%s has %lld bytes, and had %" PRIu64 " when the backup was made", path,
                       (long long)st.st_size, f->bytes);
    int r = digest_sha256_file(fd, &bytes, is);
    if (r)
        return err_set(e, r, "%s: %s", path, strerror(-r));
    if (bytes != f->bytes || strcmp(is, f->sha256) != 0)
        return err_set(e, -EILSEQ, "%s is not what was written (its SHA-256 is another one)", path);
    return 0;
}

static int file_verify(const char *dir, const struct manifest_file *f, struct err *e)
{
    CLEANUP_FREE char *path = shelf_path(dir, f->name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? err_set(e, -ENOENT, "%s is missing", path) : shelf_failed(path, e);
    int r = file_look(path, fd, f, e);
    close(fd);
    return r;
}

/* Whether the state is called what the manifest says. A record of another kind says nothing of it. */
struct naming {
    const char *cluster;
    bool any, same;
};

static int on_record(void *arg, const char *key, const char *value, struct err *e)
{
    struct naming *n = arg;
    static const char prefix[] = "origin/";
    if (strncmp(key, prefix, sizeof prefix - 1) != 0)
        return 0;
    n->any = true;
    n->same = strcmp(key + sizeof prefix - 1, n->cluster) == 0;
    return 0;
}

static int state_verify(const char *dir, const struct manifest *m, struct err *e)
{
    CLEANUP_FREE char *path = shelf_path(dir, "state.db");
    struct naming names = {.cluster = m->cluster};
    struct restore_look is = {0};
    int r = restore_look(path, on_record, &names, &is, e);
    if (r)
        return r;
    if (is.term != m->term || is.revision != m->revision || (names.any && !names.same))
        return err_set(e, -EILSEQ, "%s is not of the state that " MANIFEST_NAME " tells of", path);
    return 0;
}

int backup_verify(const char *path, struct manifest *m, struct err *e)
{
    int r = shelf_manifest(path, m, e);
    for (size_t i = 0; i < m->n && !r; i++)
        r = file_verify(path, &m->files[i], e);
    return r ? r : state_verify(path, m, e);
}
