/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_INCIDENT_H
#define FETTLE_WATCH_INCIDENT_INCIDENT_H

#include "watch/incident/shell.h"
#include "watch/view/view.h"

/*
 * Incidents: the reported findings are compared with the records, incidents are opened and closed, and shared
 * causes are found. This room also answers questions about the health of a node and about its fitness for
 * work. It owns the outbreaks and the rows for placing. It proposes FINDINGS and SHARED.
 */

#define SHARED_BY_TRIAL "trial:" /* the prefix of the key of a cause that a trial found */

/* --- findings as they are reported now --------------------------------------------------------------- */

/* The check says now that this finding is over. False while nothing is known. */
bool finding_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f);
/* A finding of this incident that the remedy may help is reported now, by a fresh result. */
bool incident_shown(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                    const struct remedy *remedy);
/* The k-th finding of the incident still stands. When all of them are gone, all count as standing. */
bool finding_left(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                  size_t k);
/* The remedy may help a finding of the incident that still stands. */
bool incident_is_for(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                     const struct remedy *remedy);
/* A fresh result says now that a part of m is lost, so that its users cannot use it any more. */
bool incident_lost(const struct watch *w, struct mono now, const struct member *m);

/* --- incidents --------------------------------------------------------------------------------------- */

/* Proposes the changes to m's incidents. True when there are any. */
bool incident_look(struct watch *w, struct mono now, const struct member *m);

/* --- recurrence -------------------------------------------------------------------------------------- */

/* A fault that goes by itself and comes back is not cured. Returns the latest such incident that ended since
 * the repair began and has come too often within a week; NULL without. */
const struct incident *recur_often(const struct member *m, struct wall began, struct wall now);

/* --- one cause on many nodes ------------------------------------------------------------------------- */

/* Whether the finding counts towards a shared cause: it takes a node out, or it is a link that is about to.
 */
bool shared_counts(const struct watch *w, const char *check, const struct finding *f);
/* m has this fault now. */
void shared_note(struct watch *w, struct mono now, const struct member *m, const char *check,
                 const struct finding *f);
/* The same for all findings of other systems' checks on m. */
void shared_note_outside(struct watch *w, struct mono now, const struct member *m);
/* All faults for which m is kept out have a shared cause. */
bool shared_holds(const struct watch *w, const struct member *m);
void shared_end_sweep(struct watch *w);
void shared_load(struct watch *w, struct mono now); /* takes in recorded causes that are not known here */
void shared_destroy(struct watch *w);

/* --- answers ----------------------------------------------------------------------------------------- */

/* The worst of its checks' results and of its incidents; OK without any. */
enum result health_worst(const struct watch *w, struct mono now, const struct member *m);

/* --- findings that a person answered for ------------------------------------------------------------- */

/* A person answered for m, and its agent has not yet run its checks anew and forgotten the findings of the
 * kernel's log. */
bool forget_waits(const struct watch *w, const struct member *m);
/* Called before anything else is looked at: notes that the agent has forgotten. */
void forget_look(struct watch *w, struct mono now, const struct member *m);
/* Proposes to have the agent forget. True when something was proposed. */
bool forget_propose(struct watch *w, struct mono now, const struct member *m);

/* --- whether work may land on a node ----------------------------------------------------------------- */

/* Something that decides whether work may land on m has changed: makes its row anew. */
void row_make(struct watch *w, const struct member *m);
void rows_grow(struct watch *w, size_t from, size_t n); /* as conformity_grow; the rows are empty at first */
void rows_destroy(struct watch *w);
void incidents_create(struct watch *w);
void incidents_destroy(struct watch *w);

#endif
