/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_FLOOR_H
#define FETTLE_HEALTH_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Learned lower limits of measures. A node is compared with the other nodes of its class, by the median of
 * one measure of one check, and by the usual distance from it (the median of the distances, MAD). A node
 * falls short when it is on the bad side of the median by more than FLOOR_MADS of these distances and by more
 * than FLOOR_PERCENT of the median. The first condition alone would find fault in a class of equal nodes, the
 * second alone in a class that varies. With fewer than FLOOR_NODES_MIN other nodes there is no judgement.
 *
 * Each node counts once, with its last value. Whole numbers only.
 */

enum {
    FLOOR_NODES_MIN = 8,
    FLOOR_NODES_MAX = 256, /* how many nodes' values are kept; the oldest measurement is dropped */
    FLOOR_MADS = 5,        /* 3.4 standard deviations of a normal distribution */
    FLOOR_PERCENT = 10,
    FLOOR_NAME_BYTES_MAX = 31,
    FLOOR_MEASURES_MAX = 8
};

/* Large enough for any measure, small enough that a percentage of it is a number. */
#define FLOOR_VALUE_MAX INT64_C(1000000000000000)

/* A number that a benchmark measured. */
struct measure {
    char name[FLOOR_NAME_BYTES_MAX + 1]; /* "bandwidth" */
    char unit[FLOOR_NAME_BYTES_MAX + 1]; /* "MB/s" */
    int64_t value;                       /* 0 to FLOOR_VALUE_MAX */
    bool less_is_better;                 /* a time: the unit is ns, us, ms or s */
};
/* Reads the words of a benchmark, "bandwidth 12345 MB/s, latency 80 us (of at most 70)": parts separated by
 * commas, each a name, a whole number and a unit. Other parts are skipped. Returns how many measures there
 * are. */
size_t measures_read(const char *text, struct measure out[static FLOOR_MEASURES_MAX]);

struct floor_verdict {
    size_t n; /* how many other nodes are known */
    int64_t median, mad;
    int64_t limit; /* the worst value that does not fall short */
    bool judged;   /* enough nodes are known; otherwise only n is valid */
    bool is_short;
};
/* Judges a node's measure by the values of n other nodes, at most FLOOR_NODES_MAX. Reorders `others`. */
void floor_judge(int64_t *others, size_t n, const struct measure *m, struct floor_verdict *out);

#endif
