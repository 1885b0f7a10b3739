/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CAPACITY_H
#define FETTLE_AGENT_CAPACITY_H

#include "base/json.h"
#include "check/nvidia.h"
#include "node/report.h"

/*
 * What the node has room for, as members of its inventory: "FreeMemory" in MiB, "GPUUse" in percent,
 * "GPUTemperature" in degrees Celsius. Told in steps, and as long as a value stays within a step of what was
 * told it is told as that: a node at rest says nothing, also one whose value lies at the edge of two steps.
 * Pure.
 */

struct capacity {
    struct maybe free_memory_mb, gpu_use, gpu_celsius; /* as they are told */
};

/* What was read now; unknown is told as unknown. */
void capacity_take_memory(struct capacity *c, struct maybe free_mb, struct maybe all_mb);
void capacity_take_gpus(struct capacity *c, const struct gpu_capacity *now);
void capacity_write(const struct capacity *c, json_t *inventory);

#endif
