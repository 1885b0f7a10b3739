/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_file_that_cannot_be_read_is_unknown(void **state)
{
    struct tree *t = *state;
    char path[128];
    machine_add(t, "gpu.tree");
    snprintf(path, sizeof path, "%s/sys/class/dmi/id/bios_version", t->root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0); /* reads as EISDIR, for root as well */
    machine_expect(t, "bios.version", "? Is a directory");
    machine_expect(t, "bios.date", "09/30/2024");
}

/* Two boards of which nobody says anything are not the same for that. */
static void an_empty_field_of_the_firmware_is_unknown(void **state)
{
    tree_add(*state, "sys/class/dmi/id/board_version", " \n");
    machine_expect(*state, "board.version", "? it is empty");
    machine_expect(*state, "board.vendor", "-");
}

static void a_bmc_without_its_driver_is_unknown(void **state)
{
    tree_add(*state, "sys/class/dmi/id/board_name", "x\n");
    machine_expect(*state, "bmc.firmware", "-");
    tree_add(*state, "sys/bus/acpi/devices/IPI0001:00/hid", "IPI0001\n");
    machine_expect(*state, "bmc.firmware", "? there is one, and the kernel's IPMI driver is not loaded");
}

static void text_that_is_none_is_unknown(void **state)
{
    machine_add(*state, "gpu.tree");
    tree_add(*state, "sys/class/dmi/id/board_name", "\xff\xfe\n");
    machine_expect(*state, "board.name", "? the value is not UTF-8");
}

static void test_the_board_is_unknown_where_its_directory_cannot_be_read(void **state)
{
    struct tree *t = *state;
    machine_expect(t, "bios.*", "? /sys/class/dmi/id: No such file or directory");
    machine_expect(t, "bmc.*", "? /sys/class: No such file or directory");
    tree_add(t, "sys/class/", NULL);
    machine_expect(t, "bios.vendor", "-"); /* a machine without DMI */
    machine_expect(t, "bmc.aux", "-");
    tree_add(t, "sys/class/dmi/id", "a file");
    machine_expect(t, "board.*", "? /sys/class/dmi/id: Not a directory");
}

static void test_a_bmc_s_firmware_is_read(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/ipmi/ipmi0/device/bmc/firmware_revision", "1.3\n");
    machine_expect(t, "bmc.firmware", "1.3");
    machine_expect(t, "bmc.product", "-");
    tree_add(t, "sys/class/ipmi/ipmi0/device/bmc/product_id/", NULL);
    machine_expect(t, "bmc.product", "? Is a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(an_empty_field_of_the_firmware_is_unknown),
        IN_TREE(a_bmc_without_its_driver_is_unknown),
        IN_TREE(a_file_that_cannot_be_read_is_unknown),
        IN_TREE(text_that_is_none_is_unknown),
        IN_TREE(test_the_board_is_unknown_where_its_directory_cannot_be_read),
        IN_TREE(test_a_bmc_s_firmware_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
