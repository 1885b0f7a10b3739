/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_WORK_H
#define FETTLE_DRIVER_SLURM_WORK_H

#include "driver/slurm.h"

/*
 * Asks Slurm to end what runs on a node: squeue says which jobs and whose, then one call of scontrol requeues
 * them, or one of scancel cancels them. Both programs are taken from where scontrol is.
 */

/* said: "asked Slurm to requeue 4711 of ann, 4712 of bob"; NULL: why not. Called once from the loop. */
typedef void slurm_work_done_fn(void *arg, const char *said, const struct err *why);

struct slurm_work;
/* verb: "requeue" or "cancel". Borrows conf's texts until it returns. *out is good until done is called. */
int slurm_work_start(uv_loop_t *loop, const struct slurm_conf *conf, const char *node, const char *verb,
                     slurm_work_done_fn *done, void *arg, struct slurm_work **out, struct err *e);
/* Kills the call that is under way and calls nobody. NULL is fine. */
void slurm_work_cancel(struct slurm_work *w);

#endif
