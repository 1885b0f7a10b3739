/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BEAT_BEAT_H
#define FETTLE_BEAT_BEAT_H

#include "base/clock.h"
#include "base/err.h"
#include "node/lifecycle.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The heartbeat of one node: whose it is, when it was last heard, and what its silence means.
 *
 * A heartbeat counts when it comes from the instance of the agent that opened the session and its
 * sequence number is above the last one, by a little. An instance that was replaced never counts again, so
 * neither a replayed nor an older nor another agent's heartbeat revives a node; and an instance with another
 * key is another agent while the one before is there. Times are moments of the listener's own clock; no clock
 * of a node is ever compared.
 */

enum {
    BEAT_FORMER_MAX = 4, /* replaced instances that are remembered */
    BEAT_LEAP_MAX = 1000 /* heartbeats of a session that may be missing in a row */
};

struct beat {
    struct mono heard; /* last time it counted; the start of listening before that */
    struct mono floor; /* silence never counts from before: until then the listener was at fault */
    uint64_t instance; /* of the agent; 0 while none was heard */
    uint64_t key;      /* of its connection; 0: not known, as of one that a collector hears */
    uint64_t seq;      /* the last one that counted */
    bool opened;       /* and none counted since: the next may be any above it */
    uint64_t former[BEAT_FORMER_MAX];
    enum liveness liveness;
};

/* How long silence may last. */
struct patience {
    struct span late;
    struct span silent;
};

/* Starts listening: unheard, with a full window before it. */
void beat_init(struct beat *b, struct mono now);

/* An agent's instance opens a session, with this key. The same instance goes on where it was; another one
 * takes its place. occupied says that another live session holds the name. -EBUSY two live agents claim one
 * name; -EACCES this instance was replaced before; -EINVAL instance 0. Nothing changes on error, and no error
 * tells an instance: who knows it could go on in its place. */
int beat_open(struct beat *b, uint64_t instance, uint64_t key, bool occupied, struct err *e);

/* One heartbeat at `now`. -EBUSY from another instance than the session's, -EALREADY for a sequence
 * number that is not above the last one, -ERANGE for one that leaps: never behind a collector, which tells
 * few of them. Nothing changes on error. */
int beat_take(struct beat *b, struct mono now, uint64_t instance, uint64_t seq, struct err *e);

/* Somebody trustworthy (its collector) says that it was heard. */
void beat_vouch(struct beat *b, struct mono now);

/* Grants a full window from `from`, which may be to come, without saying that it was heard: the listener was
 * at fault, also for a lateness that it found. One that is silent already has no window left and stays
 * silent. */
void beat_excuse(struct beat *b, struct mono from);

/* Whoever vouched for it says now that it heard it last at `at`, which was before. Never takes back what an
 * excuse granted. */
void beat_correct(struct beat *b, struct mono at);

/* What its silence at `now` means. `known` is the moment up to which the listener knows that it was silent:
 * `now`, or earlier when somebody else listens and was heard then. unheard stays unheard until the window is
 * over; silent stays silent until it is heard, also when its patience has grown. */
enum liveness beat_judge(const struct beat *b, struct mono now, struct mono known, const struct patience *p);

/* When its silence means something else next, if nothing is heard; INT64_MAX for never. */
struct mono beat_due(const struct beat *b, const struct patience *p);

/* Reads 16 hex characters. False for anything else and for zero. */
bool beat_parse_instance(const char *text, uint64_t *out);

#endif
