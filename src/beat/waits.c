/* SPDX-License-Identifier: Apache-2.0 */
#include "beat/waits.h"

#include <assert.h>

/* Time for dialling, a handshake and the first frames, on a busy network and a busy machine. */
static const struct span GREETING = {INT64_C(2) * 1000000000};

static const struct span NO_INTERVAL = {INT64_C(10) * 1000000000};

static struct span waits_least(struct span a, struct span b)
{
    return a.ns < b.ns ? a : b;
}

static struct span waits_most(struct span a, struct span b)
{
    return a.ns > b.ns ? a : b;
}

static struct span waits_plus(struct span a, struct span b)
{
    return (struct span){a.ns + b.ns};
}

static struct span waits_times(struct span a, int64_t n, int64_t of)
{
    return (struct span){a.ns * n / of};
}

static struct span waits_missed(struct span interval)
{
    return waits_plus(waits_times(interval, 3, 2), waits_least(waits_times(interval, 1, 4), span_s(5)));
}

/* By how much a is longer than b. */
static struct span waits_beyond(struct span a, struct span b)
{
    return (struct span){a.ns > b.ns ? a.ns - b.ns : 0};
}

struct span waits_least_timeout(struct span interval)
{
    return waits_plus(waits_missed(interval), span_s(1));
}

void waits_of(struct span interval, struct span late, struct span timeout, struct waits *out)
{
    assert(out);
    assert(interval.ns >= 0);
    struct span i = interval.ns > 0 ? interval : NO_INTERVAL;
    struct span half = waits_times(waits_beyond(timeout, i), 1, 2);
    struct waits w = {.timeout = timeout, .missed = waits_missed(i)};
    w.hold = waits_plus(i, waits_times(waits_least(i, waits_beyond(late, i)), 1, 2));
    w.answer = waits_most(span_s(2), waits_least(half, span_s(20)));
    w.pause = waits_most(span_s(2), waits_least(half, span_s(60)));
    w.away = waits_most(waits_plus(waits_times(i, 2, 1), w.answer), span_s(5));
    w.comeback = waits_least(waits_most(waits_times(i, 3, 1), waits_plus(w.pause, GREETING)), span_s(30));
    /* An agent sends a heartbeat within an interval, waits for the answer, and then dials here. Or its
     * collector, which was last heard here at least an interval before it was given up, sends the agent
     * here. */
    w.regain = waits_plus(waits_most(waits_plus(i, w.answer), waits_beyond(w.away, i)), GREETING);
    w.first = waits_beyond(
        waits_plus(waits_most(waits_plus(waits_plus(w.pause, w.answer), i), w.away), GREETING), timeout);
    *out = w;
}

struct span waits_excuse(const struct waits *w, struct span queue)
{
    return waits_beyond(waits_plus(w->regain, queue), w->timeout);
}

struct span waits_quiet(struct span interval, struct span late, struct span timeout, unsigned share)
{
    return waits_most(interval, waits_least(late, waits_beyond(timeout, waits_times(interval, share, 100))));
}
