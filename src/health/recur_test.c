/* SPDX-License-Identifier: Apache-2.0 */
#include "health/recur.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct recurrence at_hour(int hour, const char *code, const char *device, enum result r)
{
    return (struct recurrence){.code = code,
                               .device = device,
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

static void a_fault_of_long_ago_does_not_count(void **state)
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

static void on_all_devices_it_is_the_program(void **state)
{
    struct recurrence before[2] = {at_hour(0, "xid.31", "gpu 0", RESULT_WARN),
                                   at_hour(1, "xid.31", "gpu 3", RESULT_WARN)};
    struct recurrence now = at_hour(2, "xid.31", "gpu 0", RESULT_WARN);
    now.alone = before[0].alone = before[1].alone = true;
    assert_string_equal(judged(&now, before, 1), "xid.31");
    assert_string_equal(judged(&now, before, 2), "");
    before[1].at.ns -= span_s(30 * 3600).ns;
    assert_string_equal(judged(&now, before, 2), "xid.31");
}

/* A program that uses one GPU has no other that could be well. */
static void nothing_follows_while_no_other_device_is_known_to_be_well(void **state)
{
    struct recurrence before = at_hour(0, "xid.13", "gpu 0", RESULT_WARN);
    struct recurrence now = at_hour(2, "xid.13", "gpu 0", RESULT_WARN);
    before.times = 1000;
    assert_string_equal(judged(&now, &before, 1), "");
    before.alone = true;
    assert_string_equal(judged(&now, &before, 1), "");
    now.alone = true;
    assert_string_equal(judged(&now, &before, 1), "xid.13");
}

/* --- the general rule ----------------------------------------------------------------------------- */

enum { TIMES_MAX = 40, DAYS = 60 };

/* When it was seen, in seconds, in order. */
struct history {
    size_t n;
    int64_t at[TIMES_MAX + 1];
};

static uint32_t sum_at(const struct history *h, int64_t second)
{
    uint32_t sum = 0;
    int64_t step = 0;
    for (size_t i = 0; i < h->n && h->at[i] <= second; i++) {
        int64_t now = recur_step((struct wall){span_s(h->at[i]).ns});
        sum = recur_add(recur_fade(sum, step, now), 1);
        step = now;
    }
    return recur_fade(sum, step, recur_step((struct wall){span_s(second).ns}));
}

static uint64_t random_below(uint64_t below)
{
    static uint64_t x = 88172645463325252U;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x % below;
}

static int by_time(const void *a, const void *b)
{
    return (*(const int64_t *)a > *(const int64_t *)b) - (*(const int64_t *)a < *(const int64_t *)b);
}

static void make_history(struct history *h)
{
    int64_t within = random_below(2) ? 86400 * DAYS : 100; /* seldom, or in one burst */
    h->n = random_below(TIMES_MAX);
    for (size_t i = 0; i < h->n; i++)
        h->at[i] = (int64_t)random_below((uint64_t)within);
    qsort(h->at, h->n, sizeof h->at[0], by_time);
}

static void one_time_more_never_lowers_it(void **state)
{
    for (int round = 0; round < 2000; round++) {
        struct history few, more;
        make_history(&few);
        more = few;
        more.at[more.n++] = (int64_t)random_below(86400 * DAYS);
        qsort(more.at, more.n, sizeof more.at[0], by_time);
        for (int64_t day = 0; day < 2 * DAYS; day++) {
            uint32_t a = sum_at(&few, day * 86400), b = sum_at(&more, day * 86400);
            assert_true(a <= b);
            assert_true(recur_raise(RESULT_WARN, a) <= recur_raise(RESULT_WARN, b));
            assert_true(recur_raise(RESULT_DEGRADED, a) <= recur_raise(RESULT_DEGRADED, b));
        }
    }
}

static void as_many_closer_together_are_never_less(void **state)
{
    for (int round = 0; round < 2000; round++) {
        struct history far, close;
        make_history(&far);
        if (far.n == 0)
            continue;
        close = far;
        int64_t end = far.at[far.n - 1];
        for (size_t i = 0; i < close.n; i++)
            close.at[i] = end - (end - far.at[i]) / (int64_t)(1 + random_below(1000));
        qsort(close.at, close.n, sizeof close.at[0], by_time);
        assert_true(sum_at(&far, end) <= sum_at(&close, end));
    }
}

static void raised_by(enum result is, int times, int64_t apart_s, enum result to)
{
    struct history h = {0};
    for (; h.n < (size_t)times; h.n++)
        h.at[h.n] = (int64_t)h.n * apart_s;
    assert_int_equal(recur_raise(is, sum_at(&h, h.at[h.n - 1])), to);
}

static void so_many_are_too_many(void **state)
{
    raised_by(RESULT_WARN, 2, 1, RESULT_WARN);
    raised_by(RESULT_WARN, 3, 1, RESULT_DEGRADED);
    raised_by(RESULT_WARN, 24, 4, RESULT_DEGRADED); /* by its number alone it is never fatal */
    raised_by(RESULT_WARN, 3, 3 * 86400, RESULT_DEGRADED);
    raised_by(RESULT_WARN, 3, 7 * 86400, RESULT_WARN);
    raised_by(RESULT_WARN, 4, 7 * 86400, RESULT_DEGRADED);
    raised_by(RESULT_DEGRADED, 4, 1, RESULT_DEGRADED);
    raised_by(RESULT_DEGRADED, 5, 1, RESULT_FATAL);
    raised_by(RESULT_DEGRADED, 20, 7 * 86400, RESULT_DEGRADED);
    raised_by(RESULT_INFO, 20, 1, RESULT_INFO);
}

static void a_sum_stops_at_its_end_and_a_clock_that_is_set_back_changes_nothing(void **state)
{
    assert_int_equal(recur_add(RECUR_MAX - 1, 1), RECUR_MAX);
    assert_int_equal(recur_add(0, UINT32_MAX), RECUR_MAX);
    assert_int_equal(recur_fade(RECUR_ONE, 10, 9), RECUR_ONE);
    assert_int_equal(recur_fade(RECUR_MAX, 0, INT64_MAX), 0);
    assert_in_range(recur_fade(RECUR_ONE, 0, 14 * 4), RECUR_ONE / 2 - 100, RECUR_ONE / 2 + 100);
}

static void each_row_can_come_about(void **state)
{
    for (size_t i = 0; recur_row(i); i++) {
        const struct recur_row *row = recur_row(i);
        assert_true(row->times >= 2 && row->within_h > 0 && *row->what && *row->source);
        assert_true(result_fails(row->result) && row->result >= row->least);
        struct recurrence now = at_hour(0, row->codes, "gpu 0", row->least), before = now;
        now.alone = before.alone = true;
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
        cmocka_unit_test(a_fault_of_long_ago_does_not_count),
        cmocka_unit_test(one_that_came_often_counts_so_often),
        cmocka_unit_test(another_code_before_it),
        cmocka_unit_test(five_fatal_ones_of_any_code),
        cmocka_unit_test(on_all_devices_it_is_the_program),
        cmocka_unit_test(nothing_follows_while_no_other_device_is_known_to_be_well),
        cmocka_unit_test(one_time_more_never_lowers_it),
        cmocka_unit_test(as_many_closer_together_are_never_less),
        cmocka_unit_test(so_many_are_too_many),
        cmocka_unit_test(a_sum_stops_at_its_end_and_a_clock_that_is_set_back_changes_nothing),
        cmocka_unit_test(each_row_can_come_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
