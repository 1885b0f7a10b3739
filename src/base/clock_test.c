/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void clocks_run_forward(void **state)
{
    struct mono a = mono_now();
    assert_true(mono_sub(mono_now(), a).ns >= 0);
    assert_true(wall_now().ns > INT64_C(1700000000) * 1000000000);
}

static void arithmetic_keeps_the_sign(void **state)
{
    struct mono t = {span_s(5).ns};
    assert_int_equal(mono_add(t, span_ms(1500)).ns, INT64_C(6500000000));
    assert_int_equal(span_to_ms(mono_sub(t, mono_add(t, span_ms(250)))), -250);
}

static void spans_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"90", 90000},    {"90s", 90000},
                {"1500ms", 1500}, {"2m", 120000},
                {"6h", 21600000}, {"7d", 604800000},
                {"0", 0},         {"0ms", 0},
                {"007s", 7000},   {"3650d", INT64_C(3650) * 86400000}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct span s = {-1};
        assert_int_equal(span_parse(good[i].text, &s, NULL), 0);
        assert_int_equal(span_to_ms(s), good[i].ms);
    }
}

static void other_spans_are_refused(void **state)
{
    static const char *const bad[] = {"",    "s",  "-1",  "+1",    "1.5s",
                                      "1 s", " 1", "1s ", "1m30s", "1w",
                                      "0x1", "1S", "1e3", "9999d", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        struct span s = {-1};
        assert_int_equal(span_parse(bad[i], &s, &e), -EINVAL);
        assert_int_equal(s.ns, -1);
        assert_non_null(strstr(e.msg, bad[i]));
    }
}

static void a_span_is_written_shortest(void **state)
{
    char buf[32];
    assert_string_equal(span_format(span_s(90), buf), "90s");
    assert_string_equal(span_format(span_s(120), buf), "2m");
    assert_string_equal(span_format(span_s(0), buf), "0s");
    assert_string_equal(span_format(span_ms(1500), buf), "1500ms");
    assert_string_equal(span_format(span_s(86400 * 7), buf), "7d");
    assert_string_equal(span_format(span_s(3600 * 25), buf), "25h");
}

static void a_written_span_reads_back(void **state)
{
    for (int64_t ms = 0; ms < INT64_C(400000000); ms = ms * 3 + 7) {
        char buf[32];
        struct span s;
        assert_int_equal(span_parse(span_format(span_ms(ms), buf), &s, NULL), 0);
        assert_int_equal(span_to_ms(s), ms);
    }
}

static void people_get_about_how_long(void **state)
{
    char buf[32];
    assert_string_equal(span_human(span_s(45), buf), "45s");
    assert_string_equal(span_human(span_s(192), buf), "3m12s");
    assert_string_equal(span_human(span_s(5 * 3600 + 2 * 60), buf), "5h02m");
    assert_string_equal(span_human(span_s(3 * 86400 + 4 * 3600), buf), "3d04h");
    assert_string_equal(span_human(span_s(-5), buf), "0s");
}

static void wall_time_is_rfc_3339(void **state)
{
    char buf[32];
    assert_string_equal(wall_format((struct wall){INT64_C(1795207317123456789)}, buf),
                        "2026-11-20T20:41:57.123Z");
    assert_string_equal(wall_format((struct wall){0}, buf), "1970-01-01T00:00:00.000Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_run_forward),
        cmocka_unit_test(arithmetic_keeps_the_sign),
        cmocka_unit_test(spans_are_read),
        cmocka_unit_test(other_spans_are_refused),
        cmocka_unit_test(a_span_is_written_shortest),
        cmocka_unit_test(a_written_span_reads_back),
        cmocka_unit_test(people_get_about_how_long),
        cmocka_unit_test(wall_time_is_rfc_3339),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
