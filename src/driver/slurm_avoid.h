/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_AVOID_H
#define FETTLE_DRIVER_SLURM_AVOID_H

#include "driver/slurm_read.h"

#include <stdbool.h>

/*
 * How Slurm is told to prefer other nodes to one: by a larger weight, of which it takes the lowest first. The
 * weight that the node had stands in a feature beside the others, "fettle_avoid_WEIGHT", which is written and
 * taken away in the same call. So Slurm alone has all that is needed to take it back, also when this driver
 * is killed or slurmctld begins anew with what slurm.conf says. Other features stay as they are; a weight
 * that somebody set meanwhile stays, too.
 */

enum { SLURM_AVOID_MORE = 1000, SLURM_FEATURES_BYTES = 1024 };

struct slurm_avoid {
    char available[SLURM_FEATURES_BYTES], active[SLURM_FEATURES_BYTES]; /* "a,b"; "" for none */
    char weight[12];                                                    /* "" where it is to stay */
};

/* What the node is to be given; false when all is as it is wanted, or is not understood. */
bool slurm_avoid_plan(const struct slurm_line *l, bool avoid, struct slurm_avoid *out);

#endif
