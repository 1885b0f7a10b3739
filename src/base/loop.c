/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time is charged in stretches. Each enter and each leave charges the time since the one before to the work
 * that was going on. A turn does few kinds of work, so they are kept in a short list. When a turn does more
 * kinds than the list holds, the time of the others is charged to none.
 */
#include "base/loop.h"

#include <assert.h>
#include <stdlib.h>

enum { PARTS_MAX = 32 }; /* kinds of work in one turn */

struct second {
    int64_t number; /* the second of the monotonic clock */
    struct loop_turn longest;
};

/* The present turn. It is thread-local because the agent's loop, and loops of tests in threads, mark their
 * work too. */
static _Thread_local struct {
    struct loop_part parts[PARTS_MAX];
    size_t n, current; /* the first part, which is not counted, is work without a name */
    struct mono since; /* when the current work began or went on */
    struct mono began; /* when the turn began; ns 0: the turn has done nothing so far */
} now_on;

static struct {
    bool begun;
    struct mono last;
    struct span waited, cpu;
    struct second seconds[LOOP_SECONDS];
    struct loop_counts counts;
} past;

static void loop_charge(struct mono now)
{
    now_on.parts[now_on.current].took.ns += mono_sub(now, now_on.since).ns;
    now_on.since = now;
}

static size_t part_find(const char *what)
{
    for (size_t i = 1; i <= now_on.n; i++)
        if (now_on.parts[i].what == what)
            return i;
    if (now_on.n == PARTS_MAX - 1)
        return 0;
    now_on.parts[++now_on.n] = (struct loop_part){.what = what};
    return now_on.n;
}

static void turn_begin(struct mono now)
{
    if (now_on.began.ns == 0)
        now_on.began = now;
}

struct loop_mark loop_enter_at(const char *what, struct mono now)
{
    turn_begin(now);
    const struct loop_mark before = {now_on.current};
    loop_charge(now);
    now_on.current = part_find(what);
    now_on.parts[now_on.current].times++;
    return before;
}

struct loop_mark loop_enter(const char *what)
{
    return loop_enter_at(what, mono_now());
}

void loop_leave_at(const struct loop_mark *m, struct mono now)
{
    loop_charge(now);
    now_on.current = m->outer;
}

void loop_leave(const struct loop_mark *m)
{
    loop_leave_at(m, mono_now());
}

static struct span loop_microseconds(int64_t us)
{
    return (struct span){us * 1000};
}

struct mono loop_share_at(struct span most, struct mono now)
{
    turn_begin(now);
    struct mono end = mono_add(now_on.began, loop_microseconds(LOOP_SHARED_US));
    struct mono latest = mono_add(now, most), earliest = mono_add(now, loop_microseconds(LOOP_LEAST_US));
    if (end.ns > latest.ns)
        return latest;
    return end.ns < earliest.ns ? earliest : end;
}

struct mono loop_share(struct span most)
{
    return loop_share_at(most, mono_now());
}

void loop_waits(void)
{
    now_on.began.ns = 0;
}

static int by_length(const void *a, const void *b)
{
    const struct loop_part *x = a, *y = b;
    return (x->took.ns < y->took.ns) - (x->took.ns > y->took.ns);
}

static void keep_if_longest(struct mono now, const struct loop_turn *turn)
{
    int64_t number = now.ns / 1000000000;
    struct second *s = &past.seconds[number % LOOP_SECONDS];
    if (s->number == number && s->longest.took.ns >= turn->took.ns)
        return;
    s->number = number;
    s->longest = *turn;
    qsort(now_on.parts + 1, now_on.n, sizeof *now_on.parts, by_length);
    for (size_t i = 1; i <= now_on.n && s->longest.n < LOOP_PARTS_KEPT; i++)
        s->longest.parts[s->longest.n++] = now_on.parts[i];
}

/* Eight counts for each power of two. */
static size_t count_of(struct span took)
{
    uint64_t ns = took.ns > 0 ? (uint64_t)took.ns : 0;
    int power = ns ? 63 - __builtin_clzll(ns) : 0;
    if (power < LOOP_COUNTED_MIN)
        return 0;
    if (power >= LOOP_COUNTED_MAX)
        return LOOP_COUNTS - 1;
    return 8 * (size_t)(power - LOOP_COUNTED_MIN) + (ns >> (power - 3)) % 8;
}

struct span loop_bound(size_t i)
{
    return (struct span){(int64_t)(9 + i % 8) << (LOOP_COUNTED_MIN + i / 8 - 3)};
}

void loop_turned(struct mono now, struct wall at, struct span waited, struct span cpu)
{
    assert(now_on.current == 0);
    const struct loop_turn turn = {
        .at = at,
        .took = {mono_sub(now, past.last).ns - (waited.ns - past.waited.ns)},
        .cpu = {cpu.ns - past.cpu.ns},
    };
    if (past.begun) {
        past.counts.took[count_of(turn.took)]++;
        past.counts.cpu[count_of(turn.cpu)]++;
        keep_if_longest(now, &turn);
    }
    past.begun = true;
    past.last = now;
    past.waited = waited;
    past.cpu = cpu;
    now_on.n = 0;
    loop_waits();
}

static int by_turn(const void *a, const void *b)
{
    const struct loop_turn *x = a, *y = b;
    return (x->took.ns < y->took.ns) - (x->took.ns > y->took.ns);
}

size_t loop_longest(struct mono now, struct loop_turn *out)
{
    size_t n = 0;
    int64_t number = now.ns / 1000000000;
    for (size_t i = 0; i < LOOP_SECONDS; i++)
        if (past.seconds[i].longest.took.ns > 0 && number - past.seconds[i].number < LOOP_SECONDS)
            out[n++] = past.seconds[i].longest;
    qsort(out, n, sizeof *out, by_turn);
    return n;
}

const struct loop_counts *loop_counts(void)
{
    return &past.counts;
}
