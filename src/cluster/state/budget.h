/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_BUDGET_H
#define FETTLE_CLUSTER_BUDGET_H

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Budgets: how many nodes are out by Fettle's own decision, and how many may be. The limits are agreed:
 * they are a record beside the nodes, so each controller decides by the same limits. A decision is checked
 * against them where it is made, whichever controller proposed it.
 */

struct cluster;
struct member;

enum scope { SCOPE_CLUSTER, SCOPE_CLASS, SCOPE_GROUP, SCOPE_PARTITION, SCOPES };

struct limits {
    bool given;               /* false: nothing was agreed yet, as in a store of before: nothing is limited */
    bool act;                 /* false: health is only observed, and no node is taken out */
    unsigned percent[SCOPES]; /* percent of the nodes of each scope that may be out at once, and at least one
                                 node; 5 of the cluster, 10 of a class, 25 of a group, 10 of a partition */
    unsigned surge;           /* this many isolations within surge_window trip the latch; 10; 0: never */
    struct span surge_window; /* 10 min */
    unsigned remedies_a_week; /* for one node, then a person is asked; 5 */
};

const struct limits *cluster_limits(const struct cluster *c);
/* As the record, a JSON object, into t. */
void limits_write(const struct limits *l, struct text *t);
bool limits_equal(const struct limits *a, const struct limits *b);

enum { BUDGET_SCOPE_BYTES = 80 };

/* One budget. */
struct budget {
    char scope[BUDGET_SCOPE_BYTES]; /* "cluster", "class gpu", "group 3", "partition batch" */
    unsigned nodes, out, limit;
};

/* The nodes of a scope in the configuration files. number: of the class, the group or the partition. */
unsigned scope_nodes(const struct cluster *c, enum scope s, unsigned number);
bool member_in_scope(const struct member *m, enum scope s, unsigned number);
/* Calls fn for each scope that has nodes: the cluster, then classes, groups and partitions by their numbers.
 */
typedef void scope_fn(void *arg, enum scope s, unsigned number);
void cluster_each_scope(const struct cluster *c, scope_fn *fn, void *arg);
/* The budget of a scope with this many nodes out; at most `percent` of its nodes may be. */
void budget_of_scope(const struct cluster *c, enum scope s, unsigned number, unsigned percent, unsigned out,
                     struct budget *b);

/* m is out by Fettle's own decision: a repair of Fettle's has it, or a trial holds it. A node that comes up
 * for the first time was never in service, one that is quarantined or retired is a person's, and one that is
 * wiped was released. */
bool member_is_out(const struct member *m);
/* The i-th of those that are out, in no order; NULL after the last. */
struct member *cluster_out(const struct cluster *c, size_t i);

#endif
