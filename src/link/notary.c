/* SPDX-License-Identifier: Apache-2.0 */
#include "link/notary.h"

#include "base/base64.h"
#include "base/digest.h"
#include "link/tls_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/evp.h>

enum { SEED_BYTES = 32, LINE_BYTES_MAX = 512 };

static const char prefix[] = "PRIVATE+KEY+";
static const unsigned char type = 1;

struct notary {
    EVP_PKEY *pkey;
    struct note_key key;
};

static inline void context_cleanup(EVP_MD_CTX **c)
{
    EVP_MD_CTX_free(*c);
}
#define CLEANUP_DIGEST __attribute__((cleanup(context_cleanup)))

void notary_close(struct notary *n)
{
    if (!n)
        return;
    EVP_PKEY_free(n->pkey);
    free(n);
}

const struct note_key *notary_key(const struct notary *n)
{
    return &n->key;
}

static int notary_take_seed(struct notary *n, const char *name, const unsigned char seed[static SEED_BYTES],
                            struct err *e)
{
    unsigned char public[NOTE_PUBLIC_BYTES];
    size_t len = sizeof public;
    tls_init();
    n->pkey = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, SEED_BYTES);
    if (!n->pkey || EVP_PKEY_get_raw_public_key(n->pkey, public, &len) != 1)
        return tls_fail(e, -EIO, "a key cannot be made");
    note_key_init(&n->key, name, public);
    return 0;
}

/* The form of the line: the prefix, the public key's name and id, and the seed where that has its bytes. */
static void line_format(const struct notary *n, const unsigned char seed[static SEED_BYTES], struct text *out)
{
    unsigned char bytes[1 + SEED_BYTES] = {type};
    memcpy(bytes + 1, seed, SEED_BYTES);
    text_printf(out, "%s%s+%08" PRIx32 "+", prefix, n->key.name, n->key.id);
    base64_add(out, bytes, sizeof bytes);
    text_add_char(out, '\n');
}

static int line_parse(struct notary *n, const char *path, const char *name, const char *line, struct err *e)
{
    unsigned char bytes[1 + SEED_BYTES] = {0};
    CLEANUP_TEXT struct text same = {0}, begin = {0};
    text_printf(&begin, "%s%s+", prefix, name);
    const char *base64 = strlen(line) > begin.len + 9 ? line + begin.len + 9 : "";
    if (strncmp(line, prefix, sizeof prefix - 1) != 0)
        return err_set(e, -EILSEQ, "%s has no key of an audit log", path);
    if (strncmp(line, begin.s, begin.len) != 0)
        return err_set(e, -EILSEQ, "%s has the key of another log than %s", path, name);
    if (!base64_take_exactly(base64, strcspn(base64, "\n"), bytes, sizeof bytes))
        return err_set(e, -EILSEQ, "%s has a key that cannot be read", path);
    int r = notary_take_seed(n, name, bytes + 1, e);
    if (r == 0)
        line_format(n, bytes + 1, &same);
    OPENSSL_cleanse(bytes, sizeof bytes);
    if (r == 0 && strcmp(same.s, line) != 0)
        r = err_set(e, -EILSEQ, "%s has a key that was changed", path);
    if (same.s)
        OPENSSL_cleanse(same.s, same.len);
    return r;
}

static int file_failed(const char *path, struct err *e)
{
    int code = errno;
    return err_set(e, -code, "%s: %s", path, strerror(code));
}

/* Writes and syncs all of it under another name first: a key that is there is whole. */
static int file_make(const char *path, const struct text *line, struct err *e)
{
    CLEANUP_TEXT struct text fresh = {0};
    text_printf(&fresh, "%s.new", path);
    CLEANUP_FREE char *copy = mem_dup(path);
    unlink(fresh.s);
    int fd = open(fresh.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return file_failed(fresh.s, e);
    errno = EIO; /* a short write leaves no file */
    bool good = write(fd, line->s, line->len) == (ssize_t)line->len && fsync(fd) == 0;
    int r = good ? 0 : file_failed(fresh.s, e);
    close(fd);
    int dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r == 0 && (dir < 0 || rename(fresh.s, path) < 0 || fsync(dir) < 0))
        r = file_failed(path, e);
    if (dir >= 0)
        close(dir);
    return r;
}

static int notary_make(struct notary *n, const char *path, const char *name, struct err *e)
{
    unsigned char seed[SEED_BYTES];
    CLEANUP_TEXT struct text line = {0};
    digest_random(seed, sizeof seed);
    int r = notary_take_seed(n, name, seed, e);
    if (r == 0) {
        line_format(n, seed, &line);
        r = file_make(path, &line, e);
        OPENSSL_cleanse(line.s, line.len);
    }
    OPENSSL_cleanse(seed, sizeof seed);
    return r;
}

int notary_open(const char *path, const char *name, struct notary **out, struct err *e)
{
    char line[LINE_BYTES_MAX] = "";
    assert(note_name_is_good(name));
    struct notary *n = mem_alloc(sizeof *n);
    int fd = open(path, O_RDONLY | O_CLOEXEC), r;
    if (fd >= 0) {
        ssize_t len = read(fd, line, sizeof line - 1);
        r = len < 0 ? file_failed(path, e) : line_parse(n, path, name, line, e);
        close(fd);
        OPENSSL_cleanse(line, sizeof line);
    } else {
        r = errno == ENOENT ? notary_make(n, path, name, e) : file_failed(path, e);
    }
    if (r) {
        notary_close(n);
        return r;
    }
    *out = n;
    return 0;
}

int notary_sign(const struct notary *n, struct text *text, struct err *e)
{
    unsigned char signature[NOTE_SIGNATURE_BYTES];
    size_t len = sizeof signature;
    CLEANUP_DIGEST EVP_MD_CTX *c = EVP_MD_CTX_new();
    if (!c || EVP_DigestSignInit(c, NULL, NULL, NULL, n->pkey) != 1 ||
        EVP_DigestSign(c, signature, &len, (const unsigned char *)text->s, text->len) != 1)
        return tls_fail(e, -EIO, "a note cannot be signed");
    note_sign(text, &n->key, signature);
    return 0;
}

int notary_verify(const char *bytes, size_t len, const struct note_key *k, struct signed_note *out,
                  struct err *e)
{
    int r = note_read(bytes, len, k, out, e);
    if (r)
        return r;
    tls_init();
    CLEANUP_DIGEST EVP_MD_CTX *c = EVP_MD_CTX_new();
    CLEANUP(EVP_PKEY)
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, k->public, NOTE_PUBLIC_BYTES);
    if (!c || !key || EVP_DigestVerifyInit(c, NULL, NULL, NULL, key) != 1)
        return tls_fail(e, -EIO, "signatures cannot be verified");
    bool good = EVP_DigestVerify(c, out->signature, sizeof out->signature, (const unsigned char *)out->text,
                                 out->len) == 1;
    ERR_clear_error();
    return good ? 0
                : err_set(e, -EKEYREJECTED, "the signature of %s+%08" PRIx32 " is not of this text", k->name,
                          k->id);
}
