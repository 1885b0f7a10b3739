/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_EFFECT_TOLD_H
#define FETTLE_CLUSTER_EFFECT_TOLD_H

#include "cluster/record/recorded.h"

/*
 * What is asked about effects outside: the node of each, and whether a drift is told there. Nothing here
 * changes a record.
 */

/* A product that is told of drift is configured, and knows the node by a name. */
bool cluster_is_told(const struct cluster *c, const struct member *m);
/* The node's drift is to be told outside and no effect says so: that was configured, or the node's name there
 * was given, after the drift was found. A repeated DRIFT (PERSISTS) writes the effect, and it alone. */
bool cluster_drift_untold(const struct cluster *c, const struct member *m);
/* The node that an effect's key names, a part of the key; NULL when it names none. */
const char *effect_node(const char *key);

#endif
