/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHILD_H
#define FETTLE_AGENT_CHILD_H

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

/*
 * Runs a function in a forked child and hands its text to the parent through a pipe: for all that
 * may hang or needs much memory. At most one child of each `struct child` exists. One that passes
 * its deadline is killed; one that cannot even be killed (a dead mount) stays the only one, and
 * child_run says -EBUSY until the kernel has let it go. Programs that it started and that lead a process
 * group are killed with it.
 */

struct child;

enum { CHILD_KEPT_FD = 4 }; /* see child_keep */

/* In the child: writes to out, returns 0 or a negative errno with a sentence. */
typedef int child_work_fn(void *arg, struct text *out, struct err *e);
/* In the parent: text of len bytes and one zero byte, which it may change, until it returns; or
 * NULL and why. A new run may be started from here. */
typedef void child_done_fn(void *arg, char *text, size_t len, const struct err *why);

struct child *child_create(uv_loop_t *loop, size_t limit_bytes);
/* Children from now on have this descriptor of the parent's as CHILD_KEPT_FD, while it is open. All
 * others are closed there. */
void child_keep(struct child *c, int fd);
/* Kills what runs, calls nobody, frees when the loop has closed its handles. */
void child_destroy(struct child *c);

/* Starts work; done comes from the loop. -EBUSY while the last one still exists. */
int child_run(struct child *c, struct span deadline, child_work_fn *work, child_done_fn *done, void *arg,
              struct err *e);
/* Kills what runs; done hears of it when it is gone, or at the deadline. */
void child_kill(struct child *c);
/* Whether a child exists: one that runs, or that could not be killed. */
bool child_exists(struct child *c);

#endif
