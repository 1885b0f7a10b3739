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

static void test_one_cause_on_many_nodes_isolates_nobody(void **state)
{
    trace_walk("shared");
}

static void test_links_of_a_dead_switch_are_no_shared_cause(void **state)
{
    trace_walk("shared_links");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_cause_on_many_nodes_isolates_nobody),
        cmocka_unit_test(test_links_of_a_dead_switch_are_no_shared_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
