/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_RECORD_RECORDED_H
#define FETTLE_CLUSTER_RECORD_RECORDED_H

#include "cluster/state/baseline.h"
#include "cluster/state/floor.h"
#include "cluster/state/incident.h"
#include "cluster/state/lookup.h"
#include "node/operation.h"
#include "remedy/remedy.h"

/*
 * What the records say beyond the members: baselines, remedies' outcomes, shared causes, switches and
 * effects. As in lookup.h, nothing here changes a record, and results stay valid until the next record is
 * put.
 */

/* NULL for a class without one. */
const struct baseline *cluster_baseline(const struct cluster *c, const char *class);
/* Nothing says what the node should be: it is unlisted, or its class has no baseline. Its drift can end
 * by a person's word alone. */
bool cluster_is_unjudged(const struct cluster *c, const struct member *m);
struct outcomes cluster_outcomes(const struct cluster *c, const char *fault, const char *remedy,
                                 const char *class);
/* NULL while no node of the class came to anything. */
const struct floor *cluster_floor(const struct cluster *c, const char *class, const char *check);
/* Calls fn for each shared cause, in order of their keys. */
typedef void shared_fn(void *arg, const struct shared_cause *s);
void cluster_each_shared(const struct cluster *c, shared_fn *fn, void *arg);
const struct shared_cause *cluster_shared(const struct cluster *c, const char *key);
/* When nodes were isolated, oldest first: as many as may be within the window of a surge, and none from
 * before a person let go of the latch. Borrowed until the next record is put. */
enum { ISOLATIONS_KEPT_MAX = 1000 };
size_t cluster_isolations(const struct cluster *c, const struct wall **out);
/* "stop": no remedy is begun while it is on. NULL when it is off; else who and why, in words. */
const char *cluster_switch(const struct cluster *c, const char *name);
/* An effect's record; NULL when there is none. key with "effect/". */
const char *cluster_effect_value(const struct cluster *c, const char *key);
/* The operation on the node, by its repair or by a person's power command, and its state. Give *out to
 * operation_fini. */
void cluster_operation(const struct cluster *c, const struct member *m, struct operation *out);
void cluster_power(const struct cluster *c, const struct member *m, struct operation *out);
/* Calls fn with each effect's record as it is put, and at once with those that are there. For drivers. */
void cluster_on_effect(struct cluster *c, cluster_effect_fn *fn, void *arg);

/* The number of records of a kind that this version does not know: a newer version wrote them, and they
 * are kept as they are. A state with more than the limit is refused. */
enum { UNKNOWN_RECORDS_MAX = 200000, UNKNOWN_BYTES_MAX = 64 << 20, UNKNOWN_KIND_BYTES_MAX = 32 };
size_t cluster_unknown(const struct cluster *c);
/* "3 records of kinds that this version does not know are kept as they stand: lease, quota" into t;
 * nothing when there are none. */
void cluster_unknown_say(const struct cluster *c, struct text *t);

#endif
