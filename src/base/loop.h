/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_LOOP_H
#define FETTLE_BASE_LOOP_H

#include "base/clock.h"

#include <stddef.h>
#include <stdint.h>

/*
 * How long the turns of a daemon's loop take, and what they do. A turn is all work between two waits: during
 * it the daemon answers nobody. The measurement is always on and costs two readings of the clock for each
 * piece of work.
 *
 * One loop of a process counts its turns, in one account; only its thread may touch it. In any other thread,
 * marking work does nothing.
 */

enum {
    LOOP_PARTS_KEPT = 4,   /* the longest parts of a turn that are kept */
    LOOP_SECONDS = 60,     /* how long turns are remembered, in seconds */
    LOOP_COUNTED_MIN = 16, /* turns shorter than 2^16 ns are counted together */
    LOOP_COUNTED_MAX = 36, /* turns longer than 2^36 ns, some 69 s, are counted together */
    LOOP_COUNTS = 8 * (LOOP_COUNTED_MAX - LOOP_COUNTED_MIN) + 1
};

/* One kind of work in a turn, without the time of other kinds nested in it. */
struct loop_part {
    const char *what;
    uint32_t times;
    struct span took;
};

struct loop_turn {
    struct wall at;        /* when the turn ended */
    struct span took, cpu; /* elapsed time; processor time */
    size_t n;
    struct loop_part parts[LOOP_PARTS_KEPT]; /* longest first */
};

/* Turns since the start, by their length. Count i has those shorter than loop_bound(i) and not shorter than
 * loop_bound(i - 1). The last count has no bound. */
struct loop_counts {
    uint64_t took[LOOP_COUNTS], cpu[LOOP_COUNTS];
};

/* Names the work of the loop until the end of the block. `what` is a constant, and the same one each time. */
#define LOOP_DOES(what) \
    __attribute__((cleanup(loop_leave), unused)) const struct loop_mark loop_mark_ = loop_enter(what)
struct loop_mark {
    size_t outer; /* the work that goes on afterwards */
};
struct loop_mark loop_enter(const char *what);
void loop_leave(const struct loop_mark *m);
/* Like loop_enter, for a caller that has read the clock. */
struct loop_mark loop_enter_at(const char *what, struct mono now);
void loop_leave_at(const struct loop_mark *m, struct mono now);

/*
 * Work that can wait gets LOOP_SHARED_US of a turn in all: slices of answers, queued sockets, handshakes, a
 * step of the sweep, the consequences of a commit. A caller later in the turn gets what is left, and at least
 * LOOP_LEAST_US, so that nothing starves. A turn begins with the first marked work.
 */
enum { LOOP_SHARED_US = 3000, LOOP_LEAST_US = 250 };
/* Returns until when work that begins now may go on: at most `most` from now. The work looks at the clock
 * after each of its steps, which take far less than LOOP_LEAST_US. */
struct mono loop_share(struct span most);
struct mono loop_share_at(struct span most, struct mono now);
/* Call before the loop waits; the next turn has its full share again. For loops that do not count their
 * turns. */
void loop_waits(void);

/* Call before the loop waits: the turn is over. `waited` and `cpu` are totals of the loop's thread. The first
 * call only starts the count. */
void loop_turned(struct mono now, struct wall at, struct span waited, struct span cpu);

/* The longest turn of each of the last LOOP_SECONDS seconds in which a turn ended, longest first; out has
 * room for LOOP_SECONDS. Returns how many. */
size_t loop_longest(struct mono now, struct loop_turn *out);
const struct loop_counts *loop_counts(void);
struct span loop_bound(size_t i);

#endif
