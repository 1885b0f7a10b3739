/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TEST_QUORUM_HISTORY_H
#define FETTLE_TEST_QUORUM_HISTORY_H

#include "quorum.h"

#include "cluster/cluster.h"
#include "controller/commit/committer.h"
#include "store/change.h"
#include "store/etcd/etcd.h"
#include "store/etcd/follow.h"
#include "store/etcd/lease.h"

#include <uv.h>

/*
 * One history: the controllers, what was asked of them, and the truth about the store.
 *
 *   truth    judges each commit as etcd carries it out
 *   process  a controller from its start to its end
 *   main     clients, faults and time
 */

enum {
    NODES = 40,
    OWNED = 6, /* the first of them are claimed; the others are drained, each once */
    ASKED_MAX = 20000,
    REVISIONS_MAX = 20000,
    QUOTA = 3
};

/* A controller from its start to its end. */
struct process {
    struct party party; /* first: the network knows the process by it */
    char name[4];
    struct store *store;
    struct cluster *cluster;
    struct committer *committer;
    struct lease *lease;
    struct follow *follow;
    uint64_t term;
    int opened; /* what came of it: 1 not yet */
    struct err why;
    bool leads, deposed, is_leader, ends;
    bool stops, resigns; /* told to end; gives the leadership back */
    int64_t turned;
    struct process *prev, *next;
};

/* A command on its way. */
struct asked {
    char before[32], after[32], node[16];
    bool is_drain;
    const struct process *by;
    uint64_t began; /* the newest revision when it was asked */
    int rc;         /* 1: not answered yet */
    uint64_t revision;
    unsigned found; /* in the journal */
};

struct history {
    uint64_t seed;
    bool traces;
    uv_loop_t loop;
    struct process *slots[CONTROLLERS];
    int64_t restarts[CONTROLLERS]; /* when an empty slot gets its next process */
    struct process *processes;     /* all that are not freed */
    struct cluster *truth;         /* what the store's records say */
    size_t read;                   /* of etcd's events */
    uint64_t revision, term;       /* of the last commit */
    uint64_t digests[REVISIONS_MAX];
    struct asked asked[ASKED_MAX];
    size_t n_asked;
    unsigned n_done, n_refused, n_unknown, n_terms, n_starts;
    int64_t next_ask, next_fault, compacts;
    bool is_calm;
};
extern struct history s;

__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);
/* A property does not hold: ends the program. */
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *fmt, ...);

void configure(struct cluster *c);
/* "": nobody. */
const char *owner_of(const struct cluster *c, const char *node);
/* The controller has the state that the store has at its revision. */
void digest_check(const struct process *p);

struct process *process_begin(unsigned controller);
/* As after kill -9: what it still waits for is answered quickly, and counts for nobody. */
void process_leave(struct process *p);
/* As after SIGTERM: it ends what it has begun, and gives the leadership back. */
void process_stop(struct process *p);
void processes_turn(void);

#endif
