/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command_controller.h"

#include "cluster/command/shape_check_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_the_command_is_copied_and_compared_whole(void **state)
{
    SHAPE_CHECK(controller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_command_is_copied_and_compared_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
