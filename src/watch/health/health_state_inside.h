/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEALTH_HEALTH_STATE_INSIDE_H
#define FETTLE_WATCH_HEALTH_HEALTH_STATE_INSIDE_H

#include "watch/health/health.h"
#include "watch/view/view.h"

/*
 * The health of each node: the results of its checks, and whether they count. The state is w->health_states.
 */

void saying_remove(struct health_state *v, size_t i); /* removes the check's details, if it has any */
struct health_states {
    struct health_state **of; /* by member id */
    size_t n;
    char **names; /* of the checks, in the records that the health states know */
    struct check_rule *rules;
    size_t n_checks;
    uint32_t generation; /* of the records of checks */
};

#endif
