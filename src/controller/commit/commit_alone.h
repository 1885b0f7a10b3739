/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_COMMIT_ALONE_H
#define FETTLE_CONTROLLER_COMMIT_COMMIT_ALONE_H

#include "cluster/cluster.h"
#include "store/store.h"

/*
 * One commit at the start of a controller, while there is no committer yet. The call blocks.
 */

/* Decides the command, commits it and takes it into the state. *revision stays when nothing had to change;
 * *changed (may be NULL) says whether something did. Errors are those of cluster_decide and store_commit.
 * After STORE_UNKNOWN the state may lack what the store has: the controller does not start with it. */
int commit_alone(struct store *s, uint64_t term, struct cluster *c, const struct command *cmd,
                 uint64_t *revision, bool *changed, struct err *e);

#endif
