/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * cpu.online      "online N LIST", "present N LIST", the lists as the kernel has them ("0-3,8")
 * cpu.governor    "governor POLICY NAME"
 * cpu.frequency   "limit POLICY KHZ BASE": the most that is allowed, and what the processor is sold for
 * cpu.throttle    "core N", "package N": how often heat slowed them down, of all processors together
 */

bool cpus_count(const char *list, uint64_t *n)
{
    *n = 0;
    for (const char *p = list; *p;) {
        char word[48], *dash;
        size_t len = strcspn(p, ",");
        uint64_t from, to;
        snprintf(word, sizeof word, "%.*s", (int)len, p);
        if ((dash = strchr(word, '-')))
            *dash = '\0';
        if (text_parse_u64(word, 0, UINT16_MAX, &from, NULL) < 0 ||
            text_parse_u64(dash ? dash + 1 : word, from, UINT16_MAX, &to, NULL) < 0)
            return false;
        *n += to - from + 1;
        p += len + (p[len] == ',');
    }
    return true;
}

static bool add_list(int root, const char *key, const char *path, struct text *out)
{
    char list[4096];
    uint64_t n;
    int r = sys_read(root, path, list, sizeof list);
    if (r < 0) {
        fact_cannot(root, out, path, r);
        return false;
    }
    list[strcspn(list, "\n")] = '\0';
    if (cpus_count(list, &n))
        fact_add(out, key, "%" PRIu64 " %.400s", n, list);
    else
        fact_add(out, "unknown", "/%s is not understood", path);
    return true;
}

void gather_CPU_ONLINE(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root >= 0 && add_list(root, "online", "sys/devices/system/cpu/online", out))
        add_list(root, "present", "sys/devices/system/cpu/present", out);
}

void judge_CPU_ONLINE(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    struct words online, present;
    uint64_t have, there;
    int64_t want;
    words_of(fact_find(facts, "online", &line) ? line.value : "", &online);
    words_of(fact_find(facts, "present", &line) ? line.value : "", &present);
    if (!word_u64(&online, 0, &have) || !word_u64(&present, 0, &there) || have == 0 || there > INT32_MAX) {
        verdict_cannot(v, RESULT_UNKNOWN, "the lists of processors are not understood");
        return;
    }
    if (!want_number(l, "CPUs", (int64_t)there, &want, v) || (int64_t)have >= want)
        return;
    verdict_add(v, RESULT_FATAL, "cpu", "", "%" PRIu64 " processors are online (%s), of %" PRId64, have,
                online.w[1], want);
}

/* --- frequencies ---------------------------------------------------------------------------- */

static const char policies[] = "sys/devices/system/cpu/cpufreq";

static void add_governor(int dir, const char *name, struct text *out)
{
    char governor[SYS_TEXT_BYTES_MAX];
    if (strncmp(name, "policy", 6) == 0 && sys_text(dir, "scaling_governor", governor) == 0 && *governor)
        fact_add(out, "governor", "%s %s", name, governor);
}

static void add_limit(int dir, const char *name, struct text *out)
{
    uint64_t most, base;
    if (strncmp(name, "policy", 6) == 0 && sys_u64(dir, "scaling_max_freq", &most) == 0 &&
        sys_u64(dir, "base_frequency", &base) == 0)
        fact_add(out, "limit", "%s %" PRIu64 " %" PRIu64, name, most, base);
}

static void gather_policies(const struct look *l, entry_fn *fn, const char *without, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = each_entry(root, policies, fn, out);
    if (r < 0)
        fact_cannot(root, out, policies, r);
    else if (out->len == 0)
        fact_add(out, "unsupported", "%s", without);
}

void gather_CPU_GOVERNOR(const struct look *l, struct text *out)
{
    gather_policies(l, add_governor, "no processor has a governor", out);
}

void judge_CPU_GOVERNOR(struct look *l, const char *facts, struct verdict *v)
{
    const char *want = check_arg(l->check, "Governor");
    size_t all = 0, wrong = 0;
    struct words other = {.n = 0};
    struct fact_line line;
    if (!want)
        want = "performance";
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        all++;
        if (strcmp(w.w[1], want) != 0 && wrong++ == 0)
            words_of(line.value, &other);
    }
    if (wrong > 0)
        verdict_add(v, RESULT_WARN, "cpu", "", "the governor of %zu of %zu policies is not %s; %s has %s",
                    wrong, all, want, other.w[0], other.w[1]);
}

void gather_CPU_FREQUENCY(const struct look *l, struct text *out)
{
    gather_policies(l, add_limit, "no processor says its base frequency", out);
}

/* The present clock of an idle processor says nothing; its limit does. */
void judge_CPU_FREQUENCY(struct look *l, const char *facts, struct verdict *v)
{
    unsigned least;
    size_t all = 0, low = 0;
    uint64_t most, base, worst_most = 0, worst_base = 0;
    struct fact_line line;
    if (!want_percent(l, "Least", 100, &least, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (!word_u64(&w, 1, &most) || !word_u64(&w, 2, &base) || base == 0)
            continue;
        all++;
        if (percent_of(most, base) < least && low++ == 0) {
            worst_most = most;
            worst_base = base;
        }
    }
    if (low > 0)
        verdict_add(v, RESULT_WARN, "cpu", "",
                    "%zu of %zu policies are limited to %" PRIu64 " MHz, of %u %% of %" PRIu64, low, all,
                    worst_most / 1000, least, worst_base / 1000);
}

/* --- heat ----------------------------------------------------------------------------------- */

void gather_CPU_THROTTLE(const struct look *l, struct text *out)
{
    static const char *const kinds[] = {"core", "package"};
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    uint64_t sums[2] = {0}, n = 0;
    for (unsigned cpu = 0, gap = 0; gap < 16; cpu++) {
        size_t seen = 0;
        for (size_t kind = 0; kind < 2; kind++) {
            char path[128];
            uint64_t count;
            snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/thermal_throttle/%s_throttle_count",
                     cpu, kinds[kind]);
            if (sys_u64(root, path, &count) == 0) {
                sums[kind] += count;
                seen++;
            }
        }
        gap = seen ? 0 : gap + 1;
        n += seen;
    }
    if (n == 0)
        fact_add(out, "unsupported", "no processor counts how often heat slows it down");
    for (size_t kind = 0; n > 0 && kind < 2; kind++)
        fact_add(out, kinds[kind], "%" PRIu64, sums[kind]);
}

/* Once may be chance; in three looks in a row the cooling is too weak. */
void judge_CPU_THROTTLE(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t core, package;
    if (!fact_u64(facts, "core", &core) || !fact_u64(facts, "package", &package)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the counters are not understood");
        return;
    }
    uint64_t cores = look_grown(l, "throttled", "core", core),
             packages = look_grown(l, "throttled", "package", package);
    int64_t looks = in_a_row(l, "throttled", "", cores + packages > 0);
    if (looks > 0)
        verdict_add(v, looks >= 3 ? RESULT_DEGRADED : RESULT_WARN, "cpu", "",
                    "heat slowed cores down %" PRIu64 " times and packages %" PRIu64 " times, in %" PRId64
                    " looks in a row",
                    cores, packages, looks);
}
