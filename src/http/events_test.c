/* SPDX-License-Identifier: Apache-2.0 */
#include "http/world_test.h"

#include <poll.h>

static void test_streams_events(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, GET("/events"));
    client_wait(&c, "\r\n\r\n");
    assert_true(client_has(&c, "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n", 1));
    assert_false(client_has(&c, "Content-Length", 1));
    http_event(w.pending, "7", "node", "{\"name\":\"lx07\"}");
    client_wait(&c, "\r\n29\r\nid: 7\nevent: node\ndata: {\"name\":\"lx07\"}\n\n\r\n");
    http_event(w.pending, NULL, "ping", "{}");
    client_wait(&c, "\r\n16\r\nevent: ping\ndata: {}\n\n\r\n");
    http_events_end(w.pending);
    client_wait(&c, "0\r\n\r\n");
    client_send(&c, GET("/json")); /* the connection goes on */
    client_wait(&c, "409 Conflict");
    client_fini(&c);
    world_fini(&w);
    assert_int_equal(w.gone, 0);
}

static void test_streams_events_to_http_1_0_up_to_the_close(void **state)
{
    struct world w;
    struct client c;
    world_init(&w, 10, NULL);
    client_init(&c, &w);
    client_send(&c, "GET /events HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    client_wait(&c, "\r\n\r\n");
    http_event(w.pending, "7", "n", "d");
    http_events_end(w.pending);
    client_wait_end(&c);
    assert_true(client_has(&c, "Connection: close\r\n\r\nid: 7\nevent: n\ndata: d\n\n", 1));
    assert_false(client_has(&c, "chunked", 1));
    client_fini(&c);
    world_fini(&w);
}

static void test_keeps_a_silent_event_stream_alive(void **state)
{
    struct http_limits limits = world_patient();
    limits.alive = span_ms(10);
    struct world w;
    struct client c;
    world_init(&w, 10, &limits);
    client_init(&c, &w);
    client_send(&c, GET("/events"));
    client_wait_times(&c, "\r\n3\r\n:\n\n\r\n", 3);
    client_fini(&c);
    world_fini(&w);
    assert_int_equal(w.gone, 1);
}

static void test_a_reader_that_falls_behind_is_cut_off(void **state)
{
    struct world w;
    struct client reader, sleeper;
    world_init(&w, 10, NULL);
    CLEANUP_FREE char *data = mem_alloc((64 << 10) + 1);
    memset(data, 'd', 64 << 10);

    client_init(&reader, &w); /* takes 2 MiB, more than the backlog, as it comes */
    client_send(&reader, GET("/events"));
    world_wait(&w, &w.asked, 1);
    for (unsigned i = 1; i <= 32; i++) {
        http_event(w.pending, NULL, "n", data);
        client_wait_times(&reader, "data: ", i);
    }
    assert_int_equal(w.gone, 0);
    http_events_end(w.pending);
    client_fini(&reader);

    client_init(&sleeper, &w);
    client_send(&sleeper, GET("/events"));
    world_wait(&w, &w.asked, 2);
    unsigned sent = 0;
    while (w.gone == 0) {
        for (int i = 0; i < 4 && w.pending; i++, sent++)
            http_event(w.pending, NULL, "n", data); /* may go on until on_gone */
        assert_true(sent < 1000);
        world_turn(&w, &sleeper, 0);
    }
    assert_true(sent > 16);
    client_wait_end(&sleeper);
    client_fini(&sleeper);
    world_fini(&w);
    assert_int_equal(w.gone, 1);
}

static void test_a_reader_that_takes_no_event_is_cut_off(void **state)
{
    struct http_limits limits = world_patient();
    limits.progress = span_ms(50);
    struct world w;
    struct client c;
    world_init(&w, 10, &limits);
    client_init(&c, &w);
    client_send(&c, GET("/events"));
    world_wait(&w, &w.asked, 1);
    client_wait(&c, "\r\n\r\n");
    struct mono quiet = mono_add(mono_now(), span_ms(150)); /* nothing is due: that is no offence */
    while (mono_now().ns < quiet.ns)
        world_turn(&w, NULL, 0);
    assert_int_equal(w.gone, 0);
    CLEANUP_FREE char *data = mem_alloc((900 << 10) + 1);
    memset(data, 'd', 900 << 10);
    http_event(w.pending, NULL, "n", data);
    world_wait(&w, &w.gone, 1);
    client_fini(&c);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_events),
        cmocka_unit_test(test_streams_events_to_http_1_0_up_to_the_close),
        cmocka_unit_test(test_keeps_a_silent_event_stream_alive),
        cmocka_unit_test(test_a_reader_that_falls_behind_is_cut_off),
        cmocka_unit_test(test_a_reader_that_takes_no_event_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
