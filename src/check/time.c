/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * time   "wall NS" (what the clock is, since 1970), "synchronised 0|1", "offset NS" (what the clock is being
 *        corrected by), "error NS" (estimated); of a clock that is not synchronised "keeper 0|1": whether a
 * program that keeps clocks is installed
 *
 * That is read from the disk, which may hang. So a clock that is synchronised is looked at in the agent
 * itself, and any other in a child.
 */

/* The estimate with which a kernel begins, and which it keeps without a time keeper (NTP_PHASE_LIMIT). */
#define NOBODY_NS 16000000000

enum { APART_S = 60 }; /* of two clocks that are not both right */

static int system_clock(void *arg, struct timex *out)
{
    *out = (struct timex){.modes = 0};
    int state = adjtimex(out);
    return state < 0 ? -errno : state;
}

static int clock_state(const struct look *l, struct timex *t)
{
    return l->calls && l->calls->clock ? l->calls->clock(l->calls->arg, t) : system_clock(NULL, t);
}

static bool is_synchronised(int state, const struct timex *t)
{
    return state != TIME_ERROR && !(t->status & STA_UNSYNC);
}

bool time_stands(const struct look *l)
{
    struct timex t = {.modes = 0};
    int state = clock_state(l, &t);
    return state < 0 || is_synchronised(state, &t);
}

/* NTP's and PTP's daemons, by their programs or their units. */
static bool has_keeper(int root)
{
    static const char *const keepers[] = {"chronyd",           "chrony", "ntpd",   "ntp",
                                          "systemd-timesyncd", "ptp4l",  "phc2sys"};
    for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++)
        if (program_installed(root, keepers[i]) || unit_installed(root, keepers[i]))
            return true;
    return false;
}

static void find_keeper(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = sys_open_root(l->root, NULL);
    if (root >= 0)
        fact_add(out, "keeper", "%d", has_keeper(root));
}

void gather_TIME(const struct look *l, struct text *out)
{
    struct timex t = {.modes = 0};
    int state = clock_state(l, &t);
    if (state < 0) {
        fact_add(out, "unknown", "adjtimex: %s", strerror(-state));
        return;
    }
    int64_t unit = t.status & STA_NANO ? 1 : 1000;
    fact_add(out, "wall", "%" PRId64, (int64_t)t.time.tv_sec * 1000000000 + (int64_t)t.time.tv_usec * unit);
    fact_add(out, "synchronised", "%d", is_synchronised(state, &t));
    fact_add(out, "offset", "%" PRId64, (int64_t)t.offset * unit);
    fact_add(out, "error", "%" PRId64, (int64_t)t.esterror * 1000);
    if (!is_synchronised(state, &t))
        find_keeper(l, out);
}

/* How far it is ahead of the controller's clock, when that is more than the way between them can explain. */
static bool is_apart(const struct look *l, const char *facts, struct span *ahead)
{
    int64_t wall;
    if (!l->clock || !fact_i64(facts, "wall", &wall))
        return false;
    ahead->ns = wall - l->clock->controller.ns - mono_sub(l->now, l->clock->at).ns;
    return llabs(ahead->ns) >= span_s(APART_S).ns;
}

/* A clock that is not synchronised and far from the controller's is wrong. When both are synchronised,
 * nobody knows which is right. */
static void judge_apart(struct span ahead, bool synced, struct verdict *v)
{
    char by[32];
    const char *side = ahead.ns > 0 ? "ahead of" : "behind";
    span_human((struct span){llabs(ahead.ns)}, by);
    if (synced)
        verdict_add(v, RESULT_WARN, "clock", "", "%s %s the controller's: one of them is wrong", by, side);
    else
        verdict_add(v, RESULT_FATAL, "clock", "",
                    "%s %s the controller's, and the kernel says that it is not synchronised", by, side);
}

/* A clock that is not synchronised is reported at once, because it is right only by chance. Its duration
 * makes it worse: every clock is unsynchronised after a boot, and while a time server is away. */
static void judge_unsynced(struct look *l, bool synced, bool apart, struct verdict *v)
{
    struct span most;
    char is[32];
    if (!want_span(l, "Unsynced", span_s(86400), &most, v))
        return;
    struct span lasts = lasts_for(l, "unsynced", "", !synced);
    if (!synced && !apart) /* else the offset is reported as well */
        verdict_add(v, lasts.ns >= most.ns ? RESULT_DEGRADED : RESULT_WARN, "clock", "",
                    "the kernel says that it is not synchronised, for %s", span_human(lasts, is));
}

/* A machine on which nothing ever kept the clock on this boot, and nothing can, as a container: its host
 * keeps it. */
static bool is_kept_elsewhere(struct look *l, const char *facts, bool synced)
{
    uint64_t keeper = 1;
    bool was = *memory_number(l->memory, "synchronised") > 0 || synced;
    if (was)
        memory_keep(l->memory, "synchronised", 1);
    return !was && fact_u64(facts, "keeper", &keeper) && !keeper;
}

void judge_TIME(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t synced;
    int64_t offset, error;
    struct span degraded, fatal;
    if (!fact_u64(facts, "synchronised", &synced) || !fact_i64(facts, "offset", &offset) ||
        !fact_i64(facts, "error", &error)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the state of the clock is not understood");
        return;
    }
    if (!want_span(l, "Offset", span_ms(500), &degraded, v) || !want_span(l, "Fatal", span_s(2), &fatal, v))
        return;
    int64_t wrong = offset < 0 ? -offset : offset;
    if (synced && error > wrong && error < NOBODY_NS)
        wrong = error;
    if (wrong > fatal.ns || wrong > degraded.ns)
        verdict_add(v, wrong > fatal.ns ? RESULT_FATAL : RESULT_DEGRADED, "clock", "",
                    "wrong by %" PRId64 " ms, of at most %" PRId64 " ms", wrong / 1000000,
                    span_to_ms(wrong > fatal.ns ? fatal : degraded));
    struct span ahead = {0};
    bool apart = is_apart(l, facts, &ahead);
    if (apart)
        judge_apart(ahead, synced, v);
    if (!is_kept_elsewhere(l, facts, synced))
        judge_unsynced(l, synced, apart, v);
    else if (v->n == 0)
        verdict_cannot(v, RESULT_UNSUPPORTED, "nothing that keeps the clock is installed");
}
