/* SPDX-License-Identifier: Apache-2.0 */
#include "health/argument.h"
#include "health/check.h"
#include "health/checks_test.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void bytes_are(const char *text, uint64_t expected)
{
    struct check k = check_with(text);
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
        struct check k = check_with(bad[i]);
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
    struct check k = check_with("10%");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, NULL), 0);
    assert_int_equal(percent, 10);
    assert_int_equal(check_arg_number(&k, "Run", 0, &number, &e), -EINVAL);
    assert_string_equal(e.msg, "check a: Run: \"10%\" is not a whole number");
    k = check_with("100");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, NULL), 0);
    assert_int_equal(percent, 100);
    k = check_with("101");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, &e), -EINVAL);
    assert_string_equal(e.msg, "check a: Run: \"101\" is not a number from 0 to 100 %");
    k = check_with("-12");
    assert_int_equal(check_arg_number(&k, "Run", 0, &number, NULL), 0);
    assert_int_equal(number, -12);
    k = check_with("2s");
    assert_int_equal(check_arg_span(&k, "Run", span_s(0), &span, NULL), 0);
    assert_int_equal(span.ns, span_s(2).ns);
    k = check_with("soon");
    assert_int_equal(check_arg_span(&k, "Run", span_s(0), &span, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "check a: Run: \"soon\""));
}

static struct argument argument(enum argument_form form, int64_t least, int64_t most)
{
    return (struct argument){.form = form, .least = least, .most = most};
}

static void test_a_value_has_its_form_and_lies_within_its_bounds(void **state)
{
    const struct {
        struct argument a;
        const char *value;
        int rc;
    } rows[] = {
        {argument(ARGUMENT_TEXT, 0, 0), "anything", 0},
        {argument(ARGUMENT_PATH, 0, 0), "/", 0},
        {argument(ARGUMENT_PATH, 0, 0), "a/b", -EINVAL},
        {argument(ARGUMENT_NUMBER, -2, 5), "-2", 0},
        {argument(ARGUMENT_NUMBER, -2, 5), "-3", -EINVAL},
        {argument(ARGUMENT_NUMBER, -2, 5), "5", 0},
        {argument(ARGUMENT_NUMBER, -2, 5), "6", -EINVAL},
        {argument(ARGUMENT_NUMBER, -2, 5), "x", -EINVAL},
        {argument(ARGUMENT_PERCENT, 0, 0), "100%", 0},
        {argument(ARGUMENT_PERCENT, 0, 0), "101%", -EINVAL},
        {argument(ARGUMENT_BYTES, 0, 0), "4GiB", 0},
        {argument(ARGUMENT_BYTES, 0, 0), "4%", -EINVAL},
        {argument(ARGUMENT_SHARE, 0, 0), "4%", 0},
        {argument(ARGUMENT_SHARE, 0, 0), "4GiB", 0},
        {argument(ARGUMENT_SHARE, 0, 0), "101%", -EINVAL},
        {argument(ARGUMENT_SPAN, 100, 2000), "100ms", 0},
        {argument(ARGUMENT_SPAN, 100, 2000), "99ms", -EINVAL},
        {argument(ARGUMENT_SPAN, 100, 2000), "2s", 0},
        {argument(ARGUMENT_SPAN, 100, 2000), "2001ms", -EINVAL},
        {argument(ARGUMENT_METRIC, 0, 0), "graphite_plaintext", 0},
        {argument(ARGUMENT_METRIC, 0, 0), "graphite", -EINVAL},
        {argument(ARGUMENT_TOOL, 0, 0), "nccl", 0},
        {argument(ARGUMENT_TOOL, 0, 0), "hammer", -EINVAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e = {0};
        int rc = argument_check(&rows[i].a, rows[i].value, &e);
        if (rc != rows[i].rc || (rc < 0 && !*e.msg))
            fail_msg("%s: %d \"%s\"", rows[i].value, rc, e.msg);
    }
}

static void test_a_key_is_found_in_any_case(void **state)
{
    struct argument a;
    assert_true(argument_find(PROBE_FS_SPACE, "wArN", &a));
    assert_string_equal(a.key, "Warn");
    assert_false(argument_find(PROBE_FS_SPACE, "War", &a));
    assert_false(argument_find(PROBE_FS_SPACE, "", &a));
    size_t n = 0;
    while (argument_at(PROBE_FS_SPACE, n, &a))
        n++;
    assert_true(n > 1);
    assert_false(argument_at(PROBE_FS_SPACE, n + 1, &a));
}

/* The values of the two keys of a pair. */
static const char *pair_value(const void *arg, const char *key)
{
    const char *const *pair = arg;
    return strcmp(key, "Warn") == 0 ? pair[0] : strcmp(key, "Free") == 0 ? pair[1] : NULL;
}

/* A file system warns while more is free than would make it fail; values of different units are not compared.
 */
static void test_the_milder_limit_comes_first(void **state)
{
    static const struct {
        const char *pair[2];
        int rc;
    } rows[] = {{{"10%", "5%"}, 0},    {{"5%", "5%"}, 0},          {{"4%", "5%"}, -EINVAL},
                {{"2GiB", "1GiB"}, 0}, {{"1GB", "1GiB"}, -EINVAL}, {{"1%", "1GiB"}, 0},
                {{NULL, "5%"}, 0},     {{"4%", NULL}, 0}};
    struct err e;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (argument_order(PROBE_FS_SPACE, pair_value, rows[i].pair, &e) != rows[i].rc)
            fail_msg("%s %s", rows[i].pair[0] ? rows[i].pair[0] : "-",
                     rows[i].pair[1] ? rows[i].pair[1] : "-");
    assert_int_equal(argument_order(PROBE_FS_SPACE, pair_value, rows[2].pair, &e), -EINVAL);
    assert_string_equal(e.msg, "Warn (4%) is less than Free (5%): the warning would never be given");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_bytes),
        cmocka_unit_test(test_percentages_numbers_and_times),
        cmocka_unit_test(test_a_value_has_its_form_and_lies_within_its_bounds),
        cmocka_unit_test(test_a_key_is_found_in_any_case),
        cmocka_unit_test(test_the_milder_limit_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
