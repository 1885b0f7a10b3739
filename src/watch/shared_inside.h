/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_SHARED_INSIDE_H
#define FETTLE_WATCH_SHARED_INSIDE_H

#include "watch/watch.h"

/*
 * One cause of the same fault on many nodes. Its state is w->shared.
 */

struct outbreak;
#define SHARED_BY_TRIAL "trial:" /* the key of a cause that a trial found begins with it */
/* Whether it counts as a fault of others, too: what takes a node out, and links that are about to. */
bool shared_counts(const struct watch *w, const char *check, const struct finding *f);
/* m has this fault now. */
void shared_note(struct watch *w, struct mono now, const struct member *m, const char *check,
                 const struct finding *f);
/* The same for all that the checks of other systems say of m. */
void shared_note_outside(struct watch *w, struct mono now, const struct member *m);
/* It has it for a cause that it shares with others. */
bool shared_excuses(const struct watch *w, const struct member *m, const char *check,
                    const struct finding *f);
/* All for which it is kept out has such a cause. */
bool shared_holds(const struct watch *w, const struct member *m);
void shared_end_sweep(struct watch *w);
void shared_load(struct watch *w, struct mono now); /* what is recorded, and not known here */
void shared_destroy(struct watch *w);

struct shared {
    struct outbreak *outbreaks;
    uint32_t *runners; /* by check: nodes that run it; NULL: to be counted */
};

#endif
