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

static void test_a_remedy_is_judged_by_its_purpose(void **state)
{
    trace_walk("judged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_remedy_is_judged_by_its_purpose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
