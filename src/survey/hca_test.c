/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void copy_file(struct tree *t, const char *device, const char *file)
{
    char from[512], to[128], text[64];
    snprintf(from, sizeof from, "%s/infiniband/%s/%s", TEST_DATA, device, file);
    snprintf(to, sizeof to, "sys/class/infiniband/%s/%s", device, file);
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text);
    assert_true(n > 0);
    tree_add_bytes(t, to, text, (size_t)n);
    close(fd);
}

/* Of a real machine, without the links to the bus: the adapters go by their names then. */
static void real_infiniband_adapters_are_read(void **state)
{
    static const char *const devices[] = {"mlx5_0", "mlx5_1", "mlx5_4", "mlx5_5",     "mlx5_6",
                                          "mlx5_7", "mlx5_8", "mlx5_9", "mlx5_bond_0"};
    for (size_t i = 0; i < 9; i++) {
        copy_file(*state, devices[i], "fw_ver");
        copy_file(*state, devices[i], "hca_type");
        copy_file(*state, devices[i], "board_id");
    }
    struct components c = {0};
    machine_survey(*state, &c);
    assert_string_equal(machine_say(&c, "hca.count"), "9");
    assert_string_equal(machine_say(&c, "hca.mlx5_0.firmware"), "28.41.1000");
    assert_string_equal(machine_say(&c, "hca.mlx5_9.type"), "MT4129");
    assert_string_equal(machine_say(&c, "hca.mlx5_bond_0.board"), "MT_0000000884");
    assert_string_equal(machine_say(&c, "hca.mlx5_bond_0.firmware"), "32.38.3056");
    components_fini(&c);
}

static void test_a_slingshot_card_s_firmware(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/infiniband@", "infiniband");
    machine_expect(t, "hca.*", "? /sys/class/infiniband: Too many levels of symbolic links");
    machine_expect(t, "cxi.count", "0");
    tree_add(t, "sys/class/cxi/cxi0/device@", "../../../devices/pci/0000:21:00.0");
    tree_add(t, "sys/devices/pci/0000:21:00.0/uevent", "PCI_SLOT_NAME=0000:21:00.0\n");
    tree_add(t, "sys/devices/pci/0000:21:00.0/vendor", "0x17db\n");
    tree_add(t, "sys/devices/pci/0000:21:00.0/device", "0x0501\n");
    machine_expect(t, "cxi.0000:21:00.0.firmware", "-");
    tree_add(t, "sys/devices/pci/0000:21:00.0/uc/version", "1.5.41\n");
    machine_expect(t, "cxi.0000:21:00.0.firmware", "1.5.41");
    tree_add(t, "sys/devices/pci/0000:21:00.0/uc/qspi_blob_version", "1.5.53\n");
    machine_expect(t, "cxi.0000:21:00.0.firmware", "1.5.53"); /* which has the other one in it */
    machine_expect(t, "cxi.0000:21:00.0.model", "17db:0501");
    machine_expect(t, "cxi.count", "1");
}

static void test_a_class_of_cards_that_cannot_be_read_is_unknown(void **state)
{
    tree_add(*state, "sys/class/cxi@", "cxi");
    machine_expect(*state, "cxi.*", "? /sys/class/cxi: Too many levels of symbolic links");
    machine_expect(*state, "cxi.count", "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(real_infiniband_adapters_are_read),
        IN_TREE(test_a_slingshot_card_s_firmware),
        IN_TREE(test_a_class_of_cards_that_cannot_be_read_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
