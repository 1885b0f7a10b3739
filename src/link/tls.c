/* SPDX-License-Identifier: Apache-2.0
 *
 * Identities, requests and contexts.
 *
 * Everything here is chosen small, because an agent lives in 6 MiB and a controller holds ten
 * thousand sessions: no tickets and no session cache (a session resumed would also skip the check
 * of the certificate), buffers released between records, one curve, one signature algorithm, and
 * no chain that OpenSSL would build by itself. A server sends its authority's certificate too,
 * because a joining node knows nothing of the authority but the fingerprint.
 */
#include "link/tls_internal.h"

#include "base/certificate.h"
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

enum { CERT_CHAIN_BYTES_MAX = 16 << 10 };

struct tls_context {
    SSL_CTX *ssl;
};

static const char *const role_names[] = {
    [ROLE_NONE] = "none", [ROLE_READER] = "reader", [ROLE_ADMIN] = "admin"};

static const struct form {
    const char *prefix;
    enum identity_kind kind;
} forms[] = {
    {"urn:fettle:controller:", IDENTITY_CONTROLLER},
    {"urn:fettle:node:", IDENTITY_NODE},
    {"urn:fettle:operator:", IDENTITY_OPERATOR},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

const char *role_name(enum role r)
{
    assert((size_t)r < sizeof role_names / sizeof *role_names);
    return role_names[r];
}

static bool name_is_good(const char *name, size_t len)
{
    if (len == 0 || len >= sizeof((struct identity *)0)->name)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && !(i > 0 && strchr(".-_@", name[i])))
            return false;
    return true;
}

static enum role role_parse(const char *name)
{
    for (enum role r = ROLE_READER; r <= ROLE_ADMIN; r++)
        if (strcmp(role_names[r], name) == 0)
            return r;
    return ROLE_NONE;
}

int identity_parse(const char *uri, struct identity *id, struct err *e)
{
    assert(uri && id);
    *id = (struct identity){0};
    const struct form *form = NULL;
    for (size_t i = 0; i < FORMS && !form; i++)
        if (strncmp(uri, forms[i].prefix, strlen(forms[i].prefix)) == 0)
            form = &forms[i];
    if (!form)
        return err_set(e, -EINVAL, "\"%.80s\" is no identity (urn:fettle:node:NAME)", uri);
    const char *name = uri + strlen(form->prefix);
    size_t len = strcspn(name, ":");
    enum role role = name[len] ? role_parse(name + len + 1) : ROLE_NONE;
    bool role_is_good = form->kind == IDENTITY_OPERATOR ? role != ROLE_NONE : name[len] == '\0';
    if (!name_is_good(name, len) || !role_is_good)
        return err_set(e, -EINVAL, "\"%.300s\" is no identity: bad %s", uri, role_is_good ? "name" : "role");
    id->kind = form->kind;
    id->role = role;
    memcpy(id->name, name, len);
    return 0;
}

static void format_name(const struct identity *id, size_t skip, struct text *t)
{
    for (size_t i = 0; i < FORMS; i++)
        if (forms[i].kind == id->kind)
            text_printf(t, "%s%s", forms[i].prefix + skip, id->name);
}

char *identity_subject(const struct identity *id)
{
    struct text t = {0};
    format_name(id, strlen("urn:fettle:"), &t);
    return text_take(&t);
}

enum identity_kind identity_of_subject(const char *subject, const char **name)
{
    for (size_t i = 0; i < FORMS; i++) {
        const char *kind = forms[i].prefix + strlen("urn:fettle:");
        if (strncmp(subject, kind, strlen(kind)) != 0)
            continue;
        *name = subject + strlen(kind);
        return **name ? forms[i].kind : IDENTITY_NONE;
    }
    return IDENTITY_NONE;
}

char *identity_format(const struct identity *id)
{
    struct text t = {0};
    format_name(id, 0, &t);
    if (id->kind == IDENTITY_OPERATOR)
        text_printf(&t, ":%s", role_name(id->role));
    return text_take(&t);
}

void tls_init(void)
{
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_SSL_STRINGS |
                         OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS,
                     NULL);
    ERR_clear_error();
}

int tls_fail(struct err *e, int code, const char *what)
{
    unsigned long last = ERR_peek_last_error();
    ERR_clear_error();
    if (last)
        return err_set(e, code, "%s (openssl library %d, reason %d)", what, ERR_GET_LIB(last),
                       ERR_GET_REASON(last));
    return err_set(e, code, "%s", what);
}

X509 *pem_read_cert(BIO *from)
{
    return PEM_read_bio_X509(from, NULL, certificate_no_passphrase, NULL);
}

X509_REQ *pem_read_request(BIO *from)
{
    return PEM_read_bio_X509_REQ(from, NULL, certificate_no_passphrase, NULL);
}

EVP_PKEY *pem_read_key(BIO *from)
{
    return PEM_read_bio_PrivateKey(from, NULL, certificate_no_passphrase, NULL);
}

char *pem_take(BIO *from)
{
    char *bytes;
    long n = BIO_get_mem_data(from, &bytes);
    return mem_dup_len(bytes, (size_t)n);
}

bool key_is_p256(EVP_PKEY *key)
{
    char group[32];
    size_t len;
    return key && EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, &len) == 1 &&
           strcmp(group, SN_X9_62_prime256v1) == 0;
}

void cert_fingerprint(const X509 *cert, char hex[static 65])
{
    unsigned char sum[EVP_MAX_MD_SIZE] = {0};
    unsigned n = 0;
    X509_digest(cert, EVP_sha256(), sum, &n);
    for (size_t i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
}

static int uri_of(const GENERAL_NAMES *names, const ASN1_IA5STRING **uri)
{
    int found = 0;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type == GEN_URI) {
            *uri = name->d.uniformResourceIdentifier;
            found++;
        }
    }
    return found;
}

static int64_t time_s(const ASN1_TIME *t)
{
    struct tm tm;
    return ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

/* The marks that tell the certificate from others. */
static void read_marks(const X509 *cert, struct identity *id)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (X509_pubkey_digest(cert, EVP_sha256(), digest, NULL) == 1)
        for (size_t i = 0; i < sizeof id->key; i++)
            id->key = id->key << 8 | digest[i];
    if (ASN1_INTEGER_get_uint64(&id->serial, X509_get0_serialNumber(cert)) != 1 || id->serial > INT64_MAX)
        id->serial = 0;
    id->from_s = time_s(X509_get0_notBefore(cert));
    id->until_s = time_s(X509_get0_notAfter(cert));
}

int cert_identity(const X509 *cert, struct identity *id, struct err *e)
{
    *id = (struct identity){0};
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    const ASN1_IA5STRING *uri = NULL;
    int found = names ? uri_of(names, &uri) : 0;
    int r;
    if (found != 1) {
        r = err_set(e, -EPERM, "it names %d identities, and one is needed", found);
    } else {
        CLEANUP_FREE char *text =
            mem_dup_len((const char *)ASN1_STRING_get0_data(uri), (size_t)ASN1_STRING_length(uri));
        /* With a zero byte inside, two readers could see two names. */
        r = strlen(text) == (size_t)ASN1_STRING_length(uri)
                ? identity_parse(text, id, e)
                : err_set(e, -EPERM, "the identity holds a zero byte");
    }
    read_marks(cert, id);
    GENERAL_NAMES_free(names);
    ERR_clear_error();
    return r < 0 ? err_wrap(e, -EPERM, "its certificate") : 0;
}

int tls_new_request(char **key_pem, char **csr_pem, struct err *e)
{
    tls_init();
    CLEANUP(EVP_PKEY) EVP_PKEY *key = EVP_EC_gen("P-256");
    CLEANUP(X509_REQ) X509_REQ *request = X509_REQ_new();
    CLEANUP(BIO) BIO *key_out = BIO_new(BIO_s_secmem());
    CLEANUP(BIO) BIO *csr_out = BIO_new(BIO_s_mem());
    if (!key || X509_REQ_set_version(request, X509_REQ_VERSION_1) != 1 ||
        X509_REQ_set_pubkey(request, key) != 1 || X509_REQ_sign(request, key, EVP_sha256()) <= 0 ||
        PEM_write_bio_PrivateKey(key_out, key, NULL, NULL, 0, NULL, NULL) != 1 ||
        PEM_write_bio_X509_REQ(csr_out, request) != 1)
        return tls_fail(e, -EIO, "cannot make a key");
    *key_pem = pem_take(key_out);
    *csr_pem = pem_take(csr_out);
    return 0;
}

int tls_cert_identity(const char *cert_pem, struct identity *id, struct err *e)
{
    tls_init();
    CLEANUP(BIO) BIO *in = BIO_new_mem_buf(cert_pem, -1);
    CLEANUP(X509) X509 *cert = pem_read_cert(in);
    if (!cert)
        return tls_fail(e, -EINVAL, "not a certificate in PEM form");
    return cert_identity(cert, id, e);
}

int tls_cert_left(const char *cert_pem, struct span *left, struct err *e)
{
    tls_init();
    CLEANUP(BIO) BIO *in = BIO_new_mem_buf(cert_pem, -1);
    CLEANUP(X509) X509 *cert = pem_read_cert(in);
    int days, seconds;
    if (!cert || ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(cert)) != 1)
        return tls_fail(e, -EINVAL, "not a certificate in PEM form");
    *left = span_s((int64_t)days * 86400 + seconds);
    return 0;
}

static int tls_trust(SSL_CTX *ssl, const char *ca_pem, bool send_too, bool announce, struct err *e)
{
    CLEANUP(BIO) BIO *in = BIO_new_mem_buf(ca_pem, -1);
    CLEANUP(X509) X509 *ca = pem_read_cert(in);
    if (!ca || X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl), ca) != 1 ||
        (send_too && SSL_CTX_add1_chain_cert(ssl, ca) != 1) ||
        (announce && SSL_CTX_add_client_CA(ssl, ca) != 1))
        return tls_fail(e, -EINVAL, "the authority's certificate cannot be read");
    return 0;
}

static int tls_present(SSL_CTX *ssl, const char *cert_pem, const char *key_pem, bool *has_chain,
                       struct err *e)
{
    CLEANUP(BIO) BIO *cert_in = BIO_new_mem_buf(cert_pem, -1);
    CLEANUP(BIO) BIO *key_in = BIO_new_mem_buf(key_pem, -1);
    CLEANUP(X509) X509 *cert = pem_read_cert(cert_in);
    if (!cert || SSL_CTX_use_certificate(ssl, cert) != 1)
        return tls_fail(e, -EINVAL, "the certificate cannot be read");
    CLEANUP(EVP_PKEY) EVP_PKEY *key = pem_read_key(key_in);
    if (!key_is_p256(key))
        return tls_fail(e, -EINVAL, "the key cannot be read or is not of P-256");
    if (SSL_CTX_use_PrivateKey(ssl, key) != 1)
        return tls_fail(e, -EINVAL, "the key does not belong to the certificate");
    for (X509 *next; (next = pem_read_cert(cert_in));) {
        *has_chain = true;
        if (SSL_CTX_add0_chain_cert(ssl, next) != 1) {
            X509_free(next);
            return tls_fail(e, -EINVAL, "the certificate's chain cannot be used");
        }
    }
    ERR_clear_error();
    return 0;
}

/* The index for how many seconds the peer's certificate is outside its validity. */
static int time_index(void)
{
    static int index = -1;
    if (index < 0)
        index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    return index;
}

struct judge {
    tls_judge_fn *fn;
    void *arg;
};

static void judge_free(void *parent, void *judge, CRYPTO_EX_DATA *data, int index, long argl, void *argp)
{
    free(judge);
}

/* Lives as long as the last session of its context, so OpenSSL keeps it. */
static int judge_index(void)
{
    static int index = -1;
    if (index < 0)
        index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, judge_free);
    return index;
}

void tls_context_judge(struct tls_context *c, tls_judge_fn *fn, void *arg)
{
    struct judge *j = mem_alloc(sizeof *j);
    *j = (struct judge){fn, arg};
    free(SSL_CTX_get_ex_data(c->ssl, judge_index()));
    SSL_CTX_set_ex_data(c->ssl, judge_index(), j);
}

int tls_judge(const SSL *session, const struct identity *id, struct err *e)
{
    const struct judge *j = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), judge_index());
    return j ? j->fn(j->arg, id, e) : 0;
}

/* Judged here, so that the peer gets an alert. A certificate without a name is refused afterwards. */
static int judge_peer(X509_STORE_CTX *chain, const SSL *session, const X509 *cert)
{
    struct identity id;
    if (X509_STORE_CTX_get_error_depth(chain) > 0 || cert_identity(cert, &id, NULL) < 0 ||
        tls_judge(session, &id, NULL) == 0)
        return 1;
    X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_REVOKED);
    return 0;
}

static int on_verify(int good, X509_STORE_CTX *chain)
{
    SSL *session = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
    const X509 *cert = X509_STORE_CTX_get_current_cert(chain);
    int why = X509_STORE_CTX_get_error(chain), days = 0, seconds = 0;
    bool early = why == X509_V_ERR_CERT_NOT_YET_VALID;
    if (good && cert)
        return judge_peer(chain, session, cert);
    if (good || !cert || (!early && why != X509_V_ERR_CERT_HAS_EXPIRED))
        return good;
    ASN1_TIME_diff(&days, &seconds, NULL, early ? X509_get0_notBefore(cert) : X509_get0_notAfter(cert));
    SSL_set_ex_data(session, time_index(), (void *)((intptr_t)days * 86400 + seconds));
    return good;
}

int tls_out_of_time(const SSL *session, struct err *e)
{
    char off[32];
    intptr_t seconds = (intptr_t)SSL_get_ex_data(session, time_index());
    switch (SSL_get_verify_result(session)) {
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return err_set(
            e, -ETIME,
            "its certificate is valid in %s by the clock here: this clock is behind, or that of the "
            "authority was ahead",
            span_human(span_s(seconds), off));
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return err_set(e, -EKEYEXPIRED, "its certificate has expired, %s ago by the clock here",
                       span_human(span_s(-seconds), off));
    default: return 0;
    }
}

static SSL_CTX *context_ssl(const SSL_METHOD *method)
{
    SSL_CTX *ssl = SSL_CTX_new(method);
    if (!ssl || SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set1_groups_list(ssl, "X25519:P-256") != 1 ||
        SSL_CTX_set1_sigalgs_list(ssl, "ecdsa_secp256r1_sha256") != 1) {
        SSL_CTX_free(ssl);
        return NULL;
    }
    SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_num_tickets(ssl, 0);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(ssl, 1);
    SSL_CTX_set_max_cert_list(ssl, CERT_CHAIN_BYTES_MAX);
    SSL_CTX_set_verify_depth(ssl, 1);
    return ssl;
}

static struct tls_context *context_of(SSL_CTX *ssl)
{
    struct tls_context *c = mem_alloc(sizeof *c);
    c->ssl = ssl;
    return c;
}

int tls_server_context(const char *cert_pem, const char *key_pem, const char *ca_pem, enum tls_peer peer,
                       struct tls_context **out, struct err *e)
{
    assert(cert_pem && key_pem && ca_pem && out);
    tls_init();
    CLEANUP(SSL_CTX) SSL_CTX *ssl = context_ssl(TLS_server_method());
    bool has_chain = false;
    if (!ssl)
        return tls_fail(e, -EIO, "no TLS 1.3 with P-256 here");
    int r = tls_present(ssl, cert_pem, key_pem, &has_chain, e);
    if (r < 0)
        return r;
    /* The announced name keeps browsers from offering their other certificates. */
    r = tls_trust(ssl, ca_pem, !has_chain, peer == TLS_PEER_OPTIONAL, e);
    if (r < 0)
        return r;
    int must = peer == TLS_PEER_REQUIRED ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | must, on_verify);
    *out = context_of(STEAL(ssl));
    return 0;
}

int tls_client_context(const char *cert_pem, const char *key_pem, const char *ca_pem,
                       struct tls_context **out, struct err *e)
{
    tls_init();
    CLEANUP(SSL_CTX) SSL_CTX *ssl = context_ssl(TLS_client_method());
    bool has_chain = false;
    if (!ssl)
        return tls_fail(e, -EIO, "no TLS 1.3 with P-256 here");
    int r = cert_pem ? tls_present(ssl, cert_pem, key_pem, &has_chain, e) : 0;
    if (r == 0)
        r = tls_trust(ssl, ca_pem, false, false, e);
    if (r < 0)
        return r;
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, on_verify);
    *out = context_of(STEAL(ssl));
    return 0;
}

static void pin_free(void *parent, void *pin, CRYPTO_EX_DATA *data, int index, long argl, void *argp)
{
    free(pin);
}

/* The pin lives as long as the last session of its context, so OpenSSL keeps it. */
static int pin_index(void)
{
    static int index = -1;
    if (index < 0)
        index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, pin_free);
    return index;
}

/* Trusts a chain when its last certificate has the pinned fingerprint and signed the first one, and the first
 * one is a controller's: nodes have certificates of the same authority. */
static int verify_pinned(X509_STORE_CTX *chain, void *arg)
{
    const SSL *session = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
    const char *pinned = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), pin_index());
    STACK_OF(X509) *sent = X509_STORE_CTX_get0_untrusted(chain);
    X509 *last = sent ? sk_X509_value(sent, sk_X509_num(sent) - 1) : NULL;
    char hex[65];
    if (last)
        cert_fingerprint(last, hex);
    if (!last || strcmp(hex, pinned) != 0) {
        X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_UNTRUSTED);
        return 0;
    }
    STACK_OF(X509) *trusted = sk_X509_new_null();
    sk_X509_push(trusted, last);
    X509_STORE_CTX_set0_trusted_stack(chain, trusted);
    int good = X509_verify_cert(chain);
    struct identity id;
    if (good == 1 &&
        (cert_identity(X509_STORE_CTX_get0_cert(chain), &id, NULL) < 0 || id.kind != IDENTITY_CONTROLLER)) {
        X509_STORE_CTX_set_error(chain, X509_V_ERR_SUBJECT_ISSUER_MISMATCH);
        good = 0;
    }
    X509_STORE_CTX_set0_trusted_stack(chain, NULL);
    sk_X509_free(trusted);
    return good == 1;
}

int tls_join_context(const char *ca_fingerprint, struct tls_context **out, struct err *e)
{
    tls_init();
    if (strspn(ca_fingerprint, "0123456789abcdef") != 64 || ca_fingerprint[64])
        return err_set(e, -EINVAL, "\"%.80s\" is no fingerprint: 64 digits of 0-9 and a-f", ca_fingerprint);
    CLEANUP(SSL_CTX) SSL_CTX *ssl = context_ssl(TLS_client_method());
    if (!ssl || SSL_CTX_set_ex_data(ssl, pin_index(), mem_dup(ca_fingerprint)) != 1)
        return tls_fail(e, -EIO, "no TLS 1.3 with P-256 here");
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, on_verify);
    SSL_CTX_set_cert_verify_callback(ssl, verify_pinned, NULL);
    *out = context_of(STEAL(ssl));
    return 0;
}

SSL_CTX *tls_context_ssl(struct tls_context *c)
{
    return c->ssl;
}

void tls_context_destroy(struct tls_context *c)
{
    if (!c)
        return;
    SSL_CTX_free(c->ssl);
    free(c);
}
