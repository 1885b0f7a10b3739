/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_EVIDENCE_INSIDE_H
#define FETTLE_WATCH_EVIDENCE_INSIDE_H

#include "watch/watch.h"

/*
 * What is said of a node now, by whomever, and what that means for a finding. It has no state of its own.
 */

struct outside;

/* One finding, as it is said now. */
struct evidence {
    const struct check *check;
    const struct finding *f;
    size_t place;                  /* of its record; */
    const struct outside *outside; /* or NULL */
    size_t of; /* 1 + the place of the first that belongs to the same incident; 0: not yet known */
};

struct evidence_list {
    size_t n;
    struct evidence *list;
};

/* All that is at least a warning. The list is the caller's, to free; what it points to is borrowed until
 * something else is said of m. */
void evidence_gather(const struct watch *w, struct mono now, const struct member *m,
                     struct evidence_list *out);
/* The finding of this check is the same as that of the other one: of the same device, with the same code. */
bool evidence_is(const char *check, const struct finding *a, const char *other, const struct finding *b);
/* Whether it was seen so lately that something which cannot be undone may follow. */
bool evidence_fresh(const struct watch *w, struct mono now, const struct member *m,
                    const struct evidence *ev);
/* What the tables say of it; of a finding that is in none its probe says what can bring it about. */
struct meaning evidence_meaning(const struct watch *w, const struct evidence *ev);
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

#endif
