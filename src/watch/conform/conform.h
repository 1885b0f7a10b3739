/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_CONFORM_H
#define FETTLE_WATCH_CONFORM_CONFORM_H

#include "watch/conform/shell.h"
#include "watch/view/alarm.h"
#include "watch/view/view.h"

/*
 * What is proven about each node's conformance, for the rooms above: its kind, its class and its rollout, its
 * recorded drift, and what follows from that. This room owns kinds, cohorts, the lists of components that
 * come in, and flapping drift. It proposes SEEN, DRIFT, PERSISTS, RESTORED, OVERDUE and REBOOT.
 * conform/shell.h has what the shells tell and ask.
 */

/* --- what is proven about a node --------------------------------------------------------------------- */

void conformity_create(struct watch *w);
void conformity_destroy(struct watch *w);
/* Makes room for members up to n - 1; the first `from` members have room already. */
void conformity_grow(struct watch *w, size_t from, size_t n);
/* Classes may have changed: all nodes are judged anew, in the coming sweeps. */
void conformity_reconfigure(struct watch *w);
/* Notes baselines and rollouts that are new or gone, and gives the tick its share of work. */
void conformity_tick(struct watch *w);
/* Something that is agreed about m changed: m is judged anew. */
void conformity_touch(struct watch *w, const struct member *m);
/* Judges m when there is a reason to. False: m still has to be judged. */
bool conformity_look(struct watch *w, struct mono now, struct member *m, bool must);
/* Whether m is judged before other nodes when a tick has too much to do. */
bool conformity_pressing(const struct watch *w, const struct member *m);
void conformity_boot(struct watch *w, struct mono now, struct member *m); /* it came up anew */
/* The components that m's BMC gives have changed; is_mute: the BMC does not answer, and its last answer does
 * not count any more. */
void conformity_bmc(struct watch *w, const struct member *m, bool is_mute);
/* The report or the specification changed: compares the two, and announces a new result. */
void row_shortfall(struct watch *w, const struct member *m);
/* The conformance that is shown for m: recorded drift stands until the opposite is proven. */
enum conformance conformity_shown(const struct watch *w, const struct member *m);
/* The fingerprint of m proves that m is drifted, whatever is recorded. */
bool conformity_is_proven_drifted(const struct watch *w, const struct member *m);
bool conformity_lies(const struct watch *w,
                     const struct member *m); /* its list did not hash to its fingerprint */
bool conformity_is_short(const struct watch *w, const struct member *m); /* it has less than specified */
/* The number of m's cohort; COHORT_NONE: m is in none. */
uint32_t conformity_cohort(const struct watch *w, const struct member *m);
/* An alarm of this kind stands for a class; subject is "class NAME". */
bool conformity_alarms(const struct watch *w, enum alarm_kind kind, const char *subject);
/* How many components may still be compared in this tick. */
int64_t conformity_work_left(const struct watch *w);

/* --- fingerprints and lists, as they come in --------------------------------------------------------- */

void gather_forget(struct watch *w, const struct member *m);
void gather_end_sweep(struct watch *w);
void gather_destroy(struct watch *w);

/* --- as a follower is told (picture.h) --------------------------------------------------------------- */

/* Adds what is known of m's fingerprint, as JSON. */
void told_write(const struct watch *w, struct mono now, const struct member *m, struct text *t);
/* Takes it over. -EINVAL with the member that is wrong. */
int told_read(struct watch *w, struct mono now, struct member *m, const json_t *is, struct err *e);
/* The list of m's own components; NULL while it is not known. */
const struct listing *told_list(const struct watch *w, const struct member *m);
/* Adds a piece of a list as JSON, from the component *at on. False: that was the last. */
bool told_list_write(const struct listing *g, uint32_t *at, struct text *t);
/* Takes a piece over; with its last piece the list is known, and is kept as long as the watch. -EINVAL;
 * -EBADMSG: it does not have its fingerprint; -ENOSPC: there is no room. */
int told_list_read(struct watch *w, const json_t *piece, struct err *e);

/* --- what follows from drift ------------------------------------------------------------------------- */

void drift_create(struct watch *w); /* and the groups of proposals */
/* In each sweep, for a listed member. judged: no judgement of m waits for another tick. */
void drift_examine(struct watch *w, struct mono now, const struct member *m, bool judged);
void drift_end_sweep(struct watch *w);

/* --- what this leader saw of drift -------------------------------------------------------------------- */

void driftings_destroy(struct watch *w);

/* --- the groups of proposals ------------------------------------------------------------------------- */

/* Proposes one of the groups. False: none is left. */
bool groups_step(struct watch *w);
void groups_drop(struct watch *w);
void conform_create(struct watch *w);
void conform_destroy(struct watch *w);

#endif
