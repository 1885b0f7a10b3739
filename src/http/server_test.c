/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection.h"
#include "http/world_test.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* s is answered with this status line, error code and sentence, and the connection ends. */
static void is_refused(const struct http_limits *limits, const char *s, size_t n, const char *status,
                       const char *code, const char *says)
{
    struct world w;
    struct client c;
    world_init(&w, 10, limits);
    client_init(&c, &w);
    client_send_bytes(&c, s, n);
    client_wait_end(&c);
    CLEANUP_TEXT struct text line = {0}, error = {0};
    text_printf(&line, "HTTP/1.1 %s\r\n", status);
    text_printf(&error, "\r\n\r\n{\"error\":{\"code\":\"%s\",\"message\":\"", code);
    if (strncmp(c.in.s, line.s, line.len) != 0 || !client_has(&c, error.s, 1))
        fail_msg("not %s %s: %s", status, code, c.in.s);
    assert_true(client_has(&c, says, 1));
    assert_true(client_has(&c, "Connection: close\r\n", 1));
    assert_true(client_has(&c, "Content-Type: application/json\r\n", 1));
    assert_int_equal(w.asked, 0);
    client_fini(&c);
    world_fini(&w);
}

static void refused(const char *s, const char *status, const char *code, const char *says)
{
    is_refused(NULL, s, strlen(s), status, code, says);
}

static void test_answers_a_request(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, "POST /echo?q=a%20b HTTP/1.1\r\nHost: h\r\nx-thing: y\r\nContent-Length: 3\r\n\r\nabc");
    client_wait(&c, "body=abc\n");
    assert_string_equal(c.in.s, "HTTP/1.1 200 OK\r\n"
                                "Content-Type: text/plain\r\n"
                                "Content-Length: 35\r\n"
                                "Cache-Control: no-store\r\n"
                                "X-Content-Type-Options: nosniff\r\n"
                                "Connection: keep-alive\r\n"
                                "\r\n"
                                "POST post /echo q=a b x=y body=abc\n");
    client_fini(&c);
    world_fini(&w);
}

static void test_answers_several_on_one_connection(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    for (unsigned i = 1; i <= 3; i++) {
        client_send(&c, GET("/echo"));
        client_wait_times(&c, "body=\n", i);
    }
    client_send(&c, GET("/json"));
    client_wait(&c, "HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 2\r\n");
    client_send(&c, GET("/none"));
    client_wait(&c, "HTTP/1.1 404 Not Found\r\n");
    client_wait(&c, "{\"error\":{\"code\":\"not_found\",\"message\":\"no \\\"/none\\\"\"}}\n");
    client_send(&c, "GET /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    client_wait_end(&c);
    assert_true(client_has(&c, "body=\n", 4));
    assert_true(client_has(&c, "Connection: close\r\n", 1));
    client_fini(&c);
    world_fini(&w);
}

static void test_http_1_0_ends_unless_told_otherwise(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    client_wait(&c, "Connection: keep-alive\r\n");
    client_wait(&c, "body=\n");
    client_send(&c, "GET /echo HTTP/1.0\r\n\r\n");
    client_wait_end(&c);
    assert_true(client_has(&c, "body=\n", 2));
    client_fini(&c);
    world_fini(&w);
}

static void test_head_is_get_without_the_body(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, "HEAD /big HTTP/1.1\r\nHost: h\r\n\r\n");
    client_wait(&c, "\r\n\r\n");
    assert_true(client_has(&c, "Content-Length: 8388608\r\n", 1));
    client_send(&c, "HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    client_wait_times(&c, "\r\n\r\n", 2);
    client_send(&c, "HEAD /events HTTP/1.1\r\nHost: h\r\n\r\n");
    client_wait_times(&c, "\r\n\r\n", 3);
    http_event(w.pending, "1", "n", "d");
    http_events_end(w.pending);
    client_wait_end(&c);
    assert_null(strstr(c.in.s, "HEAD get /echo"));
    assert_null(strstr(c.in.s, "data:"));
    assert_string_equal(c.in.s + c.in.len - 4, "\r\n\r\n");
    client_fini(&c);
    world_fini(&w);
}

static void test_pipelined_requests_come_one_at_a_time_in_order(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, GET("/echo?q=1") GET("/later") GET("/echo?q=3"));
    world_wait(&w, &w.asked, 2);
    for (int i = 0; i < 10; i++)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    assert_int_equal(w.asked, 2);
    http_answer(w.pending, 200, NULL, "second", 6);
    client_wait(&c, "q=3");
    const char *first = strstr(c.in.s, "q=1"), *second = strstr(c.in.s, "second");
    assert_true(first && second && first < second && second < strstr(c.in.s, "q=3"));

    CLEANUP_TEXT struct text many = {0};
    for (int i = 0; i < 1000; i++)
        text_add(&many, GET("/json"));
    client_send_bytes(&c, many.s, many.len / 2); /* the rest goes out while the answers come in */
    size_t sent = many.len / 2;
    while (w.asked < 1003) {
        ssize_t n = sent < many.len ? send(c.fd, many.s + sent, many.len - sent, MSG_NOSIGNAL) : 0;
        sent += n > 0 ? (size_t)n : 0;
        world_turn(&w, &c, POLLIN);
        client_read(&c, 64 << 10);
        assert_false(c.ended);
    }
    client_wait_times(&c, "409 Conflict", 1000);
    client_fini(&c);
    world_fini(&w);
}

static void test_an_answer_may_come_later(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, GET("/later"));
    world_wait(&w, &w.asked, 1);
    http_answer(w.pending, 503, "text/plain", "done", 4);
    client_wait(&c, "done");
    assert_true(client_has(&c, "HTTP/1.1 503 Service Unavailable\r\n", 1));
    client_fini(&c);
    world_fini(&w);
    assert_int_equal(w.gone, 0);
}

static void test_tells_when_the_client_goes_away(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, GET("/later"));
    world_wait(&w, &w.asked, 1);
    client_fini(&c);
    world_wait(&w, &w.gone, 1);

    client_init(&c, &w); /* also while bytes of its next request wait */
    client_send(&c, GET("/later") GET("/later"));
    world_wait(&w, &w.asked, 2);
    client_fini(&c);
    world_wait(&w, &w.gone, 2);
    assert_int_equal(w.asked, 2);

    client_init(&c, &w);
    client_send(&c, GET("/events"));
    client_wait(&c, "\r\n\r\n");
    client_fini(&c);
    world_wait(&w, &w.gone, 3);
    world_fini(&w);
}

static void test_destroy_loses_unanswered_requests(void **state)
{
    struct world w;
    struct client c, d;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_init(&d, &w);
    client_send(&c, GET("/later"));
    client_send(&d, "GET / HT");
    world_wait(&w, &w.asked, 1);
    http_server_destroy(w.server);
    assert_int_equal(w.gone, 1); /* from inside */
    w.server = NULL;
    client_wait_end(&c);
    client_wait_end(&d);
    assert_string_equal(c.in.s, "");
    client_fini(&c);
    client_fini(&d);
    world_fini(&w);
    assert_int_equal(w.gone, 1);
    assert_int_equal(w.asked, 1);
}

static void test_continues_when_expected(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, "PUT /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    client_wait(&c, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(w.asked, 0);
    client_send(&c, "abc");
    client_wait(&c, "PUT put /echo q=- x=- body=abc\n");
    /* Not for a body that is on its way already. */
    client_send(&c, "PUT /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nd");
    for (int i = 0; i < 10; i++)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    client_send(&c, "ef");
    client_wait(&c, "body=def\n");
    assert_false(client_has(&c, "100 Continue", 2));
    client_fini(&c);
    world_fini(&w);
}

static void test_takes_chunked_bodies(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, "PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n");
    client_send(&c, "ab\r\n1\r\nc\r\n0\r\n\r\n" GET("/json"));
    client_wait(&c, "body=abc\n");
    client_wait(&c, "409 Conflict");
    client_fini(&c);
    world_fini(&w);
}

static void test_refuses_with_status_and_sentence(void **state)
{
    refused("garbage\r\n\r\n", "400 Bad Request", "invalid", "not an HTTP request");
    refused("\x16\x03\x01\x02", "400 Bad Request", "invalid", "not an HTTP request");
    refused("GET / HTTP/1.1\r\n\r\n", "400 Bad Request", "invalid", "0 Host headers");
    refused("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request", "invalid", "%zz");
    refused("GET /%00 HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request", "invalid", "%00");
    refused("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "400 Bad Request", "invalid", "");
    refused("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", "400 Bad Request",
            "invalid", "");
    refused("GET / HTTP/1.1\r\nHost: h\r\nOrigin: https://evil\r\n\r\n", "403 Forbidden", "forbidden",
            "https://evil");
    refused("CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", "405 Method Not Allowed", "method_not_allowed",
            "CONNECT");
    refused("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n", "413 Payload Too Large",
            "too_large", "1048576");
}

/* Each status that an error has (err.tbl) has its phrase. */
static void test_has_a_phrase_for_each_error(void **state)
{
    static const int errors[] = {
#define ERR(CODE, NAME, STATUS, EXIT) CODE,
#include "base/err.tbl"
#undef ERR
    };
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        assert_string_not_equal(http_phrase(err_http(-errors[i])), "");
    assert_string_equal(http_phrase(404), "Not Found");
}

static void test_refuses_requests_that_are_too_large(void **state)
{
    CLEANUP_TEXT struct text s = {0};
    text_add(&s, "GET / HTTP/1.1\r\nHost: h\r\nLong: ");
    memset(text_room(&s, 100000), 'x',
           100000); /* more than the server reads: the answer comes all the same */
    s.len += 100000;
    is_refused(NULL, s.s, s.len, "431 Request Header Fields Too Large", "header_too_large", "16384");

    text_clear(&s);
    text_add(&s, "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
    memset(text_room(&s, 2 << 20), 'x', 2 << 20);
    s.len += 2 << 20;
    is_refused(NULL, s.s, s.len, "413 Payload Too Large", "too_large", "1048576");
}

static void test_an_answer_in_pieces_arrives_as_one(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, GET("/pieces") GET("/json"));
    client_wait(&c, "\r\n\r\n{}");
    assert_true(client_has(&c, "Content-Length: 13\r\n", 1));
    assert_true(client_has(&c, "\r\n\r\none,two,threeHTTP/1.1 409", 1));
    client_send(&c, "HEAD /pieces HTTP/1.1\r\nHost: h\r\n\r\n" GET("/json"));
    client_wait_times(&c, "\r\n\r\n{}", 2);
    assert_true(client_has(&c, "Content-Length: 13\r\n", 2));
    assert_true(client_has(&c, "one,", 1));
    client_fini(&c);
    world_fini(&w);
}

static void test_an_error_takes_the_place_of_pieces(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, GET("/unsaid") GET("/json"));
    client_wait(&c, "\r\n\r\n{}");
    assert_true(client_has(&c, "not today", 1));
    assert_false(client_has(&c, "one,", 1));
    client_fini(&c);
    world_fini(&w);
}

static void test_a_big_answer_arrives_whole(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, GET("/big") GET("/json"));
    while (c.in.len < BIG_BYTES) {
        world_turn(&w, &c, POLLIN);
        client_read(&c, 100001);
        assert_false(c.ended);
    }
    client_wait(&c, "409 Conflict");
    char *body = strstr(c.in.s, "\r\n\r\n") + 4;
    assert_int_equal(strspn(body, "b"), BIG_BYTES);
    client_fini(&c);
    world_fini(&w);
}

static void test_knows_the_caller(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, GET("/later"));
    world_wait(&w, &w.asked, 1);
    uid_t uid;
    pid_t pid;
    assert_true(stream_peer_user(http_stream(w.pending), &uid, &pid));
    assert_int_equal(uid, getuid());
    http_answer(w.pending, 200, NULL, "{}", 2);
    client_wait(&c, "{}");
    client_fini(&c);
    world_fini(&w);
}

/* One that asks a hundred times has no more turns for it, and an administrator is next. */
static void test_parties_take_turns(void **state)
{
    static const struct {
        const char *name;
        bool privileged;
        const char *request;
    } who[] = {{"ann", false, "a"},
               {"ann", false, "a"},
               {"ann", false, "a"},
               {"bob", false, "b"},
               {"root", true, "R"}};
    enum { CLIENTS = sizeof who / sizeof who[0] };
    struct world w;
    struct client c[CLIENTS];
    world_init(&w, 10, NULL);
    for (int i = 0; i < CLIENTS; i++)
        client_init_as(&c[i], &w, who[i].name, who[i].privileged);
    world_turn(&w, NULL, 0);
    for (int i = 0; i < CLIENTS; i++) { /* all before the loop looks */
        char request[96];
        int n = snprintf(request, sizeof request, "GET /json HTTP/1.1\r\nHost: h\r\nX-Thing: %s\r\n\r\n",
                         who[i].request);
        assert_int_equal(send(c[i].fd, request, (size_t)n, 0), n);
    }
    for (int i = 0; i < CLIENTS; i++)
        client_wait(&c[i], "409 Conflict");
    assert_string_equal(w.order.s, "Rabaa");
    for (int i = 0; i < CLIENTS; i++)
        client_fini(&c[i]);
    world_fini(&w);
}

/* What asks for further turns has them one after another, and others theirs in between. */
static void test_long_work_takes_several_turns(void **state)
{
    struct world w;
    struct client slow, quick;
    world_init(&w, 10, NULL);
    client_init_as(&slow, &w, "ann", false);
    client_init_as(&quick, &w, "bob", false);
    client_send(&slow, "GET /slices HTTP/1.1\r\nHost: h\r\nX-Thing: s\r\n\r\n");
    world_wait(&w, &w.asked, 1);
    client_send(&quick, "GET /json HTTP/1.1\r\nHost: h\r\nX-Thing: q\r\n\r\n");
    client_wait(&quick, "409 Conflict");
    assert_true(w.slices > 0);
    client_wait(&slow, "sliced");
    assert_int_equal(w.slices, 0);
    client_fini(&quick);

    client_send(&slow, GET("/slices")); /* and one that goes away meanwhile has no more */
    world_wait(&w, &w.asked, 3);
    client_fini(&slow);
    world_wait(&w, &w.gone, 1);
    unsigned left = w.slices;
    world_turn(&w, NULL, 0);
    assert_int_equal(w.slices, left);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_a_request),
        cmocka_unit_test(test_answers_several_on_one_connection),
        cmocka_unit_test(test_http_1_0_ends_unless_told_otherwise),
        cmocka_unit_test(test_head_is_get_without_the_body),
        cmocka_unit_test(test_pipelined_requests_come_one_at_a_time_in_order),
        cmocka_unit_test(test_an_answer_may_come_later),
        cmocka_unit_test(test_tells_when_the_client_goes_away),
        cmocka_unit_test(test_destroy_loses_unanswered_requests),
        cmocka_unit_test(test_continues_when_expected),
        cmocka_unit_test(test_takes_chunked_bodies),
        cmocka_unit_test(test_refuses_with_status_and_sentence),
        cmocka_unit_test(test_has_a_phrase_for_each_error),
        cmocka_unit_test(test_refuses_requests_that_are_too_large),
        cmocka_unit_test(test_an_answer_in_pieces_arrives_as_one),
        cmocka_unit_test(test_an_error_takes_the_place_of_pieces),
        cmocka_unit_test(test_a_big_answer_arrives_whole),
        cmocka_unit_test(test_knows_the_caller),
        cmocka_unit_test(test_parties_take_turns),
        cmocka_unit_test(test_long_work_takes_several_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
