/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_ELECTION_H
#define FETTLE_STORE_ETCD_ELECTION_H

#include "base/clock.h"
#include "store/etcd/layout.h"

#include <stdbool.h>

/*
 * Who may act, decided from what was read and written of the leader key, and when. Pure: it is told the time,
 * by a clock that also counts while the machine sleeps.
 *
 * A leader may act for one lease from the moment at which it sent a renewal that etcd then took. Another
 * controller takes the key away when it has read it unchanged for a lease and a quarter: the renewal that it
 * read was sent before it was read, so the leader's time is over. It is taken away only as it was read (by
 * its mod_revision); a renewal that came in between keeps it.
 */

enum election_act {
    ELECTION_WAIT,   /* read it again later */
    ELECTION_CREATE, /* there is no leader key */
    ELECTION_REMOVE, /* the one that is there is over: remove it as it was read */
    ELECTION_RENEW   /* it is our own */
};

struct election {
    char instance[LAYOUT_MARK_BYTES]; /* this process */
    struct span lease;
    bool was_read;
    struct { /* the leader key as it was read last; created 0: none */
        uint64_t created, modified;
        struct mono since; /* when it was first read so */
        struct layout_told told;
    } seen;
    uint64_t created;  /* of our own key; 0: none */
    bool holds;        /* a renewal or the creation succeeded, */
    struct mono until; /* and we may act until then */
};

void election_init(struct election *n, const char *instance, struct span lease);

/* The leader key (NULL: none) stands in an answer that has come at `now`. A key that nobody can read counts
 * as a leader that never renews. */
void election_read(struct election *n, const struct wire_kv *leader, struct mono now);

/* Our key was created (at this revision of etcd), or renewed, by a request that was sent at `sent`. */
void election_won(struct election *n, uint64_t created, struct mono sent);
/* Our key is not there any more, or is given back. */
void election_lost(struct election *n);

/* What is to be done now by a controller that is ready to lead. */
enum election_act election_next(const struct election *n, struct mono now);
/* How long until another's key that is read unchanged may be removed; not more than 0: now. Only while there
 * is one. */
struct span election_due(const struct election *n, struct mono now);
bool election_holds(const struct election *n, struct mono now);

#endif
