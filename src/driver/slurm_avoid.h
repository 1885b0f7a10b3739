/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_AVOID_H
#define FETTLE_DRIVER_SLURM_AVOID_H

#include "driver/slurm_read.h"

#include <stdbool.h>

/*
 * How Slurm is told to prefer other nodes: by a larger weight, since Slurm takes the lowest first. The node's
 * earlier weight is kept in a feature beside the others, "fettle_avoid_WEIGHT", which is written and removed
 * in the same call. So Slurm alone has everything that is needed to undo it, even when this driver is killed
 * or slurmctld restarts from slurm.conf. Other features, and a weight that somebody set meanwhile, stay as
 * they are.
 */

enum { SLURM_AVOID_MORE = 1000, SLURM_FEATURES_BYTES = 1024 };

struct slurm_avoid {
    char available[SLURM_FEATURES_BYTES], active[SLURM_FEATURES_BYTES]; /* "a,b"; "" for none */
    char weight[12];                                                    /* "": unchanged */
};

/* What to set on the node; false when it is as wanted, or is not understood. */
bool slurm_avoid_plan(const struct slurm_line *l, bool avoid, struct slurm_avoid *out);

#endif
