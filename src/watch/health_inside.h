/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEALTH_INSIDE_H
#define FETTLE_WATCH_HEALTH_INSIDE_H

#include "watch/view/called.h"
#include "watch/view/view.h"

/*
 * What follows from the health of a node, in the sweep and as soon as something changes. The state is
 * w->health.
 */

void health_create(struct watch *w);
void health_destroy(struct watch *w);
/* The records of checks may have changed. */
void health_reconfigure(struct watch *w);
void health_open(struct watch *w, const struct member *m); /* a session began */
/* The process stood still for a while. What was said before, and what waited in buffers meanwhile, is no
 * fresh evidence until each node was asked and has sent everything anew. */
void health_stood_still(struct watch *w);
void health_boot(struct watch *w, const struct member *m); /* it came up anew */
/* In each sweep, and as soon as something changed: proposes the commands that m needs. */
void health_look(struct watch *w, struct mono now, const struct member *m);
/* In each tick: takes in the records, when that is necessary. */
void health_tick(struct watch *w, struct mono now);
/* Looks at members that had changed before the tick, `nodes` at most. Returns at how many it looked. */
size_t health_step(struct watch *w, struct mono now, size_t nodes);
/* Something about m changed: the next tick looks at m. */
void health_follow(struct watch *w, const struct member *m);
/* A result about m came in: proposes what follows from it. */
void health_take(struct watch *w, struct mono now, struct wall wall, const struct member *m);
struct health_turns {
    struct called follow;    /* members to look at in the next tick */
    struct called following; /* members to look at in this tick */
    bool began;              /* the records were taken in */
};

#endif
