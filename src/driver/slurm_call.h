/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_CALL_H
#define FETTLE_DRIVER_SLURM_CALL_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

/*
 * One run of scontrol at a time: a child in a process group of its own, without a shell, with a deadline at
 * which the group is killed, and a limit on its output.
 */

struct slurm_call;

/* text has len bytes and a zero byte; the callee frees it. NULL, with why: it did not end in time, was
 * killed, or printed too much. Both set: its status was not 0, and why has its own words. */
typedef void slurm_call_done_fn(void *arg, char *text, size_t len, const struct err *why);

struct slurm_call *slurm_call_create(uv_loop_t *loop);
/* Kills a running call without a callback, and frees when the loop has closed its handles. */
void slurm_call_destroy(struct slurm_call *c);

/* Runs program with these arguments (NULL after the last). conf_file becomes SLURM_CONF; NULL keeps the
 * environment's. done comes from the loop and may start the next call. -EBUSY while one runs. */
int slurm_call_start(struct slurm_call *c, const char *program, const char *const *args,
                     const char *conf_file, struct span deadline, slurm_call_done_fn *done, void *arg,
                     struct err *e);
bool slurm_call_is_busy(const struct slurm_call *c);

#endif
