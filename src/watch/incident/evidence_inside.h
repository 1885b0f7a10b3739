/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_EVIDENCE_INSIDE_H
#define FETTLE_WATCH_INCIDENT_EVIDENCE_INSIDE_H

#include "watch/outside/outside.h"
#include "watch/view/view.h"

/*
 * What is said of a node now, by whomever, and what that means for a finding. It has no state of its own.
 */

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

#endif
