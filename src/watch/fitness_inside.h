/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_FITNESS_INSIDE_H
#define FETTLE_WATCH_FITNESS_INSIDE_H

#include "watch/watch.h"

/*
 * Whether work may land on a node. Its state is w->fitness.
 */

/* What decides whether work may land on m has changed: makes its row anew. */
void row_make(struct watch *w, const struct member *m);
void rows_grow(struct watch *w, size_t from, size_t n); /* as conformity_grow; the rows are empty at first */
void rows_destroy(struct watch *w);

struct fitness_rows {
    struct place_row *rows; /* by member id */
};

#endif
