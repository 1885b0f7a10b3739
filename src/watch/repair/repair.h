/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_REPAIR_REPAIR_H
#define FETTLE_WATCH_REPAIR_REPAIR_H

#include "watch/repair/shell.h"
#include "watch/view/view.h"

/*
 * The next step of a repair, which remedy a node gets, what remedies came to, and overrides. It remembers
 * only what struct health_state has of a step's time. It proposes REPAIR, OPERATE, OUTCOME, and what ends an
 * override.
 */

/* --- the next step ----------------------------------------------------------------------------------- */

/* Before anything is looked at: takes note of the step that m's repair is at. */
void repair_stage(struct watch *w, struct mono now, const struct member *m);
/* Proposes the next step of m's repair, where there is one. True when something was proposed. */
bool repair_look(struct watch *w, struct mono now, const struct member *m);

/* --- after a maintenance window ---------------------------------------------------------------------- */

/* The maintenance window of m is over: proposes that it goes through provisioning where nobody can say that
 * it is well. */
void provision_after_window(struct watch *w, struct mono now, const struct member *m);

/* --- the steps of a repair --------------------------------------------------------------------------- */

/* So often the check is looked at. */
struct span check_round(const struct check *k);

/* --- what remedies came to --------------------------------------------------------------------------- */

/* Judges what remedies came to. True when something was proposed. */
bool outcome_look(struct watch *w, struct mono now, const struct member *m);

/* --- overrides --------------------------------------------------------------------------------------- */

/* In each sweep, for every member: writes down how long its override has stood, and ends it in time. */
void override_look(struct watch *w, struct mono now, const struct member *m);

#endif
