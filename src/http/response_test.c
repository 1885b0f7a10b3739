/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define OK_200 "HTTP/1.1 200 OK\r\n"

static int on_body(void *arg, const char *bytes, size_t n)
{
    text_add_bytes(arg, bytes, n);
    return 0;
}

/* Feeds s in pieces of `step`, then the end of the connection if `end`. */
static int feed_steps(struct http_response *r, const char *s, size_t step, bool end, bool *done,
                      struct err *e)
{
    *done = false;
    size_t n = strlen(s);
    for (size_t at = 0; at < n; at += step) {
        size_t piece = n - at < step ? n - at : step;
        CLEANUP_FREE char *copy = mem_alloc(piece);
        memcpy(copy, s + at, piece);
        int rc = http_response_feed(r, copy, piece, done, e);
        if (rc < 0)
            return rc;
    }
    return end ? http_response_feed(r, NULL, 0, done, e) : 0;
}

/* s, cut at every byte, is this answer; it is whole without the connection's end unless `by_end`. */
static void is_answer(const char *s, int status, const char *body, bool by_end)
{
    for (size_t step = 1; step <= strlen(s); step++) {
        CLEANUP_TEXT struct text got = {0};
        text_add(&got, "");
        struct http_response *r = http_response_create(on_body, &got);
        struct err e = {0};
        bool done;
        assert_int_equal(http_response_status(r), 0);
        assert_int_equal(feed_steps(r, s, step, false, &done, &e), 0);
        assert_int_equal(done, !by_end);
        assert_int_equal(http_response_feed(r, NULL, 0, &done, &e), 0);
        assert_true(done);
        assert_int_equal(http_response_status(r), status);
        assert_string_equal(got.s, body);
        http_response_destroy(r);
    }
}

static void is_refused(const char *s, bool end, const char *says)
{
    for (size_t step = 1; step <= strlen(s); step++) {
        CLEANUP_TEXT struct text got = {0};
        struct http_response *r = http_response_create(on_body, &got);
        struct err e = {0};
        bool done;
        int rc = feed_steps(r, s, step, end, &done, &e);
        if (rc != -EPROTO || !strstr(e.msg, says))
            print_error("%s: %d %s\n", s, rc, e.msg);
        assert_int_equal(rc, -EPROTO);
        assert_non_null(strstr(e.msg, says));
        assert_int_equal(http_response_feed(r, "x", 1, &done, &e), -EPROTO);
        http_response_destroy(r);
    }
}

static void test_body_by_content_length(void **state)
{
    is_answer(OK_200 "Content-Length: 5\r\n\r\nhello", 200, "hello", false);
    is_answer(OK_200 "Content-Length: 0\r\n\r\n", 200, "", false);
    is_answer("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", 404, "{}", false);
    is_answer("HTTP/1.1 204 No Content\r\n\r\n", 204, "", false);
}

static void test_body_in_chunks(void **state)
{
    is_answer(OK_200 "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\nT: t\r\n\r\n", 200,
              "hello", false);
}

static void test_body_up_to_the_end_of_the_connection(void **state)
{
    is_answer(OK_200 "\r\nhello", 200, "hello", true);
    is_answer("HTTP/1.0 500 Oops\r\nConnection: close\r\n\r\nhello", 500, "hello", true);
}

static void test_interim_answers_are_passed_over(void **state)
{
    is_answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n" OK_200
              "Content-Length: 2\r\n\r\nhi",
              200, "hi", false);
    is_answer("HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n" OK_200 "\r\nhi", 200, "hi", true);
}

static void test_a_cut_answer_is_refused(void **state)
{
    is_refused("H", true, "ended before");
    is_refused(OK_200, true, "ended before");
    is_refused(OK_200 "Content-Length: 5\r\n\r\nhell", true, "ended before");
    is_refused(OK_200 "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", true, "ended before");
    is_refused("HTTP/1.1 100 Continue\r\n\r\n", true, "ended before");

    CLEANUP_TEXT struct text got = {0};
    struct http_response *r = http_response_create(on_body, &got);
    struct err e;
    bool done;
    assert_int_equal(http_response_feed(r, NULL, 0, &done, &e), -EPROTO);
    assert_false(done);
    http_response_destroy(r);
}

static void test_garbage_is_refused(void **state)
{
    is_refused("SSH-2.0-x\r\n", false, "not HTTP");
    is_refused("GET / HTTP/1.1\r\n\r\n", false, "not HTTP");
    is_refused(OK_200 "Content-Length: x\r\n\r\n", false, "not HTTP");
    is_refused(OK_200 "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", false, "not HTTP");
    is_refused(OK_200 "Transfer-Encoding: chunked\r\n\r\nz\r\n", false, "not HTTP");
    is_refused("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", false, "protocol");
}

static void test_bytes_after_the_answer_are_refused(void **state)
{
    is_refused(OK_200 "Content-Length: 2\r\n\r\nhix", false, "after the end");
}

static void test_bounds_the_headers(void **state)
{
    CLEANUP_TEXT struct text s = {0}, got = {0};
    text_add(&s, OK_200);
    while (s.len < 70 << 10)
        text_add(&s, "A: b\r\n");
    CLEANUP_TEXT struct text interim = {0};
    while (interim.len < 70 << 10)
        text_add(&interim, "HTTP/1.1 100 Continue\r\n\r\n");
    const char *const long_ones[] = {s.s, interim.s};
    for (size_t i = 0; i < 2; i++) {
        struct http_response *r = http_response_create(on_body, &got);
        struct err e;
        bool done;
        assert_int_equal(feed_steps(r, long_ones[i], 1000, false, &done, &e), -EPROTO);
        assert_non_null(strstr(e.msg, "headers are larger"));
        http_response_destroy(r);
    }
}

static int count_body(void *arg, const char *bytes, size_t n)
{
    *(size_t *)arg += n;
    return 0;
}

static void test_bounds_the_body(void **state)
{
    is_refused(OK_200 "Content-Length: 268435457\r\n\r\n", false, "larger than 256 MiB");

    size_t got = 0;
    struct http_response *r = http_response_create(count_body, &got);
    struct err e;
    bool done;
    enum { PIECE = 1 << 20 };
    CLEANUP_FREE char *piece = mem_alloc(PIECE);
    assert_int_equal(http_response_feed(r, OK_200 "\r\n", strlen(OK_200 "\r\n"), &done, &e), 0);
    for (int i = 0; i < 256; i++)
        assert_int_equal(http_response_feed(r, piece, PIECE, &done, &e), 0);
    assert_int_equal(got, 256 << 20);
    assert_int_equal(http_response_feed(r, piece, 1, &done, &e), -EPROTO);
    assert_non_null(strstr(e.msg, "larger than 256 MiB"));
    http_response_destroy(r);
}

static int stop(void *arg, const char *bytes, size_t n)
{
    return -ECANCELED;
}

static void test_returns_the_result_of_the_reader(void **state)
{
    struct http_response *r = http_response_create(stop, NULL);
    struct err e;
    bool done;
    const char *s = OK_200 "Content-Length: 2\r\n\r\nhi";
    assert_int_equal(http_response_feed(r, s, strlen(s), &done, &e), -ECANCELED);
    assert_false(done);
    http_response_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_body_by_content_length),
        cmocka_unit_test(test_body_in_chunks),
        cmocka_unit_test(test_body_up_to_the_end_of_the_connection),
        cmocka_unit_test(test_interim_answers_are_passed_over),
        cmocka_unit_test(test_a_cut_answer_is_refused),
        cmocka_unit_test(test_garbage_is_refused),
        cmocka_unit_test(test_bytes_after_the_answer_are_refused),
        cmocka_unit_test(test_bounds_the_headers),
        cmocka_unit_test(test_bounds_the_body),
        cmocka_unit_test(test_returns_the_result_of_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
