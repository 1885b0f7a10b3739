/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What tells of files by itself (inotify), and who they are, for when it was missed. Files on servers are
 * passed over, and what is mounted there is learnt from the kernel's own list.
 */

uint64_t stamp_bytes(uint64_t stamp, const void *bytes, size_t n)
{
    return digest_fnv(stamp ? stamp : DIGEST_FNV_START, bytes, n);
}

uint64_t stamp_number(uint64_t stamp, uint64_t n)
{
    return stamp_bytes(stamp, &n, sizeof n);
}

uint64_t stamp_file(uint64_t stamp, int at, const char *path)
{
    struct stat st;
    if (fstatat(at, path, &st, 0) < 0)
        return stamp_number(stamp, (uint64_t)errno);
    const uint64_t parts[] = {st.st_dev,
                              st.st_ino,
                              (uint64_t)st.st_size,
                              st.st_mode,
                              st.st_uid,
                              st.st_gid,
                              (uint64_t)st.st_mtim.tv_sec,
                              (uint64_t)st.st_mtim.tv_nsec,
                              (uint64_t)st.st_ctim.tv_sec,
                              (uint64_t)st.st_ctim.tv_nsec};
    return stamp_bytes(stamp, parts, sizeof parts);
}

static const char *const FILES[] = {
    "/etc/os-release",
    "/usr/lib/os-release",
    "/run/fettle/image",
    "/etc/fettle-image",
};

static void read_mounts(int root, struct text *out)
{
    if (notes_read(root, mounts_path(root), MOUNTS_BYTES_MAX, out) < 0)
        text_fini(out);
}

uint64_t survey_stamp(const char *root, const struct survey_conf *conf)
{
    CLEANUP_TEXT struct text mounts = {0};
    uint64_t stamp = 0;
    CLEANUP_FD int at = sys_open_root(root, NULL);
    if (at < 0)
        return 0;
    read_mounts(at, &mounts);
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        stamp = stamp_file(stamp, at, FILES[i] + 1);
    for (size_t i = 0; i < conf->files.n; i++)
        if (!mounts.s || !mounts_remote(mounts.s, conf->files.names[i]))
            stamp = stamp_file(stamp, at, conf->files.names[i] + 1);
    return stamp_number(stamp, package_stamp(at));
}

/* Nothing below /proc and /sys tells that it changed. */
static bool can_be_watched(const char *path)
{
    return strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0;
}

void survey_watched(const struct survey_conf *conf, struct hostlist *out)
{
    package_files(out);
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        hostlist_add(out, FILES[i]);
    for (size_t i = 0; i < conf->files.n; i++)
        if (can_be_watched(conf->files.names[i]))
            hostlist_add(out, conf->files.names[i]);
}

void survey_local(const char *root, const struct hostlist *paths, struct hostlist *out)
{
    CLEANUP_TEXT struct text mounts = {0};
    CLEANUP_FD int at = sys_open_root(root, NULL);
    if (at >= 0)
        read_mounts(at, &mounts);
    for (size_t i = 0; i < paths->n; i++)
        if (!mounts.s || !mounts_remote(mounts.s, paths->names[i]))
            hostlist_add(out, paths->names[i]);
}
