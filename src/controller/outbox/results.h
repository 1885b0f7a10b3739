/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_RESULTS_H
#define FETTLE_CONTROLLER_OUTBOX_RESULTS_H

#include "controller/commit/committer.h"

/*
 * Results of effects on their way into their records. A result that cannot be committed is tried again each
 * second: the newest of each record.
 */

struct results;
struct results *results_create(struct committer *k);
/* After the committer. */
void results_destroy(struct results *all);
/* key of the record, done the JSON of its new `done`. */
void results_add(struct results *all, const char *key, const char *done);
/* The next result of this record says that a person took the node back in the scheduler: it is committed
 * with that person's override. */
void results_overridden(struct results *all, const char *key, const char *who);
/* Time passes: call it some times a second. */
void results_turn(struct results *all, struct mono now);

#endif
