/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_CALLED_H
#define FETTLE_WATCH_VIEW_CALLED_H

#include "cluster/cluster.h"

/*
 * A list of members that need a command, or a look.
 */

/* Members that need a command, or a look. */
struct called {
    uint32_t *ids;
    size_t n, cap;
    size_t at; /* the members before this index are done */
};

void called_add(struct called *c, const struct member *m);

#endif
