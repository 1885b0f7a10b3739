/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/value.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int read_text(const char *json, struct fettle_answer **a, struct err *e)
{
    size_t len = strlen(json);
    char *copy = malloc(len + 1);
    memcpy(copy, json, len);
    return answer_read(copy, len, a, e);
}

static struct fettle_answer *good(const char *json)
{
    struct fettle_answer *a = NULL;
    struct err e = {0};
    int r = read_text(json, &a, &e);
    if (r < 0)
        fail_msg("%s: %s", json, e.msg);
    return a;
}

static void members_and_elements_are_found(void **state)
{
    struct fettle_answer *a =
        good(" {\"revision\": 7, \"nodes\": [ {\"Name\":\"lx1\",\"CPUs\":64 }, {\"Name\":\"lx2\"},"
             "{}], \"empty\":[], \"on\":true,\"off\":false,\"no\":null} \n");
    const struct fettle_value *v = fettle_answer_value(a);
    assert_int_equal(fettle_value_count(v), 6);
    assert_int_equal(fettle_value_kind(v), FETTLE_OBJECT);
    const struct fettle_value *nodes = fettle_value_find(v, "nodes");
    assert_int_equal(fettle_value_count(nodes), 3);
    const struct fettle_value *row = fettle_value_first(nodes);
    int64_t n = 0;
    assert_string_equal(fettle_get_text(row, "Name"), "lx1");
    assert_int_equal(fettle_get_number(row, "CPUs", &n), 0);
    assert_int_equal(n, 64);
    assert_string_equal(fettle_get_text(row, "CPUs"), "64");
    row = fettle_value_next(row);
    assert_string_equal(fettle_get_text(row, "Name"), "lx2");
    assert_null(fettle_value_find(row, "CPUs"));
    row = fettle_value_next(row);
    assert_int_equal(fettle_value_count(row), 0);
    assert_null(fettle_value_first(row));
    assert_null(fettle_value_next(row));
    assert_null(fettle_value_first(fettle_value_find(v, "empty")));
    assert_true(fettle_get_true(v, "on"));
    assert_false(fettle_get_true(v, "off"));
    assert_string_equal(fettle_get_text(v, "off"), "false");
    assert_int_equal(fettle_value_kind(fettle_value_find(v, "no")), FETTLE_NULL);
    assert_null(fettle_get_text(v, "no"));
    assert_null(fettle_value_next(v));
    fettle_answer_free(a);
}

static void an_absent_value_is_like_null(void **state)
{
    int64_t n = 5;
    assert_int_equal(fettle_value_kind(NULL), FETTLE_NULL);
    assert_null(fettle_value_first(NULL));
    assert_null(fettle_value_next(NULL));
    assert_null(fettle_value_key(NULL));
    assert_null(fettle_value_find(NULL, "x"));
    assert_null(fettle_value_text(NULL));
    assert_int_equal(fettle_value_count(NULL), 0);
    assert_int_equal(fettle_value_number(NULL, &n), -EINVAL);
    assert_int_equal(n, 5);
    assert_null(fettle_answer_value(NULL));
    fettle_answer_free(NULL);
}

static void strings_are_unescaped(void **state)
{
    struct fettle_answer *a =
        good("[\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\te\", \"\\u00e9\\u20ac\\ud83d\\ude00\", \"\xc3\xa9x\", \"\"]");
    const struct fettle_value *v = fettle_value_first(fettle_answer_value(a));
    assert_string_equal(fettle_value_text(v), "a\"b\\c/d\b\f\n\r\te");
    v = fettle_value_next(v);
    assert_string_equal(fettle_value_text(v), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    v = fettle_value_next(v);
    assert_string_equal(fettle_value_text(v), "\xc3\xa9x");
    v = fettle_value_next(v);
    assert_string_equal(fettle_value_text(v), "");
    fettle_answer_free(a);
}

static void numbers_are_exact(void **state)
{
    static const struct {
        const char *json;
        int whole, milli;
        int64_t n, thousandths;
    } cases[] = {
        {"[0]", 0, 0, 0, 0},
        {"[-0]", 0, 0, 0, 0},
        {"[863.8]", -EINVAL, 0, 0, 863800},
        {"[0.0019]", -EINVAL, 0, 0, 1},
        {"[-1.5]", -EINVAL, 0, 0, -1500},
        {"[9223372036854775807]", 0, -ERANGE, INT64_MAX, 0},
        {"[-9223372036854775808]", 0, -ERANGE, INT64_MIN, 0},
        {"[9223372036854775808]", -ERANGE, -ERANGE, 0, 0},
        {"[1e3]", -EINVAL, -EINVAL, 0, 0},
        {"[\"12\"]", -EINVAL, -EINVAL, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fettle_answer *a = good(cases[i].json);
        const struct fettle_value *v = fettle_value_first(fettle_answer_value(a));
        int64_t n = 0, milli = 0;
        assert_int_equal(fettle_value_number(v, &n), cases[i].whole);
        assert_int_equal(n, cases[i].n);
        assert_int_equal(fettle_value_milli(v, &milli), cases[i].milli);
        assert_int_equal(milli, cases[i].thousandths);
        fettle_answer_free(a);
    }
}

static void texts_that_are_not_json_are_refused(void **state)
{
    static const char *const cases[] = {"",
                                        " ",
                                        "1",
                                        "\"x\"",
                                        "nul",
                                        "{",
                                        "[",
                                        "[1",
                                        "[1,",
                                        "[1,]",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{\"a\":1,}",
                                        "{a:1}",
                                        "{\"a\" 1}",
                                        "[1 2]",
                                        "[1]]",
                                        "[1]x",
                                        "{]",
                                        "[}",
                                        "[01]",
                                        "[-]",
                                        "[1.]",
                                        "[.5]",
                                        "[1e]",
                                        "[+1]",
                                        "[0x1]",
                                        "[tru]",
                                        "[NaN]",
                                        "[\"]",
                                        "[\"\\x\"]",
                                        "[\"\\u12\"]",
                                        "[\"\\ud800\"]",
                                        "[\"\\udc00\"]",
                                        "[\"\\ud800\\u0041\"]",
                                        "[\"\\u0000\"]",
                                        "[\"\n\"]",
                                        "[\"\xff\"]",
                                        "[\"\xc0\x80\"]",
                                        "[\"\xed\xa0\x80\"]",
                                        "[\"\xf5\x80\x80\x80\"]",
                                        "[\"\xe2\x82\"]",
                                        "[\"\\",
                                        "[\"\\u",
                                        "[1,2,{\"a\":[}]",
                                        "[/**/]",
                                        "{\"a\":1 \"b\":2}",
                                        "[1}",
                                        "{\"a\":1]"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fettle_answer *a = NULL;
        struct err e = {0};
        if (read_text(cases[i], &a, &e) != -EPROTO)
            fail_msg("taken: %s", cases[i]);
        assert_null(a);
        assert_non_null(strstr(e.msg, "not JSON"));
    }
}

static void depth_is_bounded(void **state)
{
    char deep[2 * VALUE_DEPTH_MAX + 3];
    struct fettle_answer *a = NULL;
    memset(deep, '[', VALUE_DEPTH_MAX);
    memset(deep + VALUE_DEPTH_MAX, ']', VALUE_DEPTH_MAX);
    deep[2 * VALUE_DEPTH_MAX] = '\0';
    fettle_answer_free(good(deep));
    memset(deep, '[', VALUE_DEPTH_MAX + 1);
    memset(deep + VALUE_DEPTH_MAX + 1, ']', VALUE_DEPTH_MAX + 1);
    deep[2 * VALUE_DEPTH_MAX + 2] = '\0';
    assert_int_equal(read_text(deep, &a, NULL), -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_elements_are_found),
        cmocka_unit_test(an_absent_value_is_like_null),
        cmocka_unit_test(strings_are_unescaped),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(texts_that_are_not_json_are_refused),
        cmocka_unit_test(depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
