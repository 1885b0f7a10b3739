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

static void test_a_maintenance_event_replaces_the_node(void **state)
{
    trace_walk("maintained");
}

static void test_a_maintenance_event_restarts_the_node(void **state)
{
    trace_walk("restarted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_maintenance_event_replaces_the_node),
        cmocka_unit_test(test_a_maintenance_event_restarts_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
