/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_REPAIR_FIXTURE_TEST_H
#define FETTLE_CLUSTER_REPAIR_FIXTURE_TEST_H

#include "cluster/fixture_test.h"

#include <stdbool.h>

/*
 * A world in which lx01 has repair 1.5, unless a function says otherwise. What a function shows is that of
 * world_do.
 */

/* lx01 is isolated for two faults: repair 1.5. */
void lx01_isolate(struct world *w);
/* A remedy was chosen for it and is begun, when begun is true. */
void lx01_remedy(struct world *w, bool begun);

const struct repair *lx01_repair(const struct world *w); /* NULL: none */
const char *lx01_step(const struct world *w);
/* The last of the attempts on it, of which there is one at least. */
const struct attempt_record *lx01_attempt(const struct world *w);

/* What COMMAND_REPAIR carries. */
#define MOVE(from, to, more) "{'id':'1.5','from':'" from "','to':'" to "','why':'because'" more "}"
const char *lx01_move(struct world *w, const char *set);
/* Remedy `fix` is to be tried, by this claim. */
const char *lx01_operate(struct world *w, const char *claim);
/* What came of the operation on it so far: COMMAND_EFFECT. */
const char *lx01_effect(struct world *w, const char *done);
/* A person's word: COMMAND_TRANSITION. */
const char *lx01_hand(struct world *w, const char *transition);

/* Its repair is over, and there was one attempt in it, with remedy `reboot` at this time (ns). */
void lx01_tried(struct world *w, const char *at, const char *verdict);
/* What came of the attempt at 5 ns is judged: "true", "false" or "null". */
const char *lx01_judge(struct world *w, const char *helped);

#endif
