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

static void test_what_is_unknown_opens_and_ends_nothing(void **state)
{
    trace_walk("unknown");
}

static void test_what_is_told_once_more_is_no_new_evidence(void **state)
{
    trace_walk("looked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_unknown_opens_and_ends_nothing),
        cmocka_unit_test(test_what_is_told_once_more_is_no_new_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
