/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_FLOOR_H
#define FETTLE_CLUSTER_FLOOR_H

#include "base/clock.h"
#include "health/floor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Results of benchmarks.
 */

enum { FLOORS_MAX = 256, FLOOR_WHAT_BYTES_MAX = 2 * FLOOR_NAME_BYTES_MAX + 1 };

/* The results of a benchmark on nodes of a class (doc/spec/repair.md). */
struct floor {
    char *key; /* "gpu bench.disk": class and check */
    struct wall at;
    uint64_t sum; /* a sum of what was measured: values with another sum are of another benchmark */
    size_t n;
    struct floor_node {
        char *name;
        size_t n;
        struct floor_value {
            char what[FLOOR_WHAT_BYTES_MAX + 1]; /* "bandwidth MB/s": a measure and its unit */
            int64_t value;
        } * values; /* FLOOR_MEASURES_MAX at most */
    } * nodes;      /* the latest first, each once, FLOOR_NODES_MAX at most */
};

/* NULL for what it did not measure. */
const struct floor_value *floor_value(const struct floor_node *n, const char *what);

#endif
