/* SPDX-License-Identifier: Apache-2.0 */
#include "check/nvidia.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Judges the facts of NVML about a GPU's PCIe link, its NVLinks and their fabric. */

/* --- PCIe ----------------------------------------------------------------------------------- */

/* The speed rises with the work: two looks in a row tell a slow link from one that just wakes. */
static void judge_pcie_link(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    uint64_t generation = gpu_line_number(line, 1), most = gpu_line_number(line, 2);
    uint64_t lanes = gpu_line_number(line, 3), most_lanes = gpu_line_number(line, 4);
    bool slow = gpu_line_number(line, 5) == 1 && generation < most;
    int64_t looks = in_a_row(l, "generation", line->w.w[0], slow);
    if (lanes < most_lanes)
        verdict_add(v, RESULT_DEGRADED, line->device, "", "its PCIe link has %" PRIu64 " lanes, of %" PRIu64,
                    lanes, most_lanes);
    else if (looks >= 2)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "its PCIe link works at generation %" PRIu64 ", of %" PRIu64, generation, most);
}

static void judge_pcie(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    int64_t limit;
    if (!want_number(l, "Replays", 8, &limit, v))
        return;
    if (gpu_line_is(line, "pcie"))
        judge_pcie_link(l, line, v);
    if (!gpu_line_is(line, "replays"))
        return;
    uint64_t replays = gpu_line_grown(l, "replays", line, gpu_line_number(line, 1));
    if (replays > (uint64_t)limit)
        verdict_add(v, RESULT_WARN, line->device, "",
                    "%" PRIu64 " PCIe replays a minute, of at most %" PRId64, replays, limit);
}

void judge_NVIDIA_PCIE(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_pcie, v);
}

/* --- NVLink --------------------------------------------------------------------------------- */

/* The most active links that a GPU of this node has. */
static uint64_t most_links(const char *facts)
{
    uint64_t most = 0, n;
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        if (strcmp(line.key, "links") != 0)
            continue;
        words_of(line.value, &w);
        if (word_u64(&w, 1, &n) && n > most)
            most = n;
    }
    return most;
}

/* A card without a bridge has links that are never active: it is compared with itself and its neighbours. */
static void judge_links(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    int64_t want;
    if (!want_number(l, "Links", -1, &want, v))
        return;
    char name[64];
    snprintf(name, sizeof name, "links %.48s", line->w.w[0]);
    int64_t *had = memory_number(l->memory, name);
    uint64_t active = gpu_line_number(line, 1), neighbours = most_links(line->facts);
    if (active > (uint64_t)*had && active <= INT64_MAX)
        *had = (int64_t)active;
    uint64_t should = want >= 0 ? (uint64_t)want : neighbours > (uint64_t)*had ? neighbours : (uint64_t)*had;
    if (active < should)
        verdict_add(v, RESULT_FATAL, line->device, "", "%" PRIu64 " NVLinks are active, of %" PRIu64, active,
                    should);
}

static void judge_link_errors(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    enum { CRC_MOST = 100 }; /* a second */
    char link[80];
    snprintf(link, sizeof link, "%.40s/%.30s", line->w.w[0], line->w.w[1]);
    uint64_t again = grown_within(l, "replay", link, gpu_line_number(line, 2), span_s(3600)) +
                     grown_within(l, "recovery", link, gpu_line_number(line, 3), span_s(3600));
    uint64_t crc = grown_within(l, "crc", link, gpu_line_number(line, 4), span_s(600));
    if (again > 0)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "%" PRIu64 " replays and recoveries of its NVLink %s within an hour", again,
                    line->w.w[1]);
    else if (crc > 0)
        verdict_add(v, crc / 600 >= CRC_MOST ? RESULT_DEGRADED : RESULT_WARN, line->device, "",
                    "%" PRIu64 " CRC errors of its NVLink %s within 10 minutes", crc, line->w.w[1]);
}

/* Bits 0 to 7 are the negative exponent of ten, bits 8 to 11 what is before it (NVML_NVLINK_BER_*). */
static uint64_t rate_e15(uint64_t code)
{
    uint64_t rate = code >> 8 & 0xf, exponent = code & 0xff;
    for (; exponent < 15; exponent++)
        rate *= 10;
    for (; exponent > 15; exponent--)
        rate /= 10;
    return rate;
}

static void judge_link_bits(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    enum { RATE_MOST_E15 = 1000 };
    char link[80];
    snprintf(link, sizeof link, "%.40s/%.30s", line->w.w[0], line->w.w[1]);
    uint64_t recoveries = grown_within(l, "recoveries", link, gpu_line_number(line, 2), span_s(3600));
    uint64_t errors = grown_within(l, "bits", link, gpu_line_number(line, 3), span_s(3600)),
             rate = gpu_line_number(line, 4);
    if (recoveries > 0)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "%" PRIu64 " recoveries of its NVLink %s within an hour", recoveries, line->w.w[1]);
    else if (errors > 0)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "%" PRIu64 " errors of its NVLink %s within an hour", errors, line->w.w[1]);
    else if (rate_e15(rate) > RATE_MOST_E15)
        verdict_add(v, RESULT_DEGRADED, line->device, "",
                    "%" PRIu64 "e-%" PRIu64 " of the bits of its NVLink %s are wrong, of at most 1e-12",
                    rate >> 8 & 0xf, rate & 0xff, line->w.w[1]);
}

static void judge_nvlink(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    if (gpu_line_is(line, "links"))
        judge_links(l, line, v);
    else if (gpu_line_is(line, "errors"))
        judge_link_errors(l, line, v);
    else if (gpu_line_is(line, "bits"))
        judge_link_bits(l, line, v);
}

void judge_NVIDIA_NVLINK(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_nvlink, v);
}

/* --- fabric --------------------------------------------------------------------------------- */

/* Two bits each of the health mask: 1 is so, 2 is not so. */
static const struct {
    unsigned shift;
    enum result result;
    const char *what;
} ailments[] = {{4, RESULT_FATAL, "a route of its NVLink fabric is unhealthy"},
                {0, RESULT_DEGRADED, "its NVLink fabric has less bandwidth"},
                {2, RESULT_WARN, "a route of its NVLink fabric is recovering"},
                {6, RESULT_WARN, "its NVLink fabric recovers from a timeout"}};

static void judge_fabric_health(const struct gpu_line *line, struct verdict *v)
{
    enum { UNHEALTHY = 2, LIMITED = 3 };
    uint64_t health = gpu_line_number(line, 3), summary = gpu_line_number(line, 4);
    for (size_t i = 0; i < sizeof ailments / sizeof *ailments; i++)
        if ((health >> ailments[i].shift & 3) == 1) {
            verdict_add(v, ailments[i].result, line->device, "", "%s", ailments[i].what);
            return;
        }
    if (summary == UNHEALTHY)
        verdict_add(v, RESULT_FATAL, line->device, "", "its NVLink fabric is unhealthy");
    else if (summary == LIMITED)
        verdict_add(v, RESULT_DEGRADED, line->device, "", "its NVLink fabric has limited capacity");
}

/* Fabric Manager takes its time after a boot. */
static void judge_fabric(struct look *l, const struct gpu_line *line, struct verdict *v)
{
    enum { NOT_STARTED = 1, COMPLETED = 3 };
    int64_t limit;
    if (!gpu_line_is(line, "fabric") || !want_number(l, "Looks", 3, &limit, v))
        return;
    uint64_t state = gpu_line_number(line, 1), status = gpu_line_number(line, 2);
    int64_t looks = in_a_row(l, "fabric", line->w.w[0], state != COMPLETED);
    if (looks >= limit)
        verdict_add(v, RESULT_FATAL, line->device, "", "%s",
                    state == NOT_STARTED ? "it is not registered with its NVLink fabric"
                                         : "it is still being registered with its NVLink fabric");
    else if (state == COMPLETED && status != 0)
        verdict_add(v, RESULT_FATAL, line->device, "",
                    "it was registered with its NVLink fabric with error %" PRIu64, status);
    else if (state == COMPLETED)
        judge_fabric_health(line, v);
}

void judge_NVIDIA_FABRIC(struct look *l, const char *facts, struct verdict *v)
{
    gpu_lines_judge(l, facts, judge_fabric, v);
}
