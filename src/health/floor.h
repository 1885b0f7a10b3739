/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_FLOOR_H
#define FETTLE_HEALTH_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How much is enough, learned from what the other nodes of a class come to: the median of one measure of one
 * check, and how far the nodes usually lie from it (the median of the distances, MAD). A node is short of it
 * when it lies further on the bad side than FLOOR_MADS of these distances, and more than FLOOR_PERCENT of the
 * median: the first alone would find fault in a class of equal nodes, the second alone in one that varies. As
 * long as fewer than FLOOR_NODES_MIN others are known, nothing is judged.
 *
 * Each node counts once, with its last value. Whole numbers only.
 */

enum {
    FLOOR_NODES_MIN = 8,
    FLOOR_NODES_MAX = 256, /* whose values are kept; the one that was measured longest ago goes */
    FLOOR_MADS = 5,        /* 3.4 standard deviations of what is normally distributed */
    FLOOR_PERCENT = 10,
    FLOOR_NAME_BYTES_MAX = 31,
    FLOOR_MEASURES_MAX = 8
};

/* Large enough for any measure, small enough that a percentage of it is a number. */
#define FLOOR_VALUE_MAX INT64_C(1000000000000000)

/* A number that a benchmark came to. */
struct measure {
    char name[FLOOR_NAME_BYTES_MAX + 1]; /* "bandwidth" */
    char unit[FLOOR_NAME_BYTES_MAX + 1]; /* "MB/s" */
    int64_t value;                       /* 0 to FLOOR_VALUE_MAX */
    bool less_is_better;                 /* of a time: the unit is ns, us, ms or s */
};
/* Reads "bandwidth 12345 MB/s, latency 80 us (of at most 70)" as the benchmarks say it: parts with commas
 * between, each a name, a whole number and a unit; others are passed over. Returns how many there are. */
size_t measures_read(const char *text, struct measure out[static FLOOR_MEASURES_MAX]);

struct floor_verdict {
    size_t n; /* other nodes that are known */
    int64_t median, mad;
    int64_t limit; /* the worst value that is not short of it */
    bool judged;   /* enough are known; else the numbers above but n mean nothing */
    bool is_short;
};
/* What the values of the n others, FLOOR_NODES_MAX at most, say of a node's. They are used up. */
void floor_judge(int64_t *others, size_t n, const struct measure *m, struct floor_verdict *out);

#endif
