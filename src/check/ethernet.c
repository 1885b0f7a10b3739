/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * ethernet   "interface NAME DEVICE UP SPEED CHANGES" for each Ethernet interface but loopback: whether there
 *            is a device behind it, whether it has a carrier and is up, Mb/s or 0, changes of the carrier;
 *            "counter NAME COUNTER VALUE", of those that count at least; "none" where there is no interface
 *
 * The kernel is asked for all of them at once; sysfs has the same, of a tree of files and where nobody may
 * ask, and alone has devices and speeds. The speed is asked of the card, so only where Speed= wants to know.
 */

enum { OPER_UNKNOWN = 0, OPER_UP = 6 }; /* from linux/if.h, which cannot be included beside net/if.h */
enum { COUNTERS = 5 };
static const char *const counters[COUNTERS] = {"rx_errors", "tx_errors", "rx_crc_errors", "tx_carrier_errors",
                                               "rx_missed_errors"};

static void fact_interface(struct text *out, const char *name, bool device, bool up, uint64_t speed,
                           uint64_t changes)
{
    fact_add(out, "interface", "%s %d %d %" PRIu64 " %" PRIu64, name, device, up, speed, changes);
}

static void fact_statistic(struct text *out, const char *name, size_t i, uint64_t n)
{
    fact_add(out, "counter", "%s %s %" PRIu64, name, counters[i], n);
}

/* All that have a device, or those that Interface= names. */
static bool ethernet_counts(const struct check *k, const char *name, bool device)
{
    const char *named = check_arg(k, "Interface");
    return named ? options_have(named, name, strlen(name)) : device;
}

/* --- of sysfs ------------------------------------------------------------------------------- */

static void add_counters(int dir, const char *name, struct text *out)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        char path[64];
        uint64_t n;
        snprintf(path, sizeof path, "statistics/%s", counters[i]);
        if (sys_u64(dir, path, &n) == 0)
            fact_statistic(out, name, i, n);
    }
}

/* An interface that is down has no carrier to read and no speed (-1). */
static void add_interface(int dir, const char *name, struct text *out)
{
    char state[SYS_TEXT_BYTES_MAX] = "", device[SYS_TEXT_BYTES_MAX];
    uint64_t type, carrier = 0, speed = 0, changes = 0;
    if (sys_u64(dir, "type", &type) < 0 || type != ARPHRD_ETHER)
        return;
    if (sys_text(dir, "operstate", state) < 0) {
        fact_add(out, "unknown", "the state of %s", name);
        return;
    }
    sys_u64(dir, "carrier", &carrier);
    sys_u64(dir, "carrier_changes", &changes);
    if (sys_u64(dir, "speed", &speed) < 0)
        speed = 0;
    bool up = carrier == 1 && (strcmp(state, "up") == 0 || strcmp(state, "unknown") == 0);
    fact_interface(out, name, sys_link(dir, "device", device) == 0, up, speed, changes);
    add_counters(dir, name, out);
}

/* --- of the kernel -------------------------------------------------------------------------- */

struct asked {
    int root;
    const struct check *check;
    bool blind; /* whether a device stands behind it is not known */
    struct text facts;
};

static bool has_device(struct asked *a, const struct link *l)
{
    char path[IFNAMSIZ + 32];
    struct stat st;
    if (l->device || l->software)
        return l->device;
    snprintf(path, sizeof path, "sys/class/net/%s/device", l->name);
    bool there = fstatat(a->root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    a->blind |= !there && !sys_mounted(a->root);
    return there;
}

static uint64_t speed_of(int root, const char *name)
{
    char path[IFNAMSIZ + 32];
    uint64_t speed;
    snprintf(path, sizeof path, "sys/class/net/%s/speed", name);
    return sys_u64(root, path, &speed) < 0 ? 0 : speed;
}

static void add_link(const struct link *l, void *arg)
{
    struct asked *a = arg;
    const uint64_t values[COUNTERS] = {l->stats.rx_errors, l->stats.tx_errors, l->stats.rx_crc_errors,
                                       l->stats.tx_carrier_errors, l->stats.rx_missed_errors};
    bool up = l->carrier && (l->state == OPER_UP || l->state == OPER_UNKNOWN);
    if (l->type != ARPHRD_ETHER)
        return;
    bool device = !check_arg(a->check, "Interface") && has_device(a, l);
    bool wanted = ethernet_counts(a->check, l->name, device);
    bool speed = wanted && up && check_arg(a->check, "Speed");
    fact_interface(&a->facts, l->name, device, up, speed ? speed_of(a->root, l->name) : 0, l->changes);
    for (size_t i = 0; wanted && i < COUNTERS; i++)
        fact_statistic(&a->facts, l->name, i, values[i]);
}

/* False when the kernel did not answer, or not for one moment in time. Without /sys, devices are not
 * known. */
static bool ask_kernel(const struct look *l, int root, struct text *out)
{
    struct asked a = {.root = root, .check = l->check};
    bool answered = links_each(add_link, &a) == 0 && !a.blind;
    if (answered && a.facts.s)
        text_add(out, a.facts.s);
    text_fini(&a.facts);
    return answered;
}

/* -------------------------------------------------------------------------------------------- */

void gather_ETHERNET(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = *l->root || !ask_kernel(l, root, out) ? each_entry(root, "sys/class/net", add_interface, out) : 0;
    if (r < 0)
        fact_cannot(root, out, "sys/class/net", r);
    else if (out->len == 0)
        fact_add(out, "none", "0");
}

/* --- judging -------------------------------------------------------------------------------- */

struct limits {
    int64_t speed, errors, flaps;
    struct span window, down;
};

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
    enum result down = down_result(l, w->w[0], !up, limits->down);
    if (!up && check_arg(l->check, "Interface"))
        verdict_add(v, down, device, "", "%s is down", w->w[0]);
    else if (up && speed > 0 && speed < (uint64_t)limits->speed)
        verdict_add(v, RESULT_DEGRADED, device, "", "%" PRIu64 " Mb/s, of at least %" PRId64, speed,
                    limits->speed);
    if (!word_u64(w, 4, &changes))
        return;
    uint64_t flaps = grown_within(l, "flaps", w->w[0], changes, limits->window) / 2; /* down and up are two */
    if (flaps > (uint64_t)limits->flaps)
        verdict_add(v, flaps / 4 > (uint64_t)limits->flaps ? RESULT_DEGRADED : RESULT_WARN, device, "",
                    "the link was lost and came back %" PRIu64
                    " times within 10 minutes, of at most %" PRId64,
                    flaps, limits->flaps);
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

static bool ethernet_listed(const char *names, const char *name)
{
    return options_have(names, name, strlen(name));
}

void judge_ETHERNET(struct look *l, const char *facts, struct verdict *v)
{
    struct limits limits = {.window = span_s(600)};
    if (!want_number(l, "Speed", 0, &limits.speed, v) || !want_number(l, "Errors", 1, &limits.errors, v) ||
        !want_number(l, "Flaps", 2, &limits.flaps, v) ||
        !want_span(l, "Down", span_s(DOWN_S), &limits.down, v))
        return;
    CLEANUP_TEXT struct text mine = {0};
    size_t up = 0, all = 0;
    struct fact_line line;
    text_add(&mine, ",");
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (strcmp(line.key, "interface") == 0 &&
            ethernet_counts(l->check, w.w[0], strcmp(w.w[1], "1") == 0)) {
            bool is_up = strcmp(w.w[2], "1") == 0;
            all++;
            up += is_up;
            text_printf(&mine, "%s,", w.w[0]);
            judge_link(l, &limits, &w, is_up, v);
        } else if (strcmp(line.key, "counter") == 0 && ethernet_listed(mine.s, w.w[0])) {
            judge_counter(l, &limits, &w, v);
        }
    }
    judge_absent(l, facts, v);
    int64_t had = *memory_number(l->memory, "interfaces");
    if (all > 0)
        memory_keep(l->memory, "interfaces", (int64_t)all);
    if (!check_arg(l->check, "Interface") && all == 0 && had > 0)
        verdict_add(v, RESULT_FATAL, "", "",
                    "the last Ethernet interface is gone, of %" PRId64 " that there were", had);
    else if (!check_arg(l->check, "Interface") && all == 0)
        verdict_cannot(v, RESULT_UNSUPPORTED, "no Ethernet interface has a device");
    enum result down = down_result(l, "", all > 0 && up == 0, limits.down);
    if (!check_arg(l->check, "Interface") && all > 0 && up == 0)
        verdict_add(v, down, "", "", "none of %zu Ethernet interfaces is up", all);
}
