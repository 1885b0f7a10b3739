/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_REPAIR_CHOOSE_INSIDE_H
#define FETTLE_WATCH_REPAIR_CHOOSE_INSIDE_H

#include "watch/view/view.h"

/*
 * Which remedy a node gets. It has no state of its own.
 */

/* What would be done for m now. undone: of the attempt under way nothing was done, and it is no try; and
 * why, where it was refused. */
void repair_choose(const struct watch *w, struct mono now, const struct member *m, bool undone,
                   enum refusal refusal, struct choice *out);
/* Why no remedy of this one's way is carried out in this repair any more; NULL: it may be. `refusal` is of
 * the attempt under way. */
const char *repair_bars(const struct watch *w, const struct member *m, enum refusal refusal,
                        const struct remedy *remedy);
/* Something that is open is the hardware's, by the tables or because it came back. */
bool is_hardware(const struct member *m);
/* What may be done to m while it is in service, as it is degraded: the choice among remedies that disturb
 * nobody and need nothing. NULL: none, or m is not degraded, or too much was tried. */
const struct remedy *repair_gentle(const struct watch *w, struct mono now, const struct member *m,
                                   struct choice *out);
/* What the remedy that was chosen is expected to cost; 0 without one. */
int64_t choice_cost(const struct choice *c);

#endif
