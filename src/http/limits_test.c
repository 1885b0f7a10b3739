/* SPDX-License-Identifier: Apache-2.0 */
#include "http/world_test.h"

#include <poll.h>
#include <sys/socket.h>

/* Sends `start`, then `drip` again and again until the server has had enough. */
static void dribble(const struct http_limits *limits, const char *start, const char *drip, const char *says)
{
    struct world w;
    struct client c;
    world_init(&w, 10, limits);
    client_init(&c, &w);
    client_send(&c, start);
    struct mono until = mono_add(mono_now(), span_s(TIMEOUT_S));
    while (!client_has(&c, "\r\n\r\n", 1)) {
        assert_true(mono_now().ns < until.ns);
        send(c.fd, drip, strlen(drip), MSG_NOSIGNAL); /* far more often than the limit, whatever comes */
        uv_run(&w.loop, UV_RUN_NOWAIT);
        client_read(&c, 4096);
        poll(NULL, 0, 5);
    }
    client_wait_end(&c);
    assert_true(client_has(&c, "HTTP/1.1 408 Request Timeout\r\n", 1));
    assert_true(client_has(&c, "{\"error\":{\"code\":\"timeout\",\"message\":\"", 1));
    assert_true(client_has(&c, says, 1));
    assert_int_equal(w.asked, 0);
    client_fini(&c);
    world_fini(&w);
}

static void test_headers_have_an_absolute_deadline(void **state)
{
    struct http_limits limits = world_patient();
    limits.header = span_ms(50);
    dribble(&limits, "GET / HTTP/1.1\r\n", "A: b\r\n", "headers did not come within 50ms");
}

static void test_the_body_has_an_absolute_deadline(void **state)
{
    struct http_limits limits = world_patient();
    limits.body = span_ms(50);
    dribble(&limits, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n", "x",
            "body did not come within 50ms");
}

static void test_a_silent_connection_ends_without_a_word(void **state)
{
    struct http_limits limits = world_patient();
    limits.header = span_ms(20);
    struct world w;
    struct client c;
    world_init(&w, 10, &limits);
    client_init(&c, &w);
    client_wait_end(&c);
    assert_string_equal(c.in.s, "");
    client_fini(&c);
    world_fini(&w);
}

static void test_an_idle_connection_ends_without_a_word(void **state)
{
    struct http_limits limits = world_patient();
    limits.idle = span_ms(20);
    struct world w;
    struct client c;
    world_init(&w, 10, &limits);
    client_init(&c, &w);
    client_send(&c, GET("/json"));
    client_wait_end(&c);
    assert_string_equal(c.in.s + c.in.len - 6, "\r\n\r\n{}");
    client_fini(&c);
    world_fini(&w);
}

static void test_a_client_that_waits_has_no_deadline(void **state)
{
    struct http_limits limits = {span_ms(20), span_ms(20), span_ms(20), span_ms(20), span_ms(20)};
    struct world w;
    struct client c;
    world_init(&w, 10, &limits);
    client_init(&c, &w);
    client_send(&c, GET("/later"));
    world_wait(&w, &w.asked, 1);
    struct mono until = mono_add(mono_now(), span_ms(100));
    while (mono_now().ns < until.ns)
        world_turn(&w, &c, POLLIN);
    http_answer(w.pending, 200, NULL, "{}", 2);
    client_wait(&c, "{}");
    client_fini(&c);
    world_fini(&w);
}

/* Until the server has hung up on a client that reads nothing. */
static void wait_hangup(struct client *c)
{
    struct mono until = mono_add(mono_now(), span_s(TIMEOUT_S));
    struct pollfd p = {.fd = c->fd};
    while (poll(&p, 1, 0) == 0 || !(p.revents & POLLHUP)) {
        assert_true(mono_now().ns < until.ns);
        world_turn(c->w, NULL, 0);
    }
}

static void test_a_client_that_takes_no_byte_is_cut_off(void **state)
{
    struct http_limits limits = world_patient();
    limits.progress = span_ms(50);
    struct world w;
    struct client c;
    world_init(&w, 10, &limits);
    client_init(&c, &w);
    client_send(&c, GET("/big"));
    wait_hangup(&c);
    client_wait_end(&c);
    assert_true(c.in.len > 0 && c.in.len < BIG_BYTES);
    client_fini(&c);
    world_fini(&w);
}

/* Comments are so small that the system holds hours of them for a client that does not read. */
static void test_a_stream_that_nobody_reads_is_cut_off(void **state)
{
    struct http_limits limits = world_patient();
    limits.progress = span_ms(200);
    limits.alive = span_ms(10);
    struct world w;
    struct client reads, sleeps;
    world_init(&w, 10, &limits);
    client_init(&reads, &w);
    client_send(&reads, GET("/events"));
    world_wait(&w, &w.asked, 1);
    client_init(&sleeps, &w);
    client_send(&sleeps, GET("/events"));
    world_wait(&w, &w.asked, 2);
    struct mono until = mono_add(mono_now(), span_s(TIMEOUT_S));
    while (w.gone == 0) {
        assert_true(mono_now().ns < until.ns);
        world_turn(&w, &reads, POLLIN);
        client_read(&reads, 4096);
        assert_false(reads.ended);
    }
    client_wait_end(&sleeps);
    assert_false(client_has(&reads, NULL, 1));
    client_fini(&reads);
    client_fini(&sleeps);
    world_fini(&w);
}

static void test_a_party_has_its_share_and_administrators_a_reserve(void **state)
{
    static const struct slots_limits door = {.all = 4, .each = 2, .reserve = 1};
    struct world w;
    struct client ann[3], bob, carl, root;
    world_init_door(&w, &door, NULL);
    for (int i = 0; i < 3; i++)
        client_init_as(&ann[i], &w, "ann", false);
    client_wait_end(&ann[2]);
    assert_true(client_has(&ann[2], "503 Service Unavailable", 1));
    assert_true(client_has(&ann[2], "there are too many connections of ann: 2", 1));
    client_init_as(&bob, &w, "bob", false);
    client_init_as(&carl, &w, "carl", false);
    client_wait_end(&carl);
    assert_true(client_has(&carl, "there are too many connections: 3", 1));
    client_init_as(&root, &w, "root", true);
    client_send(&root, GET("/json"));
    client_wait(&root, "409 Conflict");
    client_send(&bob, GET("/json"));
    client_wait(&bob, "409 Conflict");
    for (int i = 0; i < 3; i++)
        client_fini(&ann[i]);
    client_fini(&bob);
    client_fini(&carl);
    client_fini(&root);
    world_fini(&w);
}

/* A request shows whose the connection is: then that one's share counts. */
static void test_a_connection_becomes_another_partys(void **state)
{
    static const struct slots_limits door = {.all = 9, .each = 2, .reserve = 0};
    const struct party sue = {.name = "subject sue"};
    struct world w;
    struct client c[3], late;
    struct err e = {0};
    world_init_door(&w, &door, NULL);
    for (int i = 0; i < 3; i++) {
        const char *const addresses[] = {"address a", "address b", "address c"};
        client_init_as(&c[i], &w, addresses[i], false);
        w.pending = NULL;
        client_send(&c[i], GET("/later"));
        while (!w.pending)
            world_turn(&w, &c[i], 0);
        assert_int_equal(http_set_party(w.pending, &sue, &e), i < 2 ? 0 : -EAGAIN);
        http_answer(w.pending, 200, NULL, "{}", 2);
        client_wait(&c[i], "200 OK");
    }
    assert_string_equal(e.msg, "there are too many connections of subject sue: 2");
    client_fini(&c[0]);
    client_fini(&c[2]);
    client_init_as(&late, &w, "address a", false); /* its places are free again */
    client_send(&late, GET("/json"));
    client_wait(&late, "409 Conflict");
    client_fini(&c[1]);
    client_fini(&late);
    world_fini(&w);
}

static void test_a_slow_client_blocks_nobody(void **state)
{
    struct world w;
    struct client slow[3], quick;
    world_init(&w, 10, NULL);
    for (int i = 0; i < 3; i++)
        client_init(&slow[i], &w);
    client_send(&slow[0], "GET / HT");
    client_send(&slow[1], "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx");
    client_send(&slow[2], GET("/big"));
    client_init(&quick, &w);
    client_send(&quick, GET("/echo"));
    client_wait(&quick, "body=\n");
    client_fini(&quick);
    for (int i = 0; i < 3; i++)
        client_fini(&slow[i]);
    world_fini(&w);
}

static void test_the_newest_connection_of_too_many_is_refused(void **state)
{
    struct world w;
    struct client first, second, third;
    world_init(&w, 2, NULL);
    client_init(&first, &w);
    client_init(&second, &w);
    client_send(&first, GET("/json"));
    client_wait(&first, "{}");
    client_send(&second, GET("/json"));
    client_wait(&second, "{}");
    client_init(&third, &w);
    client_wait_end(&third);
    assert_true(client_has(&third, "HTTP/1.1 503 Service Unavailable\r\n", 1));
    assert_true(
        client_has(&third, "{\"error\":{\"code\":\"unavailable\",\"message\":\"there are too many", 1));
    client_fini(&third);

    client_send(&first, GET("/json")); /* the others are not disturbed */
    client_wait_times(&first, "{}", 2);
    client_fini(&second);
    do { /* and there is room again when one has gone */
        client_init(&third, &w);
        client_send(&third, GET("/json"));
        client_wait(&third, "}");
        assert_true(client_has(&third, "409 Conflict", 1) || client_has(&third, "503 Service", 1));
        client_fini(&third);
    } while (w.asked < 4);
    client_fini(&first);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_have_an_absolute_deadline),
        cmocka_unit_test(test_the_body_has_an_absolute_deadline),
        cmocka_unit_test(test_a_silent_connection_ends_without_a_word),
        cmocka_unit_test(test_an_idle_connection_ends_without_a_word),
        cmocka_unit_test(test_a_client_that_waits_has_no_deadline),
        cmocka_unit_test(test_a_client_that_takes_no_byte_is_cut_off),
        cmocka_unit_test(test_a_stream_that_nobody_reads_is_cut_off),
        cmocka_unit_test(test_a_party_has_its_share_and_administrators_a_reserve),
        cmocka_unit_test(test_a_connection_becomes_another_partys),
        cmocka_unit_test(test_a_slow_client_blocks_nobody),
        cmocka_unit_test(test_the_newest_connection_of_too_many_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
