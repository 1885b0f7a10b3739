/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/family.h"

#include "base/text.h"
#include "probe/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The kernel gives orphans to the nearest subreaper above them, and lists the children of a process in
 * /proc/PID/task/TID/children. A walk over these from this process finds the whole family, at the cost of
 * the family alone. When the family forks faster than the walk, its control group kills it; without a
 * control group the walk kills again and again.
 *
 * A group whose children have controllers may hold no process itself, so the daemon moves into a group
 * beside the families (SETTLED). The unit takes the controllers from the families when the daemon has
 * ended, because the service manager puts the next daemon into the group above (ADR 0020). A remedy that
 * outlives its agent is only measured meanwhile; family_excess writes the bounds again each time, so the
 * next agent bounds it once it has settled.
 */

#define SETTLED "fettle-agent"

enum {
    DEPTH_MAX = 64,
    AGAIN_MS = 5,
    REMOVALS = 20,
    EVERYDAY_PROCESSES = 256,
    EVERYDAY_MEMORY_MB = 1024,
    MACHINE_PROCESSES = 16384
};

/* --- the control group -------------------------------------------------------------------------- */

/* Where version 2 is mounted; false: it is not. */
static bool take_mount(const char *line, void *arg)
{
    char point[256];
    const char *type = strstr(line, " - cgroup2 ");
    if (!type || sscanf(line, "%*s %*s %*s / %255s", point) != 1)
        return true;
    snprintf(arg, sizeof point, "%s", point);
    return false;
}

/* This process's own group: "0::/PATH". */
static bool take_own(const char *line, void *arg)
{
    if (strncmp(line, "0::/", 4) != 0)
        return true;
    text_add(arg, line + 3);
    return false;
}

/* The directory of this process's group. */
static bool own_group(struct text *out)
{
    char mount[256] = "";
    CLEANUP_FD int root = sys_open_dir(AT_FDCWD, "/");
    CLEANUP_TEXT struct text own = {0};
    if (root < 0)
        return false;
    sys_each_line(root, "proc/self/mountinfo", take_mount, mount);
    sys_each_line(root, "proc/self/cgroup", take_own, &own);
    if (!*mount || !own.len)
        return false;
    text_printf(out, "%s%s", mount, strcmp(own.s, "/") == 0 ? "" : own.s);
    return true;
}

/* The group in which families are made. */
static bool home_group(struct text *out)
{
    static const char settled[] = "/" SETTLED;
    size_t n = sizeof settled - 1;
    if (!own_group(out))
        return false;
    if (out->len > n && strcmp(out->s + out->len - n, settled) == 0)
        out->s[out->len -= n] = 0;
    return true;
}

static bool write_word(const char *group, const char *file, const char *word)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/%s", group, file);
    CLEANUP_FD int fd = open(path.s, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, word, strlen(word)) == (ssize_t)strlen(word);
}

/* The number behind a key, of a file of lines "KEY NUMBER"; 0 when the key is missing. */
static uint64_t read_count(const char *group, const char *file, const char *key)
{
    char text[SYS_LINE_BYTES_MAX] = "", *rest = text;
    size_t n = strlen(key);
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/%s", group, file);
    if (sys_read(AT_FDCWD, path.s, text, sizeof text))
        return 0;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (strncmp(line, key, n) == 0 && line[n] == ' ')
            return strtoull(line + n + 1, NULL, 10);
    return 0;
}

static bool is_populated(const char *group)
{
    return read_count(group, "cgroup.events", "populated") > 0;
}

void family_settle(void)
{
    CLEANUP_TEXT struct text home = {0}, own = {0}, type = {0};
    if (!home_group(&home))
        return;
    text_printf(&type, "%s/cgroup.type", home.s);
    text_printf(&own, "%s/" SETTLED, home.s);
    if (access(type.s, F_OK) ||
        (mkdir(own.s, 0755) && errno != EEXIST)) /* no daemon may settle in the root */
        return;
    if (write_word(own.s, "cgroup.procs", "0") &&
        write_word(home.s, "cgroup.subtree_control", "+memory +pids"))
        return;
    write_word(home.s, "cgroup.procs", "0");
    rmdir(own.s);
}

/* Process numbers mean something in one namespace. */
static void add_prefix(struct text *out)
{
    char space[SYS_TEXT_BYTES_MAX] = "";
    CLEANUP_FD int root = sys_open_dir(AT_FDCWD, "/");
    if (root >= 0)
        sys_link(root, "proc/self/ns/pid", space);
    const char *number = space + strcspn(space, "0123456789"); /* "pid:[4026531836]" */
    text_printf(out, "fettle-%.*s-", (int)strspn(number, "0123456789"), number);
}

/* Its process was killed before it could do so. */
static void end_orphan(const char *own, const char *name, const char *prefix)
{
    uint64_t pid;
    CLEANUP_TEXT struct text group = {0};
    if (strncmp(name, prefix, strlen(prefix)) != 0 ||
        text_parse_u64(name + strlen(prefix), 1, INT32_MAX, &pid, NULL) || kill((pid_t)pid, 0) == 0 ||
        errno != ESRCH)
        return;
    text_printf(&group, "%s/%s", own, name);
    write_word(group.s, "cgroup.kill", "1");
    rmdir(group.s);
}

static void end_orphans(const char *own, const char *prefix)
{
    DIR *list = opendir(own);
    for (struct dirent *d; list && (d = readdir(list));)
        end_orphan(own, d->d_name, prefix);
    if (list)
        closedir(list);
}

/* True when the kernel keeps the bounds from now on. Processes that share one are killed together. */
static bool family_bound(const struct family *f)
{
    char memory[24], processes[24];
    snprintf(memory, sizeof memory, "%" PRIu64, f->memory_bytes_max);
    snprintf(processes, sizeof processes, "%" PRIu64, f->processes_max);
    return write_word(f->group, "memory.oom.group", "1") && write_word(f->group, "memory.max", memory) &&
           write_word(f->group, "pids.max", processes);
}

void family_begin(struct family *f, bool machine)
{
    CLEANUP_TEXT struct text home = {0}, prefix = {0}, group = {0}, kill_file = {0};
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    *f = (struct family){
        .processes_max = machine ? MACHINE_PROCESSES : EVERYDAY_PROCESSES,
        .memory_bytes_max = machine ? memory / 10 * 9 : (uint64_t)EVERYDAY_MEMORY_MB << 20,
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!home_group(&home))
        return;
    add_prefix(&prefix);
    end_orphans(home.s, prefix.s);
    text_printf(&group, "%s/%s%d", home.s, prefix.s, (int)getpid());
    text_printf(&kill_file, "%s/cgroup.kill", group.s);
    if (mkdir(group.s, 0755) && errno != EEXIST)
        return;
    if (access(kill_file.s, W_OK) == 0) /* since Linux 5.14 */
        f->group = text_take(&group);
    else
        rmdir(group.s);
    if (f->group)
        family_bound(f);
}

void family_join(const struct family *f)
{
    if (f->group)
        write_word(f->group, "cgroup.procs", "0");
}

/* They go to the group of this process. */
static bool move_one(const char *line, void *arg)
{
    write_word(arg, "cgroup.procs", line);
    return true;
}

void family_end(struct family *f)
{
    CLEANUP_TEXT struct text procs = {0}, own = {0};
    if (f->group && own_group(&own)) {
        text_printf(&procs, "%s/cgroup.procs", f->group);
        sys_each_line(AT_FDCWD, procs.s, move_one, own.s);
        for (int i = 0; i < REMOVALS && rmdir(f->group) && errno == EBUSY; i++)
            poll(NULL, 0, AGAIN_MS); /* the dead may count for a moment */
    }
    free(STEAL(f->group));
}

/* --- who they are --------------------------------------------------------------------------------- */

typedef void member_fn(pid_t pid, void *arg);

static void each_below(pid_t pid, unsigned depth, member_fn *fn, void *arg);

static void each_child(const char *file, unsigned depth, member_fn *fn, void *arg)
{
    char pids[SYS_LINE_BYTES_MAX];
    if (sys_line(AT_FDCWD, file, pids, sizeof pids) < 0)
        return;
    for (char *at = pids, *end; *at; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at)
            break;
        each_below((pid_t)child, depth + 1, fn, arg);
        fn((pid_t)child, arg);
    }
}

/* Descendants first: a parent that is killed before them would hand them on. */
static void each_below(pid_t pid, unsigned depth, member_fn *fn, void *arg)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = depth < DEPTH_MAX ? opendir(path) : NULL;
    for (struct dirent *d; tasks && (d = readdir(tasks));) {
        char file[sizeof path + sizeof d->d_name + sizeof "//children"];
        if (*d->d_name == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s/children", path, d->d_name);
        each_child(file, depth, fn, arg);
    }
    if (tasks)
        closedir(tasks);
}

/* "SIZE RESIDENT SHARED ...", in pages. */
static void add_size(pid_t pid, void *arg)
{
    struct family_size *all = arg;
    char path[64], text[SYS_TEXT_BYTES_MAX];
    uint64_t resident, shared;
    all->processes++;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    if (sys_text(AT_FDCWD, path, text) == 0 &&
        sscanf(text, "%*s %18" SCNu64 " %18" SCNu64, &resident, &shared) == 2 && resident > shared)
        all->memory_bytes += (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct family_size family_measure(void)
{
    struct family_size all = {0};
    each_below(getpid(), 0, add_size, &all);
    return all;
}

const char *family_excess(struct family *f)
{
    bool kept = f->group && family_bound(f);
    struct family_size is = kept ? (struct family_size){0} : family_measure();
    if (is.processes > f->processes_max || (kept && read_count(f->group, "pids.events", "max")))
        snprintf(f->excess, sizeof f->excess, "%" PRIu64 " processes", f->processes_max);
    else if (is.memory_bytes > f->memory_bytes_max ||
             (kept && read_count(f->group, "memory.events", "oom_kill")))
        snprintf(f->excess, sizeof f->excess, "%" PRIu64 " MB of memory", f->memory_bytes_max >> 20);
    return *f->excess ? f->excess : NULL;
}

/* --- their end -------------------------------------------------------------------------------------- */

static void end_one(pid_t pid, void *arg)
{
    if (pid > 1)
        kill(pid, SIGKILL);
}

static bool reap_all(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0 || (pid < 0 && errno == EINTR))
        ;
    return pid < 0; /* ECHILD: no child is left */
}

bool family_kill(const struct family *f, struct span limit)
{
    struct mono until = mono_add(mono_now(), limit);
    for (;;) {
        if (f->group)
            write_word(f->group, "cgroup.kill", "1");
        each_below(getpid(), 0, end_one, NULL);
        if (reap_all() && (!f->group || !is_populated(f->group)))
            return true;
        if (mono_sub(until, mono_now()).ns <= 0)
            return false;
        poll(NULL, 0, AGAIN_MS);
    }
}
