/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_INSIDE_H
#define FETTLE_WATCH_INCIDENT_INSIDE_H

#include "watch/watch.h"

/*
 * Which findings are an incident, and when an incident is over. It has no state of its own.
 */

/* The name of a finding's fault, for remedies. */
const char *fault_of(const char *check, const struct finding *f);
/* A finding of a check that says now that it is no more: not so while nothing is known. */
bool finding_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f);
size_t incidents_open(const struct member *m); /* how many such there are */
/* Proposes what is to be written down of m's incidents. True when something is. */
bool incident_look(struct watch *w, struct mono now, const struct member *m);
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

#endif
