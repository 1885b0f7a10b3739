/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"
#include "probe/probe.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Running work is read from a directory of files, and from directories whose names match patterns below a
 * fixed one. A directory that is missing holds no work, also when it goes while it is read: a job has
 * ended. A directory that exists and cannot be read leaves the work unknown. So does a list that does not
 * fit in a heartbeat, because a cut list would be taken for the whole.
 */

enum { WORK_BYTES_MAX = 32 << 10 };

static const char files_dir[] = "run/fettle/work";

/* Slurm's directory of job cgroups, and the patterns of the directories down to them. */
static const struct place {
    const char *dir;
    const char *patterns[4];
} places[] = {
    /* v1: in whichever controllers it was told to use; "slurm_NODE" where several share a machine */
    {"sys/fs/cgroup/freezer", {"slurm*", "uid_*", "job_*"}},
    {"sys/fs/cgroup/cpuset", {"slurm*", "uid_*", "job_*"}},
    {"sys/fs/cgroup/memory", {"slurm*", "uid_*", "job_*"}},
    {"sys/fs/cgroup/devices", {"slurm*", "uid_*", "job_*"}},
    {"sys/fs/cgroup/cpuacct", {"slurm*", "uid_*", "job_*"}},
    /* v2; "NODE_slurmstepd.scope" where several share a machine */
    {"sys/fs/cgroup/system.slice", {"*slurmstepd.scope", "job_*"}},
    {"sys/fs/cgroup/unified/system.slice", {"*slurmstepd.scope", "job_*"}},
};

static int read_entries(int dir, struct sys_names *entries)
{
    int r = sys_names_read(entries, dir);
    return r == 0 && entries->n == SYS_ENTRIES_MAX ? -E2BIG : r;
}

static int find_files(int dir, struct sys_names *work)
{
    struct sys_names entries = {0};
    int r = read_entries(dir, &entries);
    for (size_t i = 0; r == 0 && i < entries.n; i++) {
        struct stat st;
        if (fstatat(dir, entries.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode))
            sys_names_add(work, entries.names[i]);
    }
    sys_names_fini(&entries);
    return r;
}

/* Adds "slurm.1234" for each directory that the patterns lead to from dir. */
static int find_jobs(int dir, const char *const *patterns, struct sys_names *work)
{
    struct sys_names entries = {0};
    int r = read_entries(dir, &entries);
    for (size_t i = 0; r == 0 && i < entries.n; i++) {
        const char *name = entries.names[i];
        if (fnmatch(patterns[0], name, 0) != 0)
            continue;
        CLEANUP_FD int below = sys_open_dir(dir, name);
        if (below < 0) {
            r = below == -ENOENT || below == -ENOTDIR ? 0 : below;
        } else if (patterns[1]) {
            r = find_jobs(below, patterns + 1, work);
        } else {
            CLEANUP_TEXT struct text id = {0};
            text_printf(&id, "slurm.%s", name + strlen("job_"));
            sys_names_add(work, id.s);
        }
    }
    sys_names_fini(&entries);
    return r;
}

/* One place, of files when there are no patterns. */
static int work_find(int root, const char *dir, const char *const *patterns, struct sys_names *work)
{
    CLEANUP_FD int fd = sys_open_dir(root, dir);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    return patterns ? find_jobs(fd, patterns, work) : find_files(fd, work);
}

static int find_all(int root, struct sys_names *work, const char **where)
{
    int r = work_find(root, *where = files_dir, NULL, work);
    for (size_t i = 0; r == 0 && i < sizeof places / sizeof places[0]; i++)
        r = work_find(root, *where = places[i].dir, places[i].patterns, work);
    if (r < 0)
        return r;
    sys_names_sort(work);
    size_t bytes = 0;
    for (size_t i = 0; i < work->n; i++)
        bytes += strlen(work->names[i]) + 3; /* quotes and a comma */
    *where = "the names of the running work";
    return bytes > WORK_BYTES_MAX ? -E2BIG : 0;
}

int probe_work(const char *root, json_t **out, struct err *e)
{
    CLEANUP_FD int at = sys_open_root(root, e);
    if (at < 0)
        return at;
    struct sys_names work = {0};
    const char *where;
    int r = find_all(at, &work, &where);
    if (r < 0) {
        err_set(e, r, "%s/%s: %s", root, where, strerror(-r));
    } else {
        *out = json_array();
        for (size_t i = 0; i < work.n; i++)
            json_array_append_new(*out, sys_string(work.names[i]));
    }
    sys_names_fini(&work);
    return r;
}

int probe_work_text(const char *root, struct text *out, struct err *e)
{
    CLEANUP_JSON json_t *work = NULL;
    int r = probe_work(root, &work, e);
    if (r)
        return r;
    CLEANUP_FREE char *s = json_write(work);
    text_add(out, s);
    return 0;
}
