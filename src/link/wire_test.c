/* SPDX-License-Identifier: Apache-2.0 */
/* Two wires over a pair of sockets, step by step and without a loop. */
#include "link/fixture_test.h"
#include "link/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct authority *ours;
static struct party controller, node;
static struct tls_context *serving, *dialling;
static struct wire client, server_wire;
static struct identity seen_by_client, seen_by_server;
static struct err e;

static int group_setup(void **state)
{
    ours = authority_new();
    controller = party_new(ours, IDENTITY_CONTROLLER, "c1", 86400);
    node = party_new(ours, IDENTITY_NODE, "lx01", 86400);
    const char *ca = authority_pem(ours);
    assert_int_equal(
        tls_server_context(controller.cert, controller.key, ca, TLS_PEER_REQUIRED, &serving, NULL), 0);
    assert_int_equal(tls_client_context(node.cert, node.key, ca, &dialling, NULL), 0);
    return 0;
}

static int group_teardown(void **state)
{
    tls_context_destroy(serving);
    tls_context_destroy(dialling);
    party_free(&controller);
    party_free(&node);
    authority_close(ours);
    return 0;
}

static void pair_init(struct tls_context *server_tls, struct tls_context *client_tls)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    wire_init(&client, fds[0], client_tls, true);
    wire_init(&server_wire, fds[1], server_tls, false);
    seen_by_client = seen_by_server = (struct identity){0};
    e = (struct err){0};
}

static int pair_fini(void **state)
{
    wire_fini(&client);
    wire_fini(&server_wire);
    return 0;
}

static bool is_over(enum wire_result r)
{
    return r != WIRE_WANT_READ && r != WIRE_WANT_WRITE;
}

/* Shakes hands; returns the client's result. */
static enum wire_result shake(const char *expect)
{
    enum wire_result c = WIRE_WANT_READ, s = WIRE_WANT_READ;
    for (int i = 0; i < 20 && !(is_over(c) && is_over(s)); i++) {
        c = is_over(c) ? c : wire_handshake(&client, expect, &seen_by_client, &e);
        if (c == WIRE_FAILED)
            return c;
        s = is_over(s) ? s : wire_handshake(&server_wire, NULL, &seen_by_server, NULL);
    }
    assert_int_equal(s, WIRE_DONE);
    return c;
}

static void pair_open(void)
{
    pair_init(serving, dialling);
    assert_int_equal(shake("urn:fettle:controller:"), WIRE_DONE);
}

static void write_all(struct wire *w, const char *text)
{
    size_t n;
    assert_int_equal(wire_write(w, text, strlen(text), &n, NULL), WIRE_DONE);
    assert_int_equal(n, strlen(text));
}

static void assert_read(struct wire *w, const char *text)
{
    char bytes[100];
    size_t n;
    assert_int_equal(wire_read(w, bytes, sizeof bytes - 1, &n, NULL), WIRE_DONE);
    bytes[n] = '\0';
    assert_string_equal(bytes, text);
}

static void assert_conversation(void)
{
    char byte;
    size_t n;
    assert_int_equal(wire_read(&server_wire, &byte, 1, &n, NULL), WIRE_WANT_READ);
    assert_int_equal(n, 0);
    write_all(&client, "one");
    assert_read(&server_wire, "one");
    write_all(&server_wire, "two");
    assert_read(&client, "two");
    wire_end(&client);
    assert_int_equal(wire_read(&server_wire, &byte, 1, &n, NULL), WIRE_END);
    write_all(&server_wire, "still"); /* the other direction is open */
    assert_read(&client, "still");
}

static void test_plain_bytes_go_both_ways_to_the_goodbye(void **state)
{
    pair_init(NULL, NULL);
    assert_conversation();
    assert_false(wire_has_pending(&client));
    assert_int_equal(wire_judge(&client, &seen_by_client, &e), 0);
}

static void test_bytes_in_tls_go_both_ways_to_the_goodbye(void **state)
{
    pair_open();
    assert_string_equal(seen_by_client.name, "c1");
    assert_int_equal(seen_by_client.kind, IDENTITY_CONTROLLER);
    assert_string_equal(seen_by_server.name, "lx01");
    assert_conversation();
}

static void test_a_server_of_another_identity_is_refused(void **state)
{
    static const struct {
        const char *expect;
        bool is_good;
    } cases[] = {{"urn:fettle:controller:c1", true},
                 {"urn:fettle:controller:", true},
                 {"urn:fettle:controller:c", false},
                 {"urn:fettle:controller:c11", false},
                 {"urn:fettle:node:", false},
                 {"", false},
                 {NULL, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pair_init(serving, dialling);
        assert_int_equal(shake(cases[i].expect), cases[i].is_good ? WIRE_DONE : WIRE_FAILED);
        if (!cases[i].is_good) {
            assert_int_equal(e.code, -EPERM);
            assert_ptr_equal(strstr(e.msg, "it is urn:fettle:controller:c1, and "), e.msg);
        }
        pair_fini(NULL);
    }
}

static void test_a_full_socket_wants_to_write_later(void **state)
{
    static char many[65536];
    enum wire_result r;
    size_t n, written = 0;
    pair_init(NULL, NULL);
    while ((r = wire_write(&client, many, sizeof many, &n, NULL)) == WIRE_DONE)
        written += n;
    assert_int_equal(r, WIRE_WANT_WRITE);
    assert_int_equal(n, 0);
    while (written) {
        assert_int_equal(wire_read(&server_wire, many, sizeof many, &n, NULL), WIRE_DONE);
        written -= n;
    }
    assert_int_equal(wire_read(&server_wire, many, sizeof many, &n, NULL), WIRE_WANT_READ);
    write_all(&client, "again");
}

/* A record that was read from the socket, and of which the caller took a part only. */
static void test_bytes_that_tls_read_ahead_are_pending(void **state)
{
    char byte;
    size_t n;
    pair_open();
    assert_false(wire_has_pending(&server_wire));
    write_all(&client, "ab");
    assert_int_equal(wire_read(&server_wire, &byte, 1, &n, NULL), WIRE_DONE);
    assert_true(wire_has_pending(&server_wire));
    assert_read(&server_wire, "b");
    assert_false(wire_has_pending(&server_wire));
}

static void test_an_end_without_a_goodbye_is_a_failure(void **state)
{
    char byte;
    size_t n;
    pair_open();
    shutdown(client.fd, SHUT_RDWR);
    assert_int_equal(wire_read(&server_wire, &byte, 1, &n, &e), WIRE_FAILED);
    assert_int_equal(e.code, -ECONNRESET);
    assert_string_equal(e.msg, "the connection ended without a goodbye");
}

static void test_a_peer_that_is_gone_fails_the_write(void **state)
{
    size_t n;
    for (int is_tls = 0; is_tls < 2; is_tls++) {
        if (is_tls)
            pair_open();
        else
            pair_init(NULL, NULL);
        wire_fini(&client);
        assert_int_equal(wire_write(&server_wire, "x", 1, &n, &e), WIRE_FAILED);
        assert_int_equal(e.code, -EPIPE);
        assert_string_equal(e.msg, "Broken pipe");
        pair_fini(NULL);
    }
}

static void test_an_end_during_the_handshake_is_a_failure(void **state)
{
    pair_init(serving, dialling);
    assert_int_equal(wire_handshake(&client, NULL, &seen_by_client, &e), WIRE_WANT_READ);
    wire_fini(&server_wire);
    assert_int_equal(wire_handshake(&client, NULL, &seen_by_client, &e), WIRE_FAILED);
    assert_int_equal(e.code, -ECONNRESET);
}

static void test_a_peer_without_tls_is_told_in_words(void **state)
{
    static const struct {
        const char *bytes, *why;
    } cases[] = {{"GET / HTTP/1.1\r\n\r\n", "it speaks plain HTTP on a TLS port"},
                 {"0123456789abcdef", "it does not speak TLS"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pair_init(serving, NULL);
        write_all(&client, cases[i].bytes);
        assert_int_equal(wire_handshake(&server_wire, NULL, &seen_by_server, &e), WIRE_FAILED);
        assert_int_equal(e.code, -EPROTO);
        assert_string_equal(e.msg, cases[i].why);
        pair_fini(NULL);
    }
}

static int judge_refuse(void *arg, const struct identity *id, struct err *why)
{
    return strcmp(id->name, arg) == 0 ? err_set(why, -EPERM, "%s was revoked", id->name) : 0;
}

static void test_a_judge_is_asked_again_later(void **state)
{
    static char nobody[8], lx01[] = "lx01";
    pair_open();
    assert_int_equal(wire_judge(&server_wire, &seen_by_server, &e), 0); /* there is no judge */
    pair_fini(NULL);
    tls_context_judge(serving, judge_refuse, nobody);
    pair_open();
    assert_int_equal(wire_judge(&server_wire, &seen_by_server, &e), 0);
    memcpy(nobody, lx01, sizeof lx01);
    assert_int_equal(wire_judge(&server_wire, &seen_by_server, &e), -EPERM);
    assert_string_equal(e.msg, "lx01 was revoked");
    nobody[0] = '\0';
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, pair_fini)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plain_bytes_go_both_ways_to_the_goodbye),
        TEST(test_bytes_in_tls_go_both_ways_to_the_goodbye),
        TEST(test_a_server_of_another_identity_is_refused),
        TEST(test_a_full_socket_wants_to_write_later),
        TEST(test_bytes_that_tls_read_ahead_are_pending),
        TEST(test_an_end_without_a_goodbye_is_a_failure),
        TEST(test_a_peer_that_is_gone_fails_the_write),
        TEST(test_an_end_during_the_handshake_is_a_failure),
        TEST(test_a_peer_without_tls_is_told_in_words),
        TEST(test_a_judge_is_asked_again_later),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
