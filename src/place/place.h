/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PLACE_PLACE_H
#define FETTLE_PLACE_PLACE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which nodes for new work:
 *
 *   1. the constraints
 *   2. as few drifted nodes as possible: none while the others suffice
 *   3. of two sets of nodes the one with the better score: the nearest, which lies in as few topology groups
 *      as can be, and the most alike, which takes the largest cohort that fits, or merges the largest until
 *      there are enough, and lies in as few topology groups as that leaves. Among equals the second
 *   4. within a topology group, nodes without room come after those with it, and nodes on which a remedy was
 * tried within a day last
 *   5. the order of the rows
 *
 * The score is the sum over term.tbl of weight * fitness, with the weights of the policy. With
 * require_conformance the nodes are of one cohort, whatever that costs, also before step 2.
 * Deterministic: the same state gives the same nodes, in the same order.
 *
 * Conformance fitness (f9 of the Lattice documents): largest group among the chosen / requested, at
 * most 1, and 1 for one node. A node without a cohort is a group of one.
 */

enum place_term {
#define PLACE_TERM(symbol, name, what) PLACE_##symbol,
#include "place/term.tbl"
#undef PLACE_TERM
    PLACE_TERMS
};
const char *place_term_name(enum place_term t); /* "sameness" */

enum place_policy {
#define PLACE_POLICY(symbol, name, sameness, topology, soundness, room, hard, what) PLACE_##symbol,
#include "place/policy.tbl"
#undef PLACE_POLICY
    PLACE_POLICIES
};
const char *place_policy_name(enum place_policy p); /* "hpc" */
/* -EINVAL with the words that there are. */
int place_policy_parse(const char *name, enum place_policy *out, struct err *e);

/* The first reason that holds against a node. */
enum place_pass {
#define PLACE_PASS(symbol, name, what) PASS_##symbol,
#include "place/pass.tbl"
#undef PLACE_PASS
    PASSES
};
const char *place_pass_name(enum place_pass p); /* "held_elsewhere" */
const char *place_pass_what(enum place_pass p);

/* The facts that placing looks at, one row a node. The leader keeps the rows up to date, so that choosing
 * costs one walk over dense memory. */
struct place_row {
    uint32_t cohort; /* COHORT_NONE: a group of one */
    uint16_t group;  /* of the topology; 0: none */
    uint8_t class;   /* number of the node's class, saturated at 255 */
    uint8_t pass;    /* PASS_NONE, or why the node takes no work, whoever asks */
    bool drifted;    /* less preferred; never for a hard policy */
    bool unproven;   /* conformance unknown: never for a hard policy */
    bool repaired;   /* a remedy was tried on it within a day */
    bool cramped;    /* its memory or its GPUs are in use, though no work is known to run */
};

struct place_ask {
    size_t n; /* nodes wanted, at least 1 */
    enum place_policy policy;
    bool require_conformance; /* all nodes of one cohort, or an error */
    int class;                /* only nodes of this class; -1: any */
    const uint8_t *among;     /* a byte for each row; not zero: it may be taken; NULL: all may */
};

struct place_group {
    uint32_t cohort;
    uint32_t n; /* nodes chosen from it */
};

struct place_score {
    uint32_t fitness_milli, weight_milli;
};

/* Zero-initialise; place_answer_fini. May be used again. */
struct place_answer {
    size_t n;
    uint32_t *nodes;      /* row numbers, ascending */
    uint32_t score_milli; /* the sum of weight * fitness */
    struct place_score terms[PLACE_TERMS];
    size_t n_groups;
    struct place_group
        *groups; /* most nodes first, then by number; COHORT_NONE once, at the end, for all groups of one */
    size_t n_topology; /* topology groups among the chosen */
    uint32_t
        passed[PASSES]; /* nodes that were not taken, by reason; PASS_NONE: they fit and were not needed */
};
void place_answer_fini(struct place_answer *a);

/* Scratch memory that is kept between calls. */
struct placer;
struct placer *placer_create(void);
void placer_destroy(struct placer *p);

/* Chooses nodes. -EINVAL for n = 0; -ENODEV when fewer nodes fit (the sentence has the numbers; `passed` is
 * filled); -EMEDIUMTYPE ("conformance_mismatch") when enough nodes fit but are not of one cohort, and that is
 * required. */
int place_choose(struct placer *p, const struct place_row *rows, size_t n_rows, const struct place_ask *ask,
                 struct place_answer *out, struct err *e);

#endif
