/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenSSL's own socket BIO writes with write(2), which would raise SIGPIPE in programs that did not
 * ask for it; the BIO here sends with MSG_NOSIGNAL. The socket never blocks: OpenSSL says which
 * way it wants to go, and poll(2) waits for that until the caller's moment.
 */
#include "link/blocking.h"

#include "link/tls_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/err.h>

struct blocking {
    int fd;
    SSL *ssl;
    BIO_METHOD *method;
};

int blocking_wait(int fd, short events, struct mono until, struct err *e)
{
    for (;;) {
        int64_t left_ms = span_to_ms(mono_sub(until, mono_now()));
        if (left_ms < 0)
            return err_set(e, -ETIMEDOUT, "no answer in time");
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, left_ms >= INT32_MAX ? INT32_MAX : (int)left_ms + 1);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return err_set(e, -ECONNREFUSED, "cannot wait for the connection: %s", strerror(errno));
    }
}

static int bio_result(BIO *bio, ssize_t n, int retry)
{
    BIO_clear_retry_flags(bio);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
    return (int)n;
}

static int bio_write(BIO *bio, const char *bytes, int n)
{
    const struct blocking *b = BIO_get_data(bio);
    return bio_result(bio, send(b->fd, bytes, (size_t)n, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}

static int bio_read(BIO *bio, char *bytes, int n)
{
    const struct blocking *b = BIO_get_data(bio);
    return bio_result(bio, recv(b->fd, bytes, (size_t)n, 0), BIO_FLAGS_READ);
}

static long bio_ctrl(BIO *bio, int what, long number, void *pointer)
{
    return what == BIO_CTRL_FLUSH ? 1 : 0;
}

static BIO *bio_create(struct blocking *b)
{
    b->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "fettle");
    if (!b->method || BIO_meth_set_write(b->method, bio_write) != 1 ||
        BIO_meth_set_read(b->method, bio_read) != 1 || BIO_meth_set_ctrl(b->method, bio_ctrl) != 1)
        return NULL;
    BIO *bio = BIO_new(b->method);
    if (bio) {
        BIO_set_data(bio, b);
        BIO_set_init(bio, 1);
    }
    return bio;
}

/* Decides what to do after a call that returned `r`: 0 to try again, 1 for a clean end, or an error. */
static int blocking_again(struct blocking *b, int r, struct mono until, struct err *e)
{
    int why = SSL_get_error(b->ssl, r);
    if (why == SSL_ERROR_WANT_READ)
        return blocking_wait(b->fd, POLLIN, until, e);
    if (why == SSL_ERROR_WANT_WRITE)
        return blocking_wait(b->fd, POLLOUT, until, e);
    if (why == SSL_ERROR_ZERO_RETURN)
        return 1;
    unsigned long last = ERR_peek_last_error();
    long verified = SSL_get_verify_result(b->ssl);
    if (verified != X509_V_OK) {
        ERR_clear_error();
        return err_set(e, -EPERM, "the controller's certificate is not believed: %s",
                       X509_verify_cert_error_string(verified));
    }
    if (last != 0 && ERR_GET_REASON(last) >= SSL_AD_REASON_OFFSET)
        return tls_fail(e, -EPERM, "the controller refuses this certificate");
    return tls_fail(e, -ECONNREFUSED, "the connection was lost");
}

static int is_controller(const SSL *ssl, struct err *e)
{
    struct identity id;
    const X509 *cert = SSL_get0_peer_certificate(ssl);
    int r = cert ? cert_identity(cert, &id, e) : err_set(e, -EPERM, "the server shows no certificate");
    if (r == 0 && id.kind != IDENTITY_CONTROLLER)
        r = err_set(e, -EPERM, "the server's certificate is not a controller's");
    return r;
}

static int shake_hands(struct blocking *b, struct mono until, struct err *e)
{
    for (;;) {
        ERR_clear_error();
        int done = SSL_connect(b->ssl);
        if (done == 1)
            return is_controller(b->ssl, e);
        int r = blocking_again(b, done, until, e);
        if (r == 1)
            return err_set(e, -ECONNREFUSED, "the connection was closed while it was set up");
        if (r < 0)
            return r;
    }
}

int blocking_open(int fd, struct tls_context *tls, struct mono until, struct blocking **out, struct err *e)
{
    struct blocking *b = calloc(1, sizeof *b);
    if (!b)
        return err_set(e, -ENOMEM, "no memory");
    b->fd = fd;
    b->ssl = SSL_new(tls_context_ssl(tls));
    BIO *bio = b->ssl ? bio_create(b) : NULL;
    int r = bio ? 0 : err_set(e, -ENOMEM, "no memory");
    if (bio)
        SSL_set_bio(b->ssl, bio, bio);
    if (r == 0)
        r = shake_hands(b, until, e);
    if (r < 0) {
        blocking_close(b);
        return r;
    }
    *out = b;
    return 0;
}

ssize_t blocking_read(struct blocking *b, void *bytes, size_t n, struct mono until, struct err *e)
{
    for (;;) {
        ERR_clear_error();
        size_t got = 0;
        int done = SSL_read_ex(b->ssl, bytes, n, &got);
        if (done == 1)
            return (ssize_t)got;
        int r = blocking_again(b, done, until, e);
        if (r != 0)
            return r == 1 ? 0 : r;
    }
}

/* A TLS 1.3 server judges the client after the client has finished the handshake. A write may fail because
 * the server has closed already, while its reason is still unread. */
static bool read_refusal(struct blocking *b)
{
    char byte;
    size_t got;
    ERR_clear_error();
    return SSL_read_ex(b->ssl, &byte, 1, &got) != 1 &&
           ERR_GET_REASON(ERR_peek_last_error()) >= SSL_AD_REASON_OFFSET;
}

ssize_t blocking_write(struct blocking *b, const void *bytes, size_t n, struct mono until, struct err *e)
{
    for (;;) {
        ERR_clear_error();
        size_t put = 0;
        int done = SSL_write_ex(b->ssl, bytes, n, &put);
        if (done == 1)
            return (ssize_t)put;
        int r = blocking_again(b, done, until, e);
        if (r < 0 && r != -ETIMEDOUT && read_refusal(b))
            return tls_fail(e, -EPERM, "the controller refuses this certificate");
        if (r == 1)
            return err_set(e, -ECONNREFUSED, "the connection was closed");
        if (r < 0)
            return r;
    }
}

void blocking_close(struct blocking *b)
{
    if (!b)
        return;
    ERR_clear_error();
    if (b->ssl && SSL_is_init_finished(b->ssl))
        SSL_shutdown(b->ssl);
    SSL_free(b->ssl);
    BIO_meth_free(b->method);
    ERR_clear_error();
    free(b);
}
