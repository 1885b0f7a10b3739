/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_SERVICE_H
#define FETTLE_HEALTH_SERVICE_H

#include "health/result.h"

#include <stdbool.h>

/*
 * The consequence for a node of its worst result: service.tbl, which the manual prints.
 */

enum drained { DRAINED_NEVER, DRAINED_LASTING, DRAINED_AT_ONCE };

struct service {
    bool takes_work;
    enum drained drained;
    const char *what; /* in words */
};

/* acts: Fettle acts for the node; otherwise it only observes. */
const struct service *service_of(enum result severity, bool acts);

#endif
