/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEALTH_VITALS_INSIDE_H
#define FETTLE_WATCH_HEALTH_VITALS_INSIDE_H

#include "watch/health/health.h"
#include "watch/view/view.h"

/*
 * What is known of each node's health: what checks said of it, and whether that counts. Its state is
 * w->vitals.
 */

void saying_remove(struct vitals *v, size_t i); /* of this check, where there is one */
struct vitals_known {
    struct vitals **of; /* by member id */
    size_t n;
    char **names; /* of the checks, as of the records that vitals know */
    struct check_rule *rules;
    size_t n_checks;
    uint32_t generation; /* of the records */
};

#endif
