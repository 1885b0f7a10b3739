/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_STATE_LOOKUP_H
#define FETTLE_CLUSTER_STATE_LOOKUP_H

#include "base/text.h"
#include "cluster/state/baseline.h"
#include "cluster/state/budget.h"
#include "cluster/state/claim.h"
#include "cluster/state/drift.h"
#include "cluster/state/floor.h"
#include "cluster/state/incident.h"
#include "cluster/state/member.h"
#include "cluster/state/repair.h"
#include "cluster/state/roster.h"
#include "health/meaning.h"
#include "node/operation.h"
#include "remedy/remedy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the agreed state. Nothing here changes a record. Results belong to the cluster, and stay valid
 * until the next record is put unless a function says otherwise.
 */

struct cluster;

/* Members: in the order of the roster, then the unlisted by name. */
size_t cluster_count(const struct cluster *c);
struct member *cluster_at(const struct cluster *c, size_t order);
struct member *cluster_find(const struct cluster *c, const char *name); /* NULL when unknown */
/* The same, for names that mostly come in the order of the roster: a list of very many is read several times
 * faster. *place is 0 before the first name, and the caller's from one name to the next. */
struct member *cluster_find_next(const struct cluster *c, size_t *place, const char *name);
/* The member of this id; ids run from 0 to cluster_count - 1. */
struct member *cluster_by_id(const struct cluster *c, uint32_t id);
/* Finds or makes an unlisted one: for nodes that report without being configured. One that was gone is back.
 */
struct member *cluster_meet(struct cluster *c, const char *name);
/* Lets go of a node that is in no file and has no record. Its id stays taken. False for any other node. */
bool cluster_let_go(struct cluster *c, struct member *m);

/* The classes as configured; never empty. */
const struct classes *cluster_classes(const struct cluster *c);
/* The lists of components that are known: the baselines' lists, and those that the watch adds. */
struct listings *cluster_listings(const struct cluster *c);
/* NULL for a class without one. */
const struct baseline *cluster_baseline(const struct cluster *c, const char *class);
/* Whether a drift of this severity takes the node out of service until it is remedied. */
bool cluster_drift_drains(const struct cluster *c, const struct member *m, enum severity severity);
/* The node's drift is to be told outside and no effect says so: that was configured, or the node's name there
 * was given, after the drift was found. A repeated DRIFT (PERSISTS) writes the effect, and it alone. */
bool cluster_drift_untold(const struct cluster *c, const struct member *m);
/* Nothing says what the node should be: it is unlisted, or its class has no baseline. Its drift can end
 * by a person's word alone. */
bool cluster_is_unjudged(const struct cluster *c, const struct member *m);
/* A product that is told of drift is configured, and knows the node by a name. */
bool cluster_is_told(const struct cluster *c, const struct member *m);
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
/* Called with each effect's record as it is put, NULL when it is gone; and at once with those that are
 * there. For drivers. */
typedef void cluster_effect_fn(void *arg, const char *key, const char *value);
void cluster_on_effect(struct cluster *c, cluster_effect_fn *fn, void *arg);
/* The node that an effect's key names, a part of the key; NULL when it names none. */
const char *effect_node(const char *key);

const struct claim *cluster_claim(const struct cluster *c, const char *id); /* NULL when unknown */
size_t cluster_partitions(const struct cluster *c, const struct partition **out);

/* Remediate=no, of the node or its class: it is only observed. */
bool cluster_excepts(const struct cluster *c, const struct member *m);

/* The number of records of a kind that this version does not know: a newer version wrote them, and they
 * are kept as they are. A state with more than the limit is refused. */
enum { UNKNOWN_RECORDS_MAX = 200000, UNKNOWN_BYTES_MAX = 64 << 20, UNKNOWN_KIND_BYTES_MAX = 32 };
size_t cluster_unknown(const struct cluster *c);
/* "3 records of kinds that this version does not know are kept as they stand: lease, quota" into t;
 * nothing when there are none. */
void cluster_unknown_say(const struct cluster *c, struct text *t);

/* The state's name since it was made, 16 hex digits; "" before it has one. Terms and ids count within it. */
enum { ORIGIN_BYTES = 8 };
const char *cluster_origin(const struct cluster *c);

/* The last backup that was made; at 0: none. */
enum { BACKUP_WORD_BYTES_MAX = 63 };
struct backup_made {
    char name[BACKUP_WORD_BYTES_MAX + 1]; /* of its directory */
    struct wall at;
    uint64_t revision, bytes;
};
const struct backup_made *cluster_backup(const struct cluster *c);

/* How the state was restored from a backup; at 0: it never was. */
struct state_restored {
    struct wall at, made;    /* the restore, and the backup */
    uint64_t revision, term; /* of the backup */
};
const struct state_restored *cluster_restored(const struct cluster *c);

#endif
