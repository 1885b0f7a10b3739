/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/request.h"

#include <errno.h>
#include <string.h>

static void test_a_written_request_is_read(void **state)
{
    static const char *const words[] = {"power", "cycle", "n1", "", NULL};
    CLEANUP_TEXT struct text t = {0};
    struct request r;
    struct err e = {0};
    request_write(span_ms(1001), words, &t);
    assert_int_equal(request_parse(t.s, t.len, &r, &e), 0);
    assert_int_equal(span_to_ms(r.deadline), 2000);
    assert_string_equal(r.action, "power");
    assert_int_equal(r.n, 3);
    assert_string_equal(r.args[0], "cycle");
    assert_string_equal(r.args[1], "n1");
    assert_string_equal(r.args[2], "");
    assert_null(r.args[3]);
}

static void test_a_deadline_is_within_bounds(void **state)
{
    static const char *const words[] = {"hello", NULL};
    for (int i = 0; i < 2; i++) {
        CLEANUP_TEXT struct text t = {0};
        struct request r;
        request_write(i ? (struct span){INT64_MAX} : (struct span){0}, words, &t);
        assert_int_equal(request_parse(t.s, t.len, &r, NULL), 0);
        assert_int_equal(span_to_ms(r.deadline), i ? REQUEST_SECONDS_MAX * INT64_C(1000) : 1000);
    }
}

#define BYTES(s) s, sizeof s - 1

static void test_bytes_that_are_no_request_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *why;
    } cases[] = {
        {BYTES(""), "the request is not whole"},
        {BYTES("fettle-exec 1\0"
               "60\0power\0on\0n1"),
         "the request is not whole"},
        {BYTES("fettle-exec 1\0"
               "60\0"),
         "the request is not whole"},
        {BYTES("fettle-exec 1\0"), "the request is not whole"},
        {BYTES("fettle-exec 2\0"
               "60\0hello\0"),
         "the request does not begin with \"fettle-exec 1\""},
        {BYTES("fettle-exec 1\0"
               "0\0hello\0"),
         "seconds: \"0\" is not a number from 1 to 2592000"},
        {BYTES("fettle-exec 1\0"
               "60\0power\0on\0n1\nn2\0"),
         "the request has a control character at byte 29"},
        {BYTES("fettle-exec 1\0"
               "60\0power\0on\0n\x7f\0"),
         "the request has a control character at byte 28"},
        {BYTES("fettle-exec 1\0"
               "60\0a\0b\0b\0b\0b\0b\0b\0b\0b\0b\0b\0b\0b\0b\0b\0b\0b\0b\0"),
         "the request has more than 16 arguments"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request r;
        struct err e = {0};
        assert_true(request_parse(cases[i].bytes, cases[i].len, &r, &e) < 0);
        assert_string_equal(e.msg, cases[i].why);
    }
}

static void test_a_long_request_is_refused(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct request r;
    struct err e = {0};
    memset(text_room(&t, 1 << 20), 'x', 1 << 20);
    assert_int_equal(request_parse(t.s, 1 << 20, &r, &e), -E2BIG);
    assert_string_equal(e.msg, "the request is longer than 131072 bytes");
}

static void test_answers(void **state)
{
    static const struct request_answer all[] = {
        {REQUEST_ENDED, 3, ""}, {REQUEST_KILLED, 15, ""}, {REQUEST_REFUSED, 0, "no such action"}};
    for (size_t i = 0; i < 3; i++) {
        CLEANUP_TEXT struct text t = {0};
        struct request_answer a;
        request_write_answer(&all[i], &t);
        assert_int_equal(request_parse_answer(t.s, t.len, &a, NULL), 0);
        assert_int_equal(a.end, all[i].end);
        assert_int_equal(a.number, all[i].number);
        assert_string_equal(a.why, all[i].why);
        assert_int_equal(request_parse_answer(t.s, t.len - 1, &a, NULL), -EPROTO);
    }
    struct request_answer a;
    assert_int_equal(request_parse_answer(BYTES("ended\0x\0"), &a, NULL), -EPROTO);
    assert_int_equal(request_parse_answer(BYTES("ended\0"), &a, NULL), -EPROTO);
    assert_int_equal(request_parse_answer(BYTES("gone\0"
                                                "1\0"),
                                          &a, NULL),
                     -EPROTO);
    assert_int_equal(request_parse_answer("", 0, &a, NULL), -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_written_request_is_read),
        cmocka_unit_test(test_a_deadline_is_within_bounds),
        cmocka_unit_test(test_bytes_that_are_no_request_are_refused),
        cmocka_unit_test(test_a_long_request_is_refused),
        cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
