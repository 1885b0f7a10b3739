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

static void test_a_gentle_remedy_leaves_the_node_in_service(void **state)
{
    trace_walk("tended");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_gentle_remedy_leaves_the_node_in_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
