/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CALLED_INSIDE_H
#define FETTLE_WATCH_CALLED_INSIDE_H

#include "cluster/cluster.h"

/* Members that call for something. */
struct called {
    uint32_t *ids;
    size_t n, cap;
    size_t at; /* those before it are done with */
};
void called_add(struct called *c, const struct member *m);

#endif
