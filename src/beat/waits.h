/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BEAT_WAITS_H
#define FETTLE_BEAT_WAITS_H

#include "base/clock.h"
#include "base/err.h"

/*
 * How long agents, collectors and the controller wait for one another. All of it follows from three settings,
 * here and nowhere else; doc/spec/link.md has the table. The controller tells agents and collectors the
 * timeouts that they need.
 *
 * The timeouts guarantee that a live node is never taken down because a collector died, hangs, or cannot
 * reach the controller.
 */

struct waits {
    struct span timeout;  /* silence of this length takes a node down, at the earliest */
    struct span hold;     /* the longest time between two batches of a collector */
    struct span missed;   /* the controller gives up a collector that has sent no batch for this long */
    struct span answer;   /* an agent leaves a collector, and a collector leaves a controller, that has not
                             answered for this long */
    struct span away;     /* a collector that has not heard its controller for this long sends its agents
                             there */
    struct span pause;    /* the longest wait of an agent before it dials again */
    struct span comeback; /* how long the controller waits after its start for collectors, before it divides
                             the nodes among them */
    struct span regain; /* from the moment at which a collector is given up, until each of its live nodes was
                           heard another way, if none has to queue */
    struct span first;  /* how much longer than the timeout the first window of a controller is */
};

/* Computes all timeouts. interval 0 (no node is judged) counts as 10 s. */
void waits_of(struct span interval, struct span late, struct span timeout, struct waits *out);

/* The shortest timeout with which a node behind a collector can be judged: by then the loss of a collector
 * has been noticed. */
struct span waits_least_timeout(struct span interval);

/* How long a node must be unheard to count towards MaxSilentShare (`share` percent). The time is chosen so
 * that, when the first of many nodes that fell silent together reaches its timeout, `share` percent of them
 * count, although they were last heard over one interval. */
struct span waits_quiet(struct span interval, struct span late, struct span timeout, unsigned share);

/* How much longer than the timeout the window of a node is whose collector was lost, when the agents on their
 * way to the controller need `queue` for their handshakes. */
struct span waits_excuse(const struct waits *w, struct span queue);

#endif
