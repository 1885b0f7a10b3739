/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_STATE_LOOKUP_H
#define FETTLE_CLUSTER_STATE_LOOKUP_H

#include "base/text.h"
#include "cluster/state/budget.h"
#include "cluster/state/claim.h"
#include "cluster/state/drift.h"
#include "cluster/state/member.h"
#include "cluster/state/repair.h"
#include "cluster/state/roster.h"
#include "health/meaning.h"

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
/* Whether a drift of this severity takes the node out of service until it is remedied. */
bool cluster_drift_drains(const struct cluster *c, const struct member *m, enum severity severity);
const struct claim *cluster_claim(const struct cluster *c, const char *id); /* NULL when unknown */
size_t cluster_partitions(const struct cluster *c, const struct partition **out);

/* Is told an effect's record; value NULL when it is gone (record/recorded.h). */
typedef void cluster_effect_fn(void *arg, const char *key, const char *value);

/* Remediate=no, of the node or its class: it is only observed. */
bool cluster_excepts(const struct cluster *c, const struct member *m);

/* The state's name since it was made, 16 hex digits; "" before it has one. Terms and ids count within it. */
enum { ORIGIN_BYTES = 8 };
const char *cluster_origin(const struct cluster *c);

/* The fingerprint (SHA-256, hex) of the authority that all controllers of this state have; "" when the state
 * is of a single controller. */
enum { AUTHORITY_BYTES = 32 };
const char *cluster_authority(const struct cluster *c);

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
