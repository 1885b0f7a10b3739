/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * memory.size        "total KIB", "node NAME KIB CPUS" for each NUMA node, with its list of processors or "-"
 * memory.available   "available KIB"
 * memory.idle        "total KIB", "available KIB", "pages KIB" (huge ones that are kept), "work N"
 * memory.poison      "poisoned KIB"
 * swap               "swap FREE TOTAL" in KiB
 * oom                "kills N"
 * pressure           "memory MILLI", "io MILLI": thousandths of a percent of the last minute in which
 *                    everything waited for it
 * memory.fragmentation
 *                    "free NODE KIB LARGE" of each NUMA node: free memory, and what of it lies in pieces of
 *                    2 MiB or more; "failed N" compactions that a process waited for
 */

struct search {
    const char *key, *colon;
    uint64_t value;
    bool found;
};

/* "KEY: NUMBER" and "KEY NUMBER", with anything after it; in a NUMA node "Node 0 KEY: NUMBER". */
static bool on_line(const char *line, void *arg)
{
    struct search *s = arg;
    struct words w;
    words_of(line, &w);
    size_t first = strcmp(w.w[0], "Node") == 0 ? 2 : 0, len = strlen(s->key);
    const char *key = first < w.n ? w.w[first] : "";
    if (strncmp(key, s->key, len) != 0 || strcmp(key + len, s->colon) != 0)
        return true;
    s->found = word_u64(&w, first + 1, &s->value);
    return false;
}

static int number_of(int at, const char *path, const char *key, const char *colon, uint64_t *out)
{
    struct search s = {.key = key, .colon = colon};
    int r = sys_each_line(at, path, on_line, &s);
    if (r < 0)
        return r;
    *out = s.value;
    return s.found ? 0 : -EINVAL;
}

static int fact_number(const struct look *l, const char *path, const char *key, const char *colon,
                       const char *as, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return root;
    uint64_t n;
    int r = number_of(root, path, key, colon, &n);
    if (r < 0)
        fact_cannot(root, out, path, r);
    else
        fact_add(out, as, "%" PRIu64, n);
    return r;
}

static const char meminfo[] = "proc/meminfo";

/* --- memory.size ---------------------------------------------------------------------------- */

static void add_node(int dir, const char *name, struct text *out)
{
    char cpus[SYS_TEXT_BYTES_MAX] = "";
    uint64_t kb;
    if (strncmp(name, "node", 4) != 0 || number_of(dir, "meminfo", "MemTotal", ":", &kb) < 0)
        return;
    sys_text(dir, "cpulist", cpus);
    fact_add(out, "node", "%s %" PRIu64 " %s", name, kb, *cpus ? cpus : "-");
}

void gather_MEMORY_SIZE(const struct look *l, struct text *out)
{
    if (fact_number(l, meminfo, "MemTotal", ":", "total", out) < 0)
        return;
    CLEANUP_FD int root = look_root(l, out);
    if (root >= 0)
        each_entry(root, "sys/devices/system/node", add_node, out);
}

/* The kernel keeps some memory for itself: Fudge= is how much may be missing. */
static void judge_total(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t size, total;
    unsigned fudge;
    if (!want_bytes(l, "Size", 0, &size, v) || !want_percent(l, "Fudge", 5, &fudge, v))
        return;
    if (!fact_u64(facts, "total", &total)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the size of memory is not understood");
        return;
    }
    uint64_t least = (uint64_t)((unsigned __int128)size * (fudge < 100 ? 100 - fudge : 0) / 100);
    if (total < least / 1024)
        verdict_add(v, RESULT_FATAL, "memory", "", "%" PRIu64 " MB of memory, of at least %" PRIu64 " MB",
                    total / 1000, least / 1000000);
}

void judge_MEMORY_SIZE(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    judge_total(l, facts, v);
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t kb;
        if (strcmp(line.key, "node") != 0)
            continue;
        words_of(line.value, &w);
        if (word_u64(&w, 1, &kb) && kb == 0 && strcmp(w.w[2], "-") != 0)
            verdict_add(v, RESULT_FATAL, w.w[0], "", "%s has processors (%s) and no memory", w.w[0], w.w[2]);
    }
}

/* --- memory.available ----------------------------------------------------------------------- */

void gather_MEMORY_AVAILABLE(const struct look *l, struct text *out)
{
    fact_number(l, meminfo, "MemAvailable", ":", "available", out);
}

void judge_MEMORY_AVAILABLE(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t least, kb;
    if (!want_bytes(l, "Least", 100 * 1000 * 1000, &least, v))
        return;
    if (!fact_u64(facts, "available", &kb))
        verdict_cannot(v, RESULT_UNKNOWN, "the available memory is not understood");
    else if (kb < least / 1024)
        verdict_add(v, RESULT_WARN, "memory", "",
                    "%" PRIu64 " KiB of memory are available, of at least %" PRIu64 " KiB", kb, least / 1024);
}

/* --- memory.idle ---------------------------------------------------------------------------- */

void gather_MEMORY_IDLE(const struct look *l, struct text *out)
{
    uint64_t pages;
    if (fact_number(l, meminfo, "MemTotal", ":", "total", out) < 0 ||
        fact_number(l, meminfo, "MemAvailable", ":", "available", out) < 0)
        return;
    CLEANUP_FD int root = look_root(l, out);
    if (root >= 0 && number_of(root, meminfo, "Hugetlb", ":", &pages) == 0)
        fact_add(out, "pages", "%" PRIu64, pages);
    fact_work(l, out);
}

/* Left behind by jobs: processes, files of /dev/shm, memory that the kernel lost. Pages that the site set
 * aside are in use without any job. */
void judge_MEMORY_IDLE(struct look *l, const char *facts, struct verdict *v)
{
    unsigned most;
    int64_t limit;
    uint64_t total, available, pages;
    if (!want_percent(l, "Used", 20, &most, v) || !want_number(l, "Looks", 3, &limit, v) ||
        !facts_idle(facts, v))
        return;
    if (!fact_u64(facts, "pages", &pages))
        pages = 0;
    if (!fact_u64(facts, "total", &total) || !fact_u64(facts, "available", &available)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the use of memory is not understood");
        return;
    }
    uint64_t free = available < UINT64_MAX - pages ? available + pages : available;
    unsigned used = percent_of(total > free ? total - free : 0, total);
    int64_t looks = in_a_row(l, "used", "", used > most);
    if (looks >= limit)
        verdict_add(v, RESULT_DEGRADED, "memory", "",
                    "%u %% are in use while no work runs, of at most %u %%, in %" PRId64 " looks in a row",
                    used, most, looks);
}

/* --- memory.poison -------------------------------------------------------------------------- */

void gather_MEMORY_POISON(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    uint64_t kb;
    int r = root < 0 ? root : number_of(root, meminfo, "HardwareCorrupted", ":", &kb);
    if (root < 0)
        return;
    if (r == -EINVAL)
        fact_add(out, "unsupported", "this kernel does not say how much memory is poisoned");
    else if (r < 0)
        fact_cannot(root, out, meminfo, r);
    else
        fact_add(out, "poisoned", "%" PRIu64, kb);
}

void judge_MEMORY_POISON(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t kb;
    int64_t pages;
    if (!want_number(l, "Degraded", 10, &pages, v))
        return;
    if (!fact_u64(facts, "poisoned", &kb))
        verdict_cannot(v, RESULT_UNKNOWN, "the poisoned memory is not understood");
    else if (kb > 0)
        verdict_add(v, kb / 4 >= (uint64_t)pages ? RESULT_DEGRADED : RESULT_WARN, "memory", "",
                    "%" PRIu64 " KiB of memory are poisoned and out of use; %" PRId64 " pages are too many",
                    kb, pages);
}

/* --- swap ----------------------------------------------------------------------------------- */

void gather_SWAP(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    uint64_t total, left;
    if (root < 0)
        return;
    int r = number_of(root, meminfo, "SwapTotal", ":", &total);
    if (r == 0)
        r = number_of(root, meminfo, "SwapFree", ":", &left);
    if (r < 0)
        fact_cannot(root, out, meminfo, r);
    else if (total == 0)
        fact_add(out, "unsupported", "this machine has no swap");
    else
        fact_add(out, "swap", "%" PRIu64 " %" PRIu64, left, total);
}

void judge_SWAP(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    struct words w;
    uint64_t left, total;
    unsigned most;
    if (!want_percent(l, "Warn", 50, &most, v))
        return;
    words_of(fact_find(facts, "swap", &line) ? line.value : "", &w);
    if (!word_u64(&w, 0, &left) || !word_u64(&w, 1, &total) || left > total) {
        verdict_cannot(v, RESULT_UNKNOWN, "the use of swap is not understood");
        return;
    }
    unsigned used = percent_of(total - left, total);
    if (used > most)
        verdict_add(v, RESULT_WARN, "swap", "", "%u %% of %" PRIu64 " MB of swap are used, of at most %u %%",
                    used, total / 1000, most);
}

/* --- oom ------------------------------------------------------------------------------------ */

void gather_OOM(const struct look *l, struct text *out)
{
    fact_number(l, "proc/vmstat", "oom_kill", "", "kills", out);
}

/* Most kills come from a job's own limit, which is no fault of the node; many kills are worth a look. */
void judge_OOM(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t kills;
    int64_t warn;
    struct span window;
    char about[32];
    if (!want_number(l, "Warn", 10, &warn, v) || !want_span(l, "Window", span_s(3600), &window, v))
        return;
    if (!fact_u64(facts, "kills", &kills)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the number of killed processes is not understood");
        return;
    }
    uint64_t grew = grown_within(l, "kills", "", kills, window);
    if (grew > 0)
        verdict_add(v, grew >= (uint64_t)warn ? RESULT_WARN : RESULT_INFO, "memory", "",
                    "%" PRIu64 " processes were killed for want of memory within %s; %" PRId64 " are many",
                    grew, span_human(window, about), warn);
}

/* --- pressure ------------------------------------------------------------------------------- */

/* "full avg10=0.00 avg60=1.53 avg300=0.22 total=5312" */
static bool on_pressure(const char *line, void *arg)
{
    struct search *s = arg;
    struct words w;
    words_of(line, &w);
    if (strcmp(w.w[0], "full") != 0 || strncmp(w.w[2], "avg60=", 6) != 0)
        return true;
    s->found = text_parse_milli(w.w[2] + 6, &s->value, NULL) == 0;
    return false;
}

void gather_PRESSURE(const struct look *l, struct text *out)
{
    static const char *const kinds[] = {"memory", "io"};
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    for (size_t i = 0; i < 2; i++) {
        char path[32];
        struct search s = {.found = false};
        snprintf(path, sizeof path, "proc/pressure/%s", kinds[i]);
        int r = sys_each_line(root, path, on_pressure, &s);
        if (r == -EOPNOTSUPP)
            fact_add(out, "unsupported", "this kernel was told not to measure pressure");
        else if (r < 0 || !s.found)
            fact_cannot(root, out, path, r < 0 ? r : -EINVAL);
        else
            fact_add(out, kinds[i], "%" PRIu64, s.value);
    }
}

static void judge_stall(struct look *l, const char *facts, const char *kind, const char *key,
                        unsigned fallback, struct verdict *v)
{
    unsigned most;
    uint64_t milli;
    if (!want_percent(l, key, fallback, &most, v) || !fact_u64(facts, kind, &milli))
        return;
    if (milli > (uint64_t)most * 1000)
        verdict_add(v, RESULT_WARN, kind, "",
                    "all work waited for %s for %" PRIu64 " %% of a minute, of at most %u %%", kind,
                    milli / 1000, most);
}

void judge_PRESSURE(struct look *l, const char *facts, struct verdict *v)
{
    judge_stall(l, facts, "memory", "Memory", 10, v);
    judge_stall(l, facts, "io", "IO", 80, v);
}

/* --- memory.fragmentation ------------------------------------------------------------------- */

struct pieces {
    uint64_t node, kib, large; /* of the present node, with its zones added up */
    uint64_t page_kib;
    bool any;
    struct text *out;
};

static void put_node(const struct pieces *p)
{
    if (p->any)
        fact_add(p->out, "free", "node%" PRIu64 " %" PRIu64 " %" PRIu64, p->node, p->kib, p->large);
}

/* "Node 0, zone   Normal  34123  14601   9156": free pieces of one page, of two, of four and so on. */
static bool on_zone(const char *line, void *arg)
{
    enum { LARGE_KIB = 2048, ORDERS_MAX = 32 };
    struct pieces *p = arg;
    unsigned long node;
    int at = 0;
    if (sscanf(line, "Node %4lu, zone %*s%n", &node, &at) != 1 || at == 0)
        return true;
    if (p->any && p->node != node) {
        put_node(p);
        p->kib = p->large = 0;
    }
    p->any = true;
    p->node = node;
    const char *count = line + at;
    for (int order = 0; order < ORDERS_MAX && *(count += strspn(count, " ")); order++) {
        char digits[24];
        uint64_t n, each = p->page_kib << order;
        size_t len = strcspn(count, " ");
        snprintf(digits, sizeof digits, "%.*s", (int)len, count);
        if (text_parse_u64(digits, 0, UINT32_MAX, &n, NULL) < 0)
            return true;
        p->kib += n * each;
        p->large += each >= LARGE_KIB ? n * each : 0;
        count += len;
    }
    return true;
}

void gather_FRAGMENTATION(const struct look *l, struct text *out)
{
    static const char path[] = "proc/buddyinfo";
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    struct pieces p = {.page_kib = (uint64_t)sysconf(_SC_PAGESIZE) / 1024, .out = out};
    uint64_t failed;
    int r = sys_each_line(root, path, on_zone, &p);
    put_node(&p);
    if (r < 0 || !p.any)
        fact_cannot(root, out, path, r < 0 ? r : -EINVAL);
    else if (number_of(root, "proc/vmstat", "compact_fail", "", &failed) == 0)
        fact_add(out, "failed", "%" PRIu64, failed);
}

static void judge_pieces(struct look *l, const struct words *w, unsigned least, int64_t limit,
                         struct verdict *v)
{
    uint64_t kib, large;
    if (!word_u64(w, 1, &kib) || !word_u64(w, 2, &large))
        return;
    unsigned share = percent_of(large, kib);
    int64_t looks = in_a_row(l, "pieces", w->w[0], kib > 0 && share < least);
    if (looks >= limit)
        verdict_add(v, RESULT_WARN, w->w[0], "",
                    "%u %% of its %" PRIu64
                    " MB of free memory lie in pieces of 2 MiB or more, of at least %u "
                    "%%, in %" PRId64 " looks in a row",
                    share, kib / 1000, least, looks);
}

/* The kernel joins pieces when a large one is needed. When that fails, it is too late. */
void judge_FRAGMENTATION(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    unsigned least;
    int64_t limit, most;
    uint64_t failed;
    if (!want_percent(l, "Large", 5, &least, v) || !want_number(l, "Looks", 5, &limit, v) ||
        !want_number(l, "Failed", 600, &most, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (strcmp(line.key, "free") == 0)
            judge_pieces(l, &w, least, limit, v);
    }
    if (!fact_u64(facts, "failed", &failed))
        return;
    uint64_t a_minute = grown_within(l, "failed", "", failed, span_s(300)) / 5;
    if (a_minute > (uint64_t)most)
        verdict_add(v, RESULT_WARN, "memory", "",
                    "%" PRIu64 " compactions a minute were waited for in vain, of at most %" PRId64, a_minute,
                    most);
}
