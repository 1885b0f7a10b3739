/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_ETCD_H
#define FETTLE_STORE_ETCD_ETCD_H

#include "store/store.h"

/*
 * A store that several controllers share: etcd 3.4 and later, by its JSON gateway. This header opens it;
 * lease.h says which controller leads, follow.h tells what the leader commits, health.h how etcd is.
 *
 * The state lies under the prefix "fettle/" (doc/adr/0063): one key for each record, one for the journal
 * entries of each revision, the head, the leader, the members, and the cluster's id. Each commit is one
 * transaction of etcd that compares the leader key and the head, so that a leader that was replaced commits
 * nothing.
 */

enum {
    ETCD_ENDPOINTS_MAX = 16,
    ETCD_NAME_BYTES_MAX = 64,
    ETCD_ADDRESS_BYTES_MAX = 256,
    ETCD_LEASE_MS = 3000,    /* how long a leader may act after its last renewal */
    ETCD_ANSWERED_MS = 5000, /* how long one request to one member may take */
    ETCD_ID_BYTES_MAX = 64,
    ETCD_AUDIT_BYTES_MAX = 80
};

/* How etcd is reached, and as which controller. Everything is copied. */
struct etcd_options {
    const char *endpoints; /* "https://a:2379,https://b:2379" */
    const char *ca;        /* file of authorities; NULL: the system's */
    const char *cert;      /* file with this controller's certificate; NULL: none */
    const char *key;       /* file with its key */
    const char *name;      /* of this controller; every controller has another one */
    const char *address;   /* where agents and tools reach it, as the other controllers tell them */
    const char *agents;    /* where agents reach it, as they are told by the leader; NULL: they are not */
    const char *seen;     /* file in which this controller remembers the state that it saw last; NULL: none */
    struct span lease;    /* 0: ETCD_LEASE_MS. The same for every controller */
    unsigned answered_ms; /* 0: ETCD_ANSWERED_MS */
};

/* Whether the options can be used: -EINVAL with a sentence otherwise. */
int etcd_check(const struct etcd_options *o, struct err *e);

/* Opens the state in etcd. Begins one, at revision 0, when etcd has none and this controller has seen none.
 * Blocks, like each call of the store; after an error nothing was begun, and it may be tried again:
 *   -EAGAIN  no member of etcd answers, none accepts the certificate, or etcd has no majority
 *   -EILSEQ  the state is not the one that this controller saw: etcd was restored from an older backup, has
 *            another cluster's state, or none any more; or what is there was not written by Fettle
 *   -EACCES  etcd does not let this controller read or write (its roles)
 *
 * The store that it gives differs from the embedded one in this:
 *   store_campaign waits until nobody else can lead. Controllers do not use it: they commit under the term
 *     that lease.h gives them.
 *   store_check asks nobody. Whether etcd answers, the lease and the follower notice by themselves.
 *   store_commit: -EAGAIN no member could be reached or etcd has no majority; -ENOSPC etcd's space alarm is
 * on. store_resolve: first makes sure that a request which is still on its way changes nothing any more.
 *     -ERANGE as well when etcd's history does not go back that far.
 *   Reading the journal asks etcd, and takes as long as etcd takes.
 *   store_tidy also compacts etcd's history. Call it on the leader alone. */
int etcd_open(const struct etcd_options *o, struct store **out, struct err *e);

/* Says on which revision the next commit rests: the newest that follow.h told. A controller calls it when it
 * has become the leader, before its first commit. -EAGAIN: etcd has a newer one, which is to be followed
 * first; or as in etcd_open. -EILSEQ: etcd has lost that revision. */
int etcd_take_up(struct store *s, uint64_t revision, struct err *e);

/* The id of the cluster whose state this is; belongs to the store. `s` is from etcd_open. */
const char *etcd_cluster(struct store *s);

#endif
