/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files whose changes the kernel reports (inotify), and their stamp, for when a report was missed. Files
 * on servers are skipped; the kernel's own list shows what is mounted there.
 */
#include "survey/part.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

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
    for (size_t i = 0; i < conf->files.n; i++) {
        assert(conf->files.names[i][0] == '/');
        if (!mounts.s || !mounts_remote(mounts.s, conf->files.names[i]))
            stamp = stamp_file(stamp, at, conf->files.names[i] + 1);
    }
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
