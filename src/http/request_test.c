/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include "base/text.h"
#include "http/limits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define GET "GET / HTTP/1.1\r\nHost: h\r\n"

/* Feeds s in pieces of `step` bytes, each in memory of its own size so that a read past it shows. */
static int feed_steps(struct request *r, const char *s, size_t n, size_t step, size_t *used, struct err *e)
{
    *used = 0;
    while (*used < n && request_state(r) != REQUEST_WHOLE) {
        size_t piece = n - *used < step ? n - *used : step;
        CLEANUP_FREE char *copy = mem_alloc(piece);
        memcpy(copy, s + *used, piece);
        size_t taken;
        int rc = request_feed(r, copy, piece, &taken, e);
        *used += taken;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The request that s is, all of it; to be destroyed. */
static struct request *whole(const char *s)
{
    struct request *r = request_create();
    struct err e;
    size_t used;
    assert_int_equal(feed_steps(r, s, strlen(s), SIZE_MAX, &used, &e), 0);
    assert_int_equal(used, strlen(s));
    assert_int_equal(request_state(r), REQUEST_WHOLE);
    return r;
}

/* s is refused with code, and with a sentence that has `says`, however it is cut. */
static void refused_bytes(const char *s, size_t n, int code, const char *says)
{
    static const size_t steps[] = {1, 7, SIZE_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct request *r = request_create();
        struct err e = {0};
        size_t used;
        int rc = feed_steps(r, s, n, steps[i], &used, &e);
        if (rc != code || !strstr(e.msg, says))
            print_error("%.*s: %d %s\n", (int)(n < 200 ? n : 200), s, rc, e.msg);
        assert_int_equal(rc, code);
        assert_int_equal(e.code, code);
        assert_non_null(strstr(e.msg, says));
        assert_int_equal(request_feed(r, "x", 1, &used, &e), -EINVAL);
        request_destroy(r);
    }
}

static void refused(const char *s, int code, const char *says)
{
    refused_bytes(s, strlen(s), code, says);
}

static void test_tells_method_path_and_query(void **state)
{
    struct request *r =
        whole("PUT /v1/nodes/lx07?force=1&reason=a HTTP/1.1\r\n"
              "Host: here\r\nX-Thing:  two words \t\r\nEmpty:\r\nContent-Length: 5\r\n\r\n{\"a\"}");
    assert_string_equal(request_method(r), "PUT");
    assert_string_equal(request_path(r), "/v1/nodes/lx07");
    assert_string_equal(request_query(r, "force"), "1");
    assert_string_equal(request_query(r, "reason"), "a");
    assert_null(request_query(r, "absent"));
    assert_string_equal(request_header(r, "x-thing"), "two words");
    assert_string_equal(request_header(r, "EMPTY"), "");
    assert_null(request_header(r, "Absent"));
    size_t len;
    assert_string_equal(request_body(r, &len), "{\"a\"}");
    assert_int_equal(len, 5);
    request_destroy(r);
}

static void test_a_request_without_body_has_an_empty_one(void **state)
{
    struct request *r = whole(GET "\r\n");
    size_t len = 1;
    assert_string_equal(request_body(r, &len), "");
    assert_int_equal(len, 0);
    assert_null(request_query(r, "a"));
    request_destroy(r);
}

static void test_any_cut_gives_the_same_request(void **state)
{
    const char *s =
        "POST /a%20b?k=v%26w&l=m HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n"
        "3;x=y\r\nabc\r\na\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n";
    for (size_t step = 1; step <= strlen(s); step++) {
        struct request *r = request_create();
        struct err e;
        size_t used, len;
        assert_int_equal(feed_steps(r, s, strlen(s), step, &used, &e), 0);
        assert_int_equal(used, strlen(s));
        assert_int_equal(request_state(r), REQUEST_WHOLE);
        assert_string_equal(request_path(r), "/a b");
        assert_string_equal(request_query(r, "k"), "v&w");
        assert_string_equal(request_query(r, "l"), "m");
        assert_string_equal(request_header(r, "A"), "b");
        assert_null(request_header(r, "Trailer"));
        assert_string_equal(request_body(r, &len), "abc0123456789");
        request_destroy(r);
    }
}

static void test_leaves_the_next_request_alone(void **state)
{
    static const char *const firsts[] = {GET "\r\n", GET "Content-Length: 3\r\n\r\nabc",
                                         GET "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
                                         GET "Upgrade: websocket\r\nConnection: upgrade\r\n\r\n"};
    for (size_t i = 0; i < 4; i++) {
        CLEANUP_TEXT struct text two = {0};
        text_add(&two, firsts[i]);
        text_add(&two, GET "\r\n");
        struct request *r = request_create();
        struct err e;
        size_t used;
        assert_int_equal(request_feed(r, two.s, two.len, &used, &e), 0);
        assert_int_equal(request_state(r), REQUEST_WHOLE);
        assert_int_equal(used, strlen(firsts[i]));
        request_destroy(r);
    }
}

static void test_knows_head_from_body(void **state)
{
    struct request *r = request_create();
    struct err e;
    size_t used;
    assert_int_equal(request_feed(r, GET, strlen(GET), &used, &e), 0);
    assert_int_equal(request_state(r), REQUEST_HEAD);
    assert_int_equal(request_feed(r, "Content-Length: 1\r\n\r\n", 21, &used, &e), 0);
    assert_int_equal(request_state(r), REQUEST_BODY);
    assert_int_equal(request_feed(r, "x", 1, &used, &e), 0);
    assert_int_equal(request_state(r), REQUEST_WHOLE);
    request_destroy(r);
}

static void keeps_alive(const char *s, bool keep, bool chunks)
{
    struct request *r = whole(s);
    assert_int_equal(request_keeps_alive(r), keep);
    assert_int_equal(request_knows_chunks(r), chunks);
    request_destroy(r);
}

static void test_keep_alive_by_version_and_header(void **state)
{
    keeps_alive(GET "\r\n", true, true);
    keeps_alive(GET "Connection: close\r\n\r\n", false, true);
    keeps_alive("GET / HTTP/1.0\r\n\r\n", false, false);
    keeps_alive("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true, false);
    keeps_alive("POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nab", true, false);
}

static void test_expect_counts_for_http_1_1(void **state)
{
    struct request *r = whole(GET "Expect: 100-Continue\r\n\r\n");
    assert_true(request_wants_continue(r));
    request_destroy(r);
    r = whole("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n");
    assert_false(request_wants_continue(r));
    request_destroy(r);
}

static void test_decodes_path_and_query(void **state)
{
    static const struct {
        const char *target, *path, *key, *value;
    } rows[] = {
        {"/a%2Fb%41", "/a/bA", "k", NULL},
        {"/a+b", "/a+b", "k", NULL}, /* a plus is a plus in a path */
        {"/?k=a+b%2B", "/", "k", "a b+"},
        {"/?k", "/", "k", ""},
        {"/?k=", "/", "k", ""},
        {"/?k=a=b", "/", "k", "a=b"},
        {"/?k=1&k=2", "/", "k", "1"},
        {"/?&&x=1&k=2&", "/", "k", "2"},
        {"/?%6b=%c3%a9", "/", "k", "\xc3\xa9"},
        {"/?CPUs%3E%3D64=&k=", "/", "CPUs>=64", ""},
        {"https://h/p?k=v", "/p", "k", "v"},
        {"https://h", "/", "k", NULL},
        {"*", "*", "k", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_TEXT struct text s = {0};
        text_printf(&s, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", rows[i].target);
        struct request *r = whole(s.s);
        assert_string_equal(request_path(r), rows[i].path);
        const char *value = request_query(r, rows[i].key);
        if (rows[i].value)
            assert_string_equal(value, rows[i].value);
        else
            assert_null(value);
        request_destroy(r);
    }
}

static void test_refuses_bad_escapes(void **state)
{
    static const char *const targets[] = {
        "/%",      "/%4",    "/%zz",     "/a%4g",      "/%00",   "/a%00b", "/?a=%",    "/?a=%4",
        "/?%zz=a", "/?%00=", "/?a=%00b", "/?a=%4&b=1", "/?a&%2", "/%-1",   "/?a=b&c=%"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        CLEANUP_TEXT struct text s = {0};
        text_printf(&s, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", targets[i]);
        refused(s.s, -EINVAL, "escape");
    }
}

static void test_refuses_a_length_told_twice(void **state)
{
    refused(GET "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", -EINVAL, "");
    refused(GET "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", -EINVAL, "");
    refused(GET "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", -EINVAL, "");
    refused(GET "Content-Length: 3, 3\r\n\r\nabc", -EINVAL, "");
    refused(GET "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", -EINVAL, "");
}

static void test_refuses_strange_lengths(void **state)
{
    static const char *const lines[] = {
        "Content-Length: -1",          "Content-Length: +1",
        "Content-Length: 0x1",         "Content-Length:",
        "Content-Length : 1",          "Content-Length: 99999999999999999999999",
        "Transfer-Encoding: gzip",     "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity", "Transfer-Encoding: xchunked",
        "Transfer-Encoding:"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        CLEANUP_TEXT struct text s = {0};
        text_printf(&s, GET "%s\r\n\r\n", lines[i]);
        refused(s.s, -EINVAL, "");
    }
    refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", -EINVAL, "Transfer-Encoding");
}

static void test_refuses_bad_chunks(void **state)
{
#define CHUNKED GET "Transfer-Encoding: chunked\r\n\r\n"
    refused(CHUNKED "x\r\n", -EINVAL, "");
    refused(CHUNKED "-1\r\n", -EINVAL, "");
    refused(CHUNKED "fffffffffffffffff\r\n", -EINVAL, "");
    refused(CHUNKED "\r\n", -EINVAL, "");
}

static void test_refuses_a_foreign_origin(void **state)
{
    static const char *const foreign[] = {"https://evil",   "http://h",   "null",     "h", "https://h:444",
                                          "https://h.evil", "https://h/", "https://", ""};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        CLEANUP_TEXT struct text s = {0};
        text_printf(&s, GET "Origin: %s\r\n\r\n", foreign[i]);
        refused(s.s, -EACCES, "may not ask here");
    }
    refused(GET "Origin: https://h\r\nOrigin: https://evil\r\n\r\n", -EACCES, "");
    refused("GET / HTTP/1.0\r\nOrigin: https://h\r\n\r\n", -EACCES, "");
    request_destroy(whole(GET "Origin: https://h\r\n\r\n"));
    request_destroy(whole("GET / HTTP/1.1\r\nHost: a:6443\r\nOrigin: https://A:6443\r\n\r\n"));
}

static void test_wants_one_host(void **state)
{
    refused("GET / HTTP/1.1\r\n\r\n", -EINVAL, "0 Host headers");
    refused(GET "Host: h\r\n\r\n", -EINVAL, "2 Host headers");
    refused(GET "Idempotency-Key: a\r\nIdempotency-Key: a\r\n\r\n", -EINVAL, "more than one Idempotency-Key");
    request_destroy(whole("GET / HTTP/1.0\r\n\r\n"));
}

static void test_refuses_requests_that_are_not_http_1(void **state)
{
    refused("hello\r\n\r\n", -EINVAL, "");
    refused("\x16\x03\x01\x02\x00\x01", -EINVAL, "");
    refused("GET /\r\n\r\n", -EINVAL, "");
    refused("GET / HTTP/2.0\r\nHost: h\r\n\r\n", -EINVAL, "HTTP/2.0 is not spoken");
    refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", -EINVAL, "");
    refused("GET  / HTTP/1.1 x\r\n", -EINVAL, "");
    refused("BREW / HTTP/1.1\r\nHost: h\r\n\r\n", -EINVAL, "");
    refused("CONNECT a:1 HTTP/1.1\r\nHost: h\r\n\r\n", -EOPNOTSUPP, "CONNECT");
    refused(GET "A b: c\r\n\r\n", -EINVAL, "");
    refused(GET "A: b\rc\r\n\r\n", -EINVAL, "");
    refused_bytes("GET / HTTP/1.1\r\nHost: h\0i\r\n\r\n", 29, -EINVAL, "");
}

static void test_refuses_folded_headers(void **state)
{
    refused(GET "A: b\r\n c\r\n\r\n", -EINVAL, "");
    refused(GET "Transfer-Encoding:\r\n chunked\r\n\r\n", -EINVAL, "");
    refused(GET "A: b\r\n\tc: d\r\n\r\n", -EINVAL, "");
}

/* A request whose head has exactly n bytes. */
static void head_of(struct text *s, size_t n, bool long_url)
{
    const char *before = long_url ? "GET /" : GET "Long: ";
    const char *after = long_url ? " HTTP/1.1\r\nHost: h\r\n\r\n" : "\r\n\r\n";
    text_add(s, before);
    while (s->len < n - strlen(after))
        text_add_char(s, 'x');
    text_add(s, after);
}

static void test_bounds_the_head(void **state)
{
    for (int long_url = 0; long_url < 2; long_url++) {
        CLEANUP_TEXT struct text fits = {0}, over = {0};
        head_of(&fits, HTTP_HEAD_BYTES_MAX, long_url);
        request_destroy(whole(fits.s));
        head_of(&over, HTTP_HEAD_BYTES_MAX + 1, long_url);
        refused(over.s, -EMSGSIZE, "larger than 16384 bytes");
    }
    CLEANUP_TEXT struct text many = {0};
    text_add(&many, GET);
    while (many.len < HTTP_HEAD_BYTES_MAX)
        text_add(&many, "A: b\r\n");
    refused(many.s, -EMSGSIZE, "larger than 16384 bytes");
}

static void body_of(struct text *s, size_t n, bool chunked)
{
    text_add(s, GET);
    text_printf(s, chunked ? "Transfer-Encoding: chunked\r\n\r\n%zx\r\n" : "Content-Length: %zu\r\n\r\n", n);
    memset(text_room(s, n), 'b', n);
    s->len += n;
    text_add(s, chunked ? "\r\n0\r\n\r\n" : "");
}

static void test_bounds_the_body(void **state)
{
    for (int chunked = 0; chunked < 2; chunked++) {
        CLEANUP_TEXT struct text fits = {0}, over = {0};
        size_t len;
        body_of(&fits, HTTP_BODY_BYTES_MAX, chunked);
        struct request *r = whole(fits.s);
        request_body(r, &len);
        assert_int_equal(len, HTTP_BODY_BYTES_MAX);
        request_destroy(r);
        body_of(&over, HTTP_BODY_BYTES_MAX + 1, chunked);
        refused(over.s, -E2BIG, "larger than 1048576 bytes");
    }
    /* Refused by its announcement, before a byte of it. */
    refused(GET "Content-Length: 1048577\r\n\r\n", -E2BIG, "larger");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tells_method_path_and_query),
        cmocka_unit_test(test_a_request_without_body_has_an_empty_one),
        cmocka_unit_test(test_any_cut_gives_the_same_request),
        cmocka_unit_test(test_leaves_the_next_request_alone),
        cmocka_unit_test(test_knows_head_from_body),
        cmocka_unit_test(test_keep_alive_by_version_and_header),
        cmocka_unit_test(test_expect_counts_for_http_1_1),
        cmocka_unit_test(test_decodes_path_and_query),
        cmocka_unit_test(test_refuses_bad_escapes),
        cmocka_unit_test(test_refuses_a_length_told_twice),
        cmocka_unit_test(test_refuses_strange_lengths),
        cmocka_unit_test(test_refuses_bad_chunks),
        cmocka_unit_test(test_refuses_a_foreign_origin),
        cmocka_unit_test(test_wants_one_host),
        cmocka_unit_test(test_refuses_requests_that_are_not_http_1),
        cmocka_unit_test(test_refuses_folded_headers),
        cmocka_unit_test(test_bounds_the_head),
        cmocka_unit_test(test_bounds_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
