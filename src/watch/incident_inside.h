/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_INSIDE_H
#define FETTLE_WATCH_INCIDENT_INSIDE_H

#include "watch/watch.h"

/* Proposes what is to be written down of m's incidents. True when something is. */
bool incident_look(struct watch *w, struct mono now, const struct member *m);

#endif
