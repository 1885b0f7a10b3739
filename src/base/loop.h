/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_LOOP_H
#define FETTLE_BASE_LOOP_H

#include "base/clock.h"

#include <stddef.h>
#include <stdint.h>

/*
 * How long the turns of a daemon's loop take, and what they do. A turn is all that the loop does between two
 * waits: for that long nobody is heard. Always on; it costs two readings of the clock for a piece of work.
 *
 * There is one loop in a process that counts its turns, and one account of them; only its thread may touch
 * it. In any other thread, marking work does nothing.
 */

enum {
    LOOP_PARTS_KEPT = 4,   /* of a turn: those that took longest */
    LOOP_SECONDS = 60,     /* for which turns are remembered */
    LOOP_COUNTED_MIN = 16, /* turns shorter than 2^16 ns are all counted as that */
    LOOP_COUNTED_MAX = 36, /* longer ones than 2^36 ns, some 69 s, likewise */
    LOOP_COUNTS = 8 * (LOOP_COUNTED_MAX - LOOP_COUNTED_MIN) + 1
};

/* One kind of work in a turn; what other kinds did inside is not its own. */
struct loop_part {
    const char *what;
    uint32_t times;
    struct span took;
};

struct loop_turn {
    struct wall at;        /* its end */
    struct span took, cpu; /* by the clock; of a processor */
    size_t n;
    struct loop_part parts[LOOP_PARTS_KEPT]; /* longest first */
};

/* Turns since the start by how long they took: count i are those shorter than loop_bound(i), and not
 * than loop_bound(i - 1). The last count has no bound. */
struct loop_counts {
    uint64_t took[LOOP_COUNTS], cpu[LOOP_COUNTS];
};

/* What the loop does until the end of the block. `what` is a constant, and the same one each time. */
#define LOOP_DOES(what) \
    __attribute__((cleanup(loop_leave), unused)) const struct loop_mark loop_mark_ = loop_enter(what)
struct loop_mark {
    size_t outer; /* the work that goes on afterwards */
};
struct loop_mark loop_enter(const char *what);
void loop_leave(const struct loop_mark *m);
/* The same for somebody that has read the clock. */
struct loop_mark loop_enter_at(const char *what, struct mono now);
void loop_leave_at(const struct loop_mark *m, struct mono now);

/*
 * Work that can wait has LOOP_SHARED_US of a turn in all: slices of answers, sockets that queue, handshakes,
 * a step of the sweep, what follows from a commit. Whoever asks later in the turn has what is left, and at
 * least LOOP_LEAST_US, so that nothing starves. A turn begins with the first work that is marked in it.
 */
enum { LOOP_SHARED_US = 3000, LOOP_LEAST_US = 250 };
/* Until when such work may go on that begins now: for `most` at most. It looks at the clock after each of its
 * steps, which take far less than LOOP_LEAST_US. */
struct mono loop_share(struct span most);
struct mono loop_share_at(struct span most, struct mono now);
/* The loop is about to wait, and the next turn has its time anew. For loops whose turns are not counted. */
void loop_waits(void);

/* The loop is about to wait: a turn is over. Waited and cpu are totals of the loop's thread. The first call
 * only begins. */
void loop_turned(struct mono now, struct wall at, struct span waited, struct span cpu);

/* The longest turn of each of the last LOOP_SECONDS seconds that had one; out has room for as many. Returns
 * how many, the longest of all first. */
size_t loop_longest(struct mono now, struct loop_turn *out);
const struct loop_counts *loop_counts(void);
struct span loop_bound(size_t i);

#endif
