/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_REPAIR_CHOOSE_INSIDE_H
#define FETTLE_WATCH_REPAIR_CHOOSE_INSIDE_H

#include "watch/view/view.h"

/*
 * Which remedy a node gets. This part has no state of its own.
 */

/* Chooses what would be done for m now. undone: the attempt under way did nothing and does not count as a
 * try; refusal is the reason when it was refused. */
void repair_choose(const struct watch *w, struct mono now, const struct member *m, bool undone,
                   enum refusal refusal, struct choice *out);
/* Why this remedy's way is not used any more in this repair; NULL: it may be used. `refusal` belongs to the
 * attempt under way. */
const char *repair_bars(const struct watch *w, const struct member *m, enum refusal refusal,
                        const struct remedy *remedy);
/* An open incident is caused by the hardware, by the tables or because it came back. */
bool is_hardware(const struct member *m);
/* The remedy for m while m is in service and degraded, chosen among remedies that disturb nobody and need
 * nothing. NULL: there is none, m is not degraded, or too much was tried. */
const struct remedy *repair_gentle(const struct watch *w, struct mono now, const struct member *m,
                                   struct choice *out);
/* What the remedy that was chosen is expected to cost; 0 without one. */
int64_t choice_cost(const struct choice *c);

#endif
