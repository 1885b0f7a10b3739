/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * time   "wall NS" (what the clock is, since 1970), "synchronised 0|1", "offset NS" (what the clock is being
 * corrected by), "error NS" (estimated)
 */

/* The estimate that a kernel begins with, and keeps where nobody estimates (NTP_PHASE_LIMIT). */
#define NOBODY_NS 16000000000

enum { APART_S = 60 }; /* of two clocks that are not both right */

static int system_clock(void *arg, struct timex *out)
{
    *out = (struct timex){.modes = 0};
    int state = adjtimex(out);
    return state < 0 ? -errno : state;
}

void gather_TIME(const struct look *l, struct text *out)
{
    struct timex t = {.modes = 0};
    int state = l->calls && l->calls->clock ? l->calls->clock(l->calls->arg, &t) : system_clock(NULL, &t);
    if (state < 0) {
        fact(out, "unknown", "adjtimex: %s", strerror(-state));
        return;
    }
    int64_t unit = t.status & STA_NANO ? 1 : 1000;
    fact(out, "wall", "%" PRId64, (int64_t)t.time.tv_sec * 1000000000 + (int64_t)t.time.tv_usec * unit);
    fact(out, "synchronised", "%d", state != TIME_ERROR && !(t.status & STA_UNSYNC));
    fact(out, "offset", "%" PRId64, (int64_t)t.offset * unit);
    fact(out, "error", "%" PRId64, (int64_t)t.esterror * 1000);
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

/* A clock that is not synchronised and far from the controller's is wrong. Of one that is synchronised nobody
 * knows which of the two is. */
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

/* What the kernel says is said at once, since a clock that nobody keeps is right by chance. How long it has
 * been so makes it worse: after a boot each clock is, and all are while a time server is away. */
static void judge_unsynced(struct look *l, bool synced, bool apart, struct verdict *v)
{
    struct span most;
    char is[32];
    if (!want_span(l, "Unsynced", span_s(86400), &most, v))
        return;
    struct span lasts = lasts_for(l, "unsynced", "", !synced);
    if (!synced && !apart) /* else it was said with by how much */
        verdict_add(v, lasts.ns >= most.ns ? RESULT_DEGRADED : RESULT_WARN, "clock", "",
                    "the kernel says that it is not synchronised, for %s", span_human(lasts, is));
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
    judge_unsynced(l, synced, apart, v);
}
