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
/* Proposes that m, in no repair, goes through provisioning. */
void repair_provision(struct watch *w, struct mono now, const struct member *m, const char *why);
/* The time of m's step, which waited, begins anew. */
void repair_restart_step(struct watch *w, const struct member *m);
/* m came up, for the first time or on another boot than it was put into service on, and its checks have to
 * pass before it is in service. Not where a person took it back a while ago: it is his. */
bool repair_comes_up(const struct watch *w, const struct member *m);

#endif
