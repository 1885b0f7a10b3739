/* SPDX-License-Identifier: Apache-2.0 */
#include "beat/waits.h"

/* Dialling, a handshake and the first frames, on a network and a machine that are busy. */
static const struct span GREETING = {INT64_C(2) * 1000000000};

static const struct span NO_INTERVAL = {INT64_C(10) * 1000000000};

static struct span least(struct span a, struct span b)
{
    return a.ns < b.ns ? a : b;
}

static struct span most(struct span a, struct span b)
{
    return a.ns > b.ns ? a : b;
}

static struct span plus(struct span a, struct span b)
{
    return (struct span){a.ns + b.ns};
}

static struct span times(struct span a, int64_t n, int64_t of)
{
    return (struct span){a.ns * n / of};
}

static struct span missed(struct span interval)
{
    return plus(times(interval, 3, 2), least(times(interval, 1, 4), span_s(5)));
}

/* By how much a is longer than b. */
static struct span beyond(struct span a, struct span b)
{
    return (struct span){a.ns > b.ns ? a.ns - b.ns : 0};
}

struct span waits_least_timeout(struct span interval)
{
    return plus(missed(interval), span_s(1));
}

void waits_of(struct span interval, struct span late, struct span timeout, struct waits *out)
{
    struct span i = interval.ns > 0 ? interval : NO_INTERVAL;
    struct span half = times(beyond(timeout, i), 1, 2);
    struct waits w = {.timeout = timeout, .missed = missed(i)};
    w.hold = plus(i, times(least(i, beyond(late, i)), 1, 2));
    w.answer = most(span_s(2), least(half, span_s(20)));
    w.pause = most(span_s(2), least(half, span_s(60)));
    w.away = most(plus(times(i, 2, 1), w.answer), span_s(5));
    w.comeback = least(most(times(i, 3, 1), plus(w.pause, GREETING)), span_s(30));
    /* An agent heartbeats within an interval, waits for the answer, comes here. Or its collector sends it,
     * which was heard here for the last time at least an interval before it was given up. */
    w.regain = plus(most(plus(i, w.answer), beyond(w.away, i)), GREETING);
    w.first = beyond(plus(most(plus(plus(w.pause, w.answer), i), w.away), GREETING), timeout);
    *out = w;
}

struct span waits_excuse(const struct waits *w, struct span queue)
{
    return beyond(plus(w->regain, queue), w->timeout);
}

struct span waits_quiet(struct span interval, struct span late, struct span timeout, unsigned share)
{
    return most(interval, least(late, beyond(timeout, times(interval, share, 100))));
}
