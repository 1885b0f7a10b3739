/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_VIEW_H
#define FETTLE_API_VIEW_H

#include "api/selection.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "watch/watch.h"

/*
 * A node's fields as JSON text, without a tree between: tables have ten thousand rows. Inside this folder.
 */

/* What is looked at while nodes are rendered, one after the other. Zero-initialise, with cluster,
 * watch and now; view_fini. */
struct view {
    const struct cluster *cluster;
    const struct watch *watch;
    struct mono now;
    const struct member *member;
    const struct observed *seen;
    bool judged; /* fitness, fit and the texts are of this member */
    bool fit;
    struct fitness fitness;
    struct text claims, shortfall, why;
};
void view_fini(struct view *v);
/* What makes it fit or not, and its state; worked out once a node. */
const struct fitness *view_fitness(struct view *v);
enum lifecycle view_lifecycle(const struct view *v);
/* The node that is looked at from now on. */
void view_set(struct view *v, const struct member *m);

/* {"Name":"lx01","State":"IDLE"} */
void render_node(struct view *v, const struct selection *s, struct text *t);
/* When what it has was last known to be so, as a time; null when that is not known. */
void render_inventory_at(const struct view *v, struct text *t);
/* The settable fields that were specified, as their texts in NodeSpecConf: {"CPUs":"2"} */
void render_specification(const struct spec *s, struct text *t);

#endif
