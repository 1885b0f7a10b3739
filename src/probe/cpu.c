/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Processors: how many are online from one file; sockets, cores and threads from the lists of
 * siblings in the topology of /sys. Each list covers all its members, so one file is read for each
 * socket and for each core of the first one, not for each processor.
 *
 * What is reported must not waver, or every reading would count as a change of the node. The MHz
 * of /proc/cpuinfo are the momentary ones on many machines, so they come last, after the nominal
 * frequency of cpufreq, and where the kernel measures them (APERF and MPERF) the rate of the time
 * stamp counter stands for them: half the BogoMIPS on such a processor.
 */

static bool set_has(const struct cpu_set *s, unsigned cpu)
{
    return s->bits[cpu / 64] >> (cpu % 64) & 1;
}

static void set_add(struct cpu_set *s, unsigned cpu)
{
    s->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

unsigned cpu_set_count(const struct cpu_set *s)
{
    unsigned n = 0;
    for (size_t i = 0; i < CPU_MAX / 64; i++)
        n += (unsigned)__builtin_popcountll(s->bits[i]);
    return n;
}

/* The number at *p, which moves behind it; CPU_MAX when there is no number or it is too large. */
static unsigned take_cpu(const char **p)
{
    if (**p < '0' || **p > '9')
        return CPU_MAX;
    unsigned n = 0;
    for (; **p >= '0' && **p <= '9'; (*p)++)
        n = n < CPU_MAX ? n * 10 + (unsigned)(**p - '0') : CPU_MAX;
    return n < CPU_MAX ? n : CPU_MAX;
}

int cpu_list_parse(const char *text, struct cpu_set *out, struct err *e)
{
    *out = (struct cpu_set){0};
    const char *p = text;
    while (*p && *p != '\n') {
        unsigned first = take_cpu(&p);
        unsigned last = first;
        if (*p == '-') {
            p++;
            last = take_cpu(&p);
        }
        bool ends = *p == '\0' || *p == '\n' || (*p == ',' && p[1] >= '0' && p[1] <= '9');
        if (first >= CPU_MAX || last >= CPU_MAX || last < first || !ends)
            return err_set(e, -EINVAL, "\"%.64s\" is not a list of processors below %d", text, CPU_MAX);
        for (unsigned cpu = first; cpu <= last; cpu++)
            set_add(out, cpu);
        p += *p == ',';
    }
    return p[0] == '\n' && p[1] ? err_set(e, -EINVAL, "more than one line of processors") : 0;
}

static int read_list(int at, const char *path, struct cpu_set *out)
{
    CLEANUP_FREE char *text = mem_alloc(SYS_FILE_BYTES_MAX);
    int r = sys_read(at, path, text, SYS_FILE_BYTES_MAX);
    return r < 0 ? r : cpu_list_parse(text, out, NULL);
}

/* In how many groups the processors of `all` fall: a group is the list in that file of any member's
 * topology. *first is the first group, within all. 0 when a list cannot be read. */
static unsigned cpu_groups(int dir, const struct cpu_set *all, const char *file, struct cpu_set *first)
{
    struct cpu_set left = *all;
    unsigned n = 0;
    for (unsigned cpu = 0; cpu < CPU_MAX; cpu++) {
        if (!set_has(&left, cpu))
            continue;
        char path[64];
        snprintf(path, sizeof path, "cpu%u/topology/%s", cpu, file);
        struct cpu_set group;
        if (read_list(dir, path, &group) < 0 || !set_has(&group, cpu))
            return 0;
        for (size_t i = 0; i < CPU_MAX / 64; i++) {
            if (n == 0)
                first->bits[i] = group.bits[i] & all->bits[i];
            left.bits[i] &= ~group.bits[i];
        }
        n++;
    }
    return n;
}

/* Processors come and go while they are read; a topology that does not add up is left out. */
static void put_topology(int dir, const struct cpu_set *online, json_t *into)
{
    struct cpu_set socket, core;
    unsigned sockets = cpu_groups(dir, online, "core_siblings_list", &socket);
    unsigned cores = sockets > 0 ? cpu_groups(dir, &socket, "thread_siblings_list", &core) : 0;
    if (cores == 0)
        return;
    /* The first core may have lost a thread; its fellows have not. */
    unsigned threads = (cpu_set_count(&socket) + cores - 1) / cores;
    json_object_set_new(into, "Sockets", json_integer(sockets));
    json_object_set_new(into, "Cores", json_integer(cores));
    json_object_set_new(into, "Threads", json_integer(threads));
}

/* The value of "KEY\t: VALUE"; NULL for another key. */
static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0)
        return NULL;
    const char *p = line + n;
    p += strspn(p, " \t");
    if (*p != ':')
        return NULL;
    p++;
    return p + strspn(p, " \t");
}

bool cpu_info_line(const char *line, void *info)
{
    struct cpu_info *c = info;
    const char *v;
    if (value_of(line, "processor"))
        c->processors++;
    else if (c->processors > 1)
        return true;
    else if ((v = value_of(line, "model name")))
        snprintf(c->model, sizeof c->model, "%s", v);
    else if ((v = value_of(line, "cpu MHz")))
        text_parse_milli(v, &c->mhz_milli, NULL);
    else if ((v = value_of(line, "bogomips")))
        text_parse_milli(v, &c->bogomips_milli, NULL);
    else if ((v = value_of(line, "flags")))
        c->measured = text_has_word(v, ' ', "aperfmperf");
    return c->count || c->processors <= 1;
}

/* In thousandths of a MHz; 0 when nothing tells it. */
static uint64_t speed_milli(int dir, unsigned cpu, const struct cpu_info *info)
{
    static const char *const files[] = {"base_frequency", "cpuinfo_max_freq"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[64];
        uint64_t khz;
        snprintf(path, sizeof path, "cpu%u/cpufreq/%s", cpu, files[i]);
        if (dir >= 0 && sys_u64(dir, path, &khz) == 0 && khz > 0 && khz < UINT64_C(1000000000))
            return khz;
    }
    return info->measured ? info->bogomips_milli / 2 : info->mhz_milli;
}

static unsigned first_of(const struct cpu_set *s)
{
    for (unsigned cpu = 0; cpu < CPU_MAX; cpu++)
        if (set_has(s, cpu))
            return cpu;
    return 0;
}

void cpu_read(int root, json_t *into)
{
    CLEANUP_FD int dir = sys_open_dir(root, "sys/devices/system/cpu");
    struct cpu_set online = {0};
    bool listed = dir >= 0 && read_list(dir, "online", &online) == 0 && cpu_set_count(&online) > 0;

    struct cpu_info info = {.count = !listed};
    sys_each_line(root, "proc/cpuinfo", cpu_info_line, &info);
    unsigned cpus = listed ? cpu_set_count(&online) : info.processors;
    if (cpus > 0)
        json_object_set_new(into, "CPUs", json_integer(cpus));
    if (listed)
        put_topology(dir, &online, into);
    uint64_t speed = speed_milli(dir, first_of(&online), &info);
    if (speed > 0)
        json_object_set_new(into, "Speed", json_real((double)speed / 1000));
    if (*info.model)
        json_object_set_new(into, "CPUModel", sys_string(info.model));
}
