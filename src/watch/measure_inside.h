/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_MEASURE_INSIDE_H
#define FETTLE_WATCH_MEASURE_INSIDE_H

#include "watch/watch.h"

/*
 * Whether a node is as fast as the others of its class. Its state is w->measures.
 */

/* Holds what a benchmark came to against what is recorded of other nodes of m's class; one that is too slow
 * fails. It is to be written down in turn. */
void measure_judge(struct watch *w, struct mono now, const struct member *m, const struct check *k,
                   struct verdict *x);
void measures_end_sweep(struct watch *w);
void measures_destroy(struct watch *w);

struct measures {
    json_t *news;     /* that is to be written down, by class and check; NULL for none */
    struct mono from; /* when the first of it came */
};

#endif
