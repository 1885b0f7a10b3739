/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_TRIAL_H
#define FETTLE_WATCH_TRIAL_TRIAL_H

#include "watch/trial/shell.h"
#include "watch/view/view.h"

/*
 * Trials: checks that the controller schedules on idle nodes, and the partners of a node that is examined
 * (doc/spec/trial.md). This room owns the trials that are under way. It proposes TRIAL_BEGIN and TRIAL_END.
 */

/* --- trials ------------------------------------------------------------------------------------------ */

/* In each sweep, for every member: lets a node go that is held for no trial; notes a node that is due. */
void trial_look(struct watch *w, struct mono now, const struct member *m);
void trial_tick(struct watch *w, struct mono now);
/* Something that is agreed about m changed. */
void trial_changed(struct watch *w, const struct member *m);

/* --- which node is held ------------------------------------------------------------------------------ */

void trial_reconfigure(struct watch *w);
/* m, which is examined, has to run this check with others. Partners are searched for when it is m's turn,
 * unless m has partners or had some a moment ago. Call this in each sweep until the check has answered. */
void trial_ask(struct watch *w, struct mono now, const struct member *m, size_t check);
void trial_end_sweep(struct watch *w);
void trial_begin_fini(struct watch *w);

/* --- how a node takes part --------------------------------------------------------------------------- */

/* A trial decides about this check's result on m, so m's own report of it is not believed by itself. */
bool trial_says(const struct watch *w, const struct member *m, size_t check);
void trials_fini(struct watch *w);
struct trial *trial_add(struct watch *w, struct mono now, const char *check, unsigned group,
                        struct span limit);
void trial_create(struct watch *w);
void trial_destroy(struct watch *w);

#endif
