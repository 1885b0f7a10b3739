/* SPDX-License-Identifier: Apache-2.0 */
/* From a host and a port to a connection, or to a sentence. */
#include "link/fixture_test.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>

static struct end *client;

static struct end *dial(const char *host, uint16_t port)
{
    struct end *end = end_new();
    end->s = stream_dial(&loop, host, port, NULL, NULL, 1024, &end_events, end);
    assert_int_equal(end->closed, 0);
    return end;
}

static void test_dial_fails_through_on_close(void **state)
{
    server_start(NULL);
    uint16_t port = listener_port(server);
    listener_close(server);
    server = NULL;
    client = dial("127.0.0.1", port);
    run_until(client->closed);
    assert_int_equal(client->why.code, -ECONNREFUSED);
    assert_non_null(strstr(client->why.msg, "127.0.0.1:"));
    assert_int_equal(client->opened, 0);

    char host[400];
    memset(host, 'a', sizeof host);
    host[sizeof host - 1] = '\0';
    client = dial(host, port);
    run_until(client->closed);
    assert_false(client->clean);
}

static void test_dial_looks_names_up(void **state)
{
    server_start(NULL);
    client = dial("localhost", listener_port(server)); /* tries ::1 first where the system does */
    run_until(client->opened && server_end && server_end->opened);
    struct end *given_up = dial("localhost", listener_port(server));
    stream_abort(given_up->s, NULL);
    run_until(given_up->closed);
    assert_int_equal(given_up->opened, 0);
}

static void test_a_name_that_nobody_has_is_told(void **state)
{
    client = dial("no-such-host.invalid", 1); /* RFC 6761: never resolves */
    run_until(client->closed);
    assert_int_equal(client->why.code, -ECONNREFUSED);
    assert_ptr_equal(strstr(client->why.msg, "look up no-such-host.invalid:1: "), client->why.msg);
}

/* Each address of the name is tried, and the last one's error is told. */
static void test_a_name_whose_addresses_all_refuse_is_told(void **state)
{
    server_start(NULL);
    uint16_t port = listener_port(server);
    listener_close(server);
    server = NULL;
    client = dial("localhost", port);
    run_until(client->closed);
    assert_int_equal(client->opened, 0);
    assert_int_equal(client->why.code, -ECONNREFUSED);
    assert_ptr_equal(strstr(client->why.msg, "connect localhost:"), client->why.msg);
}

/* In the place of a name server: "several.test" has these addresses in this order, and other names have their
 * own. */
static const char *const several[] = {"255.255.255.255", "127.0.0.2", "127.0.0.1"};
static uv_getaddrinfo_cb on_really_found;

static void on_last_found(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    assert_int_equal(status, 0);
    for (int i = 1; i >= 0; i--) {
        struct addrinfo *before = NULL, hints = *found;
        hints.ai_addr = NULL;
        hints.ai_addrlen = 0;
        hints.ai_canonname = NULL;
        hints.ai_next = NULL;
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
        assert_int_equal(getaddrinfo(several[i], "1", &hints, &before), 0);
        ((struct sockaddr_in *)before->ai_addr)->sin_port = ((struct sockaddr_in *)found->ai_addr)->sin_port;
        before->ai_next = found;
        found = before;
    }
    on_really_found(req, status, found);
}

/* The names that --wrap makes are reserved ones. */
int getaddrinfo_really(uv_loop_t *at, uv_getaddrinfo_t *req, uv_getaddrinfo_cb cb, const char *host,
                       const char *service, const struct addrinfo *hints) __asm__("__real_uv_getaddrinfo");
int getaddrinfo_several(uv_loop_t *at, uv_getaddrinfo_t *req, uv_getaddrinfo_cb cb, const char *host,
                        const char *service, const struct addrinfo *hints) __asm__("__wrap_uv_getaddrinfo");

int getaddrinfo_several(uv_loop_t *at, uv_getaddrinfo_t *req, uv_getaddrinfo_cb cb, const char *host,
                        const char *service, const struct addrinfo *hints)
{
    if (strcmp(host, "several.test") != 0)
        return getaddrinfo_really(at, req, cb, host, service, hints);
    on_really_found = cb;
    return getaddrinfo_really(at, req, on_last_found, several[2], service, hints);
}

/* The first is refused at once, the second while it connects; the stream keeps its poll handle. */
static void test_the_addresses_of_a_name_are_tried_until_one_connects(void **state)
{
    server_start(NULL); /* at the last one */
    client = dial("several.test", listener_port(server));
    run_until(client->opened && server_end && server_end->opened);
    end_write(client, "hello");
    run_until(server_end->got.len == 5);
    assert_int_equal(client->closed, 0);
}

static void test_an_address_that_cannot_be_reached_fails(void **state)
{
    client = dial("255.255.255.255", 1); /* connect refuses it at once */
    run_until(client->closed);
    assert_int_equal(client->opened, 0);
    assert_ptr_equal(strstr(client->why.msg, "connect 255.255.255.255:1: "), client->why.msg);
}

static void test_a_stream_that_ends_during_the_look_up_leaves_nothing(void **state)
{
    for (int turns = 0; turns < 3; turns++) { /* before the look-up began, and while it is under way */
        client = dial("localhost", 1);
        for (int i = 0; i < turns; i++)
            uv_run(&loop, UV_RUN_NOWAIT);
        if (client->s)
            stream_abort(client->s, NULL);
        run_until(client->closed);
        assert_int_equal(client->opened, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_dial_fails_through_on_close),
        TEST(test_dial_looks_names_up),
        TEST(test_a_name_that_nobody_has_is_told),
        TEST(test_a_name_whose_addresses_all_refuse_is_told),
        TEST(test_the_addresses_of_a_name_are_tried_until_one_connects),
        TEST(test_an_address_that_cannot_be_reached_fails),
        TEST(test_a_stream_that_ends_during_the_look_up_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
