/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_KEEPER_H
#define FETTLE_PROBE_KEEPER_H

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs a program, or work that may hang, as a family of its own (family.h), and waits for its end: for a
 * process that may wait, not for a loop.
 *
 * The family is killed when its first process has ended, when its time is over, when it passes a bound or
 * says too much, and when this process is told to end: by SIGTERM, or by the end of its own parent. The
 * family's standard output is what it says; its input and its errors are /dev/null.
 */

/* In the new process. It may become a program; when it returns, the status is 0. */
typedef void keeper_work_fn(void *arg);

/* Hears what it says, in pieces of any length. */
typedef void keeper_hear_fn(void *arg, const char *bytes, size_t n);

struct keeper_job {
    keeper_work_fn *work;
    void *arg;
    int keep; /* the only other descriptor that the new process has; -1: none */
    struct mono until;
    struct span
        timeout;      /* for the end of processes that were killed; then the kernel is left alone with them */
    size_t bytes_max; /* that it may say */
    bool cut;         /* output beyond the limit is read and dropped; else the program is killed */
    keeper_hear_fn
        *hear; /* NULL: it is appended to out. Else it may say as much as it likes, and out is unused */
    void *hear_arg;
    bool machine; /* its bounds, as family_begin has it */
};

/* Appends to out what it said, also on failure. 0 with *status as wait(2) has it. Else, with a sentence:
 * -ETIMEDOUT, -E2BIG (it said too much), -EOVERFLOW (it passed a bound of its family), -ECANCELED (this
 * process is told to end), or the -errno for which no process could be started. */
int keeper_run(const struct keeper_job *job, struct text *out, int *status, struct err *e);

#endif
