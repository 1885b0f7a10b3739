/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_CLAIM_H
#define FETTLE_CLUSTER_CLAIM_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Claims: what keeps nodes out of service, for whom, and why. A node is in service while no claim rests on
 * it.
 */

enum claim_kind {
#define CLAIM(symbol, name, who, what, todo) CLAIM_##symbol,
#include "cluster/state/claim.tbl"
#undef CLAIM
    CLAIM_KINDS
};

enum { CLAIM_ID_BYTES_MAX = 47, REASON_BYTES_MAX = 1024, CLAIMS_A_NODE_MAX = 64 };

struct member;

struct claim {
    char id[CLAIM_ID_BYTES_MAX + 1];
    enum claim_kind kind;
    char *owner;
    char *reason;
    const char *words; /* in `reason`: of a repair's claim what follows "[PROBLEM] "; otherwise all of it */
    struct wall since;
    size_t n;
    struct member **nodes;
};

/* A claim as it rests on one node. */
struct hold {
    struct claim *claim;
    bool drained; /* the node's work has ended under it */
};

const char *claim_kind_name(enum claim_kind k);

#endif
