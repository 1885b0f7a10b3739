/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_RECUR_INSIDE_H
#define FETTLE_WATCH_INCIDENT_RECUR_INSIDE_H

#include "health/recur.h"
#include "watch/view/view.h"

/*
 * What the recurrence of a fault means. This part has no state of its own.
 */

/* The row of the table for this finding, in view of all findings on m before; NULL: none. known: the open
 * incident that has the finding, or NULL. again: how often it was seen beyond the record. */
const struct recur_row *recur_find(const struct member *m, const struct incident *known, const char *check,
                                   const struct finding *f, bool observe, struct wall now, unsigned again);
/* The number of incidents of this group within 30 days. */
unsigned recur_count(const struct member *m, const char *group, bool observe, struct wall now);

#endif
