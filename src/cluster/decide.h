/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_DECIDE_H
#define FETTLE_CLUSTER_DECIDE_H

#include "cluster/state.h"

/*
 * What the functions that decide have in common. Inside of this folder only.
 */

enum { OPS_MAX = 100 }; /* below STORE_OPS_MAX, so that a batch has room for a small one beside it */

/* Writes an operation down. Takes value over; NULL deletes. */
void decision_add(struct decision *d, const char *prefix, const char *key, char *value);
/* The node is changed; marks (by member id; may be NULL) keeps it from being named twice. */
void decision_note(struct decision *d, bool *marks, const struct member *m);

/* The members that a command names, from an index on. `nodes` is to be freed, also after an error.
 * -ENOENT for a name that nobody has, or that no configuration file has. */
struct named {
    size_t n;
    struct member **nodes;
};
int decide_find_named(const struct cluster *c, const struct command *cmd, size_t from, bool must_be_listed,
                      struct named *out, struct err *e);

/* Writes the record of a new claim on nodes, cmd->claim its id. A node that another claim already
 * drained of work is drained under this one, too. */
void decide_claim(struct decision *d, const struct command *cmd, enum claim_kind kind, const char *reason,
                  const struct named *nodes);

/* Claims, each once, that are to be rewritten for the nodes that are marked. */
struct selection {
    size_t n;
    const struct claim *claims[OPS_MAX];
    bool *nodes; /* by member id */
};
/* False when the selection is full. */
bool selection_add(struct selection *s, const struct claim *claim);
/* The claims' ids in words, the first eight by name. */
void selection_say(const struct selection *s, struct text *t);
/* Writes the records of the selected claims without the marked nodes. */
void selection_release(const struct selection *s, struct decision *d);

/* A sentence that somebody gave along: REASON_BYTES_MAX at most, no control characters, not empty. */
int decide_check_reason(const char *reason, struct err *e);
/* The same of a command's reason where none is needed. */
int decide_check_note(const struct command *cmd, struct err *e);

int decide_seen(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                struct err *e);
/* DRIFT and PERSISTS. */
int decide_drift(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                 struct err *e);
int decide_restored(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                    struct err *e);
int decide_overdue(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e);
int decide_reboot(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                  struct err *e);
int decide_approve(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e);
/* BASELINE_* and ROLLOUT_*. */
int decide_baseline(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
int decide_effect(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);

/* Adds the operation that makes the outbox say the drift (NULL: none), when it does not yet. */
void effect_tell(const struct cluster *c, const struct member *m, const struct drift *drift, struct wall at,
                 struct decision *d);
/* The name that OpenCHAMI has for a node; NULL when it has none. */
const char *member_xname(const struct member *m);
/* Adds the effect of a reboot into the class's image. */
void effect_reboot(const struct cluster *c, const struct member *m, const char *boot, struct wall at,
                   struct decision *d);
/* None is wanted any more: what there was stays as memory. */
void effect_no_reboot(const struct cluster *c, const struct member *m, struct decision *d);

/* "kernel.release, 2 more" of the names of `count` components. */
void drift_summary(const char *named, uint32_t count, struct text *t);
/* "fp_0123456789ab", without end. */
void fingerprint_say(const struct fingerprint *id, struct text *t);

#endif
