/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"

#include <string.h>
#include <unistd.h>

static bool slot_line(const char *line, void *slot)
{
    static const char key[] = "PCI_SLOT_NAME=";
    if (strncmp(line, key, sizeof key - 1) != 0)
        return true;
    *(json_t **)slot = sys_string(line + sizeof key - 1);
    return false;
}

/* The address of the PCI function that the interface is, or that it sits on (virtio does). */
static void put_pci(json_t *nic, int dir)
{
    json_t *slot = NULL;
    sys_each_line(dir, "device/uevent", slot_line, &slot);
    if (!slot)
        sys_each_line(dir, "device/../uevent", slot_line, &slot);
    if (slot)
        json_object_set_new(nic, "pci", slot);
}

static json_t *nic_device(int dir, const char *name)
{
    if (faccessat(dir, "device", F_OK, 0) != 0)
        return NULL; /* loopback, bridges, bonds, tunnels */
    json_t *nic = json_object();
    json_object_set_new(nic, "name", sys_string(name));
    sys_put_text(nic, "mac", dir, "address");
    sys_put_link(nic, "driver", dir, "device/driver");
    /* An error or -1 while there is no link, 2^32 - 1 from old drivers. */
    uint64_t speed;
    if (sys_u64(dir, "speed", &speed) == 0 && speed > 0 && speed < UINT32_MAX)
        json_object_set_new(nic, "speed_mbps", json_integer((json_int_t)speed));
    sys_put_text(nic, "state", dir, "operstate");
    put_pci(nic, dir);
    return nic;
}

void nic_read(int root, json_t *into)
{
    sys_put_devices(into, "NICs", root, "sys/class/net", nic_device);
}
