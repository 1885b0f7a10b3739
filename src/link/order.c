/* SPDX-License-Identifier: Apache-2.0
 *
 * Signing and believing orders.
 *
 * The same key shows a controller's identity in TLS, where it signs texts that begin with 64 blanks; a
 * prefix of our own keeps either signature from being taken for the other. The certificate comes with the
 * order, because a node that was just started may never have seen the controller; nothing is kept between
 * two orders, because they are rare and an agent is small.
 */
#include "link/order.h"

#include "base/text.h"
#include "link/tls_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

enum { SIGNATURE_BYTES_MAX = 128, CERTIFICATE_BYTES_MAX = 8 << 10 };

static const char prefix[] = "fettle order 1\n";

struct signer {
    char *cert; /* one certificate, PEM */
    EVP_PKEY *key;
};

static inline void context_cleanup(EVP_MD_CTX **c)
{
    EVP_MD_CTX_free(*c);
}
#define CLEANUP_DIGEST __attribute__((cleanup(context_cleanup)))

void signer_destroy(struct signer *s)
{
    if (!s)
        return;
    free(s->cert);
    EVP_PKEY_free(s->key);
    free(s);
}

int signer_create(const char *cert_pem, const char *key_pem, struct signer **out, struct err *e)
{
    tls_init();
    CLEANUP(BIO) BIO *cert_in = BIO_new_mem_buf(cert_pem, -1);
    CLEANUP(BIO) BIO *key_in = BIO_new_mem_buf(key_pem, -1);
    CLEANUP(BIO) BIO *one = BIO_new(BIO_s_mem());
    CLEANUP(X509) X509 *cert = pem_read_cert(cert_in);
    CLEANUP(EVP_PKEY) EVP_PKEY *key = pem_read_key(key_in);
    if (!cert || PEM_write_bio_X509(one, cert) != 1)
        return tls_fail(e, -EINVAL, "the certificate cannot be read");
    if (!key_is_p256(key))
        return tls_fail(e, -EINVAL, "the key cannot be read or is not of P-256");
    if (X509_check_private_key(cert, key) != 1)
        return tls_fail(e, -EINVAL, "the key does not belong to the certificate");
    struct signer *s = mem_alloc(sizeof *s);
    s->cert = pem_take(one);
    s->key = STEAL(key);
    *out = s;
    return 0;
}

int order_sign(const struct signer *s, const char *text, json_t **out, struct err *e)
{
    assert(s && text && out);
    CLEANUP_DIGEST EVP_MD_CTX *c = EVP_MD_CTX_new();
    unsigned char signature[SIGNATURE_BYTES_MAX];
    char hex[2 * SIGNATURE_BYTES_MAX + 1];
    size_t n = sizeof signature;
    if (!c || EVP_DigestSignInit(c, NULL, EVP_sha256(), NULL, s->key) != 1 ||
        EVP_DigestSignUpdate(c, prefix, sizeof prefix - 1) != 1 ||
        EVP_DigestSignUpdate(c, text, strlen(text)) != 1 || EVP_DigestSignFinal(c, signature, &n) != 1 ||
        OPENSSL_buf2hexstr_ex(hex, sizeof hex, NULL, signature, n, '\0') != 1)
        return tls_fail(e, -EIO, "an order cannot be signed");
    *out = json_pack("{s:s,s:s,s:s}", "signed", text, "signature", hex, "certificate", s->cert);
    return *out ? 0 : err_set(e, -EINVAL, "an order that is no text in UTF-8");
}

bool order_is(const json_t *body)
{
    return json_object_get(body, "signed");
}

const char *order_text(const json_t *order)
{
    return json_string_value(json_object_get(order, "signed"));
}

/* As in the handshake: it must be of the authority, valid now, for a server, and a controller's. */
static int believe_cert(X509 *ca, X509 *cert, const struct least *least, struct err *e)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *chain = X509_STORE_CTX_new();
    struct identity id;
    int r = 0;
    if (!store || !chain || X509_STORE_add_cert(store, ca) != 1 ||
        X509_STORE_CTX_init(chain, store, cert, NULL) != 1 ||
        X509_STORE_CTX_set_purpose(chain, X509_PURPOSE_SSL_SERVER) != 1)
        r = tls_fail(e, -EIO, "certificates cannot be verified");
    else if (X509_verify_cert(chain) != 1)
        r = err_set(e, -EPERM, "the signer's certificate was refused: %s",
                    X509_verify_cert_error_string(X509_STORE_CTX_get_error(chain)));
    X509_STORE_CTX_free(chain);
    X509_STORE_free(store);
    ERR_clear_error();
    if (r == 0 && (r = cert_identity(cert, &id, e)) == 0 && id.kind != IDENTITY_CONTROLLER) {
        CLEANUP_FREE char *uri = identity_format(&id);
        r = err_set(e, -EPERM, "the signer is %s, and no controller", uri);
    }
    return r ? r : least_check(least, &id, e);
}

static int believe_text(const X509 *cert, const char *text, const char *hex, struct err *e)
{
    CLEANUP_DIGEST EVP_MD_CTX *c = EVP_MD_CTX_new();
    unsigned char signature[SIGNATURE_BYTES_MAX];
    size_t n = 0;
    if (strlen(hex) > 2 * SIGNATURE_BYTES_MAX ||
        OPENSSL_hexstr2buf_ex(signature, sizeof signature, &n, hex, '\0') != 1)
        return tls_fail(e, -EPERM, "the signature cannot be read");
    if (!c || EVP_DigestVerifyInit(c, NULL, EVP_sha256(), NULL, X509_get0_pubkey(cert)) != 1 ||
        EVP_DigestVerifyUpdate(c, prefix, sizeof prefix - 1) != 1 ||
        EVP_DigestVerifyUpdate(c, text, strlen(text)) != 1)
        return tls_fail(e, -EPERM, "signatures cannot be verified");
    bool good = EVP_DigestVerifyFinal(c, signature, n) == 1;
    ERR_clear_error();
    return good ? 0 : err_set(e, -EPERM, "the signature is not of this text");
}

int order_open(const char *ca_pem, const struct least *least, const json_t *order, const char **text,
               struct err *e)
{
    assert(ca_pem && order && text);
    const char *signature, *certificate;
    tls_init();
    if (json_take_string(order, "signed", text, e) < 0 ||
        json_take_string(order, "signature", &signature, e) < 0 ||
        json_take_string(order, "certificate", &certificate, e) < 0)
        return -EINVAL;
    if (strlen(certificate) > CERTIFICATE_BYTES_MAX)
        return err_set(e, -EPERM, "a certificate of more than %d bytes", CERTIFICATE_BYTES_MAX);
    CLEANUP(BIO) BIO *ca_in = BIO_new_mem_buf(ca_pem, -1);
    CLEANUP(BIO) BIO *cert_in = BIO_new_mem_buf(certificate, -1);
    CLEANUP(X509) X509 *ca = pem_read_cert(ca_in);
    CLEANUP(X509) X509 *cert = pem_read_cert(cert_in);
    if (!ca || !cert)
        return tls_fail(e, -EPERM, "the signer's certificate cannot be read");
    int r = believe_cert(ca, cert, least, e);
    return r ? r : believe_text(cert, *text, signature, e);
}
