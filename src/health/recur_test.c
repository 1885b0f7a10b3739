/* SPDX-License-Identifier: Apache-2.0 */
#include "health/recur.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct recurrence at_hour(int hour, const char *code, const char *device, enum result r)
{
    return (struct recurrence){.code = code,
                               .device = device,
                               .text = "",
                               .result = r,
                               .at = {span_s(INT64_C(3600) * (hour + 100000)).ns},
                               .times = 1};
}

static const char *judged(const struct recurrence *now, const struct recurrence *others, size_t n)
{
    const struct recur_row *row = recur_judge(now, others, n);
    return row ? row->codes : "";
}

static void once_is_no_recurrence(void **state)
{
    for (size_t i = 0; recur_row(i); i++) {
        struct recurrence now = at_hour(0, recur_row(i)->codes, "gpu 0", RESULT_LOST);
        assert_string_equal(judged(&now, NULL, 0), "");
    }
}

static void twice_on_one_device_is_the_hardware(void **state)
{
    struct recurrence before = at_hour(0, "xid.79", "gpu 0", RESULT_LOST);
    struct recurrence now = at_hour(700, "xid.79", "gpu 0", RESULT_LOST);
    const struct recur_row *row = recur_judge(&now, &before, 1);
    assert_non_null(row);
    assert_int_equal(row->act, ACT_HARDWARE);
    assert_int_equal(row->result, RESULT_FATAL);
    before.device = "gpu 1";
    assert_string_equal(judged(&now, &before, 1), "");
}

static void what_is_long_ago_does_not_count(void **state)
{
    struct recurrence before = at_hour(0, "xid.74", "gpu 0", RESULT_FATAL);
    struct recurrence now = at_hour(24, "xid.74", "gpu 0", RESULT_FATAL);
    assert_string_equal(judged(&now, &before, 1), "xid.74");
    now = at_hour(25, "xid.74", "gpu 0", RESULT_FATAL);
    assert_string_equal(judged(&now, &before, 1), "");
}

static void one_that_came_often_counts_so_often(void **state)
{
    struct recurrence now = at_hour(0, "xid.79", "gpu 0", RESULT_LOST);
    now.times = 2;
    assert_string_equal(judged(&now, NULL, 0), "xid.79");
}

static void another_code_before_it(void **state)
{
    struct recurrence before = at_hour(0, "xid.48", "gpu 0", RESULT_FATAL);
    struct recurrence now = at_hour(100, "xid.64", "gpu 0", RESULT_FATAL);
    assert_string_equal(judged(&now, &before, 1), "xid.64");
    struct recurrence other = at_hour(100, "xid.63", "gpu 0", RESULT_DEGRADED);
    assert_string_equal(judged(&other, &before, 1), "");
    now.times = 2; /* itself is not what has to come before it */
    assert_string_equal(judged(&now, NULL, 0), "");
}

static void five_fatal_ones_of_any_code(void **state)
{
    const char *const codes[] = {"xid.46", "xid.62", "xid.95", "xid.119"};
    struct recurrence before[4], now = at_hour(5, "xid.140", "gpu 0", RESULT_FATAL);
    for (int i = 0; i < 4; i++)
        before[i] = at_hour(i, codes[i], "gpu 0", RESULT_FATAL);
    assert_string_equal(judged(&now, before, 4), "xid.*");
    before[2].result = RESULT_WARN;
    assert_string_equal(judged(&now, before, 4), "");
}

static void on_all_devices_it_is_the_job(void **state)
{
    struct recurrence before[2] = {at_hour(0, "xid.31", "gpu 0", RESULT_WARN),
                                   at_hour(1, "xid.31", "gpu 3", RESULT_WARN)};
    struct recurrence now = at_hour(2, "xid.31", "gpu 0", RESULT_WARN);
    assert_string_equal(judged(&now, before, 1), "xid.31");
    assert_string_equal(judged(&now, before, 2), "");
    before[1].at.ns -= span_s(30 * 3600).ns;
    assert_string_equal(judged(&now, before, 2), "xid.31");
}

static void in_the_same_place(void **state)
{
    struct recurrence before = at_hour(0, "xid.13", "gpu 0", RESULT_WARN);
    struct recurrence now = at_hour(2, "xid.13", "gpu 0", RESULT_WARN);
    before.text = "Graphics SM Warp Exception on (GPC 1, TPC 2, SM 0): Out Of Range Address";
    now.text = "Graphics SM Warp Exception on (GPC 1, TPC 2, SM 1): Misaligned Address";
    assert_string_equal(judged(&now, &before, 1), "xid.13");
    now.text = "Graphics SM Warp Exception on (GPC 1, TPC 21, SM 1): Misaligned Address";
    assert_string_equal(judged(&now, &before, 1), "");
    now.text = before.text = "no place";
    assert_string_equal(judged(&now, &before, 1), "");
}

static void each_row_can_come_about(void **state)
{
    for (size_t i = 0; recur_row(i); i++) {
        const struct recur_row *row = recur_row(i);
        assert_true(row->times >= 2 && row->within_h > 0 && *row->what && *row->source);
        assert_true(result_fails(row->result) && row->result >= row->least);
        struct recurrence now = at_hour(0, row->codes, "gpu 0", row->least), before = now;
        now.text = before.text = "GPC 1, TPC 2";
        before.times = row->times - 1;
        if (row->before)
            before.code = row->before;
        assert_ptr_equal(recur_judge(&now, &before, 1), row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_is_no_recurrence),
        cmocka_unit_test(twice_on_one_device_is_the_hardware),
        cmocka_unit_test(what_is_long_ago_does_not_count),
        cmocka_unit_test(one_that_came_often_counts_so_often),
        cmocka_unit_test(another_code_before_it),
        cmocka_unit_test(five_fatal_ones_of_any_code),
        cmocka_unit_test(on_all_devices_it_is_the_job),
        cmocka_unit_test(in_the_same_place),
        cmocka_unit_test(each_row_can_come_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
