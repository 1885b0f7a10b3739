/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BEAT_WAITS_H
#define FETTLE_BEAT_WAITS_H

#include "base/clock.h"
#include "base/err.h"

/*
 * How long agents, collectors and the controller wait for one another. All of it follows from three
 * settings, here and nowhere else; doc/spec/link.md has the table. Agents and collectors know only
 * what the controller tells them of it.
 *
 * What it is for: a live node is never taken down because a collector died, hangs, or cannot reach
 * the controller.
 */

struct waits {
    struct span timeout; /* the shortest: silence of this length takes a node down */
    struct span hold;    /* a collector sends a batch this long after the one before, at the latest */
    struct span missed;  /* the controller gives a collector up that has sent no batch for so long */
    struct span answer;  /* an agent leaves a collector that has not answered a heartbeat for so long, and a
                            collector a controller that has not answered a batch */
    struct span away;  /* a collector that has not heard its controller for so long sends its agents there */
    struct span pause; /* the longest wait of an agent before it dials again */
    struct span
        comeback; /* after its start the controller waits so long for collectors before it divides nodes */
    struct span regain; /* from the moment at which a collector is given up, until each of its live nodes was
                           heard another way, if nobody has to queue */
    struct span first;  /* the first window of a controller is longer than the timeout by this */
};

/* interval 0 (nobody is judged) counts as 10 s. */
void waits_of(struct span interval, struct span late, struct span timeout, struct waits *out);

/* The shortest timeout with which a node behind a collector can be judged: a collector that is lost is
 * noticed before. */
struct span waits_least_timeout(struct span interval);

/* A node that was not heard for so long counts towards MaxSilentShare, `share` percent. When the first of
 * nodes that fell silent together reaches its timeout, so many of them count: they were heard last within one
 * interval. */
struct span waits_quiet(struct span interval, struct span late, struct span timeout, unsigned share);

/* By how much the window of a node whose collector was lost is longer than the timeout, when the agents that
 * are on their way to the controller need `queue` for their handshakes. */
struct span waits_excuse(const struct waits *w, struct span queue);

#endif
