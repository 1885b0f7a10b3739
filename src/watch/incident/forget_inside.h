/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_FORGET_INSIDE_H
#define FETTLE_WATCH_INCIDENT_FORGET_INSIDE_H

#include "watch/view/view.h"

/*
 * Findings that a person answered for and that the agent is to forget. The state is in struct health_state:
 * answered, word.
 */

/* A person answered for this finding of m, which was seen at this moment, and it was not judged anew since.
 * place: of the check; SIZE_MAX for other systems' checks. */
bool forget_covers(const struct watch *w, const struct member *m, const struct check *k,
                   const struct finding *f, size_t place, struct mono looked);
/* What this check says about m is not believed meanwhile. */
bool forget_doubts(const struct watch *w, const struct member *m, size_t check);

#endif
