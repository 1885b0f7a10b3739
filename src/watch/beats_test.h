/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BEATS_TEST_H
#define FETTLE_WATCH_BEATS_TEST_H

#include "watch/watch.h"

/*
 * Nodes lx01, lx02 … whose heartbeats a test sends by hand, in virtual time: a tick each 100 ms, and each
 * proposal is committed at once. What the watch says is a log with the second in which it said so. Nodes with
 * inventories, fingerprints and checks are in fixture_test.h.
 */

struct beats {
    struct cluster *c;
    struct watch *w;
    struct watch_policy policy;
    int64_t now_ms;
    bool sends[32]; /* the node sends every 10 s */
    uint64_t seq[32];
    unsigned claims;
    struct text log;
};

extern const char BOOT[], BOOT2[];

struct beats *beats_create(size_t n);
void beats_destroy(struct beats *x);
/* The configuration names n nodes now. */
void beats_configure(struct beats *x, size_t n);
/* Another controller on the same state. */
void beats_lead_anew(struct beats *x);

struct mono beats_now(const struct beats *x);
struct member *beats_node(const struct beats *x, int i);
enum liveness beats_live(const struct beats *x, int i);

/* What watch_open and watch_heartbeat return. work: JSON, NULL for unknown. */
int beats_open(struct beats *x, int i, uint64_t instance, const char *boot, void *session, struct err *e);
int beats_beat(struct beats *x, int i, uint64_t instance, uint64_t seq, const char *boot, const char *work);
/* Nodes open a session, are heard once and send from now on; or are heard once (any number of nodes). */
void beats_start(struct beats *x, int first, int last);
void beats_come(struct beats *x, int n);
void beats_tick(struct beats *x);
void beats_run(struct beats *x, int64_t seconds);

/* What was said since the last call. */
const char *beats_said(struct beats *x);
/* FIELD_SENSITIVE or FIELD_BORROWED. */
void beats_set(struct beats *x, int i, enum field f);
void beats_drain(struct beats *x, int i);

#endif
