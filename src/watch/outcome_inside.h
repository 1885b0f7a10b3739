/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTCOME_INSIDE_H
#define FETTLE_WATCH_OUTCOME_INSIDE_H

#include "watch/watch.h"

/*
 * What remedies came to. It has no state of its own.
 */

/* Judges what remedies came to. True when something was proposed. */
bool outcome_look(struct watch *w, struct mono now, const struct member *m);

#endif
