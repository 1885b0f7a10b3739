/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_RECUR_INSIDE_H
#define FETTLE_WATCH_INCIDENT_RECUR_INSIDE_H

#include "health/recur.h"
#include "watch/view/view.h"

/*
 * What it means that a fault comes back. It has no state of its own.
 */

/* What a table says of this finding with all that was found on m before; NULL: nothing. known: the open
 * incident that has it, or NULL. again: so often more than is written down. */
const struct recur_row *recur_find(const struct member *m, const struct incident *known, const char *check,
                                   const struct finding *f, bool observe, struct wall now, unsigned again);
/* How many incidents of this group there were within 30 days. */
unsigned recur_count(const struct member *m, const char *group, bool observe, struct wall now);

#endif
