/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capacity.h"

enum { MEMORY_STEPS = 16, USE_STEP = 25, CELSIUS_STEP = 10 };

/* Nearest to what it is now, when it left the step that was told by a whole one. */
static void capacity_step(struct maybe *told, struct maybe now, uint64_t width)
{
    uint64_t away = now.value > told->value ? now.value - told->value : told->value - now.value;
    if (!now.known || width == 0)
        *told = (struct maybe){0};
    else if (!told->known || away >= width)
        *told = (struct maybe){true, (now.value + width / 2) / width * width};
}

void capacity_take_memory(struct capacity *c, struct maybe free_mb, struct maybe all_mb)
{
    uint64_t width = all_mb.known ? all_mb.value / MEMORY_STEPS : 0;
    capacity_step(&c->free_memory_mb, free_mb, width);
    if (c->free_memory_mb.known && c->free_memory_mb.value > all_mb.value)
        c->free_memory_mb.value = all_mb.value;
}

void capacity_take_gpus(struct capacity *c, const struct gpu_capacity *now)
{
    capacity_step(&c->gpu_use, (struct maybe){now->has_use, now->use}, USE_STEP);
    capacity_step(&c->gpu_celsius, (struct maybe){now->has_celsius, now->celsius}, CELSIUS_STEP);
}

static void capacity_add(json_t *inventory, const char *name, struct maybe m)
{
    if (m.known)
        json_object_set_new(inventory, name, json_integer((json_int_t)m.value));
}

void capacity_write(const struct capacity *c, json_t *inventory)
{
    capacity_add(inventory, "FreeMemory", c->free_memory_mb);
    capacity_add(inventory, "GPUUse", c->gpu_use);
    capacity_add(inventory, "GPUTemperature", c->gpu_celsius);
}
