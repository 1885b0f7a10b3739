/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"
#include "probe/probe.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The process is one that the kernel just named, so it may still exist. Slurm's cgroup of the process names
 * its job. The other processes of that cgroup show which GPUs the job uses, by the device files that they
 * hold open. Nothing is read that can wait for a process (its command line, its environment), and user
 * names come from the file of users alone, because any other source may wait for a server.
 */

enum { LINKS_MAX = 4096, DEPTH_MAX = 4, GPUS_MAX = 64 };

struct search {
    int root;
    unsigned links;   /* looked at so far */
    uint64_t devices; /* a bit for each GPU */
};

static void take_links(struct search *s, const char *pid)
{
    static const char device[] = "/dev/nvidia";
    char path[64], target[64];
    snprintf(path, sizeof path, "proc/%.20s/fd", pid);
    CLEANUP_FD int dir = sys_open_dir(s->root, path);
    struct sys_names names = {0};
    if (dir >= 0)
        sys_names_read(&names, dir);
    for (size_t i = 0; i < names.n && s->links < LINKS_MAX; i++, s->links++) {
        uint64_t number;
        ssize_t n = readlinkat(dir, names.names[i], target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strncmp(target, device, sizeof device - 1) == 0 &&
            text_parse_u64(target + sizeof device - 1, 0, GPUS_MAX - 1, &number, NULL) == 0)
            s->devices |= UINT64_C(1) << number;
    }
    sys_names_fini(&names);
}

static bool take_process(const char *line, void *arg)
{
    take_links(arg, line);
    return ((struct search *)arg)->links < LINKS_MAX;
}

static void take_cgroup(struct search *s, int dir, int depth)
{
    struct sys_names names = {0};
    sys_each_line(dir, "cgroup.procs", take_process, s);
    if (depth < DEPTH_MAX && s->links < LINKS_MAX)
        sys_names_read(&names, dir);
    for (size_t i = 0; i < names.n; i++) {
        CLEANUP_FD int below = sys_open_dir(dir, names.names[i]);
        if (below >= 0)
            take_cgroup(s, below, depth + 1);
    }
    sys_names_fini(&names);
}

/* "4:memory:/slurm/uid_1000/job_7/step_0" or "0::/system.slice/slurmstepd.scope/job_7/step_0/user". */
static bool take_line(const char *line, void *arg)
{
    char *out = arg;
    const char *by = strchr(line, ':'), *path = by ? strchr(by + 1, ':') : NULL;
    const char *job = path ? strstr(path, "/job_") : NULL;
    if (!job || by[1] == 'n')
        return true;
    size_t controllers = (size_t)(path - by - 1), to = strcspn(job + 1, "/") + (size_t)(job + 1 - path - 1);
    if (controllers + to + 16 < SYS_LINE_BYTES_MAX)
        snprintf(out, SYS_LINE_BYTES_MAX, "sys/fs/cgroup/%.*s%.*s", (int)controllers, by + 1, (int)to,
                 path + 1);
    return false;
}

static void user_of(int root, uid_t uid, char *out, size_t size)
{
    snprintf(out, size, "uid %u", (unsigned)uid);
    CLEANUP_FD int fd = openat(root, "etc/passwd", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd < 0 ? NULL : fdopen(dup(fd), "r");
    for (const struct passwd *p; f && (p = fgetpwent(f));)
        if (p->pw_uid == uid && strlen(p->pw_name) < size) {
            snprintf(out, size, "%s", p->pw_name);
            break;
        }
    if (f)
        fclose(f);
}

bool probe_whose(const char *root, unsigned pid, struct whose *out)
{
    char path[64], group[SYS_LINE_BYTES_MAX] = "";
    struct stat st;
    *out = (struct whose){0};
    CLEANUP_FD int at = sys_open_root(root, NULL);
    snprintf(path, sizeof path, "proc/%u", pid);
    if (at < 0 || fstatat(at, path, &st, 0) < 0)
        return false;
    user_of(at, st.st_uid, out->user, sizeof out->user);
    snprintf(path, sizeof path, "proc/%u/cgroup", pid);
    if (sys_each_line(at, path, take_line, group) < 0 || !*group)
        return true;
    snprintf(out->work, sizeof out->work, "slurm.%.50s", strrchr(group, '/') + 1 + strlen("job_"));
    struct search s = {.root = at};
    CLEANUP_FD int dir = sys_open_dir(at, group);
    if (dir >= 0)
        take_cgroup(&s, dir, 0);
    out->gpus = (unsigned)__builtin_popcountll(s.devices);
    return true;
}

static bool take_parent(const char *line, void *arg)
{
    return sscanf(line, "PPid: %9u", (unsigned *)arg) != 1;
}

bool probe_kernels(const char *root, unsigned pid)
{
    enum { KTHREADD = 2 };
    unsigned parent = 0;
    char path[64];
    CLEANUP_FD int at = sys_open_root(root, NULL);
    snprintf(path, sizeof path, "proc/%u/status", pid);
    return at >= 0 && sys_each_line(at, path, take_parent, &parent) >= 0 &&
           (parent == KTHREADD || pid == KTHREADD);
}
