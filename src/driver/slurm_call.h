/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_CALL_H
#define FETTLE_DRIVER_SLURM_CALL_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

/*
 * One run of scontrol at a time: a child in a process group of its own, no shell between, with a deadline
 * after which the group is killed, and a limit to what it may print.
 */

struct slurm_call;

/* text has len bytes and a zero byte, and is the callee's, to be freed; NULL, and why: it did not end in
 * time, was killed, or printed too much. Both: it ended with another status than 0, and why has its own
 * words. */
typedef void slurm_call_done_fn(void *arg, char *text, size_t len, const struct err *why);

struct slurm_call *slurm_call_create(uv_loop_t *loop);
/* Kills what runs, calls nobody, frees when the loop has closed its handles. */
void slurm_call_destroy(struct slurm_call *c);

/* Runs program with these arguments (NULL behind the last). conf_file becomes SLURM_CONF, NULL leaves the
 * environment's. done comes from the loop and may start the next. -EBUSY while one runs. */
int slurm_call_start(struct slurm_call *c, const char *program, const char *const *args,
                     const char *conf_file, struct span deadline, slurm_call_done_fn *done, void *arg,
                     struct err *e);
bool slurm_call_is_busy(const struct slurm_call *c);

#endif
