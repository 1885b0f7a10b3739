/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include "probe/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * kernel.taint   "tainted BITS"
 * kernel.crash   "crashes N" in pstore, "kept N" where systemd-pstore has put them away
 * kernel.hung    "hung N" tasks that the kernel found to be hung since the boot
 * clock.source   "current NAME", "available NAMES"
 * uptime         "uptime SECONDS"
 * watchdog       "watchdog NAME STATE"
 * load           "load MILLI" (5 minutes), "processors N"
 * pids           "threads N", "pid_max N", "threads_max N"
 * files          "files USED MOST"
 */

/* --- kernel.taint --------------------------------------------------------------------------- */

void gather_KERNEL_TAINT(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    static const char path[] = "proc/sys/kernel/tainted";
    int r = root < 0 ? 0 : fact_file_u64(out, "tainted", root, path);
    if (r < 0)
        fact_cannot(root, out, path, r);
}

/* The taints of Documentation/admin-guide/tainted-kernels that mean that something went wrong. Nothing
 * follows from the others (proprietary, out of tree). */
void judge_KERNEL_TAINT(struct look *l, const char *facts, struct verdict *v)
{
    static const struct {
        unsigned bit;
        char letter[2];
        enum result result;
        const char *what;
    } taints[] = {{4, "M", RESULT_FATAL, "a processor reported a machine check"},
                  {5, "B", RESULT_WARN, "a page of memory was found in a bad state"},
                  {7, "D", RESULT_FATAL, "the kernel died once (oops)"},
                  {9, "W", RESULT_INFO, "the kernel warned"},
                  {14, "L", RESULT_FATAL, "a processor was stuck (soft lockup)"}};
    const char *ignored = check_arg(l->check, "Ignore");
    uint64_t bits;
    if (!fact_u64(facts, "tainted", &bits)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the kernel's taint is not understood");
        return;
    }
    for (size_t i = 0; i < sizeof taints / sizeof *taints; i++)
        if (bits >> taints[i].bit & 1 && !(ignored && strstr(ignored, taints[i].letter)))
            verdict_add(v, taints[i].result, "kernel", "", "%s: taint %s of %" PRIu64, taints[i].what,
                        taints[i].letter, bits);
}

/* --- kernel.crash --------------------------------------------------------------------------- */

static int count_entries(int root, const char *path, struct text *out, const char *key)
{
    CLEANUP_FD int dir = sys_open_dir(root, path);
    struct sys_names names = {0};
    int r = dir < 0 ? dir : sys_names_read(&names, dir);
    if (r == 0)
        fact_add(out, key, "%zu", names.n);
    sys_names_fini(&names);
    return r;
}

void gather_KERNEL_CRASH(const struct look *l, struct text *out)
{
    static const char pstore[] = "sys/fs/pstore", kept[] = "var/lib/systemd/pstore";
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = count_entries(root, pstore, out, "crashes");
    if (r < 0)
        fact_cannot(root, out, pstore, r);
    r = count_entries(root, kept, out, "kept");
    if (r < 0 && r != -ENOENT)
        fact_cannot(root, out, kept, r);
}

/* A crash of an earlier boot is no reason to act on this boot. */
void judge_KERNEL_CRASH(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t n = 0, kept = 0;
    bool any = fact_u64(facts, "crashes", &n);
    if (!fact_u64(facts, "kept", &kept) && !any)
        verdict_cannot(v, RESULT_UNKNOWN, "the records of crashes are not understood");
    if (kept > 0)
        verdict_add(v, RESULT_INFO, "kernel", "",
                    "%" PRIu64 " records of crashes lie in /sys/fs/pstore, and %" PRIu64
                    " in /var/lib/systemd/pstore",
                    n, kept);
    else if (n > 0)
        verdict_add(v, RESULT_INFO, "kernel", "", "%" PRIu64 " records of crashes lie in /sys/fs/pstore", n);
}

/* --- clock.source --------------------------------------------------------------------------- */

#define SOURCES "sys/devices/system/clocksource/clocksource0/"

void gather_CLOCK_SOURCE(const struct look *l, struct text *out)
{
    static const char current[] = SOURCES "current_clocksource";
    CLEANUP_FD int root = look_root(l, out);
    char name[SYS_TEXT_BYTES_MAX];
    if (root < 0)
        return;
    int r = sys_text(root, current, name);
    if (r < 0 || !*name) {
        fact_cannot(root, out, current, r < 0 ? r : -EINVAL);
        return;
    }
    fact_add(out, "current", "%s", name);
    if (sys_text(root, SOURCES "available_clocksource", name) == 0)
        fact_add(out, "available", "%s", name);
}

/* Reading the slow ones costs microseconds; the kernel takes one when it mistrusts the processor's. */
void judge_CLOCK_SOURCE(struct look *l, const char *facts, struct verdict *v)
{
    const char *want = check_arg(l->check, "Source");
    struct fact_line current, available;
    if (!fact_find(facts, "current", &current)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the clock's source is not understood");
        return;
    }
    const char *name = current.value;
    const char *others = fact_find(facts, "available", &available) ? available.value : name;
    bool slow = strcmp(name, "hpet") == 0 || strcmp(name, "acpi_pm") == 0 || strcmp(name, "jiffies") == 0;
    if (want ? strcmp(name, want) != 0 : slow)
        verdict_add(v, RESULT_WARN, "clock", "", "the clock's source is %s, not %s; there are %s", name,
                    want ? want : "the processor's", others);
}

/* --- kernel.hung ---------------------------------------------------------------------------- */

/* The kernel's log has only the first ten of a boot (hung_task_warnings). */
void gather_KERNEL_HUNG(const struct look *l, struct text *out)
{
    static const char path[] = "proc/sys/kernel/hung_task_detect_count";
    CLEANUP_FD int root = look_root(l, out);
    int r = root < 0 ? 0 : fact_file_u64(out, "hung", root, path);
    if (r < 0)
        fact_cannot(root, out, path, r);
}

void judge_KERNEL_HUNG(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t n;
    int64_t many;
    if (!want_number(l, "Degraded", 3, &many, v))
        return;
    if (!fact_u64(facts, "hung", &n)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the number of hung tasks is not understood");
        return;
    }
    uint64_t grew = grown_within(l, "hung", "", n, span_s(600));
    if (grew > 0)
        verdict_add(v, grew >= (uint64_t)many ? RESULT_DEGRADED : RESULT_WARN, "kernel", "",
                    "it found %" PRIu64 " hung tasks within ten minutes; %" PRId64 " are too many", grew,
                    many);
}

/* --- uptime --------------------------------------------------------------------------------- */

void gather_UPTIME(const struct look *l, struct text *out)
{
    struct err e = {0};
    uint64_t seconds;
    if (probe_uptime(l->root, &seconds, &e) < 0)
        fact_add(out, "unknown", "%s", e.msg);
    else
        fact_add(out, "uptime", "%" PRIu64, seconds);
}

void judge_UPTIME(struct look *l, const char *facts, struct verdict *v)
{
    struct span least;
    uint64_t seconds;
    char about[32];
    if (!want_span(l, "Least", span_s(600), &least, v))
        return;
    if (!fact_u64(facts, "uptime", &seconds))
        verdict_cannot(v, RESULT_UNKNOWN, "the time since the boot is not understood");
    else if (seconds < (uint64_t)(least.ns / 1000000000))
        verdict_add(v, RESULT_INFO, "", "", "booted %" PRIu64 " s ago, which is less than %s", seconds,
                    span_human(least, about));
}

/* --- watchdog ------------------------------------------------------------------------------- */

static void add_watchdog(int dir, const char *name, struct text *out)
{
    char state[SYS_TEXT_BYTES_MAX];
    if (sys_text(dir, "state", state) == 0 && *state)
        fact_add(out, "watchdog", "%s %s", name, state);
}

void gather_WATCHDOG(const struct look *l, struct text *out)
{
    static const char path[] = "sys/class/watchdog";
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = each_entry(root, path, add_watchdog, out);
    if (r < 0)
        fact_cannot(root, out, path, r);
    else if (out->len == 0)
        fact_add(out, "unsupported", "there is no watchdog that says its state");
}

void judge_WATCHDOG(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    size_t all = 0, armed = 0;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        all++;
        armed += strcmp(w.w[1], "active") == 0;
    }
    if (armed == 0)
        verdict_add(v, RESULT_WARN, "watchdog", "", "none of %zu watchdogs is armed", all);
}

/* --- load, pids, files ---------------------------------------------------------------------- */

/* "0.20 0.18 0.12 1/80 11206" */
static int read_load(int root, struct words *w)
{
    char text[SYS_TEXT_BYTES_MAX];
    int r = sys_text(root, "proc/loadavg", text);
    words_of(r < 0 ? "" : text, w);
    return r < 0 ? r : w->n < 4 ? -EINVAL : 0;
}

void gather_LOAD(const struct look *l, struct text *out)
{
    static const char online[] = "sys/devices/system/cpu/online";
    CLEANUP_FD int root = look_root(l, out);
    struct words w;
    char list[4096];
    uint64_t milli, n;
    if (root < 0)
        return;
    int r = read_load(root, &w);
    if (r == 0 && text_parse_milli(w.w[1], &milli, NULL) < 0)
        r = -EINVAL;
    if (r < 0) {
        fact_cannot(root, out, "proc/loadavg", r);
        return;
    }
    r = sys_read(root, online, list, sizeof list);
    list[r < 0 ? 0 : strcspn(list, "\n")] = '\0';
    if (r < 0 || !cpus_count(list, &n)) {
        fact_cannot(root, out, online, r < 0 ? r : -EINVAL);
        return;
    }
    fact_add(out, "load", "%" PRIu64, milli);
    fact_add(out, "processors", "%" PRIu64, n);
}

void judge_LOAD(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t milli, n;
    int64_t each;
    if (!want_number(l, "Warn", 2, &each, v))
        return;
    if (!fact_u64(facts, "load", &milli) || !fact_u64(facts, "processors", &n) || n == 0)
        verdict_cannot(v, RESULT_UNKNOWN, "the load is not understood");
    else if (milli / 1000 / n >= (uint64_t)each)
        verdict_add(v, RESULT_WARN, "", "",
                    "the load is %" PRIu64 " on %" PRIu64 " processors, of less than %" PRId64 " on each",
                    milli / 1000, n, each);
}

void gather_PIDS(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    struct words w;
    if (root < 0)
        return;
    int r = read_load(root, &w);
    const char *slash = strchr(w.w[3], '/');
    if (r < 0 || !slash) {
        fact_cannot(root, out, "proc/loadavg", r < 0 ? r : -EINVAL);
        return;
    }
    fact_add(out, "threads", "%s", slash + 1);
    r = fact_file_u64(out, "pid_max", root, "proc/sys/kernel/pid_max");
    if (r == 0)
        r = fact_file_u64(out, "threads_max", root, "proc/sys/kernel/threads-max");
    if (r < 0)
        fact_add(out, "unknown", "the limits of processes: %s", strerror(-r));
}

/* The used part, in percent. */
static void judge_use(struct look *l, const char *what, uint64_t used, uint64_t most, struct verdict *v)
{
    unsigned warn, degraded, percent = percent_of(used, most);
    if (!want_percent(l, "Warn", 80, &warn, v) || !want_percent(l, "Degraded", 95, &degraded, v))
        return;
    if (percent > warn || percent > degraded)
        verdict_add(v, percent > degraded ? RESULT_DEGRADED : RESULT_WARN, "", "",
                    "%" PRIu64 " of %" PRIu64 " %s are used, which is more than %u %%", used, most, what,
                    percent > degraded ? degraded : warn);
}

void judge_PIDS(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t threads, pids, most;
    if (!fact_u64(facts, "threads", &threads) || !fact_u64(facts, "pid_max", &pids) ||
        !fact_u64(facts, "threads_max", &most))
        verdict_cannot(v, RESULT_UNKNOWN, "the number of processes is not understood");
    else
        judge_use(l, "processes and threads", threads, pids < most ? pids : most, v);
}

void gather_FILES(const struct look *l, struct text *out)
{
    static const char path[] = "proc/sys/fs/file-nr";
    CLEANUP_FD int root = look_root(l, out);
    char text[SYS_TEXT_BYTES_MAX];
    if (root < 0)
        return;
    int r = sys_text(root, path, text);
    struct words w;
    words_of(r < 0 ? "" : text, &w);
    if (r < 0 || w.n < 3)
        fact_cannot(root, out, path, r < 0 ? r : -EINVAL);
    else
        fact_add(out, "files", "%s %s", w.w[0], w.w[2]);
}

void judge_FILES(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    struct words w;
    uint64_t used, most;
    words_of(fact_find(facts, "files", &line) ? line.value : "", &w);
    if (!word_u64(&w, 0, &used) || !word_u64(&w, 1, &most))
        verdict_cannot(v, RESULT_UNKNOWN, "the number of open files is not understood");
    else
        judge_use(l, "open files", used, most, v);
}
