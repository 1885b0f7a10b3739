/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_SHARE_H
#define FETTLE_WATCH_SHARE_H

#include "cluster/cluster.h"

/*
 * Which collector collects for which nodes (2001 document, steps 3 to 9). Each responding collector gets a
 * share of the nodes that are not collectors, all shares of similar size. A node that has a responding
 * collector keeps it as far as the balance allows. The other nodes move, in configured order. The result is
 * deterministic.
 */

struct share;
struct share *share_create(struct cluster *c);
void share_destroy(struct share *s);

/* The names of CollectorNodes. A collector whose name is no longer in the list stops responding. */
void share_configure(struct share *s, const struct hostlist *collectors);
bool share_is_collector(const struct share *s, const struct member *m);

/* A collector responds, or does not any more. held: the members for which it already collects. They stay with
 * it unless another responding collector has them. Call share_balance afterwards. */
void share_respond(struct share *s, struct member *collector, bool responds, struct member *const *held,
                   size_t n);
bool share_responds(const struct share *s, const struct member *collector);
/* True when every configured collector responds. */
bool share_complete(const struct share *s);

/* Divides the nodes anew. Calls fn with a collector's members, in configured order, for each collector whose
 * share changed, and for each that has just begun to respond and so does not know its share. Returns the
 * number of nodes that moved. */
typedef void share_changed_fn(void *arg, struct member *collector, struct member *const *nodes, size_t n);
size_t share_balance(struct share *s, share_changed_fn *fn, void *arg);

/* The collector of m; NULL when m reports directly. */
struct member *share_collector_of(const struct share *s, const struct member *m);
/* Members of a collector's share, in configured order; valid until the next call on s. */
size_t share_members(struct share *s, const struct member *collector, struct member *const **out);

#endif
