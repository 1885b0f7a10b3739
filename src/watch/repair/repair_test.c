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

static void test_a_repair_goes_on_under_another_controller(void **state)
{
    trace_walk("restart");
}

static void test_actions_of_people_come_first(void **state)
{
    trace_walk("people");
}

static void test_a_node_in_the_queue_waits_for_a_person(void **state)
{
    trace_walk("queue");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_repair_goes_on_under_another_controller),
        cmocka_unit_test(test_actions_of_people_come_first),
        cmocka_unit_test(test_a_node_in_the_queue_waits_for_a_person),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
