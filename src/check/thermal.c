/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * thermal   "sensor NAME TEMPERATURE HIGH CRITICAL" in thousandths of a degree, 0 where the sensor has no
 * such limit. A sensor may be asked over a slow bus, or be the disk that does not answer: in a child
 */

enum { SENSORS_MAX = 32, TRIPS_MAX = 12, SANE_MC_MAX = 200000 };

/* Below zero and above what silicon bears it is no reading; such limits are none. */
static bool read_mc(int dir, const char *path, uint64_t *mc)
{
    return sys_u64(dir, path, mc) == 0 && *mc > 0 && *mc < SANE_MC_MAX;
}

static void thermal_put(struct text *out, const char *name, uint64_t mc, uint64_t high, uint64_t critical)
{
    char word[SYS_TEXT_BYTES_MAX];
    snprintf(word, sizeof word, "%s", name);
    for (char *p = word; *p; p++)
        if (*p == ' ')
            *p = '_';
    fact_add(out, "sensor", "%s %" PRIu64 " %" PRIu64 " %" PRIu64, word, mc, high, critical);
}

static void add_zone(int dir, const char *name, struct text *out)
{
    uint64_t mc, critical = 0;
    char type[SYS_TEXT_BYTES_MAX] = "", path[64];
    if (strncmp(name, "thermal_zone", 12) != 0 || !read_mc(dir, "temp", &mc))
        return;
    for (unsigned trip = 0; trip < TRIPS_MAX && !critical; trip++) {
        snprintf(path, sizeof path, "trip_point_%u_type", trip);
        if (sys_text(dir, path, type) < 0 || strcmp(type, "critical") != 0)
            continue;
        snprintf(path, sizeof path, "trip_point_%u_temp", trip);
        if (!read_mc(dir, path, &critical))
            critical = 0;
    }
    thermal_put(out, name, mc, 0, critical);
}

static void add_chip(int dir, const char *name, struct text *out)
{
    char chip[SYS_TEXT_BYTES_MAX] = "";
    sys_text(dir, "name", chip);
    for (unsigned i = 1; i <= SENSORS_MAX; i++) {
        uint64_t mc, high, critical;
        char path[32], full[SYS_TEXT_BYTES_MAX];
        snprintf(path, sizeof path, "temp%u_input", i);
        if (!read_mc(dir, path, &mc))
            continue;
        snprintf(path, sizeof path, "temp%u_max", i);
        if (!read_mc(dir, path, &high))
            high = 0;
        snprintf(path, sizeof path, "temp%u_crit", i);
        if (!read_mc(dir, path, &critical))
            critical = 0;
        snprintf(full, sizeof full, "%.16s/%.64s/temp%u", name, chip, i);
        thermal_put(out, full, mc, high, critical);
    }
}

void gather_THERMAL(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int zones = each_entry(root, "sys/class/thermal", add_zone, out);
    int chips = each_entry(root, "sys/class/hwmon", add_chip, out);
    if (zones < 0 && chips < 0)
        fact_cannot(root, out, "sys/class/thermal", zones);
    else if (out->len == 0)
        fact_add(out, "unsupported", "there is no sensor of temperature");
}

void judge_THERMAL(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t mc, high, critical;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        if (strcmp(line.key, "sensor") != 0 || !word_u64(&w, 1, &mc) || !word_u64(&w, 2, &high) ||
            !word_u64(&w, 3, &critical))
            continue;
        snprintf(device, sizeof device, "sensor %s", w.w[0]);
        bool worst = critical > 0 && mc >= critical;
        if (worst || (high > 0 && mc >= high))
            verdict_add(v, worst ? RESULT_FATAL : RESULT_WARN, device, "",
                        "%" PRIu64 " degrees Celsius, and its %s limit is %" PRIu64, mc / 1000,
                        worst ? "critical" : "high", (worst ? critical : high) / 1000);
    }
}
