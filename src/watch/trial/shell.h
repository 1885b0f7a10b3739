/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_SHELL_H
#define FETTLE_WATCH_TRIAL_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells carry out for trials, and what they report about it (doc/spec/trial.md).
 */

struct watch;

/* What a node is to do now. */
struct trial_run {
    uint64_t run;         /* the number by which watch_tried knows the run */
    const char *check;    /* borrowed, as nodes */
    struct span deadline; /* the node has answered by then */
    const char *nodes; /* the nodes that run the check together, in order, with commas between; NULL: the node
                          runs it by itself */
    unsigned rank;     /* the node's own place in them, from 0 */
    bool stop;         /* a run of this check is to be ended, and none is to begin */
};

typedef void trial_run_fn(void *arg, struct member *m, const struct trial_run *r);
/* Calls fn once for each run that is to begin or end now; for the shell's timer. Right before, the watch
 * checked that the node is held and free. */
void watch_trials(struct watch *w, struct mono now, trial_run_fn *fn, void *arg);
/* The result of a run; v NULL: there is none, for this reason. A result that is not awaited any more is
 * dropped. */
void watch_tried(struct watch *w, uint64_t run, const struct verdict *v, const char *why);

#endif
