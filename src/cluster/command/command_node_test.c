/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command_node.h"

#include "cluster/command/shape_check_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_each_command_is_copied_and_compared_whole(void **state)
{
    SHAPE_CHECK(release);
    SHAPE_CHECK(edit);
    SHAPE_CHECK(forget);
    SHAPE_CHECK(admit);
    SHAPE_CHECK(machine);
    SHAPE_CHECK(bmc);
    SHAPE_CHECK(window);
    SHAPE_CHECK(instance);
    SHAPE_CHECK(effect);
}

static void test_small_members_are_compared(void **state)
{
    SHAPE_SEES(forget, forget_command, force);
    SHAPE_SEES(instance, instance_command, act);
    SHAPE_SEES(instance, instance_command, examine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_command_is_copied_and_compared_whole),
        cmocka_unit_test(test_small_members_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
