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

static void test_an_override_keeps_its_time_when_the_clock_is_set(void **state)
{
    trace_walk("clock");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_override_keeps_its_time_when_the_clock_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
