/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * pcie.link   "link ADDRESS CLASS WIDTH MOST STATE SPEED MOST-SPEED" of GPUs, accelerators, network and NVMe
 *             controllers: lanes now and at most, its power state, MT/s now and at most. At most is what
 *             both ends can do
 * pcie.aer    "errors ADDRESS CORRECTABLE NONFATAL FATAL": totals since the boot
 */

enum { LANES_MAX = 32 };

static const struct {
    const char *class, *what;
} kinds[] = {{"0x0108", "nvme"}, {"0x02", "nic"}, {"0x03", "gpu"}, {"0x12", "accelerator"}};

static const char *kind_of(const char *class)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(class, kinds[i].class, strlen(kinds[i].class)) == 0)
            return kinds[i].what;
    return NULL;
}

/* "16.0 GT/s PCIe"; 0 when it is malformed. */
static uint64_t speed_of(int dir, const char *path)
{
    char text[SYS_TEXT_BYTES_MAX];
    uint64_t milli;
    if (sys_text(dir, path, text) < 0)
        return 0;
    text[strcspn(text, " ")] = '\0';
    return text_parse_milli(text, &milli, NULL) == 0 ? milli : 0;
}

/* A port that has no link says 0 or 255. */
static uint64_t width_of(int dir, const char *path)
{
    uint64_t n;
    return sys_u64(dir, path, &n) == 0 && n <= LANES_MAX ? n : 0;
}

static uint64_t pcie_least(uint64_t a, uint64_t b)
{
    return b == 0 || (a > 0 && a < b) ? a : b;
}

/* The device above is the other end of the link: a narrow slot is no fault. */
static void add_link(int dir, const char *name, struct text *out)
{
    char class[SYS_TEXT_BYTES_MAX], state[SYS_TEXT_BYTES_MAX] = "";
    uint64_t now;
    if (sys_text(dir, "class", class) < 0 || !kind_of(class) || sys_u64(dir, "current_link_width", &now) < 0)
        return;
    sys_text(dir, "power_state", state);
    uint64_t most = width_of(dir, "max_link_width");
    if (most > 0 && now <= LANES_MAX)
        fact_add(out, "link", "%s %s %" PRIu64 " %" PRIu64 " %s %" PRIu64 " %" PRIu64, name, kind_of(class),
                 now, pcie_least(most, width_of(dir, "../max_link_width")), *state ? state : "-",
                 speed_of(dir, "current_link_speed"),
                 pcie_least(speed_of(dir, "max_link_speed"), speed_of(dir, "../max_link_speed")));
}

static void gather_devices(const struct look *l, entry_fn *fn, const char *without, struct text *out)
{
    static const char path[] = "sys/bus/pci/devices";
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = each_entry(root, path, fn, out);
    if (r < 0)
        fact_cannot(root, out, path, r);
    else if (out->len == 0)
        fact_add(out, "unsupported", "%s", without);
}

void gather_PCIE_LINK(const struct look *l, struct text *out)
{
    gather_devices(l, add_link, "no GPU, network or NVMe controller has a PCIe link", out);
}

/* The speed is lowered by the device itself while it is idle: it counts where the record says so. */
void judge_PCIE_LINK(struct look *l, const char *facts, struct verdict *v)
{
    const char *speeds = check_arg(l->check, "Speed");
    bool by_speed = false;
    struct fact_line line;
    struct err e = {0};
    if (speeds && text_parse_bool(speeds, &by_speed, &e) < 0) {
        verdict_cannot(v, RESULT_UNKNOWN, "Speed: %s", e.msg);
        return;
    }
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t now, most, speed, fastest;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        bool asleep = strncmp(w.w[4], "D3", 2) == 0;
        if (!word_u64(&w, 2, &now) || !word_u64(&w, 3, &most) || !word_u64(&w, 5, &speed) ||
            !word_u64(&w, 6, &fastest))
            continue;
        snprintf(device, sizeof device, "%s %s", w.w[1], w.w[0]);
        if (!asleep && now < most)
            verdict_add(v, RESULT_FATAL, device, "", "its PCIe link has %" PRIu64 " lanes, of %" PRIu64, now,
                        most);
        else if (!asleep && by_speed && speed < fastest)
            verdict_add(v, RESULT_DEGRADED, device, "", "its PCIe link runs at %" PRIu64 " MT/s, of %" PRIu64,
                        speed, fastest);
    }
}

/* --- pcie.aer ------------------------------------------------------------------------------- */

struct total {
    uint64_t n;
    bool found;
};

static bool on_total(const char *line, void *arg)
{
    struct total *t = arg;
    struct words w;
    if (strncmp(line, "TOTAL_ERR_", 10) != 0)
        return true;
    words_of(line, &w);
    t->found = word_u64(&w, 1, &t->n);
    return false;
}

static void add_errors(int dir, const char *name, struct text *out)
{
    static const char *const files[] = {"aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"};
    struct total totals[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        int r = sys_each_line(dir, files[i], on_total, &totals[i]);
        if (r == -ENOENT)
            return;
        if (r < 0 || !totals[i].found) {
            fact_add(out, "unknown", "%s of %s: %s", files[i], name, r < 0 ? strerror(-r) : "not understood");
            return;
        }
    }
    fact_add(out, "errors", "%s %" PRIu64 " %" PRIu64 " %" PRIu64, name, totals[0].n, totals[1].n,
             totals[2].n);
}

void gather_PCIE_AER(const struct look *l, struct text *out)
{
    gather_devices(l, add_errors, "no PCI device counts its errors", out);
}

void judge_PCIE_AER(struct look *l, const char *facts, struct verdict *v)
{
    int64_t correctable, nonfatal;
    struct fact_line line;
    if (!want_number(l, "Correctable", 1000, &correctable, v) || !want_number(l, "Nonfatal", 5, &nonfatal, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t ce, ne, fe;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        if (strcmp(line.key, "errors") != 0 || !word_u64(&w, 1, &ce) || !word_u64(&w, 2, &ne) ||
            !word_u64(&w, 3, &fe))
            continue;
        snprintf(device, sizeof device, "pci %s", w.w[0]);
        uint64_t mild = grown_within(l, "correctable", w.w[0], ce, span_s(600));
        uint64_t bad = grown_within(l, "nonfatal", w.w[0], ne, span_s(3600));
        uint64_t worst = grown_within(l, "fatal", w.w[0], fe, span_s(3600));
        if (worst > 0)
            verdict_add(v, RESULT_FATAL, device, "", "%" PRIu64 " fatal PCIe errors within an hour", worst);
        else if (bad > 0)
            verdict_add(v, bad >= (uint64_t)nonfatal ? RESULT_DEGRADED : RESULT_WARN, device, "",
                        "%" PRIu64 " uncorrected PCIe errors within an hour; %" PRId64 " are too many", bad,
                        nonfatal);
        else if (mild / 10 > (uint64_t)correctable)
            verdict_add(v, RESULT_WARN, device, "",
                        "%" PRIu64 " corrected PCIe errors a minute, of at most %" PRId64, mild / 10,
                        correctable);
    }
}
