/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OPERATION_INSIDE_H
#define FETTLE_WATCH_OPERATION_INSIDE_H

#include "node/action.h"
#include "node/operation.h"
#include "watch/watch.h"

/*
 * Has operations decided, and says of one that nobody ends what it came to. It has no state of its own.
 */

struct vitals;

/* A command about m: its kind, its reason and what it says. Nothing else is proposed about m until it is
 * decided, when the shell takes it. */
void health_propose(struct watch *w, struct mono now, const struct member *m, const struct command *says);

bool health_asked(const struct vitals *v, struct mono now); /* such a one is under way */
void operation_propose(struct watch *w, struct mono now, const struct member *m, const char *run,
                       const char *of, struct span deadline);
/* What came of it was seen by the watch, and whoever carries it out does not say so. */
void operation_end(struct watch *w, struct mono now, const struct member *m, const struct operation *o,
                   enum operation_state state, const char *text);
/* Whether its time is over, by the watch's own time; of one that is begun, long over. */
bool operation_overdue(struct watch *w, struct mono now, const struct member *m, const struct operation *o);

#endif
