/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_parts_that_every_kernel_has_are_never_absent(void **state)
{
    static const char *const names[] = {"kernel.release", "kernel.version", "kernel.arch", "kernel.cmdline"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        machine_expect(*state, names[i], "? No such file or directory");
    tree_add(*state, "proc/sys/kernel/osrelease", "\n");
    machine_expect(*state, "kernel.release", "? No such file or directory"); /* an empty one says as little */
}

static void test_the_kernel_is_its_release_and_its_parameters(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/sys/kernel/osrelease", "6.1.0\n");
    tree_add(t, "proc/sys/kernel/version", "#1  SMP\n");
    tree_add(t, "proc/sys/kernel/arch", "aarch64\n");
    tree_add(t, "proc/cmdline", "BOOTIF=01-b8 nfsroot=10.1.0.2:/images/gx007/root  iommu=pt\tquiet\n");
    machine_expect(t, "kernel.release", "6.1.0");
    machine_expect(t, "kernel.version", "#1 SMP");
    machine_expect(t, "kernel.arch", "aarch64");
    struct components c = {0};
    machine_survey(t, &c);
    const char *said = machine_say(&c, "kernel.cmdline");
    assert_non_null(strstr(said, "iommu=pt quiet"));
    assert_null(strstr(said, "gx007"));
    components_fini(&c);
    tree_add(t, "proc/cmdline", "");
    machine_expect(t, "kernel.cmdline", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_parts_that_every_kernel_has_are_never_absent),
        IN_TREE(test_the_kernel_is_its_release_and_its_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
