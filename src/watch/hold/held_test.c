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

static void test_nothing_is_done_to_a_node_that_somebody_holds(void **state)
{
    trace_walk("held");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_done_to_a_node_that_somebody_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
