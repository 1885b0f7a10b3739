/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_REPAIR_INSIDE_H
#define FETTLE_WATCH_REPAIR_INSIDE_H

#include "watch/watch.h"

/*
 * The next step of a repair. Its state is in vitals: stage, refused.
 */

/* Before anything is looked at: takes note of the step that m's repair is at. */
void repair_stage(struct watch *w, struct mono now, const struct member *m);
/* Proposes the next step of m's repair, where there is one. True when something was proposed. */
bool repair_look(struct watch *w, struct mono now, const struct member *m);
/* The maintenance window of m is over: proposes that it goes through provisioning where nobody can say that
 * it is well. */
void provision_after_window(struct watch *w, struct mono now, const struct member *m);

#endif
