/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_FOLLOW_H
#define FETTLE_STORE_ETCD_FOLLOW_H

#include "base/clock.h"
#include "base/err.h"
#include "store/change.h"
#include "store/etcd/etcd.h"

#include <uv.h>

/*
 * Tells each commit after a revision, in order and once, whichever controller made it. The stream of etcd can
 * stay open and silent while it misses commits. So a silent stream proves nothing: a second connection asks
 * for the newest revision several times a lease, and only when the stream has brought that revision is the
 * follower current. A stream that does not bring it is begun anew, on another member of etcd.
 *
 * Runs on the loop. It never calls back from within a call. on_end alone may destroy it.
 */

struct follow;

struct follow_events {
    void *arg;
    /* A commit; the callback takes it over. */
    void (*on_change)(void *arg, struct store_change *c);
    /* Everything that was committed by now is told (NULL), or cannot be told at present, with the reason.
     * Told when it changes. */
    void (*on_current)(void *arg, const struct err *why);
    /* It has ended: -ERANGE etcd's history does not reach back to the revision: load the store anew, and
     * follow from there. -EILSEQ: etcd has another state than before, or somebody else wrote into it. */
    void (*on_end)(void *arg, const struct err *why);
    /* The leader key went, or changed hands: lease_look. */
    void (*on_leader)(void *arg);
};

/* The options were checked (etcd_check). */
struct follow *follow_create(uv_loop_t *loop, const struct etcd_options *o, uint64_t after,
                             const struct follow_events *events);
/* The loop must run on until its handles are closed. */
void follow_destroy(struct follow *f);

/* The newest revision that was told. */
uint64_t follow_revision(const struct follow *f);

/* How old what was told can be: the time since the question was sent by whose answer the follower was last
 * known to be current. False: it never was. */
bool follow_age(const struct follow *f, struct mono now, struct span *age);

#endif
