/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_WORLD_TEST_H
#define FETTLE_API_WORLD_TEST_H

#include "cluster/cluster.h"
#include "watch/watch.h"

/*
 * A small cluster in which there is one of everything that can be shown:
 *
 *   lx01    idle, as specified, Speed edited            partitions 1 and 3
 *   lx02    busy, held by two drain claims and more      partition 1
 *   lx03    never heard                                  partition 0
 *   lx04    late, sensitive, fewer CPUs than specified   partitions 1, 63, 64 and 255
 *   lx05    set down by a person, borrowed               no partition
 *   lx06    found silent                                 partition 1
 *   odd     unlisted; reports through lx01
 */
struct world {
    struct cluster *cluster;
    struct watch *watch;
    struct mono now;
    struct wall wall;
};
struct world world_make(struct mono now);
void world_destroy(struct world *w);

/* The same with n nodes n[1-...] alike, all heard and as specified. */
struct world world_make_large(size_t n, struct mono now);

#endif
