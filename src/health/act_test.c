/* SPDX-License-Identifier: Apache-2.0 */
#include "health/act.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_each_act_is_read_back(void **state)
{
    enum act a = ACT_WATCH;
    assert_false(act_parse("", &a));
    assert_false(act_parse("Reset", &a));
    assert_int_equal(a, ACT_WATCH);
    for (int i = 0; i < ACTS; i++) {
        assert_true(act_parse(act_name((enum act)i), &a));
        assert_int_equal(a, i);
        assert_true(strlen(act_what(a)) > 0);
    }
}

/* What asks for nothing ends with time; what asks for more than a reset ends with another boot alone. */
static void test_each_act_has_a_result_and_an_end(void **state)
{
    static const struct {
        enum act act;
        enum result result;
        enum act_end end;
    } rows[] = {{ACT_IGNORE, RESULT_INFO, ACT_ENDS_TIME},  {ACT_JOB, RESULT_INFO, ACT_ENDS_TIME},
                {ACT_WATCH, RESULT_WARN, ACT_ENDS_TIME},   {ACT_RESET, RESULT_FATAL, ACT_ENDS_REMEDY},
                {ACT_REBOOT, RESULT_FATAL, ACT_ENDS_BOOT}, {ACT_HARDWARE, RESULT_FATAL, ACT_ENDS_BOOT},
                {ACT_LOST, RESULT_LOST, ACT_ENDS_BOOT}};
    assert_int_equal(sizeof rows / sizeof *rows, ACTS);
    for (size_t i = 0; i < ACTS; i++) {
        assert_int_equal(act_result(rows[i].act), rows[i].result);
        assert_int_equal(act_end(rows[i].act), rows[i].end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_act_is_read_back),
        cmocka_unit_test(test_each_act_has_a_result_and_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
