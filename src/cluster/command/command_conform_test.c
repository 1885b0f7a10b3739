/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command_conform.h"

#include "cluster/command/shape_check_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_each_command_is_copied_and_compared_whole(void **state)
{
    SHAPE_CHECK(seen);
    SHAPE_CHECK(drift);
    SHAPE_CHECK(restored);
    SHAPE_CHECK(overdue);
    SHAPE_CHECK(reboot);
    SHAPE_CHECK(revert);
    SHAPE_CHECK(rollout_begun);
    SHAPE_CHECK(rollout_end);
}

static void test_small_members_are_compared(void **state)
{
    SHAPE_SEES(drift, drift_command, severity);
    SHAPE_SEES(drift, drift_command, braked);
    SHAPE_SEES(restored, restored_command, rested);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_command_is_copied_and_compared_whole),
        cmocka_unit_test(test_small_members_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
