/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_REPAIR_REPAIR_H
#define FETTLE_WATCH_REPAIR_REPAIR_H

#include "watch/repair/shell.h"
#include "watch/view/view.h"

/*
 * The next step of a repair, which remedy a node gets, the outcomes of remedies, and overrides. This room
 * remembers only the fields of struct health_state about a step's time. It proposes REPAIR, OPERATE and
 * OUTCOME, and the ends of overrides.
 */

/* --- the next step ----------------------------------------------------------------------------------- */

/* Called before anything else is looked at: takes note of the step of m's repair. */
void repair_stage(struct watch *w, struct mono now, const struct member *m);
/* Proposes the next step of m's repair, if it has one. True when something was proposed. */
bool repair_look(struct watch *w, struct mono now, const struct member *m);

/* --- after a maintenance window ---------------------------------------------------------------------- */

/* The maintenance window of m is over: proposes provisioning unless m's checks have passed. */
void provision_after_window(struct watch *w, struct mono now, const struct member *m);

/* --- the steps of a repair --------------------------------------------------------------------------- */

/* The longest time between two results of the check. */
struct span check_round(const struct check *k);

/* --- the outcomes of remedies ------------------------------------------------------------------------ */

/* Judges the outcomes of remedies. True when something was proposed. */
bool outcome_look(struct watch *w, struct mono now, const struct member *m);

/* --- overrides --------------------------------------------------------------------------------------- */

/* In each sweep, for every member: records how long its override has stood, and ends it in time. */
void override_look(struct watch *w, struct mono now, const struct member *m);

#endif
