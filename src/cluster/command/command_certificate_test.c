/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command_certificate.h"

#include "cluster/command/shape_check_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_each_command_is_copied_and_compared_whole(void **state)
{
    SHAPE_CHECK(token_made);
    SHAPE_CHECK(token_use);
    SHAPE_CHECK(token_ended);
    SHAPE_CHECK(certificate);
    SHAPE_CHECK(renew);
    SHAPE_CHECK(used);
    SHAPE_CHECK(revoke);
}

static void test_small_members_are_compared(void **state)
{
    SHAPE_SEES(token_made, token_create_command, again);
    SHAPE_SEES(revoke, revoke_command, one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_command_is_copied_and_compared_whole),
        cmocka_unit_test(test_small_members_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
