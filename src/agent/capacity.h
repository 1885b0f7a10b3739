/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CAPACITY_H
#define FETTLE_AGENT_CAPACITY_H

#include "base/json.h"
#include "check/nvidia.h"
#include "node/report.h"

/*
 * The node's free capacity, as members of its inventory: "FreeMemory" in MiB, "GPUUse" in percent,
 * "GPUTemperature" in degrees Celsius. Values are reported in steps. A value within one step of the
 * reported one is reported as that one, so a node at rest reports nothing, even when its value lies between
 * two steps. Pure.
 */

struct capacity {
    struct maybe free_memory_mb, gpu_use, gpu_celsius; /* as they are told */
};

/* The values that were read now; an unknown value is reported as unknown. */
void capacity_take_memory(struct capacity *c, struct maybe free_mb, struct maybe all_mb);
void capacity_take_gpus(struct capacity *c, const struct gpu_capacity *now);
void capacity_write(const struct capacity *c, json_t *inventory);

#endif
