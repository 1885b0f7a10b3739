/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_LEASE_H
#define FETTLE_STORE_ETCD_LEASE_H

#include "base/clock.h"
#include "base/err.h"
#include "store/etcd/etcd.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/*
 * Which controller leads. The leader renews its key in etcd every third of the lease, and may act until one
 * lease after it sent the last renewal that succeeded. Another controller replaces it only when it has read
 * the same key, unchanged, for a lease and a margin. So no two act at a time, whatever their clocks say, as
 * long as they run at nearly the same speed (doc/adr/0064).
 *
 * Runs on the loop, with connections of its own. It never calls back from within a call, and a callback does
 * not destroy it.
 */

struct lease;

/* Borrowed until the callback returns. */
struct lease_leader {
    const char *name, *address;
    struct wall at; /* its clock when it renewed */
    bool is_self;
};

/* A controller, as it last told etcd of itself. */
struct lease_member {
    const char *name, *address;
    struct wall at;     /* its clock then */
    struct span age;    /* since this controller saw it change, at most */
    uint64_t revision;  /* the state that it had */
    uint64_t level;     /* of the features that it knows; 0: it tells none */
    const char *agents; /* where agents reach it; "": it did not say */
    const char *audit;  /* what it told of its audit log; "": nothing */
    bool has_clock; /* it is another one, and its clock was compared with ours: it is `within` of `ahead` */
    struct span ahead, within;
};

struct lease_events {
    void *arg;
    /* This controller leads. The term is higher than any before, and is the one to commit under. */
    void (*on_lead)(void *arg, uint64_t term);
    /* It leads no more: nothing may be done under that term. */
    void (*on_lost)(void *arg, const struct err *why);
    /* Who leads has changed (NULL: nobody does). Not told of every renewal. */
    void (*on_leader)(void *arg, const struct lease_leader *leader);
    /* NULL: etcd answers, or again. Otherwise the error: -EAGAIN it does not answer, or has no majority;
     * -ENOSPC it takes no writes; -EILSEQ it has another state than before, or was restored from an older
     * backup: nobody may lead there until a person has looked at it, and this controller is started anew. */
    void (*on_etcd)(void *arg, const struct err *why);
};

/* Begins to watch the leader key. The options were checked (etcd_check). It takes the leadership only after
 * lease_stand. */
struct lease *lease_create(uv_loop_t *loop, const struct etcd_options *o, const struct lease_events *events);
/* Gives nothing back: the others wait for a lease. The loop must run on until its handles are closed. */
void lease_destroy(struct lease *l);

/* Whether this controller takes the leadership when it is free: it has the whole state, and is ready. */
void lease_stand(struct lease *l, bool ready);

/* Whether this controller may act now. Reads the clock itself (CLOCK_BOOTTIME). Ask before each call to the
 * outside: the loop may have stood still since on_lead. */
bool lease_holds(const struct lease *l);

/* Gives the leadership back at once, and stands no more. done is called once, when etcd has answered, or
 * when the leadership could not be given back any more. A controller that does not lead is done, too. */
typedef void lease_done_fn(void *arg);
void lease_resign(struct lease *l, lease_done_fn *done, void *arg);

/* Reads the leader key now: follow.h has seen it go, or change hands. */
void lease_look(struct lease *l);

/* The revision that this controller tells the others of. */
void lease_tell(struct lease *l, uint64_t revision);
/* The level of the features that it knows; likewise. */
void lease_tell_level(struct lease *l, uint64_t level);

/* What this controller tells the others of its audit log: at most ETCD_AUDIT_BYTES_MAX bytes, without control
 * characters. */
void lease_tell_audit(struct lease *l, const char *head);
/* Takes away what a controller that was removed tells of itself, with the next question. On the leader alone.
 * It may come back while that controller runs: call it again as long as lease_members has it. */
void lease_forget(struct lease *l, const char *name);

/* The newest revision of the state, as the last answer of etcd had it; 0: no answer yet. */
uint64_t lease_head(const struct lease *l);

/* Calls fn with each controller that was read last, this one included. */
typedef void lease_member_fn(void *arg, const struct lease_member *m);
void lease_members(const struct lease *l, lease_member_fn *fn, void *arg);

#endif
