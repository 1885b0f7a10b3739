/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * efa   "device NAME" of each RDMA device of the driver efa;
 *       "port NAME/PORT STATE" of its ports ("4: ACTIVE");
 *       "counter NAME COUNTER VALUE" and "counter NAME/PORT COUNTER VALUE": which of them are the device's
 *       and which the port's has changed between kernels
 *
 * The driver asks the adapter for its counters.
 */

/* A command without completion means that the adapter does not answer its driver any more. */
static const struct limit limits[] = {
    {"no_completion_cmds", true, 0, 3600, RESULT_FATAL},
    {"cmds_err", true, 10, 60, RESULT_WARN},
    {"rx_drops", true, 6000, 60, RESULT_WARN},
    {"unresponsive_remote_events", true, 60, 60, RESULT_WARN},
    {"impaired_remote_conn_events", true, 60, 60, RESULT_WARN},
};
enum { LIMITS = sizeof limits / sizeof *limits };

static void add_counters(int dir, const char *device, struct text *out)
{
    for (size_t i = 0; i < LIMITS; i++)
        fact_counter(out, device, dir, limits[i].name, limits[i].hw);
}

static void add_port(int dir, int device, const char *port, struct text *out)
{
    char state[SYS_TEXT_BYTES_MAX];
    int r = sys_text(dir, "state", state);
    if (r < 0)
        fact_add(out, "unknown", "the state of %s: %s", port, strerror(-r));
    else
        fact_add(out, "port", "%s %s", port, state);
    add_counters(dir, port, out);
}

/* Its name tells nothing: udev calls it rdmap0s31. */
static void add_efa(int dir, const char *name, struct text *out)
{
    char driver[SYS_TEXT_BYTES_MAX];
    if (sys_link(dir, "device/driver", driver) < 0 || strcmp(driver, "efa") != 0)
        return;
    fact_add(out, "device", "%s", name);
    add_counters(dir, name, out);
    each_port(dir, name, add_port, out);
}

void gather_EFA(const struct look *l, struct text *out)
{
    gather_each(l, "sys/class/infiniband", add_efa, "there is no EFA adapter", out);
}

/* --- judging -------------------------------------------------------------------------------- */

static void judge_counters(struct look *l, const char *facts, const char *device, const char *named,
                           struct verdict *v)
{
    for (size_t i = 0; i < LIMITS; i++)
        judge_limit(l, facts, device, named, &limits[i], v);
}

void judge_EFA(struct look *l, const char *facts, struct verdict *v)
{
    int64_t count, n = 0;
    struct fact_line line;
    if (!want_number(l, "Count", 0, &count, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char named[FINDING_DEVICE_BYTES_MAX + 1];
        bool device = strcmp(line.key, "device") == 0, port = strcmp(line.key, "port") == 0;
        words_of(line.value, &w);
        snprintf(named, sizeof named, "efa %.59s", w.w[0]);
        n += device;
        if (port && strcmp(w.w[1], "4:") != 0)
            verdict_add(v, RESULT_FATAL, named, "", "the state of %s is %s, not ACTIVE", w.w[0], w.w[2]);
        if (device || port)
            judge_counters(l, facts, w.w[0], named, v);
    }
    if (n < count)
        verdict_add(v, RESULT_FATAL, "efa", "", "%" PRId64 " EFA adapters, of %" PRId64, n, count);
}
