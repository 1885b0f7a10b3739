/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_RECUR_H
#define FETTLE_HEALTH_RECUR_H

#include "base/clock.h"
#include "health/meaning.h"

#include <stdint.h>

/*
 * What follows when a fault of a node recurs, within seconds or after weeks. Two rules apply, and the worse
 * result counts:
 *
 *   The table (recur.tbl) has the field's experience with single faults: a second time on the same device may
 *   be the hardware, where the first was not.
 *
 *   The general rule is for every finding whose cause counts (blame.tbl). Each time that the finding is seen
 *   adds one to a sum, and the sum halves in two weeks. A warning whose sum has reached RECUR_MANY becomes
 *   degraded; a finding that is degraded by itself and whose sum has reached RECUR_GRAVE becomes fatal. One
 *   more time never lowers a sum, now or later, and the same times closer together never give a smaller sum.
 */

enum {
    RECUR_ONE = 1 << 16,             /* what one time adds */
    RECUR_MANY = RECUR_ONE * 5 / 2,  /* three within a week, or one a week for four weeks */
    RECUR_GRAVE = RECUR_ONE * 9 / 2, /* five within three days, or one every four days */
    RECUR_MAX = 1 << 30,             /* the largest sum */
    RECUR_STEP_S = 6 * 3600          /* sums shrink at these moments of the wall clock */
};

/* The number of the step in which a moment lies. */
int64_t recur_step(struct wall at);
/* The sum of step `from`, faded to step `to`; unchanged when `to` is earlier (the clock was set back). */
uint32_t recur_fade(uint32_t sum, int64_t from, int64_t to);
/* The sum after `times` more in the same step. */
uint32_t recur_add(uint32_t sum, unsigned times);
/* The result to which the sum raises a finding of result r. */
enum result recur_raise(enum result r, uint32_t sum);

/* Something that was found on a node, now or before. Texts are borrowed. */
struct recurrence {
    const char *code, *device;
    enum result result;
    struct wall at;
    unsigned times; /* how often it was found; at least 1 */
    bool alone;     /* other devices of its kind had the same work and were well */
};

enum recur_scope { RECUR_DEVICE, RECUR_ALONE };
struct recur_row {
    const char *codes;
    const char *before; /* NULL: the same codes */
    enum result least;
    unsigned times;
    int within_h;
    enum recur_scope scope;
    enum result result; /* the least result of the finding, */
    enum act act;       /* and the action that it calls for */
    const char *what, *source;
};
/* The rows in order; NULL after the last. Used to explain them. */
const struct recur_row *recur_row(size_t i);

/* Finds the row that matches the finding `now`, given n others of the same node before it or beside it, in
 * any order; NULL when none matches. A finding that is later than `now` by the clock counts as
 * simultaneous. */
const struct recur_row *recur_judge(const struct recurrence *now, const struct recurrence *others, size_t n);

#endif
