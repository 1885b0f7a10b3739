/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_PROGRAM_H
#define FETTLE_DRIVER_PROGRAM_H

#include "base/clock.h"
#include "base/err.h"

#include <stddef.h>
#include <uv.h>

/*
 * One run of an external program: a child in a process group of its own, without a shell, with a deadline at
 * which the group is killed, and a limit on its output. Where fettle-exec(8) is used, it runs programs that
 * need more permissions than this process's user has; for the caller that makes no difference.
 */

/* The child, and every holder of its pipes, is gone: right before done when it ended in time; later, or
 * never, when it could not be killed. May start the next run. */
typedef void program_gone_fn(void *arg);

struct program_run {
    const char *const *argv;  /* [0] is the program, a path or a name in PATH; NULL after the last */
    const char *const *set;   /* "NAME=value" for its environment, NULL after the last; may be NULL */
    const char *const *unset; /* names that it does not inherit; likewise */
    const char *const *ask;   /* the request to fettle-exec, the action and its arguments, NULL after the
                                 last; NULL: the program needs no special permission */
    struct span deadline;
    size_t limit_bytes;    /* the limit on its output */
    program_gone_fn *gone; /* NULL: no callback */
};

/* Uses fettle-exec, at this socket, from now on; NULL: every program is this process's child. Borrowed. */
void program_set_exec(const char *socket);
const char *program_exec(void);
/* Checks that fettle-exec answers within a second: 0, or why not. Not from a loop. */
int program_try_exec(const char *socket, struct err *e);

struct program;

/* text has len bytes and a zero byte; the callee frees it. NULL, with why: it did not end in time, was
 * killed, printed too much, or fettle-exec refused it (-EPERM). Both set: its status was not 0; why has its
 * own words, and text is its output. */
typedef void program_done_fn(void *arg, char *text, size_t len, const struct err *why);

/* done comes from the loop, once. *out is valid for program_kill until then, or until `gone`. */
int program_start(uv_loop_t *loop, const struct program_run *run, program_done_fn *done, void *arg,
                  struct program **out, struct err *e);
/* Kills it without a callback; it is freed when the loop has closed its handles. NULL is fine. */
void program_kill(struct program *r);

#endif
