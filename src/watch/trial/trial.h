/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_TRIAL_H
#define FETTLE_WATCH_TRIAL_TRIAL_H

#include "watch/trial/shell.h"
#include "watch/view/view.h"

/*
 * Trials: checks that the controller schedules on idle nodes, and the partners of a node that is examined
 * (doc/spec/trial.md). It owns the trials that are under way. It proposes TRIAL_BEGIN and TRIAL_END.
 */

/* --- trials ------------------------------------------------------------------------------------------ */

/* In each sweep, for every member: one that is held for nothing is let go; one that is due is noted. */
void trial_look(struct watch *w, struct mono now, const struct member *m);
void trial_tick(struct watch *w, struct mono now);
/* Something that is agreed of m changed. */
void trial_changed(struct watch *w, const struct member *m);

/* --- which node is held ------------------------------------------------------------------------------ */

void trial_reconfigure(struct watch *w);
/* m, which is in the examination, is to run this check with others: they are looked for when it is its turn,
 * unless it has them, or had some a moment ago. To be called in each sweep until it is answered. */
void trial_ask(struct watch *w, struct mono now, const struct member *m, size_t check);
void trial_end_sweep(struct watch *w);
void trial_begin_fini(struct watch *w);

/* --- how a node takes part --------------------------------------------------------------------------- */

/* What m says of this check is not to be believed by itself: a trial says it. */
bool trial_says(const struct watch *w, const struct member *m, size_t check);
void trials_fini(struct watch *w);
struct trial *trial_add(struct watch *w, struct mono now, const char *check, unsigned group,
                        struct span limit);
void trial_create(struct watch *w);
void trial_destroy(struct watch *w);

#endif
