/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_ANSWER_INSIDE_H
#define FETTLE_WATCH_INCIDENT_ANSWER_INSIDE_H

#include "watch/view/view.h"

/*
 * Answers about the health of a node, and which nodes are asked to report more. The state is w->answers.
 */

/* m takes no new work because of its health, as far as that is known (service.tbl). */
bool health_excludes(const struct watch *w, struct mono now, const struct member *m);
/* Notes in f what follows from m's health for new work, or would follow. */
void health_fitness(const struct watch *w, struct mono now, const struct member *m, struct fitness *f);
struct answers {
    size_t untold_from; /* the first of the healthy nodes that watch_untold looks at next */
};

#endif
