/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_drives_of_this_machine_are_read(void **state)
{
    struct tree *t = *state;
    machine_expect(t, "nvme.count", "-");
    tree_add(t, "sys/class/", NULL);
    machine_expect(t, "nvme.count", "0");
    tree_add(t, "sys/class/nvme/nvme0/model", "SAMSUNG  MZQL2  \n");
    tree_add(t, "sys/class/nvme/nvme0/firmware_rev", "GDC5602Q\n");
    tree_add(t, "sys/class/nvme/nvme1/model", "over the network\n");
    tree_add(t, "sys/class/nvme/nvme1/transport", "tcp\n");
    tree_add(t, "sys/class/nvme/nvme2/transport", "pcie\n");
    machine_expect(t, "nvme.count", "2");
    machine_expect(t, "nvme.nvme0.model", "SAMSUNG MZQL2");
    machine_expect(t, "nvme.nvme0.firmware", "GDC5602Q");
    machine_expect(t, "nvme.nvme1.model", "-");
    machine_expect(t, "nvme.nvme2.model", "-");
}

static void test_a_class_that_cannot_be_read_is_unknown(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/nvme@", "nvme");
    machine_expect(t, "nvme.*", "? /sys/class/nvme: Too many levels of symbolic links");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_drives_of_this_machine_are_read),
        IN_TREE(test_a_class_that_cannot_be_read_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
