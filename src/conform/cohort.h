/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONFORM_COHORT_H
#define FETTLE_CONFORM_COHORT_H

#include "conform/component.h"

/*
 * Cohorts: the nodes that are provably the same, by the fingerprint of the components that count in their
 * class. Nodes are dense numbers. A node without a fingerprint (not heard, stale, or with unknown components)
 * is in no cohort: it is a group of one. The cost of a change does not grow with the number of nodes.
 */

struct cohort {
    struct fingerprint id;
    uint32_t number; /* not zero; reused when the cohort is gone */
    uint32_t n;      /* nodes in it, never 0 */
};

enum { COHORT_NONE = 0 };

struct cohorts;
struct cohorts *cohorts_create(void);
void cohorts_destroy(struct cohorts *c);

/* Puts the node into the cohort of this fingerprint; NULL: into none. */
void cohorts_set(struct cohorts *c, uint32_t node, const struct fingerprint *id);
/* The node's cohort, NULL when it is in none. */
const struct cohort *cohorts_of(const struct cohorts *c, uint32_t node);
uint32_t cohorts_number_of(const struct cohorts *c, uint32_t node); /* COHORT_NONE when in none */
const struct cohort *cohorts_find(const struct cohorts *c, const struct fingerprint *id);
const struct cohort *cohorts_by_number(const struct cohorts *c, uint32_t number);

size_t cohorts_count(const struct cohorts *c);
uint32_t cohorts_number_max(const struct cohorts *c); /* numbers in use are not above it */
/* The cohort with the most nodes; among equals the lowest fingerprint. NULL without any. */
const struct cohort *cohorts_largest(const struct cohorts *c);
/* Largest first, equals by fingerprint: *out has cohorts_count of them; the caller frees it. */
void cohorts_list(const struct cohorts *c, const struct cohort ***out);
/* Calls fn with every node of a cohort, in no order. */
typedef void cohort_node_fn(void *arg, uint32_t node);
void cohort_each(const struct cohorts *c, const struct cohort *k, cohort_node_fn *fn, void *arg);

#endif
