/* SPDX-License-Identifier: Apache-2.0 */
#include "base/certificate.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void name_of(char out[static 128], const void *name, size_t len)
{
    const char *from = name;
    size_t n = 0;
    for (; n < len && n < 127; n++)
        out[n] = from[n] > 0x20 && from[n] < 0x7f ? from[n] : '_';
    out[n] = '\0';
}

/* --- X.509 ---------------------------------------------------------------------------------- */

int certificate_no_passphrase(char *buf, int size, int writing, void *arg)
{
    return -1;
}

static bool seconds_of(const ASN1_TIME *t, int64_t *out)
{
    struct tm tm = {0};
    if (!t || ASN1_TIME_to_tm(t, &tm) != 1)
        return false;
    *out = timegm(&tm);
    return true;
}

static bool take_x509(const X509 *cert, struct certificate *c)
{
    const X509_NAME *subject = X509_get_subject_name(cert);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    const ASN1_STRING *name = at < 0 ? NULL : X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
    *c = (struct certificate){.from_s = 0};
    if (name)
        name_of(c->name, ASN1_STRING_get0_data(name), (size_t)ASN1_STRING_length(name));
    return seconds_of(X509_get0_notBefore(cert), &c->from_s) &&
           seconds_of(X509_get0_notAfter(cert), &c->until_s);
}

/* Returns the number of certificates, or -EINVAL. */
static int read_pem(BIO *in, certificate_fn *fn, void *arg)
{
    int n = 0;
    ERR_clear_error();
    for (X509 *cert; (cert = PEM_read_bio_X509(in, NULL, certificate_no_passphrase, NULL)); n++) {
        struct certificate c;
        bool good = take_x509(cert, &c);
        X509_free(cert);
        if (!good)
            return -EINVAL;
        fn(&c, arg);
    }
    bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return at_end ? n : -EINVAL;
}

/* --- OpenSSH (PROTOCOL.certkeys) ------------------------------------------------------------- */

struct blob {
    const uint8_t *p;
    size_t left;
    bool good;
};

static uint64_t take_number(struct blob *b, size_t bytes)
{
    uint64_t n = 0;
    b->good = b->good && b->left >= bytes;
    for (size_t i = 0; b->good && i < bytes; i++)
        n = n << 8 | *b->p++;
    b->left -= b->good ? bytes : 0;
    return n;
}

static const uint8_t *take_string(struct blob *b, size_t *len)
{
    *len = take_number(b, 4);
    b->good = b->good && b->left >= *len;
    if (!b->good)
        *len = 0;
    const uint8_t *at = b->p;
    b->p += *len;
    b->left -= *len;
    return at;
}

/* The number of strings in a key of this kind; 0 for an unknown kind. */
static int key_strings(const uint8_t *kind, size_t len)
{
    static const struct {
        const char *begins;
        int strings;
    } kinds[] = {{"ssh-rsa-", 2},       {"rsa-sha2-", 2},    {"ssh-dss-", 4},       {"ecdsa-sha2-", 2},
                 {"sk-ecdsa-sha2-", 3}, {"ssh-ed25519-", 1}, {"sk-ssh-ed25519-", 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (len > strlen(kinds[i].begins) && memcmp(kind, kinds[i].begins, strlen(kinds[i].begins)) == 0)
            return kinds[i].strings;
    return 0;
}

static int64_t certificate_until(uint64_t seconds)
{
    return seconds > INT64_MAX ? INT64_MAX : (int64_t)seconds;
}

static bool take_ssh(struct blob *b, struct certificate *c)
{
    size_t len;
    const uint8_t *kind = take_string(b, &len);
    int strings = b->good ? key_strings(kind, len) : 0;
    if (strings == 0)
        return false;
    for (int i = 0; i < 1 + strings; i++) /* the nonce, and the key */
        take_string(b, &len);
    take_number(b, 8); /* the serial number */
    take_number(b, 4); /* of a user or of a host */
    const uint8_t *id = take_string(b, &len);
    *c = (struct certificate){.from_s = 0};
    name_of(c->name, id, len);
    take_string(b, &len); /* principals */
    c->from_s = certificate_until(take_number(b, 8));
    c->until_s = certificate_until(take_number(b, 8));
    return b->good;
}

static bool certificate_decode(const char *text, size_t len, uint8_t *out, size_t *n)
{
    EVP_ENCODE_CTX *ctx = EVP_ENCODE_CTX_new();
    int first = 0, last = 0;
    if (!ctx)
        return false;
    EVP_DecodeInit(ctx);
    bool good = len <= INT_MAX && EVP_DecodeUpdate(ctx, out, &first, (const uint8_t *)text, (int)len) >= 0 &&
                EVP_DecodeFinal(ctx, out + first, &last) == 1;
    EVP_ENCODE_CTX_free(ctx);
    *n = (size_t)first + (size_t)last;
    return good;
}

static bool is_ssh(const char *line, size_t len)
{
    static const char mark[] = "-cert-v01@openssh.com";
    size_t kind = 0;
    while (kind < len && line[kind] != ' ')
        kind++;
    return kind > sizeof mark - 1 && memcmp(line + kind - (sizeof mark - 1), mark, sizeof mark - 1) == 0;
}

/* "ssh-ed25519-cert-v01@openssh.com AAAA... comment" */
static bool read_line(const char *line, size_t len, struct certificate *c)
{
    const char *text = memchr(line, ' ', len);
    if (!text)
        return false;
    size_t left = len - (size_t)(++text - line), n = 0;
    const char *end = memchr(text, ' ', left);
    if (end)
        left = (size_t)(end - text);
    CLEANUP_FREE uint8_t *bytes = mem_alloc(left + 4);
    if (!certificate_decode(text, left, bytes, &n))
        return false;
    struct blob b = {bytes, n, true};
    return take_ssh(&b, c);
}

/* Returns the number of certificates, or -EINVAL. */
static int read_ssh(const char *bytes, size_t len, certificate_fn *fn, void *arg)
{
    int n = 0;
    for (const char *line = bytes, *end = bytes + len; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((stop ? stop : end) - line);
        struct certificate c;
        if (size > 0 && line[size - 1] == '\r')
            size--;
        bool one = is_ssh(line, size);
        if (one && !read_line(line, size, &c))
            return -EINVAL;
        if (one)
            fn(&c, arg);
        n += one;
        line = stop ? stop + 1 : end;
    }
    return n;
}

int certificates_read(const char *bytes, size_t len, certificate_fn *fn, void *arg, struct err *e)
{
    assert(bytes || len == 0);
    assert(fn);
    BIO *in = len <= INT_MAX ? BIO_new_mem_buf(bytes, (int)len) : NULL;
    int pem = in ? read_pem(in, fn, arg) : -EINVAL;
    int ssh = pem < 0 ? pem : read_ssh(bytes, len, fn, arg);
    BIO_free(in);
    return ssh < 0 ? err_set(e, -EINVAL, "a certificate that cannot be read") : pem + ssh;
}
