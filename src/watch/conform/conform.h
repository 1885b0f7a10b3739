/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_CONFORM_H
#define FETTLE_WATCH_CONFORM_CONFORM_H

#include "watch/conform/shell.h"
#include "watch/view/alarm.h"
#include "watch/view/view.h"

/*
 * What is proven of each node's conformance, for the rooms above: its kind, its class and its rollout, drift
 * that is recorded, and what follows from it. It owns kinds, cohorts, the lists that come in, and flapping
 * drift. It proposes SEEN, DRIFT, PERSISTS, RESTORED, OVERDUE and REBOOT. conform/shell.h is what the shells
 * tell and ask.
 */

/* --- what is proven of a node ------------------------------------------------------------------------ */

void conformity_create(struct watch *w);
void conformity_destroy(struct watch *w);
/* Room for members up to n - 1; the first `from` have been there. */
void conformity_grow(struct watch *w, size_t from, size_t n);
/* Classes may be other ones now: everything is judged anew, in the sweeps to come. */
void conformity_reconfigure(struct watch *w);
/* Notes baselines and rollouts that are new or gone, and gives the tick its share of work. */
void conformity_tick(struct watch *w);
/* Something that is agreed of m changed: it is judged anew. */
void conformity_touch(struct watch *w, const struct member *m);
/* Judges it when there is a reason to. False: it is still to be judged. */
bool conformity_look(struct watch *w, struct mono now, struct member *m, bool must);
/* Nodes that are judged before others when there is more to do than fits in a tick. */
bool conformity_pressing(const struct watch *w, const struct member *m);
void conformity_boot(struct watch *w, struct mono now, struct member *m); /* it came up anew */
/* Its BMC tells something else; mute: it does not answer, and what it told is not known any more. */
void conformity_bmc(struct watch *w, const struct member *m, bool is_mute);
/* The report or the specification is another one: judges the one by the other, and says so when the answer is
 * new. */
void row_shortfall(struct watch *w, const struct member *m);
/* What is said of a member: drift that is recorded stands until the opposite is proven. */
enum conformance conformity_shown(const struct watch *w, const struct member *m);
/* Its fingerprint proves that it is drifted, whatever is recorded. */
bool conformity_is_proven_drifted(const struct watch *w, const struct member *m);
bool conformity_lies(const struct watch *w,
                     const struct member *m); /* its list did not hash to its fingerprint */
bool conformity_is_short(const struct watch *w, const struct member *m); /* it has less than specified */
/* The number of its cohort; COHORT_NONE: in none. */
uint32_t conformity_cohort(const struct watch *w, const struct member *m);
/* An alarm of this kind stands for a class: subject is "class NAME". */
bool conformity_alarms(const struct watch *w, enum alarm_kind kind, const char *subject);
/* Components that may still be compared in this tick. */
int64_t conformity_work_left(const struct watch *w);

/* --- fingerprints and lists, as they come in --------------------------------------------------------- */

void gather_forget(struct watch *w, const struct member *m);
void gather_end_sweep(struct watch *w);
void gather_destroy(struct watch *w);

/* --- what follows from drift ------------------------------------------------------------------------- */

void drift_create(struct watch *w); /* and the groups of proposals */
/* In each sweep, for a listed member. judged: nothing about it waits for another tick. */
void drift_examine(struct watch *w, struct mono now, const struct member *m, bool judged);
void drift_end_sweep(struct watch *w);

/* --- what this leader saw of drift -------------------------------------------------------------------- */

void driftings_destroy(struct watch *w);

/* --- the groups of proposals ------------------------------------------------------------------------- */

/* for one of them. False: none is left. */
bool groups_step(struct watch *w);
void groups_drop(struct watch *w);
void conform_create(struct watch *w);
void conform_destroy(struct watch *w);

#endif
