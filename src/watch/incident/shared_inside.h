/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_SHARED_INSIDE_H
#define FETTLE_WATCH_INCIDENT_SHARED_INSIDE_H

#include "watch/view/view.h"

/*
 * One cause of the same fault on many nodes. The state is w->shared.
 */

/* m has the fault because of a shared cause. */
bool shared_excuses(const struct watch *w, const struct member *m, const char *check,
                    const struct finding *f);
struct shared {
    struct outbreak *outbreaks;
    uint32_t *runners; /* by check: the number of nodes that run it; NULL: to be counted */
};

#endif
