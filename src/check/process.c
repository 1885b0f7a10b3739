/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * zombies   "zombies N", "first PID NAME"
 * dstate    "stuck PID STARTED NAME" for each process that waits without being able to be interrupted,
 *           "processes N"
 * kswapd    "kswapd NAME MS" of each: the time of processors that it took since the boot
 * orphans   "work N", "process PID STARTED USER NAME" of each process of a user, "processes N" of them
 *
 * A line of /proc/PID/stat is "12 (a name (of any) kind) S 1 ..."; the name ends at the last bracket.
 */

bool process_parse(const char *stat, struct process *p)
{
    *p = (struct process){.state = '\0'};
    const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
    if (!open || !close || close < open)
        return false;
    struct words before, after;
    char pid[24];
    snprintf(pid, sizeof pid, "%.*s", (int)(open - stat), stat);
    words_of(pid, &before);
    snprintf(p->name, sizeof p->name, "%.*s", (int)(close - open - 1), open + 1);
    /* Of the fields that follow, the state is the first, the parent the second, the times the 12th and
     * 13th, the start the 20th. */
    const char *start = close + 1 + strspn(close + 1, " ");
    for (int field = 0; *start && field < 19; field++) {
        start += strcspn(start, " ");
        start += strspn(start, " ");
    }
    char number[24];
    snprintf(number, sizeof number, "%.*s", (int)strcspn(start, " \n"), start);
    words_of(close + 1, &after);
    p->state = *after.w[0];
    uint64_t user, system;
    if (word_u64(&after, 11, &user) && word_u64(&after, 12, &system))
        p->ticks = user + system;
    return p->state && !after.w[0][1] && word_u64(&before, 0, &p->pid) && word_u64(&after, 1, &p->ppid) &&
           text_parse_u64(number, 0, UINT64_MAX, &p->started, NULL) == 0;
}

int process_read(int root, const char *pid, struct process *p)
{
    char path[64], stat[1024];
    snprintf(path, sizeof path, "proc/%s/stat", pid);
    int r = sys_line(root, path, stat, sizeof stat);
    if (r < 0)
        return r;
    return process_parse(stat, p) ? 0 : -EINVAL;
}

/* The kernel counts each as a link to /proc. */
bool processes_many(int root)
{
    enum { PROCESSES_MAX = 400 };
    struct stat st;
    return fstatat(root, "proc", &st, 0) == 0 && st.st_nlink > PROCESSES_MAX;
}

static int process_walk(int root, process_fn *fn, void *arg)
{
    int fd = sys_open_dir(root, "proc");
    if (fd < 0)
        return fd;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int r = -errno;
        close(fd);
        return r;
    }
    size_t seen = 0;
    bool more = true;
    for (const struct dirent *entry; more && (entry = readdir(dir));) {
        struct process p;
        if (!isdigit((unsigned char)entry->d_name[0]) || process_read(root, entry->d_name, &p) < 0)
            continue;
        seen++;
        more = fn(&p, arg);
    }
    closedir(dir);
    return seen > 0 ? 0 : -ENODATA; /* the reader itself is a process */
}

static bool were_read(int r, struct text *out)
{
    if (r == -ENOENT || r == -ENODATA)
        fact_add(out, "unknown", "/proc is not mounted");
    else if (r < 0)
        fact_add(out, "unknown", "/proc: %s", strerror(-r));
    return r == 0;
}

bool processes_each(int root, process_fn *fn, void *arg, struct text *out)
{
    return were_read(process_walk(root, fn, arg), out);
}

/* --- what several want to know of all ---------------------------------------------------------- */

struct processes {
    int failed;
    uint64_t n, zombies;
    struct process zombie; /* the first */
    struct text stuck;     /* facts */
    struct text reclaim;   /* the same, of kswapd */
};

/* The kernel threads that free memory, one for each NUMA node. */
static void add_kswapd(struct processes *all, const struct process *p)
{
    enum { KTHREADD = 2 };
    if (p->ppid == KTHREADD && strncmp(p->name, "kswapd", 6) == 0)
        fact_add(&all->reclaim, "kswapd", "%s %" PRIu64, p->name,
                 p->ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static bool add_process(const struct process *p, void *arg)
{
    struct processes *all = arg;
    all->n++;
    if (p->state == 'Z' && all->zombies++ == 0)
        all->zombie = *p;
    if (p->state == 'D')
        fact_add(&all->stuck, "stuck", "%" PRIu64 " %" PRIu64 " %s", p->pid, p->started, p->name);
    add_kswapd(all, p);
    return true;
}

void processes_free(struct processes *p)
{
    if (!p)
        return;
    text_fini(&p->stuck);
    text_fini(&p->reclaim);
    free(p);
}

/* NULL when they could not be read, which is then a fact. */
static const struct processes *processes_of(const struct look *l, struct look_shared *alone, struct text *out)
{
    struct look_shared *shared = l->shared ? l->shared : alone;
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return NULL;
    if (!shared->processes) {
        shared->processes = mem_alloc(sizeof *shared->processes);
        shared->processes->failed = process_walk(root, add_process, shared->processes);
    }
    return were_read(shared->processes->failed, out) ? shared->processes : NULL;
}

/* --- zombies -------------------------------------------------------------------------------- */

void gather_ZOMBIES(const struct look *l, struct text *out)
{
    struct look_shared alone = {.processes = NULL};
    const struct processes *all = processes_of(l, &alone, out);
    if (all)
        fact_add(out, "zombies", "%" PRIu64, all->zombies);
    if (all && all->zombies > 0)
        fact_add(out, "first", "%" PRIu64 " %s, child of %" PRIu64, all->zombie.pid, all->zombie.name,
                 all->zombie.ppid);
    processes_free(alone.processes);
}

void judge_ZOMBIES(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t n;
    int64_t warn, degraded;
    if (!want_number(l, "Warn", 1000, &warn, v) || !want_number(l, "Degraded", 2000, &degraded, v))
        return;
    if (!fact_u64(facts, "zombies", &n)) {
        verdict_cannot(v, RESULT_UNKNOWN, "zombies were not counted");
        return;
    }
    bool bad = n >= (uint64_t)degraded;
    if (!bad && n < (uint64_t)warn)
        return;
    struct fact_line first;
    verdict_add(v, bad ? RESULT_DEGRADED : RESULT_WARN, "", "",
                "%" PRIu64 " zombies, of at most %" PRId64 "; one is %s", n, bad ? degraded : warn,
                fact_find(facts, "first", &first) ? first.value : "not known");
}

/* --- those that nothing wakes --------------------------------------------------------------- */

void gather_DSTATE(const struct look *l, struct text *out)
{
    struct look_shared alone = {.processes = NULL};
    const struct processes *all = processes_of(l, &alone, out);
    if (all && all->stuck.s)
        text_add(out, all->stuck.s);
    if (all)
        fact_add(out, "processes", "%" PRIu64, all->n);
    processes_free(alone.processes);
}

/* The disk whose journal this kernel thread writes: "jbd2/sda1-8", "xfsaild/nvme0n1p2"; 15 characters at
 * most. A file system on a server or on a file hangs when that hangs. */
static bool writes_journal(const char *name, char disk[static 16])
{
    static const char *const remote[] = {"loop", "nbd", "rbd"};
    const char *of = strncmp(name, "jbd2/", 5) == 0      ? name + 5
                     : strncmp(name, "xfsaild/", 8) == 0 ? name + 8
                                                         : "";
    for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++)
        if (strncmp(of, remote[i], strlen(remote[i])) == 0)
            return false;
    snprintf(disk, 16, "%.*s", (int)(name[0] == 'j' ? strcspn(of, "-") : strlen(of)), of);
    return *disk;
}

static void judge_journal(const char *name, int64_t looks, struct verdict *v)
{
    char disk[16], device[32];
    if (!writes_journal(name, disk))
        return;
    snprintf(device, sizeof device, "disk %s", disk);
    verdict_add(v, RESULT_FATAL, device, "disk.hung",
                "it does not answer: the process that writes its journal has waited in %" PRId64
                " looks in a row",
                looks);
}

/* Every process waits so now and then; the same one in each look does not get on. */
void judge_DSTATE(struct look *l, const char *facts, struct verdict *v)
{
    int64_t limit, longest = 0;
    uint64_t stuck = 0;
    char one[192] = "";
    struct fact_line line;
    if (!want_number(l, "Looks", 5, &limit, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char who[64];
        if (strcmp(line.key, "stuck") != 0)
            continue;
        words_of(line.value, &w);
        snprintf(who, sizeof who, "%.20s %.20s", w.w[0], w.w[1]);
        int64_t looks = in_a_row(l, "stuck", who, true);
        stuck += looks >= limit;
        if (looks >= limit)
            judge_journal(w.w[2], looks, v);
        if (looks >= limit && looks > longest) {
            longest = looks;
            snprintf(one, sizeof one, "%.20s %.64s", w.w[0], w.w[2]);
        }
    }
    if (stuck > 0)
        verdict_add(v, RESULT_DEGRADED, "", "",
                    "%" PRIu64 " processes wait and cannot be interrupted, in %" PRId64
                    " looks in a row and more; one is "
                    "%s, for %" PRId64 " looks",
                    stuck, limit, one, longest);
}

/* --- kswapd --------------------------------------------------------------------------------- */

void gather_KSWAPD(const struct look *l, struct text *out)
{
    struct look_shared alone = {.processes = NULL};
    const struct processes *all = processes_of(l, &alone, out);
    if (all && all->reclaim.s)
        text_add(out, all->reclaim.s);
    else if (all)
        fact_add(out, "unsupported", "no kswapd is seen here");
    processes_free(alone.processes);
}

/* Freeing memory is its work at times; a thread that does nothing else does not free enough. */
void judge_KSWAPD(struct look *l, const char *facts, struct verdict *v)
{
    unsigned most;
    int64_t limit;
    struct fact_line line;
    if (!want_percent(l, "Warn", 80, &most, v) || !want_number(l, "Looks", 5, &limit, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t ms, grew = 0;
        struct span in = {0};
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        if (strcmp(line.key, "kswapd") != 0 || !word_u64(&w, 1, &ms))
            continue;
        if (!counter_take(memory_counter(l->memory, w.w[0]), l->now, ms, &grew, &in))
            grew = 0;
        unsigned share = percent_of(grew, (uint64_t)in.ns / 1000000);
        int64_t looks = in_a_row(l, "busy", w.w[0], share > most);
        snprintf(device, sizeof device, "node%.16s", w.w[0] + strcspn(w.w[0], "0123456789"));
        if (looks >= limit)
            verdict_add(v, RESULT_WARN, device, "",
                        "%.16s took %u %% of a processor to free memory, of at most %u %%, in %" PRId64
                        " looks in a row",
                        w.w[0], share, most, looks);
    }
}

/* --- those of users whose work is over ------------------------------------------------------ */

enum { ALLOWED_MAX = 64, ORPHANS_MAX = 256 /* that are named */ };

struct users {
    int root;
    uint64_t allowed[ALLOWED_MAX], n_allowed, processes;
    struct text *out;
};

struct entry {
    const char *name;
    uint64_t number;
    bool found;
};

/* "name:x:1001:..." of /etc/passwd. No name service is asked: it may hang, and its server is not this node.
 */
static bool on_user(const char *line, void *arg)
{
    struct entry *e = arg;
    size_t len = strlen(e->name);
    if (strncmp(line, e->name, len) != 0 || line[len] != ':')
        return true;
    const char *number = line + len + 1 + strcspn(line + len + 1, ":");
    number += *number == ':';
    char text[24];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(number, ":"), number);
    e->found = text_parse_u64(text, 0, UINT32_MAX, &e->number, NULL) == 0;
    return false;
}

static void process_allow(struct users *u, const char *name)
{
    struct entry e = {.name = name};
    if (text_parse_u64(name, 0, UINT32_MAX, &e.number, NULL) == 0)
        e.found = true;
    else
        sys_each_line(u->root, "etc/passwd", on_user, &e);
    if (!e.found)
        fact_add(u->out, "unknown", "/etc/passwd has no user \"%s\"", name);
    else if (u->n_allowed < ALLOWED_MAX)
        u->allowed[u->n_allowed++] = e.number;
}

static void allow_all(struct users *u, const char *names)
{
    char name[64];
    for (; *names; names += strcspn(names, ","), names += strspn(names, ",")) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(names, ","), names);
        if (*name)
            process_allow(u, name);
    }
}

/* "Uid:\t1001\t1001\t1001\t1001", the real one first. */
static bool on_status(const char *line, void *arg)
{
    struct entry *e = arg;
    char text[24];
    if (strncmp(line, "Uid:", 4) != 0)
        return true;
    line += 4 + strspn(line + 4, " \t");
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, " \t"), line);
    e->found = text_parse_u64(text, 0, UINT32_MAX, &e->number, NULL) == 0;
    return false;
}

/* Users from 1000 on, but the kernel's and systemd's own (systemd's UIDS-GIDS.md). */
static bool is_person(uint64_t user)
{
    return user >= 1000 && (user < 61184 || user > 65535) && user < UINT32_MAX - 1;
}

static bool add_orphan(const struct process *p, void *arg)
{
    struct users *u = arg;
    struct entry e = {.found = false};
    char path[64];
    snprintf(path, sizeof path, "proc/%" PRIu64 "/status", p->pid);
    bool gone = p->state == 'Z' || p->state == 'X' || sys_each_line(u->root, path, on_status, &e) < 0;
    if (gone || !e.found || !is_person(e.number))
        return true;
    for (size_t i = 0; i < u->n_allowed; i++)
        if (u->allowed[i] == e.number)
            return true;
    if (u->processes++ < ORPHANS_MAX)
        fact_add(u->out, "process", "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s", p->pid, p->started, e.number,
                 p->name);
    return true;
}

void gather_ORPHANS(const struct look *l, struct text *out)
{
    const char *allowed = check_arg(l->check, "Users");
    CLEANUP_FD int root = look_root(l, out);
    struct users u = {.root = root, .out = out};
    if (root < 0)
        return;
    fact_work(l, out);
    allow_all(&u, allowed ? allowed : "");
    if (processes_each(root, add_orphan, &u, out))
        fact_add(out, "processes", "%" PRIu64, u.processes);
}

/* A job's last processes take a moment to end; those that are still there in the next look are left over. */
void judge_ORPHANS(struct look *l, const char *facts, struct verdict *v)
{
    int64_t limit;
    uint64_t named = 0, all;
    char one[192] = "";
    struct fact_line line;
    if (!want_number(l, "Looks", 2, &limit, v) || !facts_idle(facts, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char who[64];
        if (strcmp(line.key, "process") != 0)
            continue;
        words_of(line.value, &w);
        snprintf(who, sizeof who, "%.20s %.20s", w.w[0], w.w[1]);
        if (in_a_row(l, "orphan", who, true) < limit)
            continue;
        if (named++ == 0)
            snprintf(one, sizeof one, "%.20s %.64s of user %.20s", w.w[0], w.w[3], w.w[2]);
    }
    if (named == ORPHANS_MAX && fact_u64(facts, "processes", &all) && all > named)
        named = all;
    if (named > 0)
        verdict_add(v, RESULT_WARN, "", "",
                    "%" PRIu64 " processes of users are there while no work runs, in %" PRId64
                    " looks in a row and more; one is %s",
                    named, limit, one);
}
