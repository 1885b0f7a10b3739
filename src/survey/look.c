/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * A look that is repeated often must cost next to nothing. To read a file of /proc or /sys again through an
 * open descriptor takes a fifth of the time of open, read and close, so these descriptors are kept.
 * Descriptors of other file systems (a tree of files) are not kept, because the file of that name may be
 * another one by now. The list of mounts is read when the kernel says that it changed; poll says so to each
 * reader once for each change.
 *
 * inotify announces writes to a file of /proc or /sys like any other, as long as the file is open here. It
 * does not announce changes by the kernel itself, nor writes through another mount of /proc (a
 * container's); these are found by looking.
 */

enum { LEAF_BYTES_MAX = 1024, LEAVES_KEPT_MAX = 256 };

struct leaf {
    const char *path; /* below root */
    int fd;           /* -1: not kept */
    bool absent;      /* when last looked */
    bool untold;      /* it can be read, and no event announces its changes */
};

struct survey_look {
    int root;
    struct sys_names paths;
    struct leaf *leaves; /* one for each path */
    int mounts;          /* kept to be asked for changes; -1: the kernel cannot tell */
    int inotify;         /* the caller's; -1: none */
    uint64_t leaves_stamp, mounts_stamp, modules_stamp;
};

static bool of_the_kernel(int fd)
{
    static const unsigned long magics[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, SELINUX_MAGIC, SECURITYFS_MAGIC};
    struct statfs fs;
    bool any = false;
    if (fstatfs(fd, &fs) < 0)
        return false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        any |= (unsigned long)fs.f_type == magics[i];
    return any;
}

static int open_leaf(int root, const char *path)
{
    return openat(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Watched through the descriptor, so that it is this very file. */
static bool watch_leaf(int inotify, int fd)
{
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return inotify >= 0 && inotify_add_watch(inotify, self, IN_MODIFY) >= 0;
}

/* A kept descriptor may be of a device that has gone and come again. */
static ssize_t read_leaf(const struct survey_look *l, struct leaf *leaf, char text[static LEAF_BYTES_MAX])
{
    ssize_t n = leaf->fd >= 0 ? pread(leaf->fd, text, LEAF_BYTES_MAX, 0) : -1;
    if (n >= 0)
        return n;
    if (leaf->fd >= 0)
        close(leaf->fd);
    leaf->fd = -1;
    leaf->untold = false;
    int fd = open_leaf(l->root, leaf->path);
    if (fd < 0)
        return -errno;
    n = pread(fd, text, LEAF_BYTES_MAX, 0);
    n = n < 0 ? -errno : n;
    leaf->untold = n >= 0;
    if (n >= 0 && leaf < l->leaves + LEAVES_KEPT_MAX && of_the_kernel(fd)) {
        leaf->fd = fd;
        leaf->untold = !watch_leaf(l->inotify, fd);
    } else {
        close(fd);
    }
    return n;
}

/* To find that something is not there costs more than to read what is. */
static ssize_t look_at_leaf(const struct survey_look *l, struct leaf *leaf, bool seldom,
                            char text[static LEAF_BYTES_MAX])
{
    if (leaf->absent && !seldom)
        return -ENOENT;
    ssize_t n = read_leaf(l, leaf, text);
    leaf->absent = n == -ENOENT;
    return n;
}

static uint64_t leaves_stamp(const struct survey_look *l, bool seldom)
{
    char text[LEAF_BYTES_MAX];
    uint64_t stamp = 0;
    for (size_t i = 0; i < l->paths.n; i++) {
        ssize_t n = look_at_leaf(l, &l->leaves[i], seldom, text);
        stamp = stamp_number(stamp, (uint64_t)n);
        if (n > 0)
            stamp = stamp_bytes(stamp, text, (size_t)n);
    }
    return stamp;
}

/* --- lists ------------------------------------------------------------------------------------------------
 */

static bool module_line(const char *line, void *stamp)
{
    char name[64];
    if (module_live(line, name))
        *(uint64_t *)stamp = stamp_bytes(*(uint64_t *)stamp, name, strlen(name) + 1);
    return true;
}

static uint64_t modules_stamp(const struct survey_look *l)
{
    uint64_t stamp = 0;
    int failed = stream_lines(l->root, "proc/modules", MODULES_BYTES_MAX, module_line, &stamp);
    return stamp_number(stamp, (uint64_t)failed);
}

static void stamp_mount(void *stamp, const char *path, const char *value)
{
    *(uint64_t *)stamp = stamp_bytes(*(uint64_t *)stamp, path, strlen(path) + 1);
    *(uint64_t *)stamp = stamp_bytes(*(uint64_t *)stamp, value, strlen(value) + 1);
}

static uint64_t mounts_stamp(const struct survey_look *l)
{
    CLEANUP_TEXT struct text text = {0};
    uint64_t stamp = 0;
    int failed = notes_read(l->root, mounts_path(l->root), MOUNTS_BYTES_MAX, &text);
    if (!failed)
        failed = mounts_parse(text.s, NULL, stamp_mount, &stamp);
    return stamp_number(stamp, (uint64_t)failed);
}

/* The kernel keeps with the descriptor which change it told of. */
static bool mounts_may_be_new(const struct survey_look *l)
{
    struct pollfd p = {.fd = l->mounts, .events = POLLPRI};
    return l->mounts < 0 || (poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLPRI)));
}

static void watch_mounts(struct survey_look *l)
{
    l->mounts = open_leaf(l->root, mounts_path(l->root));
    if (l->mounts >= 0 && !of_the_kernel(l->mounts)) {
        close(l->mounts);
        l->mounts = -1;
    }
}

/* --- the look ---------------------------------------------------------------------------------------------
 */

struct survey_look *survey_look_open(const char *root, const struct survey_conf *conf, int inotify)
{
    int at = sys_open_root(root, NULL);
    if (at < 0)
        return NULL;
    struct survey_look *l = mem_alloc(sizeof *l);
    l->root = at;
    l->inotify = inotify;
    setting_paths(conf, &l->paths);
    if (*root && strcmp(root, "/") != 0) {
        sys_names_add(&l->paths, "proc/cmdline");
        sys_names_add(&l->paths, "proc/sys/kernel/random/boot_id");
    }
    l->leaves = mem_alloc(l->paths.n * sizeof *l->leaves);
    for (size_t i = 0; i < l->paths.n; i++)
        l->leaves[i] = (struct leaf){.path = l->paths.names[i], .fd = -1};
    watch_mounts(l);
    l->leaves_stamp = leaves_stamp(l, true);
    l->mounts_stamp = mounts_stamp(l);
    l->modules_stamp = modules_stamp(l);
    return l;
}

static bool look_renew(uint64_t *stamp, uint64_t now)
{
    bool other = *stamp != now;
    *stamp = now;
    return other;
}

bool survey_look(struct survey_look *l, bool seldom)
{
    bool other = look_renew(&l->leaves_stamp, leaves_stamp(l, seldom));
    if (mounts_may_be_new(l))
        other |= look_renew(&l->mounts_stamp, mounts_stamp(l));
    if (seldom)
        other |= look_renew(&l->modules_stamp, modules_stamp(l));
    return other;
}

bool survey_look_told(const struct survey_look *l)
{
    bool told = l->mounts >= 0;
    for (size_t i = 0; told && i < l->paths.n; i++)
        told = !l->leaves[i].untold;
    return told;
}

void survey_look_close(struct survey_look *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->paths.n; i++)
        if (l->leaves[i].fd >= 0)
            close(l->leaves[i].fd);
    if (l->mounts >= 0)
        close(l->mounts);
    close(l->root);
    free(l->leaves);
    sys_names_fini(&l->paths);
    free(l);
}
