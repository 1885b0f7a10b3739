/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_INCIDENT_H
#define FETTLE_WATCH_INCIDENT_INCIDENT_H

#include "watch/incident/shell.h"
#include "watch/view/view.h"

/*
 * What is said of a node now, held against what is written down: incidents are opened and closed, one cause
 * on many nodes is found, and questions about the health of a node and about its fitness for work are
 * answered. It owns the outbreaks and the rows for placing. It proposes FINDINGS and SHARED.
 */

#define SHARED_BY_TRIAL "trial:" /* the key of a cause that a trial found begins with it */

/* --- what is said of a node now ---------------------------------------------------------------------- */

/* A finding of a check that says now that it is no more: not so while nothing is known. */
bool finding_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f);
/* A finding of this incident that the remedy may help is said now, and freshly. */
bool incident_shown(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                    const struct remedy *remedy);
/* The k-th finding of an incident is none that is gone, while others keep it open. */
bool finding_left(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                  size_t k);
/* Something of it that is left is what this remedy may help. */
bool incident_is_for(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                     const struct remedy *remedy);
/* Something of m is lost as it says now, and freshly: its user has nothing of it any more. */
bool incident_lost(const struct watch *w, struct mono now, const struct member *m);

/* --- incidents --------------------------------------------------------------------------------------- */

/* Proposes what is to be written down of m's incidents. True when something is. */
bool incident_look(struct watch *w, struct mono now, const struct member *m);

/* --- what comes back --------------------------------------------------------------------------------- */

/* What goes and comes back by itself is not well: the last of those that are over since the repair began, and
 * that came too often within a week; NULL without. */
const struct incident *recur_often(const struct member *m, struct wall began, struct wall now);

/* --- one cause on many nodes ------------------------------------------------------------------------- */

/* Whether it counts as a fault of others, too: what takes a node out, and links that are about to. */
bool shared_counts(const struct watch *w, const char *check, const struct finding *f);
/* m has this fault now. */
void shared_note(struct watch *w, struct mono now, const struct member *m, const char *check,
                 const struct finding *f);
/* The same for all that the checks of other systems say of m. */
void shared_note_outside(struct watch *w, struct mono now, const struct member *m);
/* All for which it is kept out has such a cause. */
bool shared_holds(const struct watch *w, const struct member *m);
void shared_end_sweep(struct watch *w);
void shared_load(struct watch *w, struct mono now); /* what is recorded, and not known here */
void shared_destroy(struct watch *w);

/* --- answers ----------------------------------------------------------------------------------------- */

/* The worst that its checks say, and its incidents are; OK without. */
enum result health_worst(const struct watch *w, struct mono now, const struct member *m);

/* --- what a person answered for ---------------------------------------------------------------------- */

/* A person answered for m, and its agent has not looked anew yet, and forgotten what the kernel's log said.
 */
bool forget_waits(const struct watch *w, const struct member *m);
/* Before anything is looked at: notes that it was forgotten. */
void forget_look(struct watch *w, struct mono now, const struct member *m);
/* Proposes that it is. True when something was proposed. */
bool forget_propose(struct watch *w, struct mono now, const struct member *m);

/* --- whether work may land on a node ----------------------------------------------------------------- */

/* What decides whether work may land on m has changed: makes its row anew. */
void row_make(struct watch *w, const struct member *m);
void rows_grow(struct watch *w, size_t from, size_t n); /* as conformity_grow; the rows are empty at first */
void rows_destroy(struct watch *w);
void incidents_create(struct watch *w);
void incidents_destroy(struct watch *w);

#endif
