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

static void test_a_node_that_stays_silent_is_lost(void **state)
{
    trace_walk("lost");
}

static void test_something_else_may_explain_the_silence(void **state)
{
    trace_walk("lost_not");
}

static void test_a_lost_node_that_is_heard_again_returns(void **state)
{
    trace_walk("lost_returns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_that_stays_silent_is_lost),
        cmocka_unit_test(test_something_else_may_explain_the_silence),
        cmocka_unit_test(test_a_lost_node_that_is_heard_again_returns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
