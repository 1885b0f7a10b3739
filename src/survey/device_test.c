/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/tree_test.h"
#include "survey/part.h"

#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int root_of(const struct tree *t)
{
    int root = sys_open_root(t->root, NULL);
    assert_true(root >= 0);
    return root;
}

static const struct leaf net[] = {
    {"sys/class/net/lo/address", "0\n"},
    {"sys/class/net/eth1/device@", "../../../devices/pci/0000:02:00.0"},
    {"sys/class/net/eth0/device@", "../../../devices/pci/0000:03:00.0"},
    {"sys/class/net/eth2/device@", "../../../devices/pci/0000:02:00.0"},
    {"sys/class/net/vf0/device@", "../../../devices/pci/0000:02:00.1"},
    {"sys/class/net/virt/device@", "../../../devices/pci/0000:01:00.0/virtio0"},
    {"sys/class/net/bus/device@", "../../../devices/platform/nic.7"},
    {"sys/devices/pci/0000:01:00.0/uevent", "DRIVER=virtio-pci\nPCI_SLOT_NAME=0000:01:00.0\n"},
    {"sys/devices/pci/0000:01:00.0/virtio0/uevent", "DRIVER=virtio_net\n"},
    {"sys/devices/pci/0000:02:00.0/uevent", "PCI_SLOT_NAME=0000:02:00.0\n"},
    {"sys/devices/pci/0000:02:00.1/uevent", "PCI_SLOT_NAME=0000:02:00.1\n"},
    {"sys/devices/pci/0000:02:00.1/physfn@", "../0000:02:00.0"},
    {"sys/devices/pci/0000:03:00.0/uevent", "PCI_SLOT_NAME=0000:03:00.0\n"},
    {"sys/devices/platform/nic.7/uevent", "DRIVER=x\n"},
};

static void expect_devices(int root, bool bare, const char *want)
{
    struct devices d = {0};
    CLEANUP_TEXT struct text all = {0};
    assert_int_equal(devices_read(root, "sys/class/net", bare, &d), 0);
    for (size_t i = 0; i < d.n; i++)
        text_printf(&all, "%s at %s\n", d.list[i].name, d.list[i].address);
    assert_string_equal(all.s, want);
    devices_fini(&d);
    assert_int_equal(d.n, 0);
}

static void test_whole_devices_are_listed_by_their_addresses(void **state)
{
    struct tree *t = *state;
    TREE_ADD(t, net);
    CLEANUP_FD int root = root_of(t);
    expect_devices(root, false,
                   "virt at 0000:01:00.0\neth1 at 0000:02:00.0\neth2 at 0000:02:00.0\n"
                   "eth0 at 0000:03:00.0\nbus at nic.7\n");
    expect_devices(root, true,
                   "virt at 0000:01:00.0\neth1 at 0000:02:00.0\neth2 at 0000:02:00.0\n"
                   "eth0 at 0000:03:00.0\nlo at lo\nbus at nic.7\n");
}

static void test_ports_of_one_card_count_once(void **state)
{
    struct tree *t = *state;
    struct devices d = {0};
    assert_int_equal(devices_count(&d), 0);
    TREE_ADD(t, net);
    CLEANUP_FD int root = root_of(t);
    assert_int_equal(devices_read(root, "sys/class/net", false, &d), 0);
    assert_int_equal(d.n, 5);
    assert_int_equal(devices_count(&d), 4);
    devices_fini(&d);
}

static void test_no_class_is_no_device_where_sys_is_mounted(void **state)
{
    struct tree *t = *state;
    struct devices d = {0};
    CLEANUP_FD int root = root_of(t);
    assert_int_equal(devices_read(root, "sys/class/cxi", true, &d), -ENOENT);
    tree_add(t, "sys/class/nvme", "a file");
    assert_int_equal(devices_read(root, "sys/class/cxi", true, &d), 0);
    assert_int_equal(d.n, 0);
    assert_int_equal(devices_read(root, "sys/class/nvme", true, &d), -ENOTDIR);
}

static void expect_model(int dir, const char *want)
{
    CLEANUP_NOTES struct notes n = {0};
    device_model(&n, dir, "nic.a.model");
    const struct note *model = notes_find(&n, "nic.a.model");
    assert_non_null(model);
    if (want)
        assert_string_equal(model->value, want);
    assert_int_equal(model->state, want ? COMPONENT_VALUE : COMPONENT_ABSENT);
}

static void test_a_model_is_its_numbers(void **state)
{
    struct tree *t = *state;
    CLEANUP_FD int dir = root_of(t);
    expect_model(dir, NULL);
    expect_model(-1, NULL);
    tree_add(t, "device", "0x1021\n");
    expect_model(dir, NULL); /* of no maker */
    tree_add(t, "vendor", "0x15b3\n");
    expect_model(dir, "15b3:1021");
    tree_add(t, "subsystem_vendor", "103c\n");
    expect_model(dir, "15b3:1021 103c");
    tree_add(t, "subsystem_device", "0x0041\n");
    expect_model(dir, "15b3:1021 103c:0041");
}

static bool count_line(const char *line, void *arg)
{
    size_t *n = arg;
    (*n)++;
    return strcmp(line, "stop") != 0;
}

static void test_a_stream_has_a_limit(void **state)
{
    struct tree *t = *state;
    size_t n = 0;
    CLEANUP_FD int root = root_of(t);
    assert_int_equal(stream_lines(root, "file", 8, count_line, &n), -ENOENT);
    tree_add(t, "file", "one\ntwo\n");
    assert_int_equal(stream_lines(root, "file", 8, count_line, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(stream_lines(root, "file", 7, count_line, &n), -EFBIG);
    assert_int_equal(n, 2); /* nothing of it was told */
    tree_add(t, "file", "stop\nmore\nlast");
    assert_int_equal(stream_lines(root, "file", 99, count_line, &n), 0);
    assert_int_equal(n, 3);
    tree_add(t, "file", "one\nlast");
    assert_int_equal(stream_lines(root, "file", 99, count_line, &n), 0);
    assert_int_equal(n, 5);
    tree_add(t, "dir/", NULL);
    assert_int_equal(stream_lines(root, "dir", 99, count_line, &n), -EISDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_whole_devices_are_listed_by_their_addresses),
        IN_TREE(test_ports_of_one_card_count_once),
        IN_TREE(test_no_class_is_no_device_where_sys_is_mounted),
        IN_TREE(test_a_model_is_its_numbers),
        IN_TREE(test_a_stream_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
