/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_EVIDENCE_INSIDE_H
#define FETTLE_WATCH_INCIDENT_EVIDENCE_INSIDE_H

#include "watch/outside/outside.h"
#include "watch/view/view.h"

/*
 * What is known of a node's faults now, from any source, and what that means for a finding. This part has no
 * state of its own.
 */

/* One finding, as it is reported now. */
struct evidence {
    const struct check *check;
    const struct finding *f;
    size_t place;                  /* of the check's record */
    const struct outside *outside; /* or NULL */
    size_t of; /* 1 + the place of the first finding of the same incident; 0: not yet known */
};

struct evidence_list {
    size_t n;
    struct evidence *list;
};

/* Gathers all findings that are a warning or worse. The caller frees the list. What it points to is borrowed
 * until the next result about m. */
void evidence_gather(const struct watch *w, struct mono now, const struct member *m,
                     struct evidence_list *out);
/* Whether two findings are the same: of the same check and device, with the same code. */
bool evidence_is(const char *check, const struct finding *a, const char *other, const struct finding *b);
/* Whether the finding was seen so lately that an action which cannot be undone may follow. */
bool evidence_fresh(const struct watch *w, struct mono now, const struct member *m,
                    const struct evidence *ev);
/* What the tables say about the finding. For a finding without a table entry, the probe says what can cause
 * it. */
struct meaning evidence_meaning(const struct watch *w, const struct evidence *ev);

#endif
