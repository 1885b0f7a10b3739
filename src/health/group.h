/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_GROUP_H
#define FETTLE_HEALTH_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A check that several nodes run together, as an all-reduce over InfiniBand: which of them run it with whom,
 * and whose fault it is when it fails. Nodes are numbers from 0.
 *
 * Every node takes part once, in groups of the size that the check asks for. A group that fails is halved,
 * down to pairs; each of a pair that fails tries with others, of which it is known that they can: they passed
 * with somebody. A node is bad when it failed with GROUP_WITNESSES such partners and passed with nobody.
 * Nodes that fail together only, and each pass with others, have something between them that is bad: a link,
 * a switch. That is reported and blames no node. A run that comes to nothing (unknown) is tried once more and
 * then counts for nobody.
 *
 * What is to run next follows from what was run alone: the same runs give the same answer.
 */

enum { GROUP_SIZE_MAX = 1024, GROUP_WITNESSES = 2 };

enum run_result { RUN_PENDING, RUN_PASS, RUN_FAIL, RUN_UNKNOWN };

/* Some nodes that run it together. */
struct run {
    size_t n;
    const uint32_t *nodes; /* ascending; live as long as the grouping */
    enum run_result result;
};

struct grouping;
/* n nodes in groups of `size` (from 2). */
struct grouping *grouping_create(size_t n, size_t size);
void grouping_destroy(struct grouping *g);

/* Adds the next round: runs that have no node in common, at once. Returns how many it has; they are the last
 * ones, pending. 0 while one is pending, and when there is nothing more to find out. */
size_t grouping_next(struct grouping *g);
/* All runs so far, in order. */
size_t grouping_runs(const struct grouping *g);
const struct run *grouping_run(const struct grouping *g, size_t i);
/* What a pending one came to. */
void grouping_set(struct grouping *g, size_t i, enum run_result result);

enum node_verdict {
    NODE_UNTRIED, /* nothing is known: what it took part in came to nothing */
    NODE_GOOD,    /* it passed with somebody */
    NODE_BAD,    /* it failed with GROUP_WITNESSES partners that passed with others, and passed with nobody */
    NODE_SUSPECT /* it passed with nobody, and too few can witness against it */
};
enum node_verdict grouping_verdict(const struct grouping *g, uint32_t node);
/* Whether the nodes of a run failed together though each passed with others, and no smaller part of it did.
 */
bool grouping_shared(const struct grouping *g, size_t i);

#endif
