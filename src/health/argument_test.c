/* SPDX-License-Identifier: Apache-2.0 */
#include "health/check.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A check of which the argument Run has this value, whatever its form. */
static struct check with(const char *value)
{
    static char name[] = "a", key[] = "Run", text[64];
    snprintf(text, sizeof text, "%s", value);
    return (struct check){.name = name, .probe = PROBE_PLUGIN, .n_args = 1, .args[0] = {key, text}};
}

static void bytes_are(const char *text, uint64_t expected)
{
    struct check k = with(text);
    uint64_t bytes = 0;
    struct err e = {0};
    if (check_arg_bytes(&k, "run", 7, &bytes, &e) < 0 || bytes != expected)
        fail_msg("%s: %" PRIu64 " %s", text, bytes, e.msg);
}

static void test_numbers_of_bytes(void **state)
{
    bytes_are("0", 0);
    bytes_are("1024", 1024);
    bytes_are("7B", 7);
    bytes_are("500MB", 500000000);
    bytes_are("5k", 5000);
    bytes_are("5KB", 5000);
    bytes_are("5Ki", 5120);
    bytes_are("4GiB", UINT64_C(4) << 30);
    bytes_are("2T", UINT64_C(2000000000000));
    static const char *const bad[] = {"",      "x",  "-1", "1.5G",         "1 G", "1Gb",
                                      "1GiBs", "1X", "GB", "99999999999P", "1%"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct check k = with(bad[i]);
        uint64_t bytes;
        if (check_arg_bytes(&k, "Run", 7, &bytes, NULL) != -EINVAL)
            fail_msg("\"%s\" is taken", bad[i]);
    }
}

static void test_percentages_numbers_and_times(void **state)
{
    unsigned percent;
    int64_t number;
    struct span span;
    struct err e;
    struct check k = with("10%");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, NULL), 0);
    assert_int_equal(percent, 10);
    assert_int_equal(check_arg_number(&k, "Run", 0, &number, &e), -EINVAL);
    assert_string_equal(e.msg, "check a: Run: \"10%\" is not a whole number");
    k = with("100");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, NULL), 0);
    assert_int_equal(percent, 100);
    k = with("101");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, &e), -EINVAL);
    assert_string_equal(e.msg, "check a: Run: \"101\" is not a number from 0 to 100 %");
    k = with("-12");
    assert_int_equal(check_arg_number(&k, "Run", 0, &number, NULL), 0);
    assert_int_equal(number, -12);
    k = with("2s");
    assert_int_equal(check_arg_span(&k, "Run", span_s(0), &span, NULL), 0);
    assert_int_equal(span.ns, span_s(2).ns);
    k = with("soon");
    assert_int_equal(check_arg_span(&k, "Run", span_s(0), &span, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "check a: Run: \"soon\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_bytes),
        cmocka_unit_test(test_percentages_numbers_and_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
