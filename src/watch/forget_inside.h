/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_FORGET_INSIDE_H
#define FETTLE_WATCH_FORGET_INSIDE_H

#include "watch/watch.h"

/*
 * What a person answered for, which the agent is to forget. Its state is in vitals: answered, word.
 */

/* A person answered for m, and its agent has not looked anew yet, and forgotten what the kernel's log said.
 */
bool forget_waits(const struct watch *w, const struct member *m);
/* What was found of m by a look at this moment is what a person answered for, and not judged anew since.
 * place: of the check; SIZE_MAX for others' checks. */
bool forget_covers(const struct watch *w, const struct member *m, const struct check *k,
                   const struct finding *f, size_t place, struct mono looked);
/* What this check says of m is not believed meanwhile. */
bool forget_doubts(const struct watch *w, const struct member *m, size_t check);
/* Before anything is looked at: notes that it was forgotten. */
void forget_look(struct watch *w, struct mono now, const struct member *m);
/* Proposes that it is. True when something was proposed. */
bool forget_propose(struct watch *w, struct mono now, const struct member *m);

#endif
