/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_SCHEDULER_H
#define FETTLE_CONTROLLER_OUTBOX_SCHEDULER_H

#include "driver/slurm.h"
#include "watch/watch.h"

/*
 * Between Slurm's driver and the agreed state: which nodes are to be drained there, for which claim and in
 * which words; what Slurm says runs on them; and what a person did there.
 */

/* What is wanted of a node in Slurm. Silence is no reason for a drain: Slurm sees a silent node itself,
 * and a lost agent is no reason to take a node from work. */
void scheduler_wanted(const struct member *m, struct slurm_want *out);
/* Slurm's word about the work on a node goes to the watch. For a node that is to be drained, "no work"
 * counts from the first reading that shows the drain: until then work may come. */
void scheduler_saw(struct watch *w, struct member *m, const struct slurm_node *n);
/* The nodes of every maintenance reservation. */
void scheduler_maintained(struct watch *w, const struct cluster *c, const struct slurm_maintenance *list,
                          size_t n);
/* The work that the scheduler runs on the nodes is not known: it was not read since this controller began,
 * or since they were configured. */
void scheduler_begin(struct watch *w, const struct cluster *c);
/* The agreed state of a node changed. When the node is to be drained now and is not yet, the work that
 * runs there is not known, unless Slurm said that it has no such node. Call it before the watch looks at
 * the node. */
void scheduler_changed(struct watch *w, const struct cluster *c, const char *node);

#endif
