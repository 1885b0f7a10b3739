/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_SAID_INSIDE_H
#define FETTLE_WATCH_SAID_INSIDE_H

#include "watch/vitals_inside.h"
#include "watch/watch.h"

/*
 * How the word of a check is taken over. It has no state of its own.
 */

/* One check's word, read and not yet believed. */
struct heard {
    size_t place;
    enum result result;
    int64_t age_ms;
    struct saying saying;
};

/* Copies what a verdict says. */
void heard_keep(const struct verdict *v, struct heard *h);
/* From now on m's check says this. What h has is taken from it. */
void heard_believe(struct watch *w, struct mono now, struct vitals *v, struct heard *h);
/* A check that the controller had carried out came to this, just now. */
void said_note(struct watch *w, struct mono now, const struct member *m, size_t i, const struct verdict *x);

#endif
