/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/bookmark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Always as long, so that a write replaces all of it, in one sector. */
enum { SEEN_BYTES = 160 };

static void bookmark_format(const char *cluster, const struct layout_head *h, char out[static SEEN_BYTES + 1])
{
    char head[LAYOUT_HEAD_BYTES];
    snprintf(out, SEEN_BYTES + 1, "fettle in etcd: cluster %s revision %s", cluster,
             layout_head_write(h, head));
    size_t n = strlen(out);
    memset(out + n, ' ', SEEN_BYTES - 1 - n);
    out[SEEN_BYTES - 1] = '\n';
    out[SEEN_BYTES] = '\0';
}

static int bookmark_read(struct bookmark *s, int fd, struct err *e)
{
    char found[SEEN_BYTES + 2] = "", same[SEEN_BYTES + 1];
    ssize_t n = pread(fd, found, SEEN_BYTES + 1, 0);
    if (n < 0)
        return err_set(e, -errno, "cannot read %s: %s", s->path, strerror(errno));
    if (n == 0)
        return 0;
    int fields = sscanf(found, "fettle in etcd: cluster %64s revision %20" SCNu64 " %16s", s->cluster,
                        &s->head.revision, s->head.mark);
    bookmark_format(s->cluster, &s->head, same);
    if (fields != 3 || strcmp(found, same) != 0)
        return err_set(e, -EILSEQ, "%s is damaged; remove it to go on with the state that etcd has", s->path);
    return 0;
}

static int bookmark_open(struct bookmark *s, int flags, int *fd, struct err *e)
{
    *fd = open(s->path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    return *fd < 0 ? err_set(e, -errno, "cannot open %s: %s", s->path, strerror(errno)) : 0;
}

int bookmark_init(struct bookmark *s, const char *path, struct err *e)
{
    *s = (struct bookmark){.path = mem_dup(path)};
    int fd;
    if (!path)
        return 0;
    int r = bookmark_open(s, O_RDONLY, &fd, e);
    if (r == -ENOENT)
        return 0;
    if (!r) {
        r = bookmark_read(s, fd, e);
        close(fd);
    }
    if (r)
        bookmark_fini(s);
    return r;
}

void bookmark_fini(struct bookmark *s)
{
    free(s->path);
    *s = (struct bookmark){0};
}

int bookmark_note(struct bookmark *s, const char *cluster, const struct layout_head *head, struct err *e)
{
    char buf[SEEN_BYTES + 1];
    struct bookmark now = {.path = s->path};
    int fd;
    if (!s->path)
        return 0;
    int r = bookmark_open(s, O_RDWR | O_CREAT, &fd, e);
    if (r)
        return r;
    bookmark_read(&now, fd,
                  NULL); /* the other writer of this process, the follower or the store, may be ahead */
    if (strcmp(now.cluster, cluster) != 0 || now.head.revision < head->revision) {
        bookmark_format(cluster, head, buf);
        if (pwrite(fd, buf, SEEN_BYTES, 0) != SEEN_BYTES)
            r = err_set(e, errno ? -errno : -ENOSPC, "cannot write %s", s->path);
    }
    close(fd);
    snprintf(s->cluster, sizeof s->cluster, "%s", cluster);
    s->head = *head;
    return r;
}
