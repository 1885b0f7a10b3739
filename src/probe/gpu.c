/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"

#include <stdlib.h>

/* A GPU is any 3D controller, and a display controller or accelerator of a maker of GPUs. That leaves out
 * the VGA of service processors and of virtual machines. */
static const struct kind {
    unsigned class, mask; /* the upper 16 of the PCI class's 24 bits */
    unsigned vendor;      /* 0 is any */
} kinds[] = {
    {0x030200, 0xffff00, 0},      {0x030000, 0xff0000, 0x10de}, /* NVIDIA */
    {0x030000, 0xff0000, 0x1002},                               /* AMD */
    {0x030000, 0xff0000, 0x8086},                               /* Intel */
    {0x120000, 0xff0000, 0x1002}, /* AMD Instinct from MI300 on is a processing accelerator */
};

/* The file's "0x10de"; 0 when it is malformed. */
static unsigned read_hex(int dir, const char *file)
{
    char text[SYS_TEXT_BYTES_MAX];
    if (sys_text(dir, file, text) < 0)
        return 0;
    char *end;
    unsigned long n = strtoul(text, &end, 16);
    return *text && *end == '\0' && n <= 0xffffff ? (unsigned)n : 0;
}

static bool is_gpu(unsigned class, unsigned vendor)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if ((class & kinds[i].mask) == kinds[i].class && (kinds[i].vendor == 0 || kinds[i].vendor == vendor))
            return true;
    return false;
}

bool gpu_is_one(int dir)
{
    return is_gpu(read_hex(dir, "class"), read_hex(dir, "vendor"));
}

static json_t *gpu_device(int dir, const char *name)
{
    if (!gpu_is_one(dir))
        return NULL;
    json_t *gpu = json_object();
    json_object_set_new(gpu, "pci", sys_string(name));
    sys_put_text(gpu, "vendor", dir, "vendor");
    sys_put_text(gpu, "device", dir, "device");
    sys_put_link(gpu, "driver", dir, "driver");
    return gpu;
}

void gpu_read(int root, json_t *into)
{
    sys_put_devices(into, "GPUs", root, "sys/bus/pci/devices", gpu_device);
}
