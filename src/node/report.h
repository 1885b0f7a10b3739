/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_REPORT_H
#define FETTLE_NODE_REPORT_H

#include "base/err.h"
#include "base/json.h"
#include "node/ended.h"
#include "node/machine.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A node's report: its inventory, as its agent read it. The whole inventory is kept as one compact text; the
 * members that fields and comparisons need are kept beside it as values.
 */

enum { REPORT_BYTES_MAX = 256 << 10 };

/* A number that may be unknown: absent from the inventory, or of a wrong type. */
struct maybe {
    bool known;
    uint64_t value;
};

struct report {
    char *json;    /* NULL before the first report */
    char hash[17]; /* the agent's name for this inventory; "" without one */
    char *os;      /* NULL when unknown */
    char *arch;
    struct maybe cpus, sockets, cores, threads;
    struct maybe speed_milli;
    struct maybe real_memory_mb, virtual_memory_mb, tmp_disk_mb;
    struct maybe gpus, nics, disks;
    struct maybe free_memory_mb, gpu_use, gpu_celsius; /* in steps, as the agent reports them */
    struct machine machine;
    struct last_boot last_boot;
};

void report_fini(struct report *r);

/* Takes an INVENTORY message. With `full` its set replaces everything; otherwise `set` adds or replaces
 * members and `unset` removes them. -EINVAL for a malformed body or a result over REPORT_BYTES_MAX, and *r is
 * unchanged; -ENOENT for a change when there is no report to change. */
int report_update(struct report *r, const json_t *message, struct err *e);

#endif
