/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_PROPOSALS_H
#define FETTLE_CONTROLLER_COMMIT_PROPOSALS_H

#include "controller/commit/committer.h"

/*
 * The watch's proposals on their way through the committer. Of proposals that say the same (command_same),
 * one is under way at a time, because a second one would repeat what the first has not changed yet. Proposals
 * of a kind that say something else go side by side. A proposal that fails is forgotten, and the watch makes
 * it again as long as it applies.
 */

enum {
    PROPOSALS_MAX = 64
}; /* those that say something; of those that say nothing there is one for each kind */

struct proposals;
struct proposals *proposals_create(struct committer *k);
/* Call it after the committer is destroyed. */
void proposals_destroy(struct proposals *p);

/* As propose of a watch_sink: true when it was taken. */
bool proposals_submit(struct proposals *p, const struct command *cmd);

#endif
