/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_BASELINE_H
#define FETTLE_CLUSTER_BASELINE_H

#include "base/clock.h"
#include "base/hostlist.h"
#include "conform/class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Baselines: what the nodes of a class should be.
 */

enum { LIST_RECORD_BYTES_MAX = 1000 << 10 }; /* the bytes of a list of components as a record */

struct rollout {
    struct listing *to;
    char *node;                   /* that showed it */
    char *nodes_text, *by, *note; /* the note may be "" */
    struct hostlist nodes;
    const char **by_name; /* the same, sorted: for rollout_has */
    struct wall at, deadline;
};

/* The baseline of a class. */
struct baseline {
    char *class;
    uint32_t version;        /* from 1 */
    struct listing *listing; /* with its content */
    char *node, *by, *note;  /* the note may be "" */
    struct wall at;
    char *history;           /* JSON array, newest first, at most 32: the versions before */
    struct rollout *rollout; /* NULL while none is under way */
};

/* True when m may be what the rollout says as well as what the baseline says. */
bool rollout_has(const struct rollout *r, const char *node);

#endif
