/* SPDX-License-Identifier: Apache-2.0 */
#include "health/floor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct measure bandwidth(int64_t value)
{
    return (struct measure){.name = "bandwidth", .unit = "MB/s", .value = value};
}

static struct measure latency(int64_t value)
{
    return (struct measure){.name = "latency", .unit = "ns", .value = value, .less_is_better = true};
}

static struct floor_verdict judged(const int64_t *values, size_t n, struct measure m)
{
    int64_t others[FLOOR_NODES_MAX];
    struct floor_verdict v;
    memcpy(others, values, n * sizeof *others);
    floor_judge(others, n, &m, &v);
    assert_int_equal(v.n, n);
    assert_true(v.judged || !v.is_short);
    return v;
}

static bool is_short(const int64_t *values, size_t n, struct measure m)
{
    return judged(values, n, m).is_short;
}

static void nothing_is_judged_by_few(void **state)
{
    const int64_t values[] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    assert_false(judged(values, 7, bandwidth(1)).judged);
    assert_false(judged(values, 0, bandwidth(1)).judged);
    assert_true(is_short(values, 8, bandwidth(1)));
}

static void in_a_class_of_equals_a_tenth_is_allowed(void **state)
{
    const int64_t values[] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    assert_false(is_short(values, 9, bandwidth(900)));
    assert_true(is_short(values, 9, bandwidth(899)));
    assert_false(is_short(values, 9, bandwidth(5000)));
    assert_false(is_short(values, 9, latency(1100)));
    assert_true(is_short(values, 9, latency(1101)));
    assert_false(is_short(values, 9, latency(1)));
}

static void a_class_that_varies_allows_more(void **state)
{
    const int64_t values[] = {700, 800, 900, 1000, 1000, 1000, 1100, 1200, 1300};
    struct floor_verdict v = judged(values, 9, bandwidth(499));
    assert_int_equal(v.median, 1000);
    assert_int_equal(v.mad, 100);
    assert_int_equal(v.limit, 500);
    assert_true(v.is_short);
    assert_false(is_short(values, 9, bandwidth(500)));
}

static void a_few_lemons_do_not_move_it(void **state)
{
    const int64_t values[] = {10, 10, 1000, 1001, 999, 1000, 1002, 998, 1000};
    assert_true(is_short(values, 9, bandwidth(10)));
    assert_false(is_short(values, 9, bandwidth(1001)));
}

static void the_largest_numbers_are_numbers(void **state)
{
    int64_t values[21];
    for (size_t i = 0; i < 21; i++)
        values[i] = i % 2 ? 0 : FLOOR_VALUE_MAX;
    struct measure m[FLOOR_MEASURES_MAX];
    assert_int_equal(measures_read("latency 1000000000000000 ns", m), 1);
    assert_int_equal(m[0].value, FLOOR_VALUE_MAX);
    assert_false(is_short(values, 21, m[0]));
    assert_int_equal(measures_read("latency 1000000000000001 ns", m), 0);
}

static void measures_of_a_text(void **state)
{
    struct measure m[FLOOR_MEASURES_MAX];
    assert_int_equal(measures_read("bandwidth 12345 MB/s", m), 1);
    assert_string_equal(m[0].name, "bandwidth");
    assert_string_equal(m[0].unit, "MB/s");
    assert_int_equal(m[0].value, 12345);
    assert_false(m[0].less_is_better);
    assert_int_equal(measures_read("write 500 MB/s, read 900 MB/s, latency 80 us (of at most 70)", m), 3);
    assert_string_equal(m[2].name, "latency");
    assert_string_equal(m[2].unit, "us");
    assert_true(m[2].less_is_better);
}

static void other_texts_have_none(void **state)
{
    struct measure m[FLOOR_MEASURES_MAX];
    const char *const texts[] = {"",
                                 ",",
                                 ",,,",
                                 "all is well",
                                 "bandwidth",
                                 "bandwidth 12",
                                 "load 1.5 x",
                                 " ",
                                 "size -5 MB",
                                 "number 99999999999999999999 MB/s",
                                 "bandwidth 5,MB/s",
                                 "b\xc3\xa4nd 5 MB/s",
                                 "band\x01 5 MB/s"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(measures_read(texts[i], m), 0);
    assert_int_equal(measures_read("a 1 x,a 1 x,a 1 x,a 1 x,a 1 x,a 1 x,a 1 x,a 1 x,a 1 x", m),
                     FLOOR_MEASURES_MAX);
    assert_int_equal(measures_read("well, write 1 MB/s", m), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_judged_by_few),
        cmocka_unit_test(in_a_class_of_equals_a_tenth_is_allowed),
        cmocka_unit_test(a_class_that_varies_allows_more),
        cmocka_unit_test(a_few_lemons_do_not_move_it),
        cmocka_unit_test(the_largest_numbers_are_numbers),
        cmocka_unit_test(measures_of_a_text),
        cmocka_unit_test(other_texts_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
