/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "probe/part.h"
#include "probe/tree_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- network interfaces */

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

/* ---- GPUs */

static void add_pci(struct tree *t, const char *address, const char *class, const char *vendor,
                    const char *device)
{
    char path[128];
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/class", address);
    tree_add(t, path, class);
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/vendor", address);
    tree_add(t, path, vendor);
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/device", address);
    tree_add(t, path, device);
}

static void test_h100_node(void **state)
{
    static const char *const addresses[] = {"0000:db:00.0", "0000:1b:00.0", "0000:43:00.0", "0000:52:00.0",
                                            "0000:61:00.0", "0000:9d:00.0", "0000:c3:00.0", "0000:d1:00.0"};
    struct tree *t = *state;
    add_pci(t, "0000:02:00.0", "0x030000\n", "0x1a03\n", "0x2000\n"); /* the service processor's VGA */
    add_pci(t, "0000:17:00.0", "0x020700\n", "0x15b3\n", "0x1021\n");
    add_pci(t, "0000:07:00.0", "0x068000\n", "0x10de\n", "0x22a3\n"); /* NVSwitch */
    for (size_t i = 0; i < 8; i++) {
        char path[128];
        add_pci(t, addresses[i], "0x030200\n", "0x10de\n", "0x2330\n");
        snprintf(path, sizeof path, "sys/bus/pci/devices/%s/driver@", addresses[i]);
        if (i > 0)
            tree_add(t, path, "../../../../bus/pci/drivers/nvidia");
    }
    tree_add(t, "sys/class/", NULL);
#define H100(address) "{'pci':'" address "','vendor':'0x10de','device':'0x2330','driver':'nvidia'},"
    tree_expect(t, "GPUs",
                "[" H100("0000:1b:00.0") H100("0000:43:00.0") H100("0000:52:00.0") H100("0000:61:00.0")
                    H100("0000:9d:00.0") H100("0000:c3:00.0") H100("0000:d1:00.0")
                /* the one that its driver let go of */
                "{'pci':'0000:db:00.0','vendor':'0x10de','device':'0x2330'}]");
#undef H100
}

static void test_what_is_a_gpu(void **state)
{
    static const struct {
        const char *class, *vendor;
        bool is;
    } cases[] = {
        {"0x030200\n", "0x1ed5\n", true}, /* a 3D controller, whoever made it */
        {"0x030000\n", "0x10de\n", true},  {"0x038000\n", "0x1002\n", true},
        {"0x038000\n", "0x8086\n", true},  {"0x120000\n", "0x1002\n", true}, /* MI300X */
        {"0x120000\n", "0x8086\n", false}, {"0x030000\n", "0x1234\n", false},
        {"0x030000\n", "0x102b\n", false}, {"0x040300\n", "0x10de\n", false},
        {"display\n", "0x10de\n", false},
    };
    struct tree *t = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        add_pci(t, "0000:01:00.0", cases[i].class, cases[i].vendor, "0x0001\n");
        CLEANUP_JSON json_t *inventory = tree_inventory(t);
        if (json_array_size(json_object_get(inventory, "GPUs")) != cases[i].is)
            fail_msg("class %s of vendor %s", cases[i].class, cases[i].vendor);
    }
}

/* A bus with more functions than a frame could tell of. */
static void test_at_most_256_of_a_kind(void **state)
{
    struct tree *t = *state;
    for (unsigned i = 0; i < 300; i++) {
        char address[16];
        snprintf(address, sizeof address, "%04x:00:00.0", i);
        add_pci(t, address, "0x030200\n", "0x10de\n", "0x2330\n");
    }
    CLEANUP_JSON json_t *inventory = tree_inventory(t);
    const json_t *gpus = json_object_get(inventory, "GPUs");
    assert_int_equal(json_array_size(gpus), 256);
    assert_string_equal(json_string_value(json_object_get(json_array_get(gpus, 255), "pci")), "00ff:00:00.0");
}

/* ---- disks */

static const struct leaf disks[] = {
    {"sys/class/", NULL},
    {"sys/block/nvme0n1/device/model", "SAMSUNG MZWLO7T6HBLA-00A07              \n"},
    {"sys/block/nvme0n1/device/serial", "S7BUNE0W300001      \n"},
    {"sys/block/nvme0n1/size", "15002931888\n"},
    {"sys/block/nvme0n1/queue/rotational", "0\n"},
    {"sys/block/nvme0n1/hidden", "0\n"},
    /* the same disk's second path */
    {"sys/block/nvme0c1n1/device/model", "SAMSUNG MZWLO7T6HBLA-00A07\n"},
    {"sys/block/nvme0c1n1/hidden", "1\n"},
    {"sys/block/sda/device/vendor", "ATA     \n"},
    {"sys/block/sda/device/model", "ST4000NM0035-1V4\n"},
    {"sys/block/sda/size", "7814037168\n"},
    {"sys/block/sda/queue/rotational", "1\n"},
    /* virtio has its serial number beside it and no model */
    {"sys/block/vda/device/", NULL},
    {"sys/block/vda/serial", "root\n"},
    {"sys/block/vda/size", "2048\n"},
    {"sys/block/loop0/size", "8\n"},
    {"sys/block/ram0/size", "8\n"},
    {"sys/block/dm-0/size", "8\n"},
    {"sys/block/sr0/device/model", "DVD\n"},
};

static void test_disks(void **state)
{
    static const char page[] = "\x00\x80\x00\x14            ZC1A2B3C";
    struct tree *t = *state;
    TREE_ADD(t, disks);
    tree_add_bytes(t, "sys/block/sda/device/vpd_pg80", page, sizeof page - 1);
    tree_expect(
        t, "Disks",
        "[{'name':'nvme0n1','model':'SAMSUNG MZWLO7T6HBLA-00A07','serial':'S7BUNE0W300001',"
        "'size_mb':7325650,'rotational':false},"
        "{'name':'sda','model':'ST4000NM0035-1V4','serial':'ZC1A2B3C','size_mb':3815447,'rotational':true},"
        "{'name':'vda','serial':'root','size_mb':1}]");
}

/* ---- DMI */

static const struct leaf dmi[] = {
    {"sys/class/dmi/id/sys_vendor", "Supermicro\n"},
    {"sys/class/dmi/id/product_name", "SYS-821GE-TNHR\n"},
    {"sys/class/dmi/id/product_serial", "A123456X4700001\n"},
    {"sys/class/dmi/id/bios_vendor", "American Megatrends International, LLC.\n"},
    {"sys/class/dmi/id/bios_version", "2.1\n"},
    {"sys/class/dmi/id/bios_date", "01/30/2024\n"},
    {"sys/class/dmi/id/board_name", "X13DEG-OAD\n"},
    {"sys/class/dmi/id/board_serial", "UM238S000123\n"},
    {"sys/class/dmi/id/product_uuid", "4c4c4544-0039-3510-8052-b4c04f4e3332\n"},
};

static void test_dmi(void **state)
{
    struct tree *t = *state;
    TREE_ADD(t, dmi);
    tree_expect(t, "DMI",
                "{'vendor':'Supermicro','product':'SYS-821GE-TNHR','serial':'A123456X4700001',"
                "'bios_vendor':'American Megatrends International, LLC.','bios_version':'2.1',"
                "'bios_date':'01/30/2024','board':'X13DEG-OAD','board_serial':'UM238S000123',"
                "'uuid':'4c4c4544-0039-3510-8052-b4c04f4e3332'}");
}

/* As another user than root sees it. */
static void test_dmi_with_a_secret_serial_number(void **state)
{
    struct tree *t = *state;
    char path[64];
    tree_add(t, "sys/class/dmi/id/sys_vendor", "QEMU\n");
    tree_add(t, "sys/class/dmi/id/product_serial", "secret\n");
    snprintf(path, sizeof path, "%s/sys/class/dmi/id/product_serial", t->root);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(t->root, 0755), 0);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    json_t *inventory = tree_inventory(t);
    if (root)
        assert_int_equal(seteuid(0), 0);
    CLEANUP_FREE char *text = json_write(json_object_get(inventory, "DMI"));
    json_decref(inventory);
    assert_string_equal(text, "{\"vendor\":\"QEMU\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_nics),
        IN_TREE(test_speeds_that_are_none),
        IN_TREE(test_h100_node),
        IN_TREE(test_what_is_a_gpu),
        IN_TREE(test_at_most_256_of_a_kind),
        IN_TREE(test_disks),
        IN_TREE(test_dmi),
        IN_TREE(test_dmi_with_a_secret_serial_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
