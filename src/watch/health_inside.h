/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEALTH_INSIDE_H
#define FETTLE_WATCH_HEALTH_INSIDE_H

#include "watch/view/called.h"
#include "watch/view/view.h"

/*
 * What follows from what is known of a node's health, in the sweep and as soon as something changes. Its
 * state is w->health.
 */

void health_create(struct watch *w);
void health_destroy(struct watch *w);
/* The records of checks may be other ones now. */
void health_reconfigure(struct watch *w);
void health_open(struct watch *w, const struct member *m); /* a session began */
/* This process did nothing for a while: what was said before, and what lay in buffers meanwhile, is no fresh
 * evidence of anything until each node was asked and has told everything anew. */
void health_stood_still(struct watch *w);
void health_boot(struct watch *w, const struct member *m); /* it came up anew */
/* In each sweep, and as soon as something changed: what m calls for is proposed. */
void health_look(struct watch *w, struct mono now, const struct member *m);
/* In each tick: takes the records in, when that has to be. */
void health_tick(struct watch *w, struct mono now);
/* Looks at so many at most of those of which something had changed before the tick, and returns at how many
 * it did. */
size_t health_step(struct watch *w, struct mono now, size_t nodes);
/* Something of m changed: it is looked at in the next tick. */
void health_follow(struct watch *w, const struct member *m);
/* One word of somebody's about m came in: what follows from it is proposed. */
void health_take(struct watch *w, struct mono now, struct wall wall, const struct member *m);
struct health_turns {
    struct called follow;    /* members to look at in the next tick, */
    struct called following; /* and in this one */
    bool began;              /* what the records say is taken in */
};

#endif
