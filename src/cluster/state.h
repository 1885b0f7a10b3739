/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_STATE_H
#define FETTLE_CLUSTER_STATE_H

#include "cluster/cluster.h"

#include <uthash.h>

/*
 * The inside of a cluster, shared by the files of this folder only.
 */

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

struct cluster {
    size_t n, cap;
    struct member **by_id;
    struct member **order;
    bool order_stale; /* somebody was met since it was made */
    size_t n_listed;
    struct member_slot *members;
    struct claim_slot *claims;
    struct token *tokens;
    size_t n_partitions;
    struct partition *partitions;
    unsigned partition_max;
};

/* One claim's record, without the nodes that leave_out marks (by member id; may be NULL), and with
 * `drained` for those that settle marks (likewise) instead of what they are. NULL when no node is
 * left. The caller frees it. */
char *claim_record(const struct claim *c, const bool *leave_out, const bool *settle, bool drained);

/* How claim rests on m; m is one of its nodes. */
const struct hold *member_hold(const struct member *m, const struct claim *claim);

/* Folded names of members. The caller frees it. */
char *members_fold(struct member *const *nodes, size_t n);

bool member_held_by(const struct member *m, enum claim_kind kind);

const struct token *cluster_token(const struct cluster *c, const char *hash);

/* Gives a member the roster's specification, with its edit over it. */
void member_set_spec(struct cluster *c, struct member *m, const struct spec *s);

/* Drops all claims and tokens: for the end. */
void cluster_forget_records(struct cluster *c);

/* Lays an edit's set (JSON) over a specification. */
int edit_apply(struct spec *s, const char *set, unsigned partition_max, struct err *e);

#endif
