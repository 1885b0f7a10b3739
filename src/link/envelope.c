/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CMS names who may open an envelope by a certificate, which a new controller does not have yet. So the
 * authority makes one for its key, which is in no record and leaves this file only as the name in the
 * envelope.
 */
#include "link/envelope.h"

#include "base/base64.h"
#include "base/private.h"
#include "base/text.h"
#include "link/tls_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

enum { POINT_BYTES = 65, SHORT_POINT_BYTES = 33 };

struct envelope_key {
    EVP_PKEY *key;
    char text[ENVELOPE_KEY_BYTES + 1];
};

static void CMS_ContentInfo_cleanup(CMS_ContentInfo **p)
{
    CMS_ContentInfo_free(*p);
}

static void EVP_PKEY_CTX_cleanup(EVP_PKEY_CTX **p)
{
    EVP_PKEY_CTX_free(*p);
}

/* --- the key pair ------------------------------------------------------------------------------ */

void envelope_key_close(struct envelope_key *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->key);
    free(k);
}

const char *envelope_key_public(const struct envelope_key *k)
{
    return k->text;
}

/* The compressed form of a point: its first coordinate, and whether the second one is odd. */
static int key_name(struct envelope_key *k, struct err *e)
{
    unsigned char point[POINT_BYTES];
    size_t len = 0;
    if (EVP_PKEY_get_octet_string_param(k->key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point, &len) != 1 ||
        len != POINT_BYTES || point[0] != POINT_CONVERSION_UNCOMPRESSED)
        return tls_fail(e, -EIO, "cannot read a public key");
    point[0] = (unsigned char)(POINT_CONVERSION_COMPRESSED | (point[POINT_BYTES - 1] & 1));
    for (size_t i = 0; i < SHORT_POINT_BYTES; i++)
        snprintf(k->text + 2 * i, 3, "%02x", point[i]);
    return 0;
}

/* The next process reads either a whole key or none. */
static int key_make(struct envelope_key *k, const char *path, struct err *e)
{
    CLEANUP_TEXT struct text fresh = {0};
    CLEANUP(BIO) BIO *out = BIO_new(BIO_s_secmem());
    text_printf(&fresh, "%s.new", path);
    k->key = EVP_EC_gen("P-256");
    if (!k->key || PEM_write_bio_PrivateKey(out, k->key, NULL, NULL, 0, NULL, NULL) != 1)
        return tls_fail(e, -EIO, "cannot make a key");
    char *pem = pem_take(out);
    int r = key_file_make(fresh.s, pem, e);
    OPENSSL_cleanse(pem, strlen(pem));
    free(pem);
    if (r == 0 && rename(fresh.s, path) < 0)
        r = err_set(e, -errno, "%s: %s", path, strerror(errno));
    return r;
}

static int key_load(struct envelope_key *k, int fd, const char *path, struct err *e)
{
    CLEANUP(BIO) BIO *in = BIO_new_fd(fd, BIO_NOCLOSE);
    k->key = pem_read_key(in);
    if (key_is_p256(k->key))
        return 0;
    tls_fail(e, -EILSEQ, "not a key of P-256");
    return err_wrap(e, -EILSEQ, "%s", path);
}

int envelope_key_open(const char *path, struct envelope_key **out, struct err *e)
{
    tls_init();
    struct envelope_key *k = mem_alloc(sizeof *k);
    int fd = private_open(path, e);
    int r = fd == -ENOENT ? key_make(k, path, e) : fd < 0 ? fd : key_load(k, fd, path, e);
    if (fd >= 0)
        close(fd);
    if (r == 0)
        r = key_name(k, e);
    if (r < 0) {
        envelope_key_close(k);
        return r;
    }
    *out = k;
    return 0;
}

static EVP_PKEY *key_of_point(unsigned char *point)
{
    char group[] = "P-256";
    __attribute__((cleanup(EVP_PKEY_CTX_cleanup))) EVP_PKEY_CTX *ctx =
        EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, SHORT_POINT_BYTES),
        OSSL_PARAM_construct_end()};
    EVP_PKEY *key = NULL;
    if (!ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        return NULL;
    return key;
}

static int public_read(const char *text, EVP_PKEY **out, struct err *e)
{
    unsigned char point[SHORT_POINT_BYTES];
    size_t len;
    bool is_hex =
        strlen(text) == ENVELOPE_KEY_BYTES && strspn(text, "0123456789abcdef") == ENVELOPE_KEY_BYTES;
    tls_init();
    *out = is_hex && OPENSSL_hexstr2buf_ex(point, sizeof point, &len, text, '\0') == 1 ? key_of_point(point)
                                                                                       : NULL;
    return *out ? 0 : tls_fail(e, -EINVAL, "not the key that a new controller prints");
}

int envelope_key_check(const char *public_key, struct err *e)
{
    CLEANUP(EVP_PKEY) EVP_PKEY *key = NULL;
    return public_read(public_key, &key, e);
}

/* --- sealing ----------------------------------------------------------------------------------- */

/* OpenSSL's own choice for the key derivation would be SHA-1. */
static bool recipient_set(CMS_RecipientInfo *r)
{
    EVP_PKEY_CTX *ctx = r ? CMS_RecipientInfo_get0_pkey_ctx(r) : NULL;
    return ctx && EVP_PKEY_CTX_set_ecdh_kdf_md(ctx, EVP_sha256()) == 1;
}

int envelope_seal(const struct authority *a, const char *public_key, char **envelope, struct err *e)
{
    const unsigned flags = CMS_BINARY | CMS_PARTIAL;
    CLEANUP(EVP_PKEY) EVP_PKEY *key = NULL;
    int r = public_read(public_key, &key, e);
    if (r < 0)
        return r;
    CLEANUP(X509) X509 *whose = authority_recipient(a, key);
    CLEANUP(BIO) BIO *in = authority_pack(a);
    CLEANUP(BIO) BIO *out = BIO_new(BIO_s_mem());
    __attribute__((cleanup(CMS_ContentInfo_cleanup))) CMS_ContentInfo *cms =
        CMS_encrypt(NULL, NULL, EVP_aes_256_gcm(), flags);
    char *bytes = NULL;
    if (!whose || !in || !cms ||
        !recipient_set(CMS_add1_recipient_cert(cms, whose, flags | CMS_USE_KEYID | CMS_KEY_PARAM)) ||
        CMS_final(cms, in, NULL, flags) != 1 || i2d_CMS_bio(out, cms) != 1)
        return tls_fail(e, -EIO, "cannot seal the authority");
    struct text t = {0};
    base64_add(&t, bytes, (size_t)BIO_get_mem_data(out, &bytes));
    assert(t.len <= ENVELOPE_BYTES_MAX);
    *envelope = text_take(&t);
    return 0;
}

/* --- opening ----------------------------------------------------------------------------------- */

static int content_read(const char *envelope, CMS_ContentInfo **out, struct err *e)
{
    CLEANUP_TEXT struct text der = {0};
    if (strlen(envelope) > ENVELOPE_BYTES_MAX || !base64_take(envelope, strlen(envelope), &der) || !der.len)
        return err_set(e, -EILSEQ, "the authority's envelope is not Base 64, or too long");
    const unsigned char *at = (const unsigned char *)der.s, *end = at + der.len;
    *out = d2i_CMS_ContentInfo(NULL, &at, (long)der.len);
    if (!*out || at != end || OBJ_obj2nid(CMS_get0_type(*out)) != NID_id_smime_ct_authEnvelopedData)
        return tls_fail(e, -EILSEQ, "not an envelope of the authority");
    return 0;
}

int envelope_open(const char *envelope, const struct envelope_key *k, const char *fingerprint,
                  const char *dir, struct err *e)
{
    __attribute__((cleanup(CMS_ContentInfo_cleanup))) CMS_ContentInfo *cms = NULL;
    CLEANUP(BIO) BIO *out = BIO_new(BIO_s_secmem());
    tls_init();
    int r = content_read(envelope, &cms, e);
    if (r < 0)
        return r;
    if (CMS_decrypt(cms, k->key, NULL, NULL, out, CMS_BINARY) != 1)
        return tls_fail(e, -EACCES, "the authority's envelope does not open with this controller's key");
    return authority_unpack(out, fingerprint, dir, e);
}
