/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_PROCESS_WORKERS_H
#define FETTLE_AGENT_PROCESS_WORKERS_H

#include "agent/process/child.h"

/*
 * Children for work that may hang, by target: however many looks there are at a dead file system, at most
 * one child waits for it, and looks at everything else go on. A few children run at once. A child that has
 * answered a question stays for the next one, whatever its target.
 */

struct workers;

enum { WORKERS_AT_ONCE = 8, WORKERS_BYTES_MAX = 64 << 10 /* the bytes of one answer */ };

/* answer and its arg are for workers_ask. */
struct workers *workers_create(uv_loop_t *loop, child_answer_fn *answer, void *arg);
/* Kills what runs and calls back nobody from now on. */
void workers_destroy(struct workers *w);

/* Runs work in a child, as child_run.
 *   0         done comes from the loop
 *   -EAGAIN   the target's child is at work, or as many are as may be: try again after some done
 *   -EBUSY    the target's child hangs, past its deadline, and cannot be killed; the sentence says since when
 *   -errno    no child could be started */
int workers_run(struct workers *w, const char *target, struct span deadline, child_work_fn *fn,
                child_done_fn *done, void *arg, struct err *e);
/* The same for a question, to a child that knows this process as it is now or was since workers_renew. */
int workers_ask(struct workers *w, const char *target, struct span deadline, const char *question,
                child_done_fn *done, void *arg, struct err *e);
/* The children's memory is out of date: no existing child is asked again. */
void workers_renew(struct workers *w);
/* Kills the one that was given arg, if it still runs. Until it is gone it is the only one of its target, and
 * what then comes goes to done with done_arg, in place of whom it was given. */
void workers_cancel(struct workers *w, const void *arg, child_done_fn *done, void *done_arg);

#endif
