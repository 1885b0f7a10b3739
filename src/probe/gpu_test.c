/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "probe/tree_test.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

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

static void test_class_and_vendor_make_a_gpu(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_h100_node),
        IN_TREE(test_class_and_vendor_make_a_gpu),
        IN_TREE(test_at_most_256_of_a_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
