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
    struct checks *checks; /* NULL in worlds without health */
    struct remedies *remedies;
    struct meanings *meanings;
    struct mono now;
    struct wall wall;
};
struct world world_make(struct mono now);
void world_destroy(struct world *w);

/*
 * Two classes; the baseline of "gpu" is at version 3, and a rollout leads gx[6-8] to what gx8 is:
 *
 *   gx1, gx2    conformant, the second one busy
 *   gx3         drifted in three components, held for it; it was something else twice before
 *   gx4         not what the baseline says, and not found yet; the driver is gx3's
 *   gx5         a component could not be read; the driver is gx3's
 *   gx6         never heard
 *   gx7         sensitive, was drifted, is right again, waits for an approval
 *   gx8         what the rollout leads to
 *   cx[1-3]     class "cpu", without a baseline; cx3 differs from the others
 */
struct world world_make_classes(struct mono now);
/* The node says that it is what gx8 is; no record says so yet. */
void world_change(struct world *w, const char *name);

/*
 * Class "gpu", hx[1-9], with checks and remedies; a person has stopped all remedies, and hx[1-4] share a
 * cause:
 *
 *   hx1    well
 *   hx2    a GPU fell off the bus; drained, its work has not ended
 *   hx3    in the work queue, taken by ann; two remedies were tried
 *   hx4    a remedy waits for approval
 *   hx5    repaired, proves itself
 *   hx6    was repaired once, and is in service; not heard yet
 *   hx7    replacing waits for approval
 *   hx8    set aside
 *   hx9    a check fails that is only observed
 */
struct world world_make_ill(struct mono now);
/* n nodes, each hundredth of them in the work queue with an incident. */
struct world world_make_ill_large(size_t n, struct mono now);

/* As world_make, with n nodes n[1-...] alike, all heard and as specified. */
struct world world_make_large(size_t n, struct mono now);
/* Its nodes say what they are, in turn one of so many kinds that differ in their kernel, and in the
 * version of so many modules. */
void world_show(struct world *w, size_t kinds, size_t modules);

#endif
