/* SPDX-License-Identifier: Apache-2.0
 *
 * The certificate authority: one P-256 key in a directory.
 *
 * What a certificate says comes from the caller's identity alone; of a request only the key is
 * taken. The names are built as structures and never as OpenSSL's configuration text, in which a
 * comma in a name would be another name.
 */
#include "link/tls_internal.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

enum { PEM_BYTES_MAX = 16 << 10, COMMON_NAME_BYTES_MAX = 64, DNS_NAME_BYTES_MAX = 253 };

static const int64_t authority_valid_s = INT64_C(20) * 365 * 86400;
static const int64_t recipient_valid_s = 86400; /* nobody asks for it */
static const int64_t backdate_s = 3600;         /* clocks of nodes are not exact */

struct authority {
    X509 *cert;
    EVP_PKEY *key;
    char *pem;
    char fingerprint[65];
    uint64_t number; /* the number of the last certificate */
};

void authority_close(struct authority *a)
{
    if (!a)
        return;
    X509_free(a->cert);
    EVP_PKEY_free(a->key);
    free(a->pem);
    free(a);
}

const char *authority_pem(const struct authority *a)
{
    return a->pem;
}

const char *authority_fingerprint(const struct authority *a)
{
    return a->fingerprint;
}

/* *text stays NULL when the file does not exist. */
static int file_read(const char *path, char **text, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_set(e, -errno, "%s: %s", path, strerror(errno));
    CLEANUP_FREE char *bytes = mem_alloc(PEM_BYTES_MAX + 1);
    ssize_t n = read(fd, bytes, PEM_BYTES_MAX);
    int failed = n < 0 ? errno : 0;
    close(fd);
    if (failed)
        return err_set(e, -failed, "%s: %s", path, strerror(failed));
    *text = STEAL(bytes);
    return 0;
}

/* Writes the whole file and syncs it, or leaves none. */
static int file_make(const char *path, mode_t mode, const char *text, struct err *e)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    errno = EIO; /* a short write leaves no file */
    bool good = write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
    int failed = good ? 0 : errno;
    if (close(fd) < 0 && !failed)
        failed = errno;
    if (!failed)
        return 0;
    unlink(path);
    return err_set(e, -failed, "%s: %s", path, strerror(failed));
}

int key_file_make(const char *path, const char *text, struct err *e)
{
    return file_make(path, 0600, text, e);
}

static int file_rename(const char *from, const char *to, struct err *e)
{
    return rename(from, to) < 0 ? err_set(e, -errno, "%s: %s", to, strerror(errno)) : 0;
}

static int dir_sync(const char *dir, struct err *e)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return failed ? err_set(e, -failed, "%s: %s", dir, strerror(failed)) : 0;
}

static bool cert_set_random(X509 *cert)
{
    unsigned char bytes[16];
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive, and always 16 bytes */
    BIGNUM *n = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool good = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
    return good;
}

static bool cert_set_times(X509 *cert, int64_t valid_s)
{
    return X509_time_adj_ex(X509_getm_notBefore(cert), 0, -backdate_s, NULL) &&
           X509_time_adj_ex(X509_getm_notAfter(cert), (int)(valid_s / 86400), valid_s % 86400, NULL);
}

static bool cert_set_name(X509 *cert, const char *common_name)
{
    char cut[COMMON_NAME_BYTES_MAX + 1];
    snprintf(cut, sizeof cut, "%s", common_name);
    X509_NAME *name = X509_get_subject_name(cert);
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)cut, -1, -1, 0) == 1;
}

/* value is one of this file's own texts, never text from outside. */
static bool cert_add(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool good = x && X509_add_ext(cert, x, -1) == 1;
    X509_EXTENSION_free(x);
    return good;
}

static bool names_add(GENERAL_NAMES *names, int type, int string_type, const void *bytes, size_t len)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = ASN1_STRING_type_new(string_type);
    if (!name || !value || ASN1_STRING_set(value, bytes, (int)len) != 1 ||
        !sk_GENERAL_NAME_push(names, name)) {
        GENERAL_NAME_free(name);
        ASN1_STRING_free(value);
        return false;
    }
    GENERAL_NAME_set0_value(name, type, value);
    return true;
}

static bool names_add_host(GENERAL_NAMES *names, const char *host)
{
    unsigned char address[16];
    if (inet_pton(AF_INET, host, address) == 1)
        return names_add(names, GEN_IPADD, V_ASN1_OCTET_STRING, address, 4);
    if (inet_pton(AF_INET6, host, address) == 1)
        return names_add(names, GEN_IPADD, V_ASN1_OCTET_STRING, address, 16);
    return names_add(names, GEN_DNS, V_ASN1_IA5STRING, host, strlen(host));
}

static bool cert_set_names(X509 *cert, const struct identity *id, const char *host)
{
    CLEANUP_FREE char *uri = identity_format(id);
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool good = names && names_add(names, GEN_URI, V_ASN1_IA5STRING, uri, strlen(uri)) &&
                (!host || names_add_host(names, host)) &&
                X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1;
    GENERAL_NAMES_free(names);
    return good;
}

/* Makes a certificate of this authority without its number, names, uses and signature. */
static X509 *cert_begin(EVP_PKEY *key, const X509 *issuer, const char *common_name, int64_t valid_s)
{
    CLEANUP(X509) X509 *cert = X509_new();
    if (!cert || X509_set_version(cert, X509_VERSION_3) != 1 || !cert_set_random(cert) ||
        !cert_set_times(cert, valid_s) || !cert_set_name(cert, common_name) ||
        X509_set_pubkey(cert, key) != 1)
        return NULL;
    const X509 *from = issuer ? issuer : cert;
    if (X509_set_issuer_name(cert, X509_get_subject_name(from)) != 1)
        return NULL;
    return STEAL(cert);
}

static int authority_make(struct authority *a, struct err *e)
{
    a->key = EVP_EC_gen("P-256");
    X509 *cert = a->cert = a->key ? cert_begin(a->key, NULL, "Fettle authority", authority_valid_s) : NULL;
    if (!cert || !cert_add(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !cert_add(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") ||
        !cert_add(cert, cert, NID_subject_key_identifier, "hash") ||
        X509_sign(cert, a->key, EVP_sha256()) <= 0)
        return tls_fail(e, -EIO, "cannot make an authority");
    return 0;
}

static char *cert_pem(X509 *cert)
{
    CLEANUP(BIO) BIO *out = BIO_new(BIO_s_mem());
    return PEM_write_bio_X509(out, cert) == 1 ? pem_take(out) : NULL;
}

struct authority_files {
    struct text cert, key, cert_new, key_new;
};

static void authority_files_init(struct authority_files *f, const char *dir)
{
    *f = (struct authority_files){0};
    text_printf(&f->cert, "%s/ca.pem", dir);
    text_printf(&f->key, "%s/ca.key", dir);
    text_printf(&f->cert_new, "%s/ca.pem.new", dir);
    text_printf(&f->key_new, "%s/ca.key.new", dir);
}

static void authority_files_fini(struct authority_files *f)
{
    text_fini(&f->cert);
    text_fini(&f->key);
    text_fini(&f->cert_new);
    text_fini(&f->key_new);
}

/* Both files are on the disk before the first gets its name. A kill between the two renames leaves ca.key and
 * ca.pem.new, which belong together: see authority_finish. A kill before that leaves neither name, and the
 * authority is made anew. */
static int authority_write(const struct authority *a, const char *dir, const struct authority_files *f,
                           struct err *e)
{
    CLEANUP(BIO) BIO *out = BIO_new(BIO_s_secmem());
    if (PEM_write_bio_PrivateKey(out, a->key, NULL, NULL, 0, NULL, NULL) != 1)
        return tls_fail(e, -EIO, "cannot write the authority's key");
    char *key_pem = pem_take(out);
    int r = file_make(f->cert_new.s, 0644, a->pem, e);
    if (r == 0)
        r = file_make(f->key_new.s, 0600, key_pem, e);
    OPENSSL_cleanse(key_pem, strlen(key_pem));
    free(key_pem);
    if (r == 0)
        r = dir_sync(dir, e);
    if (r == 0)
        r = file_rename(f->key_new.s, f->key.s, e);
    if (r == 0)
        r = file_rename(f->cert_new.s, f->cert.s, e);
    return r == 0 ? dir_sync(dir, e) : r;
}

static int authority_finish(const char *dir, const struct authority_files *f, struct err *e)
{
    bool broken_off = !access(f->key.s, F_OK) && access(f->cert.s, F_OK) && !access(f->cert_new.s, F_OK);
    int r = broken_off ? file_rename(f->cert_new.s, f->cert.s, e) : 0;
    return broken_off && r == 0 ? dir_sync(dir, e) : r;
}

static int authority_read(struct authority *a, BIO *cert_in, BIO *key_in, struct err *e)
{
    a->cert = pem_read_cert(cert_in);
    a->key = pem_read_key(key_in);
    if (!a->cert || X509_check_ca(a->cert) != 1)
        return tls_fail(e, -EILSEQ, "ca.pem is not an authority's certificate");
    if (!key_is_p256(a->key))
        return tls_fail(e, -EILSEQ, "ca.key is not a key of P-256");
    if (X509_check_private_key(a->cert, a->key) != 1)
        return tls_fail(e, -EILSEQ, "ca.key and ca.pem do not belong together");
    return 0;
}

static int authority_read_texts(struct authority *a, const char *cert_text, const char *key_text,
                                struct err *e)
{
    CLEANUP(BIO) BIO *cert_in = BIO_new_mem_buf(cert_text, -1);
    CLEANUP(BIO) BIO *key_in = BIO_new_mem_buf(key_text, -1);
    return authority_read(a, cert_in, key_in, e);
}

static int authority_load(struct authority *a, const char *dir, const struct authority_files *f,
                          struct err *e)
{
    CLEANUP_FREE char *cert_text = NULL, *key_text = NULL;
    int r = authority_finish(dir, f, e);
    if (r == 0)
        r = file_read(f->cert.s, &cert_text, e);
    if (r == 0)
        r = file_read(f->key.s, &key_text, e);
    if (r < 0)
        return r;
    if (!cert_text != !key_text)
        return err_set(e, -EILSEQ,
                       "%s: ca.%s without ca.%s; restore it, or remove both to begin a new authority", dir,
                       cert_text ? "pem" : "key", cert_text ? "key" : "pem");
    bool found = cert_text;
    r = found ? authority_read_texts(a, cert_text, key_text, e) : authority_make(a, e);
    if (key_text)
        OPENSSL_cleanse(key_text, strlen(key_text));
    if (r < 0)
        return err_wrap(e, r, "%s", dir);
    a->pem = cert_pem(a->cert);
    cert_fingerprint(a->cert, a->fingerprint);
    return found ? 0 : authority_write(a, dir, f, e);
}

int authority_open(const char *dir, struct authority **out, struct err *e)
{
    tls_init();
    struct authority *a = mem_alloc(sizeof *a);
    struct authority_files f;
    authority_files_init(&f, dir);
    int r = authority_load(a, dir, &f, e);
    authority_files_fini(&f);
    if (r < 0) {
        authority_close(a);
        return r;
    }
    *out = a;
    return 0;
}

/* --- on its way to another controller (envelope.c) -------------------------------------------------- */

X509 *authority_recipient(const struct authority *a, EVP_PKEY *key)
{
    CLEANUP(X509) X509 *cert = cert_begin(key, a->cert, "a new controller", recipient_valid_s);
    if (!cert || !cert_add(cert, a->cert, NID_subject_key_identifier, "hash") ||
        X509_sign(cert, a->key, EVP_sha256()) <= 0)
        return NULL;
    return STEAL(cert);
}

BIO *authority_pack(const struct authority *a)
{
    CLEANUP(BIO) BIO *out = BIO_new(BIO_s_secmem());
    if (BIO_puts(out, a->pem) <= 0 || PEM_write_bio_PrivateKey(out, a->key, NULL, NULL, 0, NULL, NULL) != 1)
        return NULL;
    return STEAL(out);
}

int authority_unpack(BIO *from, const char *fingerprint, const char *dir, struct err *e)
{
    struct authority *a = mem_alloc(sizeof *a);
    struct authority_files f;
    authority_files_init(&f, dir);
    int r = authority_read(a, from, from, e);
    if (r == 0) {
        a->pem = cert_pem(a->cert);
        cert_fingerprint(a->cert, a->fingerprint);
        if (strcmp(a->fingerprint, fingerprint) != 0)
            r = err_set(e, -ESTALE, "the authority is %.16s, and that of the state is %.16s", a->fingerprint,
                        fingerprint);
    }
    if (r == 0)
        r = authority_write(a, dir, &f, e);
    authority_files_fini(&f);
    authority_close(a);
    return r;
}

static bool host_is_good(const char *host)
{
    size_t len = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:*_");
    return len > 0 && len <= DNS_NAME_BYTES_MAX && host[len] == '\0';
}

static int request_key(const char *csr_pem, EVP_PKEY **key, struct err *e)
{
    if (strlen(csr_pem) > PEM_BYTES_MAX)
        return err_set(e, -EINVAL, "the certificate request is longer than %d bytes", PEM_BYTES_MAX);
    CLEANUP(BIO) BIO *in = BIO_new_mem_buf(csr_pem, -1);
    CLEANUP(X509_REQ) X509_REQ *request = pem_read_request(in);
    if (!request)
        return tls_fail(e, -EINVAL, "not a certificate request in PEM form");
    *key = X509_REQ_get_pubkey(request);
    if (!key_is_p256(*key))
        return tls_fail(e, -EINVAL, "the certificate request's key is not of P-256");
    if (X509_REQ_verify(request, *key) != 1)
        return tls_fail(e, -EINVAL, "the certificate request is not signed by its own key");
    return 0;
}

void authority_number_above(struct authority *a, uint64_t last)
{
    a->number = a->number > last ? a->number : last;
}

static uint64_t next_number(struct authority *a)
{
    uint64_t now_ms = (uint64_t)(wall_now().ns / 1000000);
    a->number = now_ms > a->number ? now_ms : a->number + 1;
    return a->number;
}

int authority_sign(struct authority *a, const char *csr_pem, const struct identity *id, const char *extra_dns,
                   struct span valid, char **pem, struct err *e)
{
    assert(csr_pem && id && pem);
    tls_init();
    CLEANUP(EVP_PKEY) EVP_PKEY *key = NULL;
    CLEANUP_FREE char *uri = identity_format(id);
    struct identity again;
    int r = identity_parse(uri, &again, e);
    if (r < 0)
        return r;
    if (extra_dns && !host_is_good(extra_dns))
        return err_set(e, -EINVAL, "\"%.80s\" is no name of a host", extra_dns);
    r = request_key(csr_pem, &key, e);
    if (r < 0)
        return r;
    /* Operators only ask; controllers and collecting nodes also answer. */
    const char *uses = id->kind == IDENTITY_OPERATOR ? "clientAuth" : "serverAuth,clientAuth";
    CLEANUP(X509) X509 *cert = cert_begin(key, a->cert, id->name, valid.ns / 1000000000);
    if (!cert || ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), next_number(a)) != 1 ||
        !cert_set_names(cert, id, extra_dns) ||
        !cert_add(cert, a->cert, NID_basic_constraints, "critical,CA:FALSE") ||
        !cert_add(cert, a->cert, NID_key_usage, "critical,digitalSignature") ||
        !cert_add(cert, a->cert, NID_ext_key_usage, uses) ||
        !cert_add(cert, a->cert, NID_authority_key_identifier, "keyid") ||
        X509_sign(cert, a->key, EVP_sha256()) <= 0)
        return tls_fail(e, -EIO, "cannot make a certificate");
    *pem = cert_pem(cert);
    return 0;
}
