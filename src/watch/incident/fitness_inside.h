/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_FITNESS_INSIDE_H
#define FETTLE_WATCH_INCIDENT_FITNESS_INSIDE_H

#include "watch/view/view.h"

/*
 * Whether work may land on a node. The state is w->fitness.
 */

struct fitness_rows {
    struct place_row *rows; /* by member id */
};

#endif
