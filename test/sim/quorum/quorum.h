/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TEST_QUORUM_H
#define FETTLE_TEST_QUORUM_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Several controllers' committers, leases and followers in virtual time, over a store that misbehaves in
 * every way that etcd can. The code under test is what fettled runs: committer, src/store/etcd, cluster. What
 * is replaced lies below it:
 *
 *   virtual  the clocks of the process, and the threads of the committers: one of them runs at a time, until
 *            it waits for etcd
 *   etcd     etcd as one sequence of transactions, with its history, its watches and its gateway's JSON
 *   network  fetch.h: requests that are late, lost, carried out without an answer, or long after it was given
 *            up; streams that are silent, torn, doubled or have a gap
 *   main     the controllers around them (as src/controller/quorum.c), clients, and the properties
 *
 * One seed is one history.
 */

/* --- virtual ---------------------------------------------------------------------------------------- */

enum { MS = 1000000 }; /* in ns */

/* By the seed. */
void chance_begin(uint64_t seed);
uint64_t chance(uint64_t below);
bool chance_of(unsigned per_mille);

int64_t virtual_now(void); /* ns since the start */
void virtual_advance(int64_t to);

/* Calls fn in a thread of its own, and after on the loop's thread. `owner` is what task_owner gives there. */
typedef void task_fn(void *arg);
void task_begin(void *owner, task_fn *fn, task_fn *after, void *arg);
/* main: whose work of libuv's this is. */
struct uv_work_s;
void *work_owner(const struct uv_work_s *work);
/* In a task: its owner; on the loop's thread: what owner_set said. */
void *task_owner(void);
void owner_set(void *owner);
size_t tasks_of(const void *owner);
/* When the next task wants to go on; INT64_MAX: none does. */
int64_t tasks_due(void);
/* Lets each that is due go on. */
void tasks_run(void);
/* In a task: waits until task_wake, or until then. */
struct task;
struct task *task_self(void); /* NULL on the loop's thread */
void task_wait(int64_t until);
void task_wake(struct task *t);

/* --- etcd ------------------------------------------------------------------------------------------- */

struct etcd_event {
    uint64_t revision;
    char *key, *value; /* value NULL: deleted */
    size_t len;
    uint64_t created;
};

/* Carries a request of the gateway out; the answer is the body for status 200, or else an error. Gives the
 * HTTP status. */
int etcd_carry_out(const char *call, const char *body, struct text *answer);
/* The answer of an error, by its gRPC code. */
int etcd_error(int code, const char *message, struct text *answer);

/* Everything that was ever written. */
size_t etcd_events(const struct etcd_event **out);
uint64_t etcd_revision(void);
uint64_t etcd_compacted(void);
void etcd_compact(uint64_t to);
/* The create_revision of a key; 0: there is none. */
uint64_t etcd_created_of(const char *key);
void etcd_begin(void);
void etcd_end(void);

/* --- network ---------------------------------------------------------------------------------------- */

enum { CONTROLLERS = 3, MEMBERS = 3 };

/* How bad it is at present; in thousandths of requests. */
struct weather {
    unsigned late, lost, unanswered, haunting, no_space, unavailable, torn, doubled, gap, mute;
};
extern struct weather weather;
/* Whether the controller reaches the member of etcd; whether the member is one of etcd's majority; whether it
 * runs. */
extern bool link_is_cut[CONTROLLERS][MEMBERS], member_is_alone[MEMBERS], member_is_down[MEMBERS];

/* A process, as the network knows it. */
struct party {
    unsigned controller;
    bool is_dead; /* nothing of it is sent any more */
};

/* main: etcd has carried something out. */
void carried_out(void);

int64_t network_due(void);
void network_run(void);
void network_end(void);

#endif
