/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OVERRIDE_INSIDE_H
#define FETTLE_WATCH_OVERRIDE_INSIDE_H

#include "watch/watch.h"

/*
 * Nodes that are in service by a person's word. Its state is in vitals: override_of.
 */

/* In each sweep, for every member: writes down how long its override has stood, and ends it in time. */
void override_look(struct watch *w, struct mono now, const struct member *m);

#endif
