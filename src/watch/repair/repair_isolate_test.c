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

static void test_a_remedy_that_disturbs_waits_for_the_end_of_work(void **state)
{
    trace_walk("waits");
}

static void test_work_that_does_not_end_in_time_is_a_person_s(void **state)
{
    trace_walk("deadlines");
}

static void test_a_degraded_node_is_drained_when_it_lasts(void **state)
{
    trace_walk("degraded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_remedy_that_disturbs_waits_for_the_end_of_work),
        cmocka_unit_test(test_work_that_does_not_end_in_time_is_a_person_s),
        cmocka_unit_test(test_a_degraded_node_is_drained_when_it_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
