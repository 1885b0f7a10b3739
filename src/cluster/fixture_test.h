/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_FIXTURE_TEST_H
#define FETTLE_CLUSTER_FIXTURE_TEST_H

#include "cluster/cluster.h"

/*
 * A cluster with the store's part played by a list of its records.
 */

struct world {
    struct cluster *c;
    size_t n;
    struct {
        char *key, *value;
    } * records;
};

/* lx01 to lx06 with 2 CPUs, all heard once. */
struct world *world_create(void);
void world_destroy(struct world *w);

/* Takes what a configuration would: "lx[01-03] CPUs=2; lx04 Partition=1,3". */
void world_configure(struct world *w, const char *roster, struct text *changes);

/* Gives a command to the nodes of a list, and commits what it comes to until all nodes are done.
 * Shows it as text that is valid until the next call: a line for each record, the journal's
 * sentence and the nodes changed; "nothing" when nothing changes; the sentence when it is refused. */
const char *world_do(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                     const char *reason_set_or_token, const char *claim);
int world_rc(void); /* of the last command */
size_t world_parts(void);

/* The claims on a node: "1 drain by root: x (drained); ...". Valid until the next call. */
const char *world_claims(const struct world *w, const char *node);

/* The records, loaded in the given rotation into a new cluster with the same roster. */
struct cluster *world_reload(const struct world *w, const char *roster, size_t rotation, bool backwards);

#endif
