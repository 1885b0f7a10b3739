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

static void test_a_reboot_cures(void **state)
{
    trace_walk("reboot_cures");
}

static void test_a_reboot_that_hangs_is_its_bmc_s(void **state)
{
    trace_walk("reboot_hangs");
}

static void test_the_time_to_begin_runs_from_the_approval(void **state)
{
    trace_walk("approved");
}

static void test_a_remedy_refused_at_once_costs_no_try(void **state)
{
    trace_walk("refused");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reboot_cures),
        cmocka_unit_test(test_a_reboot_that_hangs_is_its_bmc_s),
        cmocka_unit_test(test_the_time_to_begin_runs_from_the_approval),
        cmocka_unit_test(test_a_remedy_refused_at_once_costs_no_try),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
