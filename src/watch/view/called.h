/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_CALLED_H
#define FETTLE_WATCH_VIEW_CALLED_H

#include "cluster/cluster.h"

/*
 * A list of members that call for something.
 */

/* Members that call for something. */
struct called {
    uint32_t *ids;
    size_t n, cap;
    size_t at; /* those before it are done with */
};

void called_add(struct called *c, const struct member *m);

#endif
