/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_SHELL_H
#define FETTLE_WATCH_TRIAL_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells carry out for trials, and what they tell of it (doc/spec/trial.md).
 */

struct watch;

/* What a node is to do now. */
struct trial_run {
    uint64_t run;         /* by which watch_tried knows it */
    const char *check;    /* borrowed, as nodes */
    struct span deadline; /* it has answered by then */
    const char *nodes;    /* that run it together, in order, with commas between; NULL: by itself */
    unsigned rank;        /* its own place in them, from 0 */
    bool stop;            /* what runs of this check is not wanted any more; nothing is to be begun */
};

typedef void trial_run_fn(void *arg, struct member *m, const struct trial_run *r);
/* Calls fn for what is to be begun or ended now, each once; for the shell's timer. That the node is held and
 * free was looked at right before. */
void watch_trials(struct watch *w, struct mono now, trial_run_fn *fn, void *arg);
/* What a run came to; v NULL: nothing, for this reason. What nobody waits for any more is dropped. */
void watch_tried(struct watch *w, uint64_t run, const struct verdict *v, const char *why);

#endif
