/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/tree_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct leaf nics[] = {
    /* a port of a ConnectX-7 */
    {"sys/devices/pci0000:15/0000:17:00.0/uevent",
     "DRIVER=mlx5_core\nPCI_CLASS=20700\nPCI_SLOT_NAME=0000:17:00.0\n"},
    {"sys/devices/pci0000:15/0000:17:00.0/driver@", "../../../bus/pci/drivers/mlx5_core"},
    {"sys/devices/pci0000:15/0000:17:00.0/net/ens1/address", "a0:88:c2:11:22:33\n"},
    {"sys/devices/pci0000:15/0000:17:00.0/net/ens1/speed", "400000\n"},
    {"sys/devices/pci0000:15/0000:17:00.0/net/ens1/operstate", "up\n"},
    {"sys/devices/pci0000:15/0000:17:00.0/net/ens1/device@", "../../../0000:17:00.0"},
    {"sys/class/net/ens1@", "../../devices/pci0000:15/0000:17:00.0/net/ens1"},
    /* virtio sits one level below its PCI function, and has no speed to tell */
    {"sys/devices/pci0000:00/0000:00:03.0/uevent", "DRIVER=virtio-pci\nPCI_SLOT_NAME=0000:00:03.0\n"},
    {"sys/devices/pci0000:00/0000:00:03.0/virtio2/uevent", "DRIVER=virtio_net\n"},
    {"sys/devices/pci0000:00/0000:00:03.0/virtio2/driver@", "../../../../bus/virtio/drivers/virtio_net"},
    {"sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/address", "02:fc:00:00:00:01\n"},
    {"sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/speed", "-1\n"},
    {"sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/operstate", "down\n"},
    {"sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/device@", "../../../virtio2"},
    {"sys/class/net/eth0@", "../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0"},
    /* none of the machine's */
    {"sys/devices/virtual/net/lo/address", "00:00:00:00:00:00\n"},
    {"sys/class/net/lo@", "../../devices/virtual/net/lo"},
    {"sys/devices/virtual/net/bond0/speed", "400000\n"},
    {"sys/class/net/bond0@", "../../devices/virtual/net/bond0"},
    {"sys/class/net/bonding_masters", "bond0\n"},
    {"sys/class/net/gone@", "../../devices/pci0000:00/gone"},
};

static void test_nics(void **state)
{
    struct tree *t = *state;
    TREE_ADD(t, nics);
    tree_expect(t, "NICs",
                "[{'name':'ens1','mac':'a0:88:c2:11:22:33','driver':'mlx5_core','speed_mbps':400000,"
                "'state':'up','pci':'0000:17:00.0'},"
                "{'name':'eth0','mac':'02:fc:00:00:00:01','driver':'virtio_net','state':'down',"
                "'pci':'0000:00:03.0'}]");
}

static void test_speeds_that_are_none(void **state)
{
    static const char *const speeds[] = {"0\n", "-1\n", "4294967295\n", "fast\n", ""};
    struct tree *t = *state;
    tree_add(t, "sys/class/net/eth0/device/", NULL);
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        tree_add(t, "sys/class/net/eth0/speed", speeds[i]);
        tree_expect(t, "NICs", "[{'name':'eth0'}]");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_nics),
        IN_TREE(test_speeds_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
