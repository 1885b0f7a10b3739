/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe.h"
#include "probe/tree_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

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

static void test_temporary_disk_of_the_directory_that_was_asked_for(void **state)
{
    struct tree *t = *state;
    json_t *out = NULL;
    tree_add(t, "tmp/", NULL);
    CLEANUP_JSON json_t *with = tree_inventory(t);
    assert_true(json_integer_value(json_object_get(with, "TmpDisk")) > 0);

    assert_int_equal(probe_inventory(t->root, "/scratch", &out, NULL), 0);
    CLEANUP_JSON json_t *without = out;
    assert_null(json_object_get(without, "TmpDisk"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_disks),
        IN_TREE(test_temporary_disk_of_the_directory_that_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
