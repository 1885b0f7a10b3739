/* SPDX-License-Identifier: Apache-2.0 */
#include "health/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_each_name_is_read_back(void **state)
{
    enum result r;
    for (int i = 0; i < RESULTS; i++) {
        assert_true(result_parse(result_name((enum result)i), &r));
        assert_int_equal(r, i);
        assert_true(strlen(result_what((enum result)i)) > 0);
    }
}

static void test_another_name_leaves_it_as_it_was(void **state)
{
    static const char *const others[] = {"", "OK", "fata", "fatal "};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        enum result r = RESULT_WARN;
        assert_false(result_parse(others[i], &r));
        assert_int_equal(r, RESULT_WARN);
    }
}

/* Records and findings of other versions rest on the order. */
static void test_a_later_one_is_worse(void **state)
{
    static const enum result order[] = {RESULT_UNSUPPORTED, RESULT_UNKNOWN,  RESULT_OK,    RESULT_INFO,
                                        RESULT_WARN,        RESULT_DEGRADED, RESULT_FATAL, RESULT_LOST};
    for (int i = 0; i < RESULTS; i++) {
        assert_int_equal(order[i], i);
        assert_int_equal(result_fails(order[i]), order[i] >= RESULT_DEGRADED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_name_is_read_back),
        cmocka_unit_test(test_another_name_leaves_it_as_it_was),
        cmocka_unit_test(test_a_later_one_is_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
