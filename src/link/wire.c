/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenSSL on a socket. It reads and writes through a BIO of our own, because its socket BIO writes
 * without MSG_NOSIGNAL and a peer that left would end the process. The queue of OpenSSL's errors is
 * one per thread: it is emptied before every call, or one session's failure is read as another's.
 */
#include "link/wire.h"

#include "base/text.h"
#include "link/tls_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

/* The reasons in an operator's words. OpenSSL's own texts would cost every agent memory. */
static const struct meaning {
    int reason;
    int code;
    const char *text;
} meanings[] = {
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, -EPERM, "it showed no certificate"},
    {SSL_R_WRONG_VERSION_NUMBER, -EPROTO, "it does not speak TLS"},
    {SSL_R_HTTP_REQUEST, -EPROTO, "it speaks plain HTTP on a TLS port"},
    {SSL_R_UNSUPPORTED_PROTOCOL, -EPROTO, "it does not offer TLS 1.3"},
    {SSL_R_NO_SHARED_CIPHER, -EPROTO, "it offers no cipher of TLS 1.3"},
    {SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, -EPROTO, "it does not take certificates of P-256"},
    {SSL_R_EXCESSIVE_MESSAGE_SIZE, -EPROTO, "its certificates are too long"},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, -EPROTO, "it does not speak TLS 1.3"},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, -EPROTO, "it refused the handshake"},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, -EPERM, "it wants a certificate, and there is none here"},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA, -EPERM, "it does not know the authority of the certificate here"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, -EPERM,
     "it says that the certificate here has expired, by its clock"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, -EPERM,
     "it says that the certificate here was revoked, or that there is a later one"},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, -EPERM,
     "it refused the certificate here, as where its clock is behind"},
    {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, -EPERM, "it refused the certificate here for this use"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, -EPERM, "it refused the certificate here"},
    {SSL_R_TLSV1_ALERT_DECRYPT_ERROR, -EPERM, "it refused the signature made here"},
};

static struct wire *wire_of(BIO *bio)
{
    return BIO_get_data(bio);
}

static int bio_result(BIO *bio, ssize_t n)
{
    BIO_clear_retry_flags(bio);
    wire_of(bio)->socket_error = n < 0 ? errno : 0;
    return (int)n;
}

static int bio_read(BIO *bio, char *buf, int cap)
{
    int n = bio_result(bio, recv(wire_of(bio)->fd, buf, (size_t)cap, 0));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_read(bio);
    return n;
}

static int bio_write(BIO *bio, const char *bytes, int n)
{
    int done = bio_result(bio, send(wire_of(bio)->fd, bytes, (size_t)n, MSG_NOSIGNAL));
    if (done < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    return done;
}

static long bio_ctrl(BIO *bio, int what, long number, void *pointer)
{
    return what == BIO_CTRL_FLUSH;
}

static BIO *bio_of(struct wire *w)
{
    static BIO_METHOD *method;
    if (!method) {
        method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
        BIO_meth_set_read(method, bio_read);
        BIO_meth_set_write(method, bio_write);
        BIO_meth_set_ctrl(method, bio_ctrl);
    }
    BIO *bio = BIO_new(method);
    BIO_set_data(bio, w);
    BIO_set_init(bio, 1);
    return bio;
}

void wire_init(struct wire *w, int fd, struct tls_context *tls, bool client)
{
    *w = (struct wire){.fd = fd, .client = client};
    if (!tls)
        return;
    w->ctx = tls_context_ssl(tls);
    SSL_CTX_up_ref(w->ctx);
}

void wire_fini(struct wire *w)
{
    SSL_free(w->ssl);
    SSL_CTX_free(w->ctx);
    if (w->fd >= 0)
        close(w->fd);
    *w = (struct wire){.fd = -1};
}

static enum wire_result socket_failed(int error, struct err *e)
{
    if (error == 0)
        err_set(e, -ECONNRESET, "the connection ended without a goodbye");
    else
        err_set(e, -error, "%s", strerror(error));
    return WIRE_FAILED;
}

static enum wire_result tls_refused(const struct wire *w, struct err *e)
{
    unsigned long last = ERR_peek_error();
    int reason = ERR_GET_REASON(last);
    ERR_clear_error();
    if (ERR_GET_LIB(last) == ERR_LIB_SSL && reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        if (tls_out_of_time(w->ssl, e))
            return WIRE_FAILED;
        long why = SSL_get_verify_result(w->ssl);
        err_set(e, -EPERM, "its certificate was refused: %s", X509_verify_cert_error_string(why));
        return WIRE_FAILED;
    }
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (ERR_GET_LIB(last) == ERR_LIB_SSL && meanings[i].reason == reason) {
            err_set(e, meanings[i].code, "%s", meanings[i].text);
            return WIRE_FAILED;
        }
    }
    err_set(e, -EPROTO, "TLS failed (openssl library %d, reason %d)", ERR_GET_LIB(last), reason);
    return WIRE_FAILED;
}

static enum wire_result tls_result(const struct wire *w, int r, struct err *e)
{
    if (r > 0)
        return WIRE_DONE;
    switch (SSL_get_error(w->ssl, r)) {
    case SSL_ERROR_WANT_READ: return WIRE_WANT_READ;
    case SSL_ERROR_WANT_WRITE: return WIRE_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN: return WIRE_END;
    case SSL_ERROR_SYSCALL: return socket_failed(w->socket_error, e);
    default: return tls_refused(w, e);
    }
}

static enum wire_result plain_result(ssize_t n, enum wire_result again, struct err *e)
{
    if (n > 0)
        return WIRE_DONE;
    if (n == 0)
        return WIRE_END;
    return errno == EAGAIN || errno == EINTR ? again : socket_failed(errno, e);
}

static bool is_expected(const char *uri, const char *expect)
{
    size_t len = strlen(expect);
    bool prefix = len > 0 && expect[len - 1] == ':';
    return prefix ? strncmp(uri, expect, len) == 0 : strcmp(uri, expect) == 0;
}

static enum wire_result wire_identify(const struct wire *w, const char *expect, struct identity *peer,
                                      struct err *e)
{
    const X509 *cert = SSL_get0_peer_certificate(w->ssl);
    if (!cert)
        return WIRE_DONE; /* the server admits clients without a certificate */
    if (cert_identity(cert, peer, e) < 0)
        return WIRE_FAILED;
    CLEANUP_FREE char *uri = identity_format(peer);
    if (!expect || is_expected(uri, expect))
        return WIRE_DONE;
    err_set(e, -EPERM, "it is %s, and %s was expected", uri, expect);
    return WIRE_FAILED;
}

int wire_judge(const struct wire *w, const struct identity *peer, struct err *e)
{
    return w->ssl ? tls_judge(w->ssl, peer, e) : 0;
}

enum wire_result wire_handshake(struct wire *w, const char *expect, struct identity *peer, struct err *e)
{
    assert(w->ctx && peer && "a plain socket has no handshake");
    ERR_clear_error();
    if (!w->ssl) {
        w->ssl = SSL_new(w->ctx);
        if (!w->ssl) {
            tls_fail(e, -EIO, "no TLS session could be made");
            return WIRE_FAILED;
        }
        BIO *bio = bio_of(w);
        SSL_set_bio(w->ssl, bio, bio);
        if (w->client)
            SSL_set_connect_state(w->ssl);
        else
            SSL_set_accept_state(w->ssl);
    }
    enum wire_result r = tls_result(w, SSL_do_handshake(w->ssl), e);
    if (r == WIRE_END)
        return socket_failed(0, e);
    return r == WIRE_DONE ? wire_identify(w, expect, peer, e) : r;
}

enum wire_result wire_read(struct wire *w, char *buf, size_t cap, size_t *n, struct err *e)
{
    *n = 0;
    if (w->ssl) {
        ERR_clear_error();
        return tls_result(w, SSL_read_ex(w->ssl, buf, cap, n), e);
    }
    ssize_t r = recv(w->fd, buf, cap, 0);
    *n = r > 0 ? (size_t)r : 0;
    return plain_result(r, WIRE_WANT_READ, e);
}

enum wire_result wire_write(struct wire *w, const char *bytes, size_t n, size_t *written, struct err *e)
{
    *written = 0;
    if (w->ssl) {
        ERR_clear_error();
        return tls_result(w, SSL_write_ex(w->ssl, bytes, n, written), e);
    }
    ssize_t r = send(w->fd, bytes, n, MSG_NOSIGNAL);
    *written = r > 0 ? (size_t)r : 0;
    return plain_result(r, WIRE_WANT_WRITE, e);
}

bool wire_has_pending(const struct wire *w)
{
    return w->ssl && SSL_has_pending(w->ssl);
}

void wire_end(struct wire *w)
{
    ERR_clear_error();
    if (w->ssl && SSL_is_init_finished(w->ssl))
        SSL_shutdown(w->ssl);
    ERR_clear_error();
    shutdown(w->fd, SHUT_WR);
}
