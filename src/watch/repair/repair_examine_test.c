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

static void test_an_examination_has_its_deadline(void **state)
{
    trace_walk("examined");
}

static void test_a_node_that_does_not_bear_its_examination(void **state)
{
    trace_walk("booted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_examination_has_its_deadline),
        cmocka_unit_test(test_a_node_that_does_not_bear_its_examination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
