/* SPDX-License-Identifier: Apache-2.0 */
#include "link/blocking.h"

#include "base/text.h"
#include "link/tls_internal.h"

#include <errno.h>
#include <fcntl.h>
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

/* What a client gets from a peer that sends these bytes and then says nothing, or goes away. */
static int meet(const char *bytes, bool goes, int timeout_ms)
{
    struct trust t = trust_make();
    struct tls_context *context = NULL;
    struct blocking *b = NULL;
    int fds[2];
    assert_int_equal(tls_client_context(NULL, NULL, authority_pem(t.authority), &context, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(write(fds[1], bytes, strlen(bytes)), strlen(bytes));
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
    assert_int_equal(meet("", false, 50), -ETIMEDOUT);
    assert_int_equal(meet("HTTP/1.1 400 Bad Request\r\n\r\n", false, 30000), -ECONNREFUSED);
    assert_int_equal(meet("", true, 30000), -ECONNREFUSED); /* and no SIGPIPE */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_controller_is_spoken_to),
        cmocka_unit_test(nobody_else_is_believed),
        cmocka_unit_test(a_server_may_refuse_the_client),
        cmocka_unit_test(silence_garbage_and_an_end_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
