/* SPDX-License-Identifier: Apache-2.0 */
#include "health/blame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_only_causes_of_the_nodes_own_count(void **state)
{
    assert_int_equal(BLAME_NODE, 0); /* what nothing is known of */
    assert_true(blame_counts(BLAME_NODE));
    assert_false(blame_counts(BLAME_PROGRAM));
    assert_false(blame_counts(BLAME_OUTSIDE));
    assert_string_equal(blame_name(BLAME_PROGRAM), "program");
    assert_string_equal(blame_what(BLAME_PROGRAM), "a user's program, on a healthy node");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_causes_of_the_nodes_own_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
