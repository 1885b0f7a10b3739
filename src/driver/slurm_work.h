/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_WORK_H
#define FETTLE_DRIVER_SLURM_WORK_H

#include "driver/slurm.h"
#include "driver/slurm_read.h"

/*
 * What runs on nodes, and whose it is: one squeue for all of them. And it asks Slurm to end what runs on a
 * node: one call of scontrol requeues the jobs, or one of scancel cancels them. The programs are taken from
 * where scontrol is.
 */

struct slurm_work;

/* Called once from the loop. jobs is borrowed; NULL: why not. */
typedef void slurm_work_read_fn(void *arg, const struct slurm_jobs *jobs, const struct err *why);
/* nodes: a list as Slurm takes it, of nodes that Slurm has. Borrows the texts until it returns. *out is good
 * until done is called. */
int slurm_work_read(uv_loop_t *loop, const struct slurm_conf *conf, const char *nodes,
                    slurm_work_read_fn *done, void *arg, struct slurm_work **out, struct err *e);

/* said: "asked Slurm to requeue 4711 of ann, 4712 of bob"; NULL: why not. Called once from the loop. */
typedef void slurm_work_end_fn(void *arg, const char *said, const struct err *why);
/* verb: "requeue" or "cancel"; the rest as above. */
int slurm_work_end(uv_loop_t *loop, const struct slurm_conf *conf, const char *node, const char *verb,
                   slurm_work_end_fn *done, void *arg, struct slurm_work **out, struct err *e);
/* Kills the call that is under way and calls nobody. NULL is fine. */
void slurm_work_cancel(struct slurm_work *w);

#endif
