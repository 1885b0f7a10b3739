/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_RECUR_H
#define FETTLE_HEALTH_RECUR_H

#include "base/clock.h"
#include "health/meaning.h"

/*
 * What it means when a fault of a node comes back after hours or days (recur.tbl). The first time it is what
 * the tables of meanings say; the second time on the same device it may be the hardware.
 */

/* Something that was found on a node, now or before. Borrowed texts. */
struct recurrence {
    const char *code, *device, *text;
    enum result result;
    struct wall at;
    unsigned times; /* it was found so often; 1 at least */
};

enum recur_scope { RECUR_DEVICE, RECUR_ALONE, RECUR_PLACE };
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
