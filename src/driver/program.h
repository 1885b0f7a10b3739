/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_PROGRAM_H
#define FETTLE_DRIVER_PROGRAM_H

#include "base/clock.h"
#include "base/err.h"

#include <stddef.h>
#include <uv.h>

/*
 * One run of a program of somebody else's: a child in a process group of its own, no shell between, with a
 * deadline after which the group is killed, and a limit to what it may print. What needs more than this
 * process's user may is run by fettle-exec(8), where there is one; for the caller it is the same.
 */

/* The child, and whoever holds its pipes, is gone: right before done where it ended in time, and later, or
 * never, for one that was not to be killed. May start the next. */
typedef void program_gone_fn(void *arg);

struct program_run {
    const char *const *argv;  /* [0] is the program, a path or a name in PATH; NULL behind the last */
    const char *const *set;   /* "NAME=value" for its environment, NULL behind the last; may be NULL */
    const char *const *unset; /* names that it does not inherit; likewise */
    const char *const *ask;   /* what fettle-exec is asked instead, the action and its arguments, NULL behind
                                 the   last; NULL: the program needs no more than this process's user may */
    struct span deadline;
    size_t limit_bytes;    /* of what it prints */
    program_gone_fn *gone; /* NULL: nobody needs to know */
};

/* From now on fettle-exec is asked, by its socket; NULL: every program is this process's child. Borrowed. */
void program_set_exec(const char *socket);
const char *program_exec(void);
/* Whether fettle-exec answers, waited for within a second: 0, or why not. Not from a loop. */
int program_try_exec(const char *socket, struct err *e);

struct program;

/* text has len bytes and a zero byte, and is the callee's, to be freed. NULL, and why: it did not end in
 * time, was killed, printed too much, or fettle-exec refused it (-EPERM). Both: it ended with another status
 * than 0; why has its own words, and text is what it printed. */
typedef void program_done_fn(void *arg, char *text, size_t len, const struct err *why);

/* done comes from the loop, once; *out is good until then, with `gone` until that, for program_kill. */
int program_start(uv_loop_t *loop, const struct program_run *run, program_done_fn *done, void *arg,
                  struct program **out, struct err *e);
/* Kills it and calls nobody; it is freed when the loop has closed its handles. NULL is fine. */
void program_kill(struct program *r);

#endif
