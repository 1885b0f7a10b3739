/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_SHARE_H
#define FETTLE_WATCH_SHARE_H

#include "cluster/cluster.h"

/*
 * Who collects for whom (2001 document, steps 3 to 9): each responding collector gets a share of
 * the nodes that are not collectors, of similar size. A node that has a responding collector keeps
 * it as far as the balance allows; the rest moves, in configured order. Deterministic.
 */

struct share;
struct share *share_create(struct cluster *c);
void share_destroy(struct share *s);

/* The names of CollectorNodes; a name that is no longer among them stops responding. */
void share_configure(struct share *s, const struct hostlist *collectors);
bool share_is_collector(const struct share *s, const struct member *m);

/* A collector responds (or does not any more). held: members that it already collects for, which
 * stay with it unless somebody else that responds has them. Call share_balance afterwards. */
void share_respond(struct share *s, struct member *collector, bool responds, struct member *const *held,
                   size_t n);
bool share_responds(const struct share *s, const struct member *collector);
/* True when every configured collector responds. */
bool share_complete(const struct share *s);

/* Divides anew. Calls fn for each collector whose share changed, or that responds anew and so does
 * not know it, with its members in configured order. Returns the number of nodes that moved. */
typedef void share_changed_fn(void *arg, struct member *collector, struct member *const *nodes, size_t n);
size_t share_balance(struct share *s, share_changed_fn *fn, void *arg);

/* The collector of m, NULL for none (m reports directly). */
struct member *share_collector_of(const struct share *s, const struct member *m);
/* Members of a collector's share, in configured order; valid until the next call on s. */
size_t share_members(struct share *s, const struct member *collector, struct member *const **out);

#endif
