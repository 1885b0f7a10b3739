/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_WARD_TEST_H
#define FETTLE_WATCH_WARD_TEST_H

#include "watch/fixture_test.h"

/* Nodes that run the checks that they are told to run, and what came of it. */
struct ward {
    struct world *x;
    struct checks checks;
    const char *answer[NODES + 1]; /* verdict as JSON; NULL: ok */
    bool hangs[NODES + 1];         /* the node does not answer */
    const char *says[NODES + 1];   /* what its other checks say; NULL: ok */
    bool drained[NODES + 1]; /* by somebody in the scheduler, as is seen when the node is read by name */
    int bad_link[2];         /* both nodes fail when they run the check together */
    unsigned ran[NODES + 1], stopped[NODES + 1];
    char with[NODES + 1][256]; /* the nodes that last ran it together with this node */
    size_t n_open;
    struct {
        uint64_t run;
        int node;
        bool fails;
    } open[NODES + 1];
};

/* What a node says about the check that it was told to run, and about its other checks. */
extern const char FATAL[], WELL[], ILL[];
/* Records of checks: one that each idle node runs alone once an hour; one that two run together; and one that
 * two run together where one of them is examined. */
extern const char BURN[], PAIR[], EXAM[];

/* Makes n idle and healthy nodes that run these checks (text as in a file). All may be held at once. */
struct ward *ward_create(size_t n, const char *checks);
void ward_destroy(struct ward *d);
void ward_take_checks(struct ward *d, const char *checks); /* replaces the checks */

/* n nodes that run EXAM; lx01 is ill of something else, and in the extensive stage. */
struct ward *ward_examine(size_t n);

/* What its checks say comes from a node; what they are to say, from all. */
void ward_tell(struct ward *d, int i, const char *checks);
void ward_all_well(struct ward *d);
/* Lets time pass; the nodes run what they are told to run. */
void ward_run(struct ward *d, int seconds);
/* Until the node's repair is at this step. */
void ward_wait_step(struct ward *d, int i, enum step step);
/* A trial begins on the node, which does not answer. */
void ward_begin(struct ward *d, int i);

bool ward_held(struct ward *d, int i); /* for a trial */
unsigned ward_count_held(struct ward *d);
void ward_assert_free(struct ward *d); /* nobody is held for anything, and nothing is left of it */
const struct tried *ward_last(struct ward *d, int i, const char *check); /* NULL: it never ran */
const struct incident *ward_incident(struct ward *d, int i);             /* the first that is open; NULL */
const struct repair *ward_repair(struct ward *d, int i);                 /* NULL without */

#endif
