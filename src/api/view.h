/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_VIEW_H
#define FETTLE_API_VIEW_H

#include "api/selection.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "watch/watch.h"

/*
 * A node's fields as JSON text, without a tree in between: tables have ten thousand rows. Inside this folder.
 */

/* State while nodes are rendered, one after the other. Zero-initialise, with cluster, watch and now;
 * view_fini. */
struct view {
    const struct cluster *cluster;
    const struct watch *watch;
    struct mono now;
    const struct member *member;
    const struct observed *seen;
    bool judged; /* fitness, fit and the texts belong to this member */
    bool fit;
    struct fitness fitness;
    struct text claims, shortfall, why;
};
void view_fini(struct view *v);
/* The node's fitness and state; computed once for a node. */
const struct fitness *view_fitness(struct view *v);
enum lifecycle view_lifecycle(const struct view *v);
/* Sets the node to render. */
void view_set(struct view *v, const struct member *m);

/* {"Name":"lx01","State":"IDLE"} */
void render_node(struct view *v, const struct selection *s, struct text *t);
/* When its inventory was last known to be right, as a time; null when unknown. */
void render_inventory_at(const struct view *v, struct text *t);
/* The settable fields that were specified, as their texts in NodeSpecConf: {"CPUs":"2"} */
void render_specification(const struct spec *s, struct text *t);

#endif
