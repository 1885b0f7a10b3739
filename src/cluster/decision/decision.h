/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_DECISION_H
#define FETTLE_CLUSTER_DECISION_H

#include "base/hostlist.h"
#include "base/text.h"
#include "cluster/decision/entry.h"

#include <stdbool.h>
#include <stddef.h>

/* The result of a command. Zero-initialise; decision_fini. */
struct decision {
    size_t n_ops;
    struct {
        char *key;
        char *value; /* NULL deletes */
    } * ops;
    char *text;                 /* the journal's sentence, NULL when nothing changes */
    struct text about;          /* the ids of `fields`, in the order of their coming: "7.1 7.2" */
    struct entry_fields fields; /* the journal's fields for programs */
    struct hostlist changed;    /* nodes that it changes */
    char *claim;    /* the claim that now holds the nodes (DRAIN, DOWN), the power command's id; or NULL */
    bool takes_out; /* nodes leave service by it, for which there is room in the budgets as they are committed
                     */
    const char *quota; /* the tenant, "" for persons, whose quota has room for it as it is committed; NULL:
                          none is asked. Borrowed from the command */
    size_t next;       /* nodes from this index on were left for another batch */
};
void decision_fini(struct decision *d);

enum { OPS_MAX = 100 }; /* below STORE_OPS_MAX, so that a batch has room for a small one beside it */

/* Adds a change of a record. Takes value over; NULL deletes. A claim's record makes the command part of
 * that claim. */
void decision_add(struct decision *d, const char *prefix, const char *key, char *value);
/* The command is part of this claim, incident, repair or operation; "" and NULL are none. */
void decision_about(struct decision *d, enum entry_id of, const char *id);

#endif
