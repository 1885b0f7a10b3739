/* SPDX-License-Identifier: Apache-2.0 */
#include "link/blocking.h"

#include "base/text.h"
#include "link/tls_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* An authority in a directory of its own, and what it signed. */
struct trust {
    char dir[64];
    struct authority *authority;
};

static struct trust trust_make(void)
{
    struct trust t = {.dir = "/tmp/fettle-blocking-XXXXXX"};
    assert_non_null(mkdtemp(t.dir));
    assert_int_equal(authority_open(t.dir, &t.authority, NULL), 0);
    return t;
}

static void trust_remove(struct trust *t)
{
    static const char *const names[] = {"ca.pem", "ca.key"};
    char path[128];
    authority_close(t->authority);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", t->dir, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(t->dir), 0);
}

static void certify(const struct trust *t, enum identity_kind kind, char **cert, char **key)
{
    struct identity id = {.kind = kind, .name = "one"};
    CLEANUP_FREE char *csr = NULL;
    if (kind == IDENTITY_OPERATOR)
        id.role = ROLE_ADMIN;
    assert_int_equal(tls_new_request(key, &csr, NULL), 0);
    assert_int_equal(authority_sign(t->authority, csr, &id, NULL, span_s(3600), cert, NULL), 0);
}

/* A server for one connection: shakes hands, answers each byte with itself, until the end. */
struct server {
    int fd;
    SSL_CTX *context;
    pthread_t thread;
};

static void *serve(void *arg)
{
    struct server *s = arg;
    SSL *ssl = SSL_new(s->context);
    char byte;
    SSL_set_fd(ssl, s->fd);
    if (SSL_accept(ssl) == 1)
        while (SSL_read(ssl, &byte, 1) == 1)
            SSL_write(ssl, &byte, 1);
    SSL_free(ssl);
    shutdown(s->fd, SHUT_RDWR);
    return NULL;
}

/* What a client gets that believes `client` from a server certified by `server` as `kind`. */
static int converse(const struct trust *client, const struct trust *server, enum identity_kind kind,
                    enum tls_peer peer, bool shows_certificate, struct err *e)
{
    CLEANUP_FREE char *cert = NULL, *key = NULL, *my_cert = NULL, *my_key = NULL;
    struct tls_context *at_server = NULL, *at_client = NULL;
    struct blocking *b = NULL;
    int fds[2];
    struct mono until = mono_add(mono_now(), span_s(30));
    certify(server, kind, &cert, &key);
    certify(client, IDENTITY_OPERATOR, &my_cert, &my_key);
    assert_int_equal(tls_server_context(cert, key, authority_pem(server->authority), peer, &at_server, NULL),
                     0);
    assert_int_equal(tls_client_context(shows_certificate ? my_cert : NULL, shows_certificate ? my_key : NULL,
                                        authority_pem(client->authority), &at_client, NULL),
                     0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    struct server s = {.fd = fds[1], .context = tls_context_ssl(at_server)};
    assert_int_equal(pthread_create(&s.thread, NULL, serve, &s), 0);

    char byte = 'x';
    ssize_t r = blocking_open(fds[0], at_client, until, &b, e);
    if (r == 0)
        r = blocking_write(b, "f", 1, until, e);
    if (r == 1)
        r = blocking_read(b, &byte, 1, until, e);
    blocking_close(b);
    close(fds[0]);
    pthread_join(s.thread, NULL);
    close(fds[1]);
    tls_context_destroy(at_server);
    tls_context_destroy(at_client);
    if (r == 1)
        assert_int_equal(byte, 'f');
    return (int)r;
}

static void a_controller_is_spoken_to(void **state)
{
    struct trust t = trust_make();
    struct err e = {0};
    assert_int_equal(converse(&t, &t, IDENTITY_CONTROLLER, TLS_PEER_REQUIRED, true, &e), 1);
    assert_int_equal(converse(&t, &t, IDENTITY_CONTROLLER, TLS_PEER_OPTIONAL, false, &e), 1);
    trust_remove(&t);
}

static void nobody_else_is_believed(void **state)
{
    struct trust t = trust_make(), other = trust_make();
    struct err e = {0};
    assert_int_equal(converse(&t, &t, IDENTITY_NODE, TLS_PEER_OPTIONAL, true, &e), -EPERM);
    assert_non_null(strstr(e.msg, "not a controller's"));
    assert_int_equal(converse(&t, &t, IDENTITY_OPERATOR, TLS_PEER_OPTIONAL, true, &e), -EPERM);
    assert_int_equal(converse(&t, &other, IDENTITY_CONTROLLER, TLS_PEER_OPTIONAL, true, &e), -EPERM);
    assert_non_null(strstr(e.msg, "not believed"));
    trust_remove(&t);
    trust_remove(&other);
}

static void a_server_may_refuse_the_client(void **state)
{
    struct trust t = trust_make();
    struct err e = {0};
    assert_int_equal(converse(&t, &t, IDENTITY_CONTROLLER, TLS_PEER_REQUIRED, false, &e), -EPERM);
    assert_non_null(strstr(e.msg, "refuses"));
    trust_remove(&t);
}

/* A connection to a controller that is served by `run`, with its own end of a pair of sockets. */
struct talk {
    struct trust t;
    struct server s;
    struct tls_context *at_server, *at_client;
    struct blocking *b;
    int fd;
};

static struct mono soon(void)
{
    return mono_add(mono_now(), span_s(30));
}

static void talk_open(struct talk *k, enum tls_peer peer, void *(*run)(void *arg))
{
    CLEANUP_FREE char *cert = NULL, *key = NULL;
    int fds[2];
    *k = (struct talk){.t = trust_make()};
    certify(&k->t, IDENTITY_CONTROLLER, &cert, &key);
    const char *pem = authority_pem(k->t.authority);
    assert_int_equal(tls_server_context(cert, key, pem, peer, &k->at_server, NULL), 0);
    assert_int_equal(tls_client_context(NULL, NULL, pem, &k->at_client, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    k->fd = fds[0];
    k->s = (struct server){.fd = fds[1], .context = tls_context_ssl(k->at_server)};
    assert_int_equal(pthread_create(&k->s.thread, NULL, run, &k->s), 0);
    assert_int_equal(blocking_open(k->fd, k->at_client, soon(), &k->b, NULL), 0);
}

static void talk_close(struct talk *k)
{
    blocking_close(k->b);
    close(k->fd);
    close(k->s.fd);
    tls_context_destroy(k->at_server);
    tls_context_destroy(k->at_client);
    trust_remove(&k->t);
}

/* A server that says "z", and that it is over. */
static void *say_and_end(void *arg)
{
    struct server *s = arg;
    SSL *ssl = SSL_new(s->context);
    SSL_set_fd(ssl, s->fd);
    if (SSL_accept(ssl) == 1) {
        SSL_write(ssl, "z", 1);
        SSL_shutdown(ssl);
    }
    SSL_free(ssl);
    return NULL;
}

static void an_end_in_order_is_no_error(void **state)
{
    struct talk k;
    char bytes[8];
    talk_open(&k, TLS_PEER_OPTIONAL, say_and_end);
    assert_int_equal(blocking_read(k.b, bytes, sizeof bytes, soon(), NULL), 1);
    assert_int_equal(bytes[0], 'z');
    assert_int_equal(blocking_read(k.b, bytes, sizeof bytes, soon(), NULL), 0);
    assert_int_equal(blocking_read(k.b, bytes, sizeof bytes, soon(), NULL), 0);
    pthread_join(k.s.thread, NULL);
    talk_close(&k);
}

/* More than fits between the two: the client has to wait for the server in between. */
enum { LARGE = 4 << 20 };

static void *count_and_answer(void *arg)
{
    struct server *s = arg;
    SSL *ssl = SSL_new(s->context);
    char bytes[16384];
    int all = 0;
    SSL_set_fd(ssl, s->fd);
    for (int n = SSL_accept(ssl); n > 0 && all<LARGE; all += n> 0 ? n : 0)
        n = SSL_read(ssl, bytes, sizeof bytes);
    SSL_write(ssl, all == LARGE ? "y" : "n", 1);
    SSL_free(ssl);
    return NULL;
}

static void more_than_fits_waits_for_the_server(void **state)
{
    struct talk k;
    char *large = mem_alloc(LARGE), byte;
    talk_open(&k, TLS_PEER_OPTIONAL, count_and_answer);
    for (ssize_t at = 0, n; at < LARGE; at += n) {
        n = blocking_write(k.b, large + at, (size_t)(LARGE - at), soon(), NULL);
        assert_true(n > 0);
    }
    assert_int_equal(blocking_read(k.b, &byte, 1, soon(), NULL), 1);
    assert_int_equal(byte, 'y');
    pthread_join(k.s.thread, NULL);
    talk_close(&k);
    free(large);
}

/* A server that shakes hands, or refuses the client, and does nothing after it. */
static void *shake_only(void *arg)
{
    struct server *s = arg;
    SSL *ssl = SSL_new(s->context);
    SSL_set_fd(ssl, s->fd);
    if (SSL_accept(ssl) != 1)
        shutdown(s->fd, SHUT_RDWR);
    SSL_free(ssl);
    return NULL;
}

static void a_server_that_does_nothing_is_waited_for_until_the_moment(void **state)
{
    struct talk k;
    char *large = mem_alloc(LARGE), byte;
    struct err e = {0};
    ssize_t n = 1;
    talk_open(&k, TLS_PEER_OPTIONAL, shake_only);
    pthread_join(k.s.thread, NULL);
    assert_int_equal(blocking_read(k.b, &byte, 1, mono_add(mono_now(), span_ms(20)), NULL), -ETIMEDOUT);
    while (n > 0) /* what fits goes out */
        n = blocking_write(k.b, large, LARGE, mono_add(mono_now(), span_ms(20)), &e);
    assert_int_equal(n, -ETIMEDOUT);
    assert_string_equal(e.msg, "no answer in time");
    talk_close(&k);
    free(large);
}

/* The server has judged and gone before the client writes: its reason is still there to be read. */
static void a_refusal_is_read_when_a_write_fails(void **state)
{
    struct talk k;
    struct err e = {0};
    talk_open(&k, TLS_PEER_REQUIRED, shake_only);
    pthread_join(k.s.thread, NULL);
    assert_int_equal(blocking_write(k.b, "f", 1, soon(), &e), -EPERM);
    assert_non_null(strstr(e.msg, "refuses"));
    talk_close(&k);
}

static void a_connection_that_breaks_is_told_by_a_write(void **state)
{
    struct talk k;
    struct err e = {0};
    talk_open(&k, TLS_PEER_OPTIONAL, shake_only);
    pthread_join(k.s.thread, NULL);
    shutdown(k.s.fd, SHUT_RDWR);
    assert_int_equal(blocking_write(k.b, "f", 1, soon(), &e), -ECONNREFUSED); /* and no SIGPIPE */
    talk_close(&k);
}

static void waiting_has_an_end(void **state)
{
    struct err e = {0};
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(blocking_wait(fds[0], POLLOUT, soon(), &e), 0);
    assert_int_equal(blocking_wait(fds[0], POLLIN, mono_add(mono_now(), span_ms(-1)), &e), -ETIMEDOUT);
    assert_int_equal(blocking_wait(fds[0], POLLIN, mono_add(mono_now(), span_ms(10)), &e), -ETIMEDOUT);
    close(fds[0]);
    close(fds[1]);
}

/* What a client gets from a peer that sends these bytes and then says nothing, or goes away. */
static int meet(const char *bytes, size_t n, bool goes, int timeout_ms)
{
    struct trust t = trust_make();
    struct tls_context *context = NULL;
    struct blocking *b = NULL;
    int fds[2];
    assert_int_equal(tls_client_context(NULL, NULL, authority_pem(t.authority), &context, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(write(fds[1], bytes, n), n);
    if (goes)
        close(fds[1]);
    int r = blocking_open(fds[0], context, mono_add(mono_now(), span_ms(timeout_ms)), &b, NULL);
    assert_null(b);
    close(fds[0]);
    if (!goes)
        close(fds[1]);
    tls_context_destroy(context);
    trust_remove(&t);
    return r;
}

static void silence_garbage_and_an_end_are_errors(void **state)
{
    static const char garbage[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    static const char close_notify[] = {21, 3, 3, 0, 2, 1, 0}; /* RFC 8446, section 6.1 */
    assert_int_equal(meet("", 0, false, 50), -ETIMEDOUT);
    assert_int_equal(meet(garbage, sizeof garbage - 1, false, 30000), -ECONNREFUSED);
    assert_int_equal(meet("", 0, true, 30000), -ECONNREFUSED); /* and no SIGPIPE */
    assert_int_equal(meet(close_notify, sizeof close_notify, false, 30000), -ECONNREFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_controller_is_spoken_to),
        cmocka_unit_test(nobody_else_is_believed),
        cmocka_unit_test(a_server_may_refuse_the_client),
        cmocka_unit_test(an_end_in_order_is_no_error),
        cmocka_unit_test(more_than_fits_waits_for_the_server),
        cmocka_unit_test(a_server_that_does_nothing_is_waited_for_until_the_moment),
        cmocka_unit_test(a_refusal_is_read_when_a_write_fails),
        cmocka_unit_test(a_connection_that_breaks_is_told_by_a_write),
        cmocka_unit_test(waiting_has_an_end),
        cmocka_unit_test(silence_garbage_and_an_end_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
