/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BEAT_BEAT_H
#define FETTLE_BEAT_BEAT_H

#include "base/clock.h"
#include "base/err.h"
#include "node/lifecycle.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The heartbeat of one node: which agent sent it, when it was last heard, and what its silence means.
 *
 * A heartbeat counts when it comes from the instance of the agent that opened the session and its sequence
 * number is a little above the last one. An instance that was replaced never counts again, so a replayed or
 * older heartbeat, or one of another agent, does not revive a node. An instance with another key is another
 * agent while the one before is connected. Times are moments of the listener's own clock; a node's clock is
 * never compared.
 */

enum {
    BEAT_FORMER_MAX = 4, /* how many replaced instances are remembered */
    BEAT_LEAP_MAX = 1000 /* how many heartbeats of a session may be missing in a row */
};

struct beat {
    struct mono heard; /* when a heartbeat last counted; before the first, when listening began */
    struct mono floor; /* silence never counts from before this moment: until then the listener was at
                          fault */
    uint64_t instance; /* of the agent; 0 until one was heard */
    uint64_t key;      /* of its connection; 0: unknown, as for an agent behind a collector */
    uint64_t seq;      /* the last sequence number that counted */
    bool opened;       /* no heartbeat counted since the session opened: the next one may have any higher
                          number */
    uint64_t former[BEAT_FORMER_MAX];
    enum liveness liveness;
};

/* How long silence may last. */
struct beat_timeouts {
    struct span late;
    struct span silent;
};

/* Starts listening: unheard, with a full window ahead. */
void beat_init(struct beat *b, struct mono now);

/* An instance of the agent opens a session with this key. The same instance continues where it was; another
 * instance replaces it. `occupied` says that another live session holds the name. -EBUSY: two live agents
 * claim one name; -EACCES: this instance was replaced before; -EINVAL: instance 0. Nothing changes on error.
 * No error shows an instance: with it a stranger could go on in its place. */
int beat_open(struct beat *b, uint64_t instance, uint64_t key, bool occupied, struct err *e);

/* Takes one heartbeat at `now`. -EBUSY when it comes from another instance than the session's, -EALREADY when
 * its sequence number is not above the last one, -ERANGE when the number leaps (never for a node behind a
 * collector, which passes on few heartbeats). Nothing changes on error. */
int beat_take(struct beat *b, struct mono now, uint64_t instance, uint64_t seq, struct err *e);

/* A trusted listener, the node's collector, says that it heard the node. */
void beat_vouch(struct beat *b, struct mono now);

/* Grants a full window from `from`, which may lie ahead, without saying that the node was heard: the listener
 * was at fault. Lateness that the listener caused is forgiven too. A node that is already silent has no
 * window left and stays silent. */
void beat_excuse(struct beat *b, struct mono from);

/* The collector that vouched for the node corrects itself: it last heard the node at `at`. Never takes back
 * what beat_excuse granted. */
void beat_correct(struct beat *b, struct mono at);

/* What the node's silence at `now` means. `known` is the moment up to which the listener knows of the
 * silence: `now`, or the moment when the collector was last heard. unheard stays unheard until the window is
 * over; silent stays silent until the node is heard, even when its timeouts have grown. */
enum liveness beat_judge(const struct beat *b, struct mono now, struct mono known,
                         const struct beat_timeouts *p);

/* When the meaning of its silence changes next, if nothing is heard; INT64_MAX for never. */
struct mono beat_due(const struct beat *b, const struct beat_timeouts *p);

/* Reads 16 hex characters. False for anything else and for zero. */
bool beat_parse_instance(const char *text, uint64_t *out);

#endif
