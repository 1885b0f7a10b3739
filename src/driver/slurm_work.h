/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_WORK_H
#define FETTLE_DRIVER_SLURM_WORK_H

#include "driver/slurm.h"
#include "driver/slurm_read.h"

/*
 * The jobs on nodes, and their users: one squeue for all nodes. And it asks Slurm to end the work on a node:
 * one call of scontrol requeues the jobs, or one of scancel cancels them. The programs are those beside
 * scontrol.
 */

struct slurm_work;

/* Called once from the loop. jobs is borrowed; NULL, with why, after a failure. */
typedef void slurm_work_read_fn(void *arg, const struct slurm_jobs *jobs, const struct err *why);
/* nodes: a list in Slurm's form, of nodes that Slurm has. Borrows the texts until it returns. *out is valid
 * until done is called. */
int slurm_work_read(uv_loop_t *loop, const struct slurm_conf *conf, const char *nodes,
                    slurm_work_read_fn *done, void *arg, struct slurm_work **out, struct err *e);

/* said: "asked Slurm to requeue 4711 of ann, 4712 of bob"; NULL, with why, after a failure. Called once from
 * the loop. */
typedef void slurm_work_end_fn(void *arg, const char *said, const struct err *why);
/* verb: "requeue" or "cancel"; the rest as above. */
int slurm_work_end(uv_loop_t *loop, const struct slurm_conf *conf, const char *node, const char *verb,
                   slurm_work_end_fn *done, void *arg, struct slurm_work **out, struct err *e);
/* Kills the call without a callback. NULL is fine. */
void slurm_work_cancel(struct slurm_work *w);

#endif
