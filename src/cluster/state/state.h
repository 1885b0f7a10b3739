/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_STATE_H
#define FETTLE_CLUSTER_STATE_H

#include "base/json.h"
#include "base/table.h"
#include "cluster/state/baseline.h"
#include "cluster/state/budget.h"
#include "cluster/state/certificate.h"
#include "cluster/state/controllers.h"
#include "cluster/state/floor.h"
#include "cluster/state/lookup.h"
#include "cluster/state/owner.h"
#include "cluster/state/request.h"
#include "cluster/state/revision.h"

/* The inside of a cluster, for its rooms only. */

struct member_slot {
    struct member m; /* first: a member is its slot */
    UT_hash_handle hh;
};

struct claim_slot {
    struct claim c; /* first */
    UT_hash_handle hh;
};

struct token {
    char *hash;
    char *value; /* its record as it stands */
    UT_hash_handle hh;
};

/* A list/ record. It keeps what the listing holds. */
struct list_slot {
    struct fingerprint id;
    struct listing *listing;
    UT_hash_handle hh;
};

struct effect {
    char *key;
    char *value; /* its record as it stands */
    bool wants;  /* something to be told */
    UT_hash_handle hh;
};

enum { BASELINE_KEPT_MAX = 32, SEEN_KEPT_MAX = 16 };

struct baseline_slot {
    struct baseline b; /* first */
    size_t n_kept;
    struct kept {
        uint32_t version;
        struct listing *listing;
        char *node;
    } * kept; /* the versions of its history, newest first */
    uint64_t sum;
    UT_hash_handle hh;
};

struct shared_slot {
    struct shared_cause s; /* first */
    UT_hash_handle hh;
};

struct tally {
    char *remedy;
    size_t n;
    struct tally_row {
        char *key; /* "xid.79 gpu": a fault and a class */
        struct outcomes of;
    } * rows;
    UT_hash_handle hh;
};

struct floor_slot {
    struct floor f; /* first */
    UT_hash_handle hh;
};

struct owner_slot {
    struct ownership o; /* first */
    uint64_t sum;
    UT_hash_handle hh;
};

/* The use of a tenant that owns nodes; "" stands for all persons. */
struct tenant_slot {
    char name[TENANT_NAME_BYTES_MAX + 1];
    struct tenant_use use;
    UT_hash_handle hh;
};

struct switch_slot {
    char *name;
    char *by, *why;
    struct wall at;
    char *words; /* "root: maintenance" */
    UT_hash_handle hh;
};

/* A request, and how many parts of it the records have. */
struct request_slot {
    struct remembered r; /* first */
    char *id;
    size_t refs;
    UT_hash_handle hh;
};

struct request_record {
    uint64_t revision;
    struct wall at;
    uint64_t sum;
    size_t bytes; /* of its key and its value */
    size_t n;     /* parts; `of` has the request of each */
    struct request_slot **of;
    struct request_record *prev, *next;
};

/* A record of a kind that this version does not know. */
struct unknown_slot {
    char *key, *value;
    UT_hash_handle hh;
};

/* Nodes that a configuration file names, of each scope of a budget. */
struct totals {
    size_t n_classes;
    uint32_t all, *classes, *groups, partitions[PARTITION_MAX + 1];
};

struct cluster {
    size_t n, cap;
    struct member **by_id;
    unsigned char *marks; /* by member id: for a function that goes through members; all 0 between calls */
    struct member **order;
    bool *order_stale; /* a node was met since the order was made: cluster_at sorts it, for readers too */
    size_t n_listed;
    struct member_slot *members;
    struct claim_slot *claims;
    struct token *tokens;
    struct holder_slot *holders;
    struct holder_slot **holders_in_order; /* in the order of their subjects; as many as the table has */
    size_t holders_cap;
    struct controller_slot *controllers; /* in order of their names */
    size_t n_partitions;
    struct partition *partitions;
    unsigned partition_max;
    struct classes classes;
    struct class_index *index;
    bool tells_drift;
    struct listings *listings;
    struct list_slot *lists;
    struct baseline_slot *baselines;
    struct effect *effects;
    struct shared_slot *shared; /* in order of their keys */
    struct tally *tallies;
    struct floor_slot *floors;
    struct switch_slot *switches;
    struct owner_slot *owners;
    struct tenant_slot *tenant_uses;
    size_t n_tenants;
    struct tenant *tenants;  /* of the roster */
    uint32_t sensitive_pool; /* likewise */
    bool wipes;              /* likewise */
    uint32_t n_unclean;      /* nodes that a claim of kind wipe holds */
    struct request_slot *requests;
    struct request_record *request_records; /* oldest first */
    size_t n_request_parts, request_bytes;
    struct unknown_slot *unknown;
    size_t unknown_bytes; /* the bytes of their keys and values */
    size_t n_isolated;
    struct wall *isolated;
    struct limits limits;
    struct revisions *revisions;
    struct totals totals;
    size_t n_out;
    struct member **out; /* the nodes that are out, member_is_out */
    cluster_effect_fn *on_effect;
    void *on_effect_arg;
    holder_fn *on_certificate;
    void *on_certificate_arg;
    char origin[2 * ORIGIN_BYTES + 1], authority[2 * AUTHORITY_BYTES + 1];
    struct backup_made backup;
    struct state_restored restored;
    uint64_t level; /* of features; 0: no record */
    uint64_t sum;   /* the sum over records of conformance, health and repair, for the digest */
};

/* How claim rests on m; m is one of its nodes. */
const struct hold *member_hold(const struct member *m, const struct claim *claim);

/* Folded names of members. The caller frees it. */
char *members_fold(struct member *const *nodes, size_t n);
/* It lets no new work land, and asks whether the running work has ended. */
bool kind_drains(enum claim_kind kind);
bool claim_drains(const struct claim *claim);
/* A record's part of the digest. */
uint64_t record_sum(const char *key, const char *value);
const struct token *cluster_token(const struct cluster *c, const char *hash);

/* Gives a member the roster's specification, with its edit over it. */
void member_set_spec(struct cluster *c, struct member *m, const struct spec *s);
/* Drops all records but those of the members themselves: for the end. */
void cluster_forget_records(struct cluster *c);
void conform_forget(struct cluster *c);
void member_forget_conform(struct cluster *c, struct member *m);
void member_forget_flaps(struct cluster *c, struct member *m);

/* Finds the class of a member again after its specification or the classes changed. */
void member_classify(const struct cluster *c, struct member *m);
const struct node_class *member_class(const struct cluster *c, const struct member *m);
/* NULL while it is not drifted. */
const struct drift *member_drift(const struct member *m);

/* The member's memory; made when there is none yet. */
struct past *member_past(struct member *m);
/* Drops the memory of a node that needs none. */
void past_trim(struct member *m);

void member_forget_bmc(struct cluster *c, struct member *m);
void member_forget_machine(struct cluster *c, struct member *m);
void member_forget_maintenance(struct cluster *c, struct member *m);
void member_forget_override(struct cluster *c, struct member *m);
void member_forget_health(struct cluster *c, struct member *m);
void member_forget_repair(struct cluster *c, struct member *m);
void member_forget_trial(struct cluster *c, struct member *m);
void health_forget(struct cluster *c); /* all that is not a member's */

void certificates_forget(struct cluster *c);
void controllers_forget(struct cluster *c);
void floors_forget(struct cluster *c);
void owners_forget(struct cluster *c);

/* A repair, a claim or an admission of m has changed. */
void member_count_out(struct cluster *c, struct member *m);
/* Counts all nodes again. */
void totals_count(struct cluster *c);
/* Around a change of what a listed member is. */
void totals_take_member(struct cluster *c, const struct member *m);
void totals_add_member(struct cluster *c, const struct member *m);
void totals_free(struct totals *t);

const struct baseline_slot *baseline_slot(const struct cluster *c, const char *class);
bool cluster_has_list(const struct cluster *c, const struct fingerprint *id);
const struct effect *cluster_effect(const struct cluster *c, const char *key);

#endif
