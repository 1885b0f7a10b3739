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

static void test_a_boot_that_nobody_asked_for_is_a_warning_and_the_second_takes_the_node_out(void **state)
{
    trace_walk("looped");
}

static void test_a_boot_that_somebody_asked_for_is_none(void **state)
{
    trace_walk("looped_asked");
}

static void test_a_boot_for_a_remedy_is_none(void **state)
{
    trace_walk("looped_done");
}

static void test_boots_count_after_a_remedy_and_under_another_controller(void **state)
{
    trace_walk("looped_remedied");
}

static void test_a_node_that_boots_and_boots_is_power_cycled_twice(void **state)
{
    trace_walk("looped_lost");
}

static void test_many_boots_at_once_blame_nobody(void **state)
{
    trace_walk("looped_many");
}

static void test_an_incident_of_a_lost_node_has_how_its_boot_ended(void **state)
{
    trace_walk("lost_why");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_boot_that_nobody_asked_for_is_a_warning_and_the_second_takes_the_node_out),
        cmocka_unit_test(test_a_boot_that_somebody_asked_for_is_none),
        cmocka_unit_test(test_a_boot_for_a_remedy_is_none),
        cmocka_unit_test(test_boots_count_after_a_remedy_and_under_another_controller),
        cmocka_unit_test(test_a_node_that_boots_and_boots_is_power_cycled_twice),
        cmocka_unit_test(test_many_boots_at_once_blame_nobody),
        cmocka_unit_test(test_an_incident_of_a_lost_node_has_how_its_boot_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
