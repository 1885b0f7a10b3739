/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static json_t *read_text(const char *s, struct err *e)
{
    return json_read(s, strlen(s), e);
}

static void objects_and_arrays_are_read(void **state)
{
    static const char *const good[] = {"{}", "[]", " {\"a\": [1, 2.5, null, true, \"x\"]} ", "[[[]]]"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CLEANUP_JSON json_t *v = read_text(good[i], NULL);
        assert_non_null(v);
    }
}

static void everything_else_is_refused(void **state)
{
    static const char *const bad[] = {
        "",           "1",          "\"a\"",         "null",      "{",
        "[1,]",       "{} {}",      "{\"a\":1,}",    "{'a':1}",   "{\"a\":01}",
        "[\"\xff\"]", "[\"a\nb\"]", "[\"\\u0000\"]", "[1] trash", "{\"a\":1,\"a\":2}",
        "[NaN]",      "[\"",        "[1e999]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        assert_null(read_text(bad[i], &e));
        assert_int_equal(e.code, -EINVAL);
        assert_memory_equal(e.msg, "not JSON: ", 10);
    }
    assert_null(json_read("{}\0", 3, NULL));
}

static void depth_is_bounded(void **state)
{
    char text[2 * (JSON_DEPTH_MAX + 1) + 1];
    for (int depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        struct err e = {0};
        CLEANUP_JSON json_t *v = json_read(text, (size_t)depth * 2, &e);
        assert_int_equal(v != NULL, depth == JSON_DEPTH_MAX);
        assert_string_equal(e.msg, v ? "" : "JSON nests deeper than 32 levels");
    }
}

static void brackets_in_strings_are_no_depth(void **state)
{
    CLEANUP_JSON json_t *v = read_text("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[\"]", NULL);
    assert_non_null(v);
}

static void values_are_taken_by_type(void **state)
{
    CLEANUP_JSON json_t *o =
        read_text("{\"s\":\"lx\",\"n\":7,\"t\":true,\"f\":false,\"r\":1.0,\"m\":-1}", NULL);
    const char *s = "was";
    uint64_t n = 99;
    bool b = false;
    struct err e = {0};
    assert_int_equal(json_take_string(o, "s", &s, &e), 0);
    assert_string_equal(s, "lx");
    assert_int_equal(json_take_u64(o, "n", 7, &n, &e), 0);
    assert_true(n == 7);
    assert_int_equal(json_take_bool(o, "t", &b, &e), 0);
    assert_true(b);
    assert_int_equal(json_take_bool(o, "f", &b, &e), 0);
    assert_false(b);

    assert_int_equal(json_take_string(o, "n", &s, &e), -EINVAL);
    assert_string_equal(e.msg, "\"n\" is not a string");
    assert_int_equal(json_take_bool(o, "n", &b, &e), -EINVAL);
    assert_string_equal(e.msg, "\"n\" is neither true nor false");
    static const char *const not_u64[] = {"s", "m", "r", "t"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(json_take_u64(o, not_u64[i], 100, &n, &e), -EINVAL);
    assert_int_equal(json_take_u64(o, "n", 6, &n, &e), -EINVAL);
    assert_string_equal(e.msg, "\"n\" is not a whole number from 0 to 6");
    assert_true(n == 7);
}

static void clauses_are_short_and_clean(void **state)
{
    CLEANUP_JSON json_t *o = read_text("{\"s\":\"four\",\"c\":\"a\\u007f\",\"n\":7}", NULL);
    const char *s = "was";
    struct err e = {0};
    assert_int_equal(json_take_clause(o, "s", 4, &s, &e), 0);
    assert_string_equal(s, "four");
    assert_int_equal(json_take_clause(o, "s", 3, &s, &e), -EINVAL);
    assert_string_equal(e.msg, "s: 4 bytes; it has 3 at most");
    assert_int_equal(json_take_clause(o, "c", 9, &s, &e), -EINVAL);
    assert_string_equal(e.msg, "c: a control character");
    assert_int_equal(json_take_clause(o, "n", 9, &s, &e), -EINVAL);
    assert_int_equal(json_take_clause(o, "x", 9, &s, &e), -EINVAL);
}

static void absent_keys_leave_the_default(void **state)
{
    CLEANUP_JSON json_t *o = read_text("{}", NULL);
    const char *s = "was";
    uint64_t n = 99;
    bool b = true;
    struct err e = {0};
    assert_int_equal(json_take_string(o, "x", &s, &e), -ENOENT);
    assert_string_equal(e.msg, "\"x\" is missing");
    assert_int_equal(json_take_u64(o, "x", 9, &n, &e), -ENOENT);
    assert_int_equal(json_take_bool(o, "x", &b, &e), -ENOENT);
    assert_string_equal(s, "was");
    assert_true(n == 99 && b);
}

static void unknown_keys_are_named(void **state)
{
    static const char *const keys[] = {"name", "reason"};
    CLEANUP_JSON json_t *good = read_text("{\"reason\":1}", NULL);
    CLEANUP_JSON json_t *near = read_text("{\"name\":1,\"raeson\":2}", NULL);
    CLEANUP_JSON json_t *far = read_text("{\"colour\":1}", NULL);
    struct err e = {0};
    assert_int_equal(json_only_keys(good, keys, 2, &e), 0);
    assert_int_equal(json_only_keys(near, keys, 2, &e), -EINVAL);
    assert_string_equal(e.msg, "unknown key \"raeson\"; the nearest known is \"reason\"");
    assert_int_equal(json_only_keys(far, keys, 2, &e), -EINVAL);
    assert_string_equal(e.msg, "unknown key \"colour\"");
}

static void text_is_compact_and_in_order(void **state)
{
    CLEANUP_JSON json_t *v = read_text("{ \"z\" : 1, \"a\" : [ true, null ] }", NULL);
    CLEANUP_FREE char *s = json_write(v);
    assert_string_equal(s, "{\"z\":1,\"a\":[true,null]}");
}

static void a_member_that_is_no_string_is_an_empty_text(void **state)
{
    CLEANUP_JSON json_t *o = read_text("{\"s\": \"x\", \"n\": 1}", NULL);
    assert_string_equal(json_text(o, "s"), "x");
    assert_string_equal(json_text(o, "n"), "");
    assert_string_equal(json_text(o, "absent"), "");
    assert_string_equal(json_text(NULL, "s"), "");
}

static void members_are_walked_in_order(void **state)
{
    CLEANUP_JSON json_t *o = read_text("{\"b\":1,\"a\":2}", NULL);
    const json_t *read = o, *array = NULL;
    CLEANUP_TEXT struct text t = {0};
    const char *key;
    json_t *value;
    JSON_OBJECT_EACH (read, key, value)
        text_printf(&t, "%s=%d ", key, (int)json_integer_value(value));
    assert_string_equal(t.s, "b=1 a=2 ");
    JSON_OBJECT_EACH (array, key, value)
        fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_that_is_no_string_is_an_empty_text),
        cmocka_unit_test(objects_and_arrays_are_read),
        cmocka_unit_test(everything_else_is_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(brackets_in_strings_are_no_depth),
        cmocka_unit_test(values_are_taken_by_type),
        cmocka_unit_test(clauses_are_short_and_clean),
        cmocka_unit_test(absent_keys_leave_the_default),
        cmocka_unit_test(unknown_keys_are_named),
        cmocka_unit_test(text_is_compact_and_in_order),
        cmocka_unit_test(members_are_walked_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
