/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/trace_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_way_that_is_refused_is_not_tried_again(void **state)
{
    trace_walk("ways");
}

static void test_the_same_part_twice_is_the_hardware(void **state)
{
    trace_walk("replaced");
}

static void test_what_has_to_follow_a_remedy_follows(void **state)
{
    trace_walk("followed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_way_that_is_refused_is_not_tried_again),
        cmocka_unit_test(test_the_same_part_twice_is_the_hardware),
        cmocka_unit_test(test_what_has_to_follow_a_remedy_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
