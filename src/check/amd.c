/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * amd.gpu     "gpu ADDRESS" for each device of the driver amdgpu;
 *             "errors ADDRESS BLOCK UNCORRECTED CORRECTED" for each block that its RAS counts, of which the
 *             links between GPUs are one, xgmi_wafl;
 *             "pages ADDRESS RETIRED PENDING FAILED" of its memory;
 *             "hive ADDRESS MODEL HIVE LINKS": which GPUs xGMI links it with, and by how many links, or "-"
 * amd.idle    "use ADDRESS BYTES" of each device, memory in use; "process PID" of each that computes on any
 *             of them; "work N"
 * intel.gpu   "gpu ADDRESS HEALTH" for each device of the driver xe that says it
 *
 * The counters are asked of the card, which may be busy with a reset. Not read is xgmi_error: who reads it
 * clears it for everybody else, and where it is off, the driver writes an error into the kernel's log each
 * time.
 */

/* "0000:9b:00" of "0000:9b:00.0": as the kernel log names GPUs. */
static void device_of(char device[static FINDING_DEVICE_BYTES_MAX + 1], const char *address)
{
    snprintf(device, FINDING_DEVICE_BYTES_MAX + 1, "gpu %.*s", (int)strcspn(address, "."), address);
}

/* Entries of a driver's directory that are devices: "0000:9b:00.0". */
static bool is_address(const char *name)
{
    unsigned domain, bus, device, function;
    char end;
    return sscanf(name, "%8x:%2x:%2x.%1x%c", &domain, &bus, &device, &function, &end) == 4;
}

/* --- amd.gpu -------------------------------------------------------------------------------- */

struct block {
    uint64_t ue, ce;
    bool has_ue, has_ce;
};

/* "ue: 0" and "ce: 12". */
static bool on_count(const char *line, void *arg)
{
    struct block *b = arg;
    struct words w;
    words_of(line, &w);
    if (strcmp(w.w[0], "ue:") == 0)
        b->has_ue = word_u64(&w, 1, &b->ue);
    else if (strcmp(w.w[0], "ce:") == 0)
        b->has_ce = word_u64(&w, 1, &b->ce);
    return true;
}

static void add_block(int ras, const char *address, const char *file, struct text *out)
{
    static const char ending[] = "_err_count";
    size_t n = strlen(file);
    struct block b = {0};
    if (n <= strlen(ending) || strcmp(file + n - strlen(ending), ending) != 0)
        return;
    int r = sys_each_line(ras, file, on_count, &b);
    if (r < 0 || !b.has_ue || !b.has_ce)
        fact_add(out, "unknown", "ras/%s of %s: %s", file, address, r < 0 ? strerror(-r) : "not understood");
    else
        fact_add(out, "errors", "%s %.*s %" PRIu64 " %" PRIu64, address, (int)(n - strlen(ending)), file,
                 b.ue, b.ce);
}

struct pages {
    uint64_t retired, pending, failed;
};

/* "0x00000001 : 0x00001000 : R": retired, P: will be, F: could not be. */
static bool on_page(const char *line, void *arg)
{
    struct pages *p = arg;
    size_t n = strlen(line);
    char kind = n > 0 ? line[n - 1] : '\0';
    p->retired += kind == 'R';
    p->pending += kind == 'P';
    p->failed += kind == 'F';
    return true;
}

static void add_ras(int dir, const char *address, struct text *out)
{
    struct sys_names names = {0};
    struct pages pages = {0};
    CLEANUP_FD int ras = sys_open_dir(dir, "ras");
    if (ras < 0)
        return;
    sys_names_read(&names, ras);
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n; i++)
        add_block(ras, address, names.names[i], out);
    sys_names_fini(&names);
    if (sys_each_line(ras, "gpu_vram_bad_pages", on_page, &pages) == 0)
        fact_add(out, "pages", "%s %" PRIu64 " %" PRIu64 " %" PRIu64, address, pages.retired, pages.pending,
                 pages.failed);
}

/* "00 01 01 02 ", a number in hex for each GPU of the hive. */
static bool read_links(int dir, unsigned *links)
{
    char text[SYS_TEXT_BYTES_MAX], *end = text;
    *links = 0;
    if (sys_text(dir, "xgmi_num_links", text) < 0)
        return false;
    for (const char *at = text; *at; at = end) {
        *links += (unsigned)(strtoul(at, &end, 16) & 0xff);
        if (end == at)
            return false;
    }
    return true;
}

static void add_hive(int dir, const char *address, struct text *out)
{
    char model[SYS_TEXT_BYTES_MAX], hive[SYS_TEXT_BYTES_MAX], number[16] = "-";
    unsigned links;
    if (sys_text(dir, "device", model) < 0 || !*model)
        return;
    if (sys_text(dir, "xgmi_hive_info/xgmi_hive_id", hive) < 0 || !*hive)
        snprintf(hive, sizeof hive, "-");
    if (read_links(dir, &links))
        snprintf(number, sizeof number, "%u", links);
    fact_add(out, "hive", "%s %s %s %s", address, model, hive, number);
}

static void add_amd(int dir, const char *name, struct text *out)
{
    if (!is_address(name))
        return;
    fact_add(out, "gpu", "%s", name);
    add_ras(dir, name, out);
    add_hive(dir, name, out);
}

static void gather_driver(const struct look *l, const char *driver, entry_fn *fn, struct text *out)
{
    char path[64], without[64];
    snprintf(path, sizeof path, "sys/bus/pci/drivers/%s", driver);
    snprintf(without, sizeof without, "there is no device of the driver %s", driver);
    gather_each(l, path, fn, without, out);
}

void gather_AMD_GPU(const struct look *l, struct text *out)
{
    gather_driver(l, "amdgpu", add_amd, out);
}

static void judge_errors(struct look *l, const struct words *w, int64_t limit, struct verdict *v)
{
    uint64_t ue, ce;
    char what[160], device[FINDING_DEVICE_BYTES_MAX + 1];
    if (!word_u64(w, 2, &ue) || !word_u64(w, 3, &ce))
        return;
    device_of(device, w->w[0]);
    snprintf(what, sizeof what, "ce %.100s", w->w[1]);
    uint64_t minute = grown_within(l, what, w->w[0], ce, span_s(600)) / 10;
    if (ue > 0)
        verdict_add(v, RESULT_FATAL, device, "",
                    "%" PRIu64 " uncorrected errors in %s since the driver was loaded", ue, w->w[1]);
    else if (minute >= (uint64_t)limit)
        verdict_add(v, RESULT_WARN, device, "",
                    "%" PRIu64 " corrected errors a minute in %s, of fewer than %" PRId64, minute, w->w[1],
                    limit);
}

static void judge_pages(const struct words *w, struct verdict *v)
{
    uint64_t pending, failed;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    if (!word_u64(w, 2, &pending) || !word_u64(w, 3, &failed))
        return;
    device_of(device, w->w[0]);
    if (failed > 0)
        verdict_add(v, RESULT_FATAL, device, "", "%" PRIu64 " bad pages of its memory could not be retired",
                    failed);
    else if (pending > 0)
        verdict_add(v, RESULT_DEGRADED, device, "",
                    "%" PRIu64 " bad pages of its memory wait for a reset to be retired", pending);
}

/* Another GPU of this model is in a hive. */
static bool others_are_in_a_hive(const char *facts, const char *model)
{
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (strcmp(line.key, "hive") == 0 && strcmp(w.w[1], model) == 0 && strcmp(w.w[2], "-") != 0)
            return true;
    }
    return false;
}

static void judge_hive(struct look *l, const char *facts, const struct words *w, int64_t want,
                       struct verdict *v)
{
    uint64_t links;
    char device[FINDING_DEVICE_BYTES_MAX + 1], name[64];
    device_of(device, w->w[0]);
    snprintf(name, sizeof name, "links %.48s", w->w[0]);
    if (strcmp(w->w[2], "-") == 0 && others_are_in_a_hive(facts, w->w[1]))
        verdict_add(v, RESULT_DEGRADED, device, "",
                    "no xGMI links it with other GPUs; others like it are linked");
    if (!word_u64(w, 3, &links))
        return;
    int64_t *had = memory_number(l->memory, name);
    if (links > (uint64_t)*had && links <= INT64_MAX)
        *had = (int64_t)links;
    uint64_t should = (uint64_t)(want >= 0 ? want : *had);
    if (links < should)
        verdict_add(v, RESULT_DEGRADED, device, "", "it has %" PRIu64 " xGMI links, of %" PRIu64, links,
                    should);
}

void judge_AMD_GPU(struct look *l, const char *facts, struct verdict *v)
{
    int64_t count, limit, links, n = 0;
    struct fact_line line;
    if (!want_number(l, "Count", 0, &count, v) || !want_number(l, "Corrected", 10, &limit, v) ||
        !want_number(l, "Links", -1, &links, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        n += strcmp(line.key, "gpu") == 0;
        if (strcmp(line.key, "errors") == 0)
            judge_errors(l, &w, limit, v);
        else if (strcmp(line.key, "pages") == 0)
            judge_pages(&w, v);
        else if (strcmp(line.key, "hive") == 0)
            judge_hive(l, facts, &w, links, v);
    }
    if (n < count)
        verdict_add(v, RESULT_FATAL, "gpu", "", "%" PRId64 " GPUs have the driver amdgpu, of %" PRId64, n,
                    count);
}

/* --- amd.idle ------------------------------------------------------------------------------- */

static void add_use(int dir, const char *name, struct text *out)
{
    uint64_t bytes;
    if (is_address(name) && sys_u64(dir, "mem_info_vram_used", &bytes) == 0)
        fact_add(out, "use", "%s %" PRIu64, name, bytes);
}

static void add_process(int dir, const char *name, struct text *out)
{
    fact_add(out, "process", "%s", name);
}

void gather_AMD_IDLE(const struct look *l, struct text *out)
{
    gather_driver(l, "amdgpu", add_use, out);
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    each_entry(root, "sys/class/kfd/kfd/proc", add_process, out);
    fact_work(l, out);
}

/* Which of the GPUs a process has is not said. */
static uint64_t judge_processes(struct look *l, const char *facts, int64_t limit, struct verdict *v)
{
    uint64_t n = 0;
    struct fact_line line, first;
    for (const char *at = facts; fact_next(&at, &line);)
        n += strcmp(line.key, "process") == 0;
    int64_t looks = in_a_row(l, "held", "", n > 0);
    if (looks >= limit && fact_find(facts, "process", &first))
        verdict_add(v, RESULT_DEGRADED, "gpu", "",
                    "%" PRIu64 " processes compute on AMD GPUs while no work runs, in %" PRId64
                    " looks in a row; one is %s",
                    n, looks, first.value);
    return n;
}

void judge_AMD_IDLE(struct look *l, const char *facts, struct verdict *v)
{
    int64_t limit;
    uint64_t most, bytes;
    struct fact_line line;
    if (!want_number(l, "Looks", 3, &limit, v) || !want_bytes(l, "Memory", 1 << 30, &most, v) ||
        !facts_idle(facts, v))
        return;
    uint64_t processes = judge_processes(l, facts, limit, v);
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        if (strcmp(line.key, "use") != 0 || !word_u64(&w, 1, &bytes))
            continue;
        device_of(device, w.w[0]);
        int64_t looks = in_a_row(l, "used", w.w[0], processes == 0 && bytes > most);
        if (looks >= limit)
            verdict_add(v, RESULT_WARN, device, "", LEFT_MEMORY, bytes / 1000000, most / 1000000, looks);
    }
}

/* --- intel.gpu ------------------------------------------------------------------------------ */

static void add_intel(int dir, const char *name, struct text *out)
{
    char health[SYS_TEXT_BYTES_MAX];
    if (is_address(name) && sys_text(dir, "gpu_health", health) == 0)
        fact_add(out, "gpu", "%s %s", name, health);
}

void gather_INTEL_GPU(const struct look *l, struct text *out)
{
    gather_driver(l, "xe", add_intel, out);
}

void judge_INTEL_GPU(struct look *l, const char *facts, struct verdict *v)
{
    (void)l;
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        if (strcmp(line.key, "gpu") != 0)
            continue;
        device_of(device, w.w[0]);
        if (strcmp(w.w[1], "critical") == 0)
            verdict_add(v, RESULT_FATAL, device, "", "its driver says that its health is critical");
        else if (strcmp(w.w[1], "warning") == 0)
            verdict_add(v, RESULT_WARN, device, "", "its driver says that its health is a warning");
        else if (strcmp(w.w[1], "ok") != 0)
            verdict_add(v, RESULT_INFO, device, "", "its driver says of its health \"%s\"", w.w[1]);
    }
}
