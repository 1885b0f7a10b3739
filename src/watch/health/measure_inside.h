/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEALTH_MEASURE_INSIDE_H
#define FETTLE_WATCH_HEALTH_MEASURE_INSIDE_H

#include "watch/view/view.h"

/*
 * Whether a node is as fast as the others of its class. The state is w->measures.
 */

struct measures {
    size_t n; /* FLOORS_MAX at most */
    struct measured_news {
        char class[CLASS_NAME_BYTES_MAX + 1], check[CHECK_NAME_BYTES_MAX + 1];
        uint64_t sum; /* the digest of what is measured */
        size_t n;     /* FLOOR_NODES_MAX at most, each node once */
        struct floor_node *nodes;
    } * news;         /* the values to be written down */
    struct mono from; /* when the first of them came */
};

#endif
