/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * ethernet   "interface NAME DEVICE UP SPEED CHANGES" for each Ethernet interface but loopback: whether there
 *            is a device behind it, whether it has a carrier and is up, Mb/s or 0, changes of the carrier;
 *            "counter NAME COUNTER VALUE"
 */

static const char *const counters[] = {"rx_errors", "tx_errors", "rx_crc_errors", "tx_carrier_errors",
                                       "rx_missed_errors"};

enum { TYPE_ETHERNET = 1 };

static void add_counters(int dir, const char *name, struct text *out)
{
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        char path[64];
        uint64_t n;
        snprintf(path, sizeof path, "statistics/%s", counters[i]);
        if (sys_u64(dir, path, &n) == 0)
            fact(out, "counter", "%s %s %" PRIu64, name, counters[i], n);
    }
}

/* An interface that is down has no carrier to read and no speed (-1). */
static void add_interface(int dir, const char *name, struct text *out)
{
    char state[SYS_TEXT_BYTES_MAX] = "", device[SYS_TEXT_BYTES_MAX];
    uint64_t type, carrier = 0, speed = 0, changes = 0;
    if (sys_u64(dir, "type", &type) < 0 || type != TYPE_ETHERNET)
        return;
    if (sys_text(dir, "operstate", state) < 0) {
        fact(out, "unknown", "the state of %s", name);
        return;
    }
    sys_u64(dir, "carrier", &carrier);
    sys_u64(dir, "carrier_changes", &changes);
    if (sys_u64(dir, "speed", &speed) < 0)
        speed = 0;
    bool up = carrier == 1 && (strcmp(state, "up") == 0 || strcmp(state, "unknown") == 0);
    fact(out, "interface", "%s %d %d %" PRIu64 " %" PRIu64, name, sys_link(dir, "device", device) == 0, up,
         speed, changes);
    add_counters(dir, name, out);
}

void gather_ETHERNET(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = each_entry(root, "sys/class/net", add_interface, out);
    if (r < 0)
        fact_cannot(root, out, "sys/class/net", r);
    else if (out->len == 0 && !check_arg(l->check, "Interface"))
        fact(out, "unsupported", "there is no Ethernet interface");
    else if (out->len == 0)
        fact(out, "none", "0");
}

/* --- judging -------------------------------------------------------------------------------- */

struct limits {
    int64_t speed, errors, flaps;
    struct span window;
};

/* All that have a device, or those that Interface= names. */
static bool counts(const struct look *l, const struct words *w)
{
    const char *named = check_arg(l->check, "Interface");
    return named ? options_have(named, w->w[0], strlen(w->w[0])) : strcmp(w->w[1], "1") == 0;
}

static void device_of(char device[static FINDING_DEVICE_BYTES_MAX + 1], const char *name)
{
    snprintf(device, FINDING_DEVICE_BYTES_MAX + 1, "%s", name);
}

static void judge_link(struct look *l, const struct limits *limits, const struct words *w, bool up,
                       struct verdict *v)
{
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    uint64_t speed = 0, changes = 0;
    device_of(device, w->w[0]);
    word_u64(w, 3, &speed);
    if (!up && check_arg(l->check, "Interface"))
        verdict_add(v, RESULT_FATAL, device, "", "%s is down", w->w[0]);
    else if (up && speed > 0 && speed < (uint64_t)limits->speed)
        verdict_add(v, RESULT_DEGRADED, device, "", "%" PRIu64 " Mb/s, of at least %" PRId64, speed,
                    limits->speed);
    if (!word_u64(w, 4, &changes))
        return;
    uint64_t flaps = grown_within(l, "flaps", w->w[0], changes, limits->window);
    if (flaps > (uint64_t)limits->flaps)
        verdict_add(v, flaps / 4 > (uint64_t)limits->flaps ? RESULT_DEGRADED : RESULT_WARN, device, "",
                    "the carrier changed %" PRIu64 " times within 10 minutes, of at most %" PRId64, flaps,
                    limits->flaps);
}

/* Errors= is what a minute may bring. */
static void judge_counter(struct look *l, const struct limits *limits, const struct words *w,
                          struct verdict *v)
{
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    uint64_t value, most = (uint64_t)limits->errors * 10;
    if (!word_u64(w, 2, &value))
        return;
    device_of(device, w->w[0]);
    uint64_t grew = grown_within(l, w->w[1], w->w[0], value, limits->window);
    if (grew > most)
        verdict_add(v, grew / 100 > most ? RESULT_DEGRADED : RESULT_WARN, device, "",
                    "%s grew by %" PRIu64 " within 10 minutes, of at most %" PRIu64, w->w[1], grew, most);
}

/* A name that Interface= has and the machine has not. */
static void judge_absent(const struct look *l, const char *facts, struct verdict *v)
{
    const char *named = check_arg(l->check, "Interface");
    for (const char *p = named ? named : ""; *p;) {
        size_t n = strcspn(p, ",");
        bool there = n == 0;
        struct fact_line line;
        for (const char *at = facts; !there && fact_next(&at, &line);)
            there = strcmp(line.key, "interface") == 0 && strcspn(line.value, " ") == n &&
                    strncmp(line.value, p, n) == 0;
        if (!there) {
            char device[FINDING_DEVICE_BYTES_MAX + 1];
            snprintf(device, sizeof device, "%.*s", (int)n, p);
            verdict_add(v, RESULT_FATAL, device, "", "there is no interface %s", device);
        }
        p += n + (p[n] == ',');
    }
}

static bool listed(const char *names, const char *name)
{
    return options_have(names, name, strlen(name));
}

void judge_ETHERNET(struct look *l, const char *facts, struct verdict *v)
{
    struct limits limits = {.window = span_s(600)};
    if (!want_number(l, "Speed", 0, &limits.speed, v) || !want_number(l, "Errors", 1, &limits.errors, v) ||
        !want_number(l, "Flaps", 2, &limits.flaps, v))
        return;
    CLEANUP_TEXT struct text mine = {0};
    size_t up = 0, all = 0;
    struct fact_line line;
    text_add(&mine, ",");
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (strcmp(line.key, "interface") == 0 && counts(l, &w)) {
            bool is_up = strcmp(w.w[2], "1") == 0;
            all++;
            up += is_up;
            text_printf(&mine, "%s,", w.w[0]);
            judge_link(l, &limits, &w, is_up, v);
        } else if (strcmp(line.key, "counter") == 0 && listed(mine.s, w.w[0])) {
            judge_counter(l, &limits, &w, v);
        }
    }
    judge_absent(l, facts, v);
    if (!check_arg(l->check, "Interface") && all == 0)
        verdict_cannot(v, RESULT_UNSUPPORTED, "no Ethernet interface has a device");
    else if (!check_arg(l->check, "Interface") && up == 0)
        verdict_add(v, RESULT_FATAL, "", "", "none of %zu Ethernet interfaces is up", all);
}
