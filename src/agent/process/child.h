/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_PROCESS_CHILD_H
#define FETTLE_AGENT_PROCESS_CHILD_H

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

/*
 * Runs a function in a forked child and gives its text to the parent through a socket: for work that may
 * hang or needs much memory. Each `struct child` has at most one process. A child that passes its deadline
 * is killed; one that cannot be killed (a dead mount) stays the only one, and child_run returns -EBUSY
 * until the kernel lets it go. When programs of the child lead process groups, these are killed instead of
 * the child, which waits for their end and then ends.
 *
 * A fork costs the parent more than most of what a child does, so a child may stay for the next question.
 * It knows the parent's memory as it was at its start: destroy it before you ask about something newer.
 */

struct child;

enum {
    CHILD_KEPT_FD = 4, /* see child_keep */
    CHILD_QUESTION_BYTES_MAX = 16 << 10,
    CHILD_QUESTIONS_MAX =
        1000 /* to one that stays; the next is asked of a new one, so that nothing piles up */
};

/* In the child: writes to out, returns 0 or a negative errno with a sentence. */
typedef int child_work_fn(void *arg, struct text *out, struct err *e);
/* The same for a child that stays. Its text has no zero bytes. */
typedef int child_answer_fn(void *arg, const char *question, struct text *out, struct err *e);
/* In the parent: text of len bytes and one zero byte, which it may change, until it returns; or
 * NULL and why. A new run may be started from here. */
typedef void child_done_fn(void *arg, char *text, size_t len, const struct err *why);

struct child *child_create(uv_loop_t *loop, size_t limit_bytes);
/* Children from now on have this descriptor of the parent's as CHILD_KEPT_FD, while it is open. All
 * others are closed there. */
void child_keep(struct child *c, int fd);
/* Kills what runs, calls back nobody, and frees it when the loop has closed its handles. */
void child_destroy(struct child *c);

/* Starts work; done comes from the loop. -EBUSY while the last one still exists. */
int child_run(struct child *c, struct span deadline, child_work_fn *work, child_done_fn *done, void *arg,
              struct err *e);
/* Asks the child that stayed, else one that is started for it and stays: `answer` and its arg are those of
 * the first question. done comes from the loop. -E2BIG for too long a question; else as child_run. */
int child_ask(struct child *c, struct span deadline, child_answer_fn *answer, void *answer_arg,
              const char *question, child_done_fn *done, void *arg, struct err *e);
/* Whether a child has stayed and waits for the next question. */
bool child_waits(const struct child *c);
/* The child gets no more questions and ends by itself. Other children are not touched. */
void child_dismiss(struct child *c);
/* Kills what runs. done is called when it is gone, or at the deadline. */
void child_kill(struct child *c);
/* Whether a child exists: one that runs, or that could not be killed. */
bool child_exists(struct child *c);

#endif
