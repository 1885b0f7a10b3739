/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_GROUP_H
#define FETTLE_HEALTH_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A check that several nodes run together, such as an all-reduce over InfiniBand: which nodes run it
 * together, and which one is at fault when it fails. Nodes are numbers from 0.
 *
 * Every node takes part once, in groups of the size that the check asks for. A group that fails is halved,
 * down to pairs. Each node of a failed pair then runs with partners that are known to be good: they passed
 * with another node. A node is bad when it failed with GROUP_WITNESSES such partners and passed with none.
 * When nodes fail only together, and each passes with others, the fault lies between them: a link, a switch.
 * That is reported and blames no node. A run without a result (unknown) is repeated once and then ignored.
 *
 * The next round follows from the runs so far alone: the same runs give the same answer.
 */

enum { GROUP_SIZE_MAX = 1024, GROUP_WITNESSES = 2 };

enum run_result { RUN_PENDING, RUN_PASS, RUN_FAIL, RUN_UNKNOWN };

/* Nodes that run the check together. */
struct run {
    size_t n;
    uint32_t *nodes; /* ascending; live as long as the grouping */
    enum run_result result;
};

struct grouping;
/* n nodes in groups of `size` (from 2). */
struct grouping *grouping_create(size_t n, size_t size);
void grouping_destroy(struct grouping *g);

/* Adds the next round: runs that have no node in common, to be started at once. Returns how many it has; they
 * are the last ones, and pending. 0 while a run is pending, and when there is nothing more to find out. */
size_t grouping_next(struct grouping *g);
/* All runs so far, in order. */
size_t grouping_runs(const struct grouping *g);
const struct run *grouping_run(const struct grouping *g, size_t i);
/* Sets the result of a pending run. */
void grouping_set(struct grouping *g, size_t i, enum run_result result);

enum node_verdict {
    NODE_UNTRIED, /* unknown: its runs had no result */
    NODE_GOOD,    /* it passed with another node */
    NODE_BAD,     /* it failed with GROUP_WITNESSES partners that passed with others, and passed with none */
    NODE_SUSPECT  /* it passed with none, and too few partners can witness against it */
};
enum node_verdict grouping_verdict(const struct grouping *g, uint32_t node);
/* True when the nodes of a run failed together although each passed with others, and no smaller part of the
 * run did. */
bool grouping_shared(const struct grouping *g, size_t i);

#endif
