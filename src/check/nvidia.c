/* SPDX-License-Identifier: Apache-2.0 */
#include "check/nvidia.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Judges the facts of NVML, which nvml.c gathers. Each of the checks reports that a GPU is lost or has to
 * be reset, because a site may run only one of them. What the driver asks for has a code that remedies can
 * name: gpu.lost, gpu.reset, gpu.reboot.
 */

enum { DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15, RESET_REQUIRED = 16, VERSION_MISMATCH = 18 };

enum { UPGRADE_S = 600 }; /* the longest time that an upgrade of the driver takes */

/* "gpu 0000:9b:00" of "0000:9b:00.0", as the kernel log names it; "gpu" of one that has no name. */
static void device_of(char device[static FINDING_DEVICE_BYTES_MAX + 1], const char *address)
{
    bool named = strcmp(address, "-") != 0;
    snprintf(device, FINDING_DEVICE_BYTES_MAX + 1, "gpu%s%.*s", named ? " " : "",
             named ? (int)strcspn(address, ".") : 0, address);
}

static void say_lost(const char *device, struct verdict *v)
{
    verdict_add(v, RESULT_LOST, device, "gpu.lost", "NVML says that the GPU is lost");
}

static void say_reset(const char *device, struct verdict *v)
{
    verdict_add(v, RESULT_FATAL, device, "gpu.reset", "NVML says that the GPU has to be reset");
}

/* The library does not start; "CODE TEXT". */
static void judge_failed(const char *value, struct verdict *v)
{
    struct words w;
    uint64_t code;
    words_of(value, &w);
    if (!word_u64(&w, 0, &code))
        code = 0;
    const char *text = value + strcspn(value, " ");
    if (code == GPU_IS_LOST)
        say_lost("gpu", v);
    else if (code == RESET_REQUIRED)
        say_reset("gpu", v);
    else if (code == DRIVER_NOT_LOADED)
        verdict_cannot(v, RESULT_UNSUPPORTED, "NVML:%s", text);
    else
        verdict_cannot(v, RESULT_UNKNOWN, "NVML:%s", text);
}

void gpu_lines_judge(struct look *l, const char *facts, gpu_line_fn *fn, struct verdict *v)
{
    struct fact_line failed, at_line;
    if (fact_find(facts, "failed", &failed)) {
        judge_failed(failed.value, v);
        return;
    }
    for (const char *at = facts; fact_next(&at, &at_line);) {
        struct gpu_line line = {.key = at_line.key, .facts = facts};
        words_of(at_line.value, &line.w);
        device_of(line.device, line.w.w[0]);
        if (strcmp(line.key, "lost") == 0)
            say_lost(line.device, v);
        else if (strcmp(line.key, "reset") == 0)
            say_reset(line.device, v);
        else
            fn(l, &line, v);
    }
}

bool gpu_line_is(const struct gpu_line *line, const char *key)
{
    return strcmp(line->key, key) == 0;
}

uint64_t gpu_line_number(const struct gpu_line *line, size_t i)
{
    uint64_t n;
    return word_u64(&line->w, i, &n) ? n : 0;
}

uint64_t gpu_line_grown(struct look *l, const char *what, const struct gpu_line *line, uint64_t value)
{
    return grown_within(l, what, line->w.w[0], value, span_s(600)) / 10;
}

/* --- count ---------------------------------------------------------------------------------- */

static size_t count_lines(const char *facts, const char *key)
{
    size_t n = 0;
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);)
        n += strcmp(line.key, key) == 0;
    return n;
}

static bool has_line(const char *facts, const char *key, const char *value)
{
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);)
        if (strcmp(line.key, key) == 0 && strcmp(line.value, value) == 0)
            return true;
    return false;
}

/* NVML does not give the address of a lost GPU. It lists GPUs in the order of the bus, so the ones that it
 * does not name are the lost ones, in turn. */
static void judge_missing(const char *facts, struct verdict *v)
{
    size_t lost = count_lines(facts, "lost"), reset = count_lines(facts, "reset");
    bool unread = count_lines(facts, "unknown") > 0;
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        if (strcmp(line.key, "pci") != 0 || has_line(facts, "gpu", line.value))
            continue;
        device_of(device, line.value);
        if (lost > 0)
            say_lost(device, v);
        else if (reset > 0)
            say_reset(device, v);
        else if (!unread)
            verdict_add(v, RESULT_FATAL, device, "", "it is on the PCI bus, and NVML does not have it");
        if (lost > 0)
            lost--;
        else if (reset > 0)
            reset--;
    }
    if (lost > 0)
        say_lost("gpu", v);
    if (reset > 0)
        say_reset("gpu", v);
}

static void judge_not_started(const struct look *l, const char *value, bool expected, struct verdict *v)
{
    uint64_t code = 0;
    struct words w;
    words_of(value, &w);
    word_u64(&w, 0, &code);
    bool long_enough = lasts_for(l, "mismatch", "", code == VERSION_MISMATCH).ns >= span_s(UPGRADE_S).ns;
    if (code == DRIVER_NOT_LOADED && expected)
        verdict_add(v, RESULT_FATAL, "gpu", "", "NVML:%s", value + strcspn(value, " "));
    else if (code == VERSION_MISMATCH) /* no program can use a GPU until the new driver is loaded */
        verdict_add(v, long_enough ? RESULT_DEGRADED : RESULT_WARN, "gpu", "", "NVML:%s",
                    value + strcspn(value, " "));
    else
        judge_failed(value, v);
}

void judge_NVIDIA_COUNT(struct look *l, const char *facts, struct verdict *v)
{
    int64_t want;
    struct fact_line failed;
    if (!want_number(l, "Count", 0, &want, v))
        return;
    if (fact_find(facts, "failed", &failed)) {
        judge_not_started(l, failed.value, want > 0, v);
        return;
    }
    size_t gpus = count_lines(facts, "gpu"), bus = count_lines(facts, "pci");
    size_t there = gpus > bus ? gpus : bus;
    judge_missing(facts, v);
    if (there < (uint64_t)want)
        verdict_add(v, RESULT_FATAL, "gpu", "", "%zu NVIDIA GPUs have their driver, of %" PRId64, there,
                    want);
    else if (there == 0 && v->n == 0)
        verdict_cannot(v, RESULT_UNSUPPORTED, "there is no NVIDIA GPU");
}

/* --- memory --------------------------------------------------------------------------------- */

static void judge_ecc(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    int64_t limit;
    if (!gpu_line_is(line, "ecc") || !want_number(l, "Corrected", 10, &limit, v))
        return;
    uint64_t bad = gpu_line_number(line, 2),
             mild = gpu_line_grown(l, "corrected", line, gpu_line_number(line, 1));
    if (bad > 0)
        verdict_add(v, RESULT_FATAL, line->device, "", "%" PRIu64 " uncorrected ECC errors since its reset",
                    bad);
    else if (mild >= (uint64_t)limit)
        verdict_add(v, RESULT_WARN, line->device, "",
                    "%" PRIu64 " corrected ECC errors a minute, of fewer than %" PRId64, mild, limit);
}

void judge_NVIDIA_ECC(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_ecc, v);
}

static void judge_rows(const struct gpu_line *line, uint64_t limit, struct verdict *v)
{
    uint64_t rows = gpu_line_number(line, 1);
    if (gpu_line_number(line, 3) > 0)
        verdict_add(v, RESULT_FATAL, line->device, "", "a row of its memory could not be remapped");
    else if (gpu_line_number(line, 2) > 0)
        verdict_add(v, RESULT_DEGRADED, line->device, "gpu.reset",
                    "a row of its memory is remapped when the GPU is reset");
    else if (rows >= limit)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "%" PRIu64 " rows were remapped after uncorrected errors, of fewer than %" PRIu64, rows,
                    limit);
}

/* Limits for GPUs before A100; the numbers are DCGM's. */
static void judge_pages(const struct gpu_line *line, struct verdict *v)
{
    enum { PAGES_MOST = 63, UNCORRECTED_MOST = 15 };
    uint64_t single = gpu_line_number(line, 1), twice = gpu_line_number(line, 2);
    if (single + twice >= PAGES_MOST)
        verdict_add(v, RESULT_FATAL, line->device, "",
                    "%" PRIu64 " pages of its memory are retired, of fewer than %d", single + twice,
                    PAGES_MOST);
    else if (twice >= UNCORRECTED_MOST)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "%" PRIu64 " pages of its memory are retired after uncorrected errors, of fewer than %d",
                    twice, UNCORRECTED_MOST);
    else if (gpu_line_number(line, 3) > 0)
        verdict_add(v, RESULT_DEGRADED, line->device, "gpu.reset",
                    "a page of its memory is retired when the GPU is reset");
}

static void judge_remap(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    int64_t limit;
    if (!want_number(l, "Rows", 512, &limit, v))
        return;
    if (gpu_line_is(line, "rows"))
        judge_rows(line, (uint64_t)limit, v);
    else if (gpu_line_is(line, "pages"))
        judge_pages(line, v);
    else if (gpu_line_is(line, "banks") && gpu_line_number(line, 1) > 0)
        verdict_add(v, RESULT_WARN, line->device, "", "%" PRIu64 " banks of its memory have no spare row",
                    gpu_line_number(line, 1));
}

void judge_NVIDIA_REMAP(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_remap, v);
}

/* --- heat and power ------------------------------------------------------------------------- */

/* The slowdown itself is what the driver does about it, and no more than degraded. */
static void judge_temperature(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    (void)l;
    if (!gpu_line_is(line, "temperature"))
        return;
    uint64_t now = gpu_line_number(line, 1), slowdown = gpu_line_number(line, 2),
             most = gpu_line_number(line, 3);
    uint64_t memory = gpu_line_number(line, 4), memory_most = gpu_line_number(line, 5);
    if (slowdown > 0 && now >= slowdown)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "%" PRIu64 " C; from %" PRIu64 " C on it slows itself down", now, slowdown);
    else if (most > 0 && now > most)
        verdict_add(v, RESULT_WARN, line->device, "", "%" PRIu64 " C, of at most %" PRIu64 " C", now, most);
    if (memory_most > 0 && memory > memory_most)
        verdict_add(v, RESULT_WARN, line->device, "",
                    "its memory has %" PRIu64 " C, of at most %" PRIu64 " C", memory, memory_most);
}

void gpu_capacity_read(const char *facts, struct gpu_capacity *out)
{
    struct fact_line line;
    uint64_t sum = 0, n = 0;
    *out = (struct gpu_capacity){0};
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t value;
        words_of(line.value, &w);
        if (!word_u64(&w, 1, &value))
            continue;
        if (strcmp(line.key, "use") == 0) {
            sum += value;
            n++;
        } else if (strcmp(line.key, "temperature") == 0) {
            out->has_celsius = true;
            out->celsius = value > out->celsius ? value : out->celsius;
        }
    }
    out->has_use = n > 0;
    out->use = n > 0 ? sum / n : 0;
}

void judge_NVIDIA_TEMPERATURE(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_temperature, v);
}

/* Bits of nvmlClocksEventReasons. That a power limit of software is reached is usual. */
static const struct {
    uint64_t bit;
    const char *what;
} brakes[] = {{0x80, "a power supply that is not enough (HW power brake)"},
              {0x40, "heat (HW thermal slowdown)"},
              {0x08, "heat or power (HW slowdown)"},
              {0x20, "heat (SW thermal slowdown)"}};

static void judge_slowdown(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    int64_t limit;
    const char *what = NULL;
    if (!gpu_line_is(line, "reasons") || !want_number(l, "Looks", 6, &limit, v))
        return;
    for (size_t i = 0; !what && i < sizeof brakes / sizeof *brakes; i++)
        if (gpu_line_number(line, 1) & brakes[i].bit)
            what = brakes[i].what;
    char name[64];
    snprintf(name, sizeof name, "slow %.48s", line->w.w[0]);
    uint64_t looks = memory_window(l->memory, name, l->now, span_s(600), what != NULL);
    if (what)
        verdict_add(v, looks >= (uint64_t)limit ? RESULT_DEGRADED : RESULT_WARN, line->device, "",
                    "slowed down by %s, in %" PRIu64 " looks within 10 minutes; %" PRId64 " are too many",
                    what, looks, limit);
}

void judge_NVIDIA_SLOWDOWN(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_slowdown, v);
}

/* The causes that violations are counted for. How much a GPU may be held back by its power limit only the
 * site knows. */
static const struct {
    const char *name, *key, *what;
    unsigned most; /* percent of ten minutes; beyond 100: never */
} violations[] = {{"power", "Power", "its power limit", 101},
                  {"heat", "Share", "heat", 10},
                  {"board", "Share", "the power limit of its board", 10},
                  {"reliability", "Share", "its reliability voltage", 10}};

static void judge_power(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    enum { WINDOW_S = 600 };
    if (!gpu_line_is(line, "violations"))
        return;
    for (size_t i = 0; i < sizeof violations / sizeof *violations; i++) {
        uint64_t ns;
        unsigned most = 0;
        if (!word_u64(&line->w, 1 + i, &ns) ||
            !want_percent(l, violations[i].key, violations[i].most, &most, v))
            continue;
        uint64_t s = grown_within(l, violations[i].name, line->w.w[0], ns, span_s(WINDOW_S)) / 1000000000;
        if (percent_of(s, WINDOW_S) > most)
            verdict_add(v, RESULT_WARN, line->device, "",
                        "its clocks were kept down by %s for %" PRIu64 " s of ten minutes, of at most %u %%",
                        violations[i].what, s, most);
    }
}

void judge_NVIDIA_POWER(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_power, v);
}

/* A user of a GPU may set application clocks, which stay when the work is over. */
static void judge_application_clocks(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    static const struct {
        const char *key, *what;
    } clocks[] = {{"Graphics", "graphics"}, {"Memory", "memory"}};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        int64_t want;
        if (!want_number(l, clocks[i].key, 0, &want, v))
            return;
        uint64_t is, least = want > 0 ? (uint64_t)want : gpu_line_number(line, 2 + 2 * i);
        if (word_u64(&line->w, 1 + 2 * i, &is) && is < least)
            verdict_add(v, RESULT_WARN, line->device, "",
                        "its %s clock is set to %" PRIu64 " MHz for applications, of at least %" PRIu64 "%s",
                        clocks[i].what, is, least, want > 0 ? "" : " as by default");
    }
}

static void judge_clocks(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    int64_t least, limit;
    uint64_t now;
    if (!gpu_line_is(line, "clocks") || !want_number(l, "Least", 0, &least, v) ||
        !want_number(l, "Looks", 3, &limit, v))
        return;
    judge_application_clocks(l, line, v);
    bool slow = word_u64(&line->w, 5, &now) && now < (uint64_t)least && gpu_line_number(line, 6) == 1;
    int64_t looks = in_a_row(l, "clock", line->w.w[0], slow);
    if (looks >= limit)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "its graphics clock is %" PRIu64 " MHz while it works, of at least %" PRId64
                    ", in %" PRId64 " looks in a row",
                    now, least, looks);
}

void judge_NVIDIA_CLOCKS(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_clocks, v);
}

/* --- the rest ------------------------------------------------------------------------------- */

static void judge_persistence(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    (void)l;
    if (gpu_line_is(line, "persistence") && strcmp(line->w.w[1], "0") == 0)
        verdict_add(v, RESULT_WARN, line->device, "", "persistence mode is off");
}

void judge_NVIDIA_PERSISTENCE(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_persistence, v);
}

/* nvmlDeviceGpuRecoveryAction_t, and how bad it is to DCGM. */
static const struct {
    enum result result;
    const char *code, *what;
} actions[] = {{RESULT_OK, "", ""},
               {RESULT_FATAL, "gpu.reset", "to reset the GPU"},
               {RESULT_FATAL, "gpu.reboot", "to reboot the node"},
               {RESULT_WARN, "", "to drain peer-to-peer work"},
               {RESULT_FATAL, "gpu.reset", "to drain the GPU and to reset it"}};

static void judge_recovery(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    (void)l;
    uint64_t action = gpu_line_number(line, 1);
    if (!gpu_line_is(line, "recovery"))
        return;
    if (action < sizeof actions / sizeof *actions)
        verdict_add(v, actions[action].result, line->device, actions[action].code, "the driver asks %s",
                    actions[action].what);
    else
        verdict_add(v, RESULT_WARN, line->device, "", "the driver asks for recovery action %" PRIu64, action);
}

void judge_NVIDIA_RECOVERY(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_recovery, v);
}

/* --- while no work runs --------------------------------------------------------------------- */

static void judge_use(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    int64_t limit;
    uint64_t most;
    if (!gpu_line_is(line, "use") || !want_number(l, "Looks", 3, &limit, v) ||
        !want_bytes(l, "Memory", 15 << 20, &most, v))
        return;
    uint64_t bytes = gpu_line_number(line, 1), processes = gpu_line_number(line, 2);
    int64_t held = in_a_row(l, "held", line->w.w[0], processes > 0);
    int64_t used = in_a_row(l, "used", line->w.w[0], processes == 0 && bytes > most);
    if (held >= limit)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "%" PRIu64 " processes compute on it while no work runs, in %" PRId64
                    " looks in a row; one is %" PRIu64,
                    processes, held, gpu_line_number(line, 3));
    else if (used >= limit)
        verdict_add(v, RESULT_WARN, line->device, "", LEFT_MEMORY, bytes / 1000000, most / 1000000, used);
}

/* A lost GPU is reported whether work runs or not. */
static void judge_no_use(struct look *l, const struct gpu_line *line, struct verdict *v)
{
}

void judge_NVIDIA_IDLE(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, facts_idle(facts, v) ? judge_use : judge_no_use, v);
}
