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

static void test_a_fault_that_comes_back_gets_another_remedy(void **state)
{
    trace_walk("recurs");
}

static void test_a_code_that_comes_back_is_worse(void **state)
{
    trace_walk("recurrence");
}

static void test_a_fault_that_counts_as_the_same_again(void **state)
{
    trace_walk("counted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fault_that_comes_back_gets_another_remedy),
        cmocka_unit_test(test_a_code_that_comes_back_is_worse),
        cmocka_unit_test(test_a_fault_that_counts_as_the_same_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
