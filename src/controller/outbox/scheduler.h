/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_SCHEDULER_H
#define FETTLE_CONTROLLER_OUTBOX_SCHEDULER_H

#include "driver/slurm.h"
#include "watch/watch.h"

/*
 * Between Slurm's driver and what is agreed: which nodes are to be drained there, for which claim and in
 * which words; what Slurm says runs on them; and what a person did there.
 */

/* What is wanted of a node in Slurm. Silence is none of it: Slurm sees it itself, and an agent that is lost
 * is no reason to take a node from work. */
void scheduler_wanted(const struct member *m, struct slurm_want *out);
/* What Slurm says of a node goes to the watch: what runs there. That nothing does counts, of a node that is
 * to be drained, from the reading on that shows it held: until then work may come. */
void scheduler_saw(struct watch *w, struct member *m, const struct slurm_node *n);
/* Who lies in which maintenance reservation, of all there are. */
void scheduler_maintained(struct watch *w, const struct cluster *c, const struct slurm_maintenance *list,
                          size_t n);
/* Nobody knows yet what the scheduler runs on the nodes: it was not read since this controller began, or
 * since they were configured. */
void scheduler_begin(struct watch *w, const struct cluster *c);
/* What is agreed about a node changed, of which Slurm did not say that it has none such: when it is to be
 * drained by now, and is not yet, nobody knows what runs there. Before the watch looks at it. */
void scheduler_changed(struct watch *w, const struct cluster *c, const char *node);

#endif
