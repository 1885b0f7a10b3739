/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_PROPOSALS_H
#define FETTLE_CONTROLLER_COMMIT_PROPOSALS_H

#include "controller/commit/committer.h"

/*
 * What the watch proposes, on its way through the committer. Of those that say the same (command_same) one is
 * under way at a time, for a second one would say again what the first has not changed yet; several of a kind
 * that say something else go side by side. What fails is forgotten: the watch proposes it again as long as it
 * is so.
 */

enum { PROPOSALS_MAX = 64 }; /* that say something; of those that do not, there is one a kind */

struct proposals;
struct proposals *proposals_create(struct committer *k);
/* After the committer. */
void proposals_destroy(struct proposals *p);

/* As propose of a watch_sink: true when it was taken. */
bool proposals_submit(struct proposals *p, const struct command *cmd);

#endif
