/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_PROPOSALS_H
#define FETTLE_CONTROLLER_COMMIT_PROPOSALS_H

#include "controller/commit/committer.h"

/*
 * What the watch proposes, on its way through the committer. One of a kind and set is under way at a
 * time, for a second one would say again what the first has not changed yet; several sets of a kind go
 * side by side. What fails is forgotten: the watch proposes it again as long as it is so.
 */

enum { PROPOSALS_MAX = 64 }; /* with a set; of those without, there is one a kind */

struct proposals;
struct proposals *proposals_create(struct committer *k);
/* After the committer. */
void proposals_destroy(struct proposals *p);

/* As propose of a watch_sink: true when it was taken. */
bool proposals_submit(struct proposals *p, enum command_kind kind, const struct hostlist *nodes,
                      const char *reason, const char *set);

#endif
