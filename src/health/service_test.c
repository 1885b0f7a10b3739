/* SPDX-License-Identifier: Apache-2.0 */
#include "health/service.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_a_node_that_is_only_observed_takes_work(void **state)
{
    for (int r = 0; r < RESULTS; r++) {
        assert_true(service_of((enum result)r, false)->takes_work);
        assert_int_equal(service_of((enum result)r, false)->drained, DRAINED_NEVER);
    }
}

static void test_only_a_fatal_fault_takes_no_work(void **state)
{
    for (int r = 0; r < RESULTS; r++) {
        const struct service *s = service_of((enum result)r, true);
        assert_int_equal(s->takes_work, r < RESULT_FATAL);
        assert_int_equal(s->drained, r >= RESULT_FATAL      ? DRAINED_AT_ONCE
                                     : r == RESULT_DEGRADED ? DRAINED_LASTING
                                                            : DRAINED_NEVER);
    }
}

static void test_nothing_follows_from_nothing(void **state)
{
    assert_string_equal(service_of(RESULT_OK, true)->what, "nothing is wrong");
    assert_string_equal(service_of(RESULT_INFO, false)->what, "nothing is wrong");
    assert_string_equal(service_of(RESULT_WARN, false)->what, "the fault is reported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_that_is_only_observed_takes_work),
        cmocka_unit_test(test_only_a_fatal_fault_takes_no_work),
        cmocka_unit_test(test_nothing_follows_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
