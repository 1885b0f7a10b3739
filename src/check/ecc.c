/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * memory.ecc   "dimm NAME CORRECTED UNCORRECTED [LABEL]" for each module that EDAC counts apart, and
 *              "mc NAME CORRECTED UNCORRECTED" for each controller: what no module could be named for
 */

static void add_counts(int dir, const char *kind, const char *name, const char *corrected,
                       const char *uncorrected, struct text *out)
{
    char label[SYS_TEXT_BYTES_MAX] = "";
    uint64_t ce, ue;
    int r = sys_u64(dir, corrected, &ce);
    if (r == 0)
        r = sys_u64(dir, uncorrected, &ue);
    sys_text(dir, "dimm_label", label);
    if (r == 0)
        fact_add(out, kind, "%s %" PRIu64 " %" PRIu64 " %s", name, ce, ue, label);
    else if (r != -ENOENT)
        fact_add(out, "unknown", "the counters of %s: %s", name, strerror(-r));
}

static void add_controller(int dir, const char *name, struct text *out)
{
    if (strncmp(name, "mc", 2) != 0)
        return;
    struct sys_names names = {0};
    sys_names_read(&names, dir);
    sys_names_sort(&names);
    bool modules = false;
    for (size_t i = 0; i < names.n; i++) {
        const char *module = names.names[i];
        if (strncmp(module, "dimm", 4) != 0 && strncmp(module, "rank", 4) != 0)
            continue;
        CLEANUP_FD int below = sys_open_dir(dir, module);
        char both[SYS_TEXT_BYTES_MAX];
        snprintf(both, sizeof both, "%s/%s", name, module);
        if (below >= 0) {
            add_counts(below, "dimm", both, "dimm_ce_count", "dimm_ue_count", out);
            modules = true;
        }
    }
    sys_names_fini(&names);
    add_counts(dir, "mc", name, modules ? "ce_noinfo_count" : "ce_count",
               modules ? "ue_noinfo_count" : "ue_count", out);
}

void gather_MEMORY_ECC(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = each_entry(root, "sys/devices/system/edac/mc", add_controller, out);
    if (r < 0)
        fact_cannot(root, out, "sys/devices/system/edac/mc", r);
    else if (out->len == 0)
        fact_add(out, "unsupported", "EDAC has no memory controller");
}

/* One uncorrected error is a finding; corrected errors count by their rate. */
void judge_MEMORY_ECC(struct look *l, const char *facts, struct verdict *v)
{
    int64_t limit;
    struct span window;
    if (!want_number(l, "Corrected", 9, &limit, v) || !want_span(l, "Window", span_s(24 * 3600), &window, v))
        return;
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t ce, ue;
        if (strcmp(line.key, "dimm") != 0 && strcmp(line.key, "mc") != 0)
            continue;
        words_of(line.value, &w);
        if (!word_u64(&w, 1, &ce) || !word_u64(&w, 2, &ue))
            continue;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        snprintf(device, sizeof device, "memory %s", w.w[0]);
        uint64_t bad = grown_within(l, "ue", w.w[0], ue, window),
                 mild = grown_within(l, "ce", w.w[0], ce, window);
        uint64_t hourly = grown_within(l, "ce hour", w.w[0], ce, span_s(3600));
        char about[32];
        if (bad > 0)
            verdict_add(v, RESULT_FATAL, device, "", "%" PRIu64 " uncorrected errors within %s%s%s", bad,
                        span_human(window, about), *w.w[3] ? " in " : "", w.w[3]);
        else if (hourly >= 100)
            verdict_add(v, RESULT_DEGRADED, device, "",
                        "%" PRIu64 " corrected errors within an hour, of fewer than 100%s%s", hourly,
                        *w.w[3] ? " in " : "", w.w[3]);
        else if (mild > (uint64_t)limit)
            verdict_add(v, RESULT_WARN, device, "",
                        "%" PRIu64 " corrected errors within %s, of at most %" PRId64 "%s%s", mild,
                        span_human(window, about), limit, *w.w[3] ? " in " : "", w.w[3]);
    }
}
