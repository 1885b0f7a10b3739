/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_RECUR_H
#define FETTLE_HEALTH_RECUR_H

#include "base/clock.h"
#include "health/meaning.h"

#include <stdint.h>

/*
 * What it means when a fault of a node comes back, within seconds or after weeks. Two rules, and the worse of
 * them counts:
 *
 *   The table (recur.tbl) has what the field knows of single faults: the second time on the same device may
 * be the hardware, where the first was not.
 *
 *   The general rule is for every finding whose cause counts (blame.tbl). Each time that it is seen adds one
 * to a sum, and the sum halves in two weeks. A warning whose sum has reached RECUR_MANY is degraded; what is
 *   degraded by its own word, and whose sum has reached RECUR_GRAVE, is fatal. One more time never lowers a
 * sum, now or later, and the same times closer together never come to less than farther apart.
 */

enum {
    RECUR_ONE = 1 << 16,             /* what one time adds */
    RECUR_MANY = RECUR_ONE * 5 / 2,  /* three within a week, or one a week for four weeks */
    RECUR_GRAVE = RECUR_ONE * 9 / 2, /* five within three days, or one every four days */
    RECUR_MAX = 1 << 30,             /* a sum stops here */
    RECUR_STEP_S = 6 * 3600          /* sums shrink at these moments of the wall clock */
};

/* The number of the step in which a moment lies. */
int64_t recur_step(struct wall at);
/* The sum of a step, some steps later; it is the same when that is earlier (the clock was set back). */
uint32_t recur_fade(uint32_t sum, int64_t from, int64_t to);
/* The sum with so many times more, of the same step. */
uint32_t recur_add(uint32_t sum, unsigned times);
/* What a finding of this result is raised to by its sum. */
enum result recur_raise(enum result r, uint32_t sum);

/* Something that was found on a node, now or before. Borrowed texts. */
struct recurrence {
    const char *code, *device;
    enum result result;
    struct wall at;
    unsigned times; /* it was found so often; 1 at least */
    bool alone;     /* other devices of its kind were under the same work, and were well */
};

enum recur_scope { RECUR_DEVICE, RECUR_ALONE };
struct recur_row {
    const char *codes;
    const char *before; /* NULL: the same codes */
    enum result least;
    unsigned times;
    int within_h;
    enum recur_scope scope;
    enum result result; /* at least this is what it comes to, */
    enum act act;       /* and this is what it asks for */
    const char *what, *source;
};
/* The rows in their order; NULL behind the last. For explaining. */
const struct recur_row *recur_row(size_t i);

/* The row that fits what is found now, with n others of the same node before it or beside it, in any order;
 * NULL when none does. What lies after `now` by the clock counts as if it were of the same moment. */
const struct recur_row *recur_judge(const struct recurrence *now, const struct recurrence *others, size_t n);

#endif
