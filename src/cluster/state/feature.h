/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_FEATURE_H
#define FETTLE_CLUSTER_FEATURE_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Features by version. Controllers of two versions may have one state. What the older one could not read or
 * would decide otherwise is a feature, and has a level. The record feature/level says which level is agreed:
 * each controller that counts knows it. Until then a command that needs more is refused. A controller that
 * does not know the agreed level follows, keeps what it does not know, and does not lead.
 *
 * A state of a single controller needs no agreement: the record is written with the first use of a feature.
 */

struct cluster;

enum feature {
#define FEATURE(symbol, level, meaning) FEATURE_##symbol,
#include "cluster/state/feature.tbl"
#undef FEATURE
    FEATURES
};

enum {
    LEVEL_FIRST = 1, /* of a state without the record, and of a controller that tells none */
    LEVEL_KNOWN = 2, /* of this version */
    LEVEL_MAX = 1000000,
    MEMBER_COUNTS_S = 3600 /* for which a controller that is not heard still counts */
};

/* The agreed level. It may be above LEVEL_KNOWN. */
uint64_t cluster_level(const struct cluster *c);
/* 0; or -EACCES: this version does not know the agreed level, and may not lead. */
int cluster_level_check(const struct cluster *c, struct err *e);

uint64_t feature_level(enum feature f);
const char *feature_meaning(enum feature f);

/* A controller, as it last told of itself. */
struct level_told {
    uint64_t level; /* 0: it tells none */
    struct span age;
};
/* The level that every controller knows that was heard within MEMBER_COUNTS_S, and this one; LEVEL_FIRST at
 * least. */
uint64_t level_common(const struct level_told *told, size_t n);

#endif
