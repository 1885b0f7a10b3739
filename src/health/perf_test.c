/* SPDX-License-Identifier: Apache-2.0 */

#include "health/plugin.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void show_perf(void *arg, const struct perf *p)
{
    text_printf(arg, "= %.*s is %" PRId64 " thousandths%s%s\n", (int)p->label_len, p->label, p->value_milli,
                *p->unit ? " " : "", p->unit);
}

static const char *perf_of(const char *output, size_t len)
{
    static char shown[1024];
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    perf_each(output, len, show_perf, &t);
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
}

static void perf_is(const char *datum, const char *expected)
{
    char output[256], with[256];
    snprintf(output, sizeof output, "fine|%s", datum);
    snprintf(with, sizeof with, "%s%s", *expected ? "= " : "", expected);
    CLEANUP_FREE char *exact =
        mem_dup_len(output, strlen(output)); /* for the sanitizer: the end is the end */
    char *shown = mem_dup(perf_of(exact, strlen(output)));
    shown[strcspn(shown, "\n")] = '\0';
    if (strcmp(shown, with) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", datum, shown, with);
    free(shown);
}

static void test_values_in_thousandths(void **state)
{
    perf_is("a=1", "a is 1000 thousandths");
    perf_is("a=-1.5s;1;2;0;9", "a is -1500 thousandths s");
    perf_is("a=+.5%", "a is 500 thousandths %");
    perf_is("a=0,25", "a is 250 thousandths");
    perf_is("a=1.99999", "a is 1999 thousandths");
    perf_is("a=-0.0009", "a is 0 thousandths");
    perf_is("a=2e3B", "a is 2000000 thousandths B");
    perf_is("a=2.5E-2", "a is 25 thousandths");
    perf_is("a=1e-99", "a is 0 thousandths");
    perf_is("a=0e99999999999999999999", "a is 0 thousandths");
    perf_is("a=3EB", "a is 3000 thousandths EB");
    perf_is("a=99999999999999999999", "a is 9223372036854775807 thousandths");
    perf_is("a=-1e30", "a is -9223372036854775807 thousandths");
}

static void test_labels(void **state)
{
    perf_is("'a b'=1", "a b is 1000 thousandths");
    perf_is("'it''s'=1", "it''s is 1000 thousandths");
    perf_is("/var/log=1KB", "/var/log is 1000 thousandths KB");
    perf_is("'a=b'=1", "a=b is 1000 thousandths");
}

static void test_words_that_are_no_datum_are_passed_over(void **state)
{
    static const char *const bad[] = {"",     "a",     "a=",    "=1",  "a=U",         "a=x1", "'a=1",
                                      "''=1", "a=1x2", "a=--1", "a=.", "a=1abcdefgh", "a= 1", "'a'b=1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        perf_is(bad[i], "");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char two[64];
        snprintf(two, sizeof two, "%s z=1", bad[i]);
        if (!strchr(bad[i], '\'') || bad[i][1] == '\'') /* an open quote takes all that follows */
            perf_is(two, "z is 1000 thousandths");
    }
}

static void test_performance_data_go_on_below(void **state)
{
    const char *output = "DISK OK | /=1\nlong text x=7\nmore text | /boot=2\n/home=3\n\n";
    assert_string_equal(
        perf_of(output, strlen(output)),
        "= / is 1000 thousandths\n= /boot is 2000 thousandths\n= /home is 3000 thousandths\n");
    output = "DISK OK\nlong text | a=1";
    assert_string_equal(perf_of(output, strlen(output)), "= a is 1000 thousandths\n");
}

static int64_t milli(const char *number)
{
    const char *at = number;
    int64_t n = -1;
    assert_true(perf_number(&at, number + strlen(number), &n));
    assert_int_equal(*at, '\0');
    return n;
}

static void test_a_number_ends_at_the_range(void **state)
{
    assert_true(milli("9223372036854775.807") == INT64_MAX);
    assert_true(milli("9223372036854775.808") == INT64_MAX);
    assert_true(milli("-99999999999999999999") == -INT64_MAX);
    assert_true(milli("1e99999999999999999999") == INT64_MAX);
    assert_true(milli("1e-99999999999999999999") == 0);
    assert_true(milli("0e99999999999999999999") == 0);
    assert_int_equal(milli("12,5e2"), 1250000);
    assert_int_equal(milli("+0.0019"), 1);
    assert_int_equal(milli("-0.0019"), -1);
}

static void test_a_text_that_is_no_number_is_left(void **state)
{
    static const char *const others[] = {"", "-", "+", ".", "-.", "e5", "x1"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *at = others[i];
        int64_t n = 7;
        assert_false(perf_number(&at, at + strlen(at), &n));
        assert_ptr_equal(at, others[i]);
        assert_int_equal(n, 7);
    }
    const char *at = "5e", *end = at + 2;
    int64_t n;
    assert_true(perf_number(&at, end, &n)); /* the e belongs to what follows */
    assert_int_equal(n, 5000);
    assert_int_equal(*at, 'e');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_in_thousandths),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_words_that_are_no_datum_are_passed_over),
        cmocka_unit_test(test_performance_data_go_on_below),
        cmocka_unit_test(test_a_number_ends_at_the_range),
        cmocka_unit_test(test_a_text_that_is_no_number_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
