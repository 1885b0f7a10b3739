/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_FORGET_INSIDE_H
#define FETTLE_WATCH_INCIDENT_FORGET_INSIDE_H

#include "watch/view/view.h"

/*
 * What a person answered for, which the agent is to forget. Its state is in struct health_state: answered,
 * word.
 */

/* What was found of m by a look at this moment is what a person answered for, and not judged anew since.
 * place: of the check; SIZE_MAX for others' checks. */
bool forget_covers(const struct watch *w, const struct member *m, const struct check *k,
                   const struct finding *f, size_t place, struct mono looked);
/* What this check says of m is not believed meanwhile. */
bool forget_doubts(const struct watch *w, const struct member *m, size_t check);

#endif
