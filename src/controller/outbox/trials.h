/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_TRIALS_H
#define FETTLE_CONTROLLER_OUTBOX_TRIALS_H

#include "controller/outbox/actors.h"
#include "watch/watch.h"

/*
 * Between the watch, which says on which nodes a check is to run now, and the actors, who have it run there.
 */

struct trials;
struct trials *trials_create(struct watch *w, struct actors *a);
/* After the actors, before the watch. */
void trials_destroy(struct trials *t);
/* Time passes: call it some times a second. */
void trials_turn(struct trials *t, struct mono now);

#endif
