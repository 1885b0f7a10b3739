/* SPDX-License-Identifier: Apache-2.0 */
/* The calls with a state on the stack are old in OpenSSL 3, and take half the time of those that replace
 * them: a tree of a million entries is two million short digests. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/digest.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *digest_hex(const unsigned char *in, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[in[i] >> 4];
        out[2 * i + 1] = digits[in[i] & 15];
    }
    out[2 * n] = '\0';
    return out;
}

void digest_sha256_bytes(const void *bytes, size_t len, unsigned char out[static 32])
{
    SHA256(bytes, len, out);
}

void digest_sha256_pieces(const struct digest_piece *pieces, size_t n, unsigned char out[static 32])
{
    SHA256_CTX state;
    SHA256_Init(&state);
    for (size_t i = 0; i < n; i++)
        SHA256_Update(&state, pieces[i].bytes, pieces[i].len);
    SHA256_Final(out, &state);
}

char *digest_sha256(const void *bytes, size_t len, char out[static 65])
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256(bytes, len, hash);
    digest_hex(hash, sizeof hash, out);
    return out;
}

int digest_sha256_file(int fd, uint64_t *bytes, char out[static 65])
{
    enum { CHUNK_BYTES = 256 << 10 };
    unsigned char hash[SHA256_DIGEST_LENGTH];
    CLEANUP_FREE unsigned char *chunk = mem_alloc(CHUNK_BYTES);
    EVP_MD_CTX *sum = mem_must(EVP_MD_CTX_new());
    int good = EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
    ssize_t n = 0;
    *bytes = 0;
    while (good == 1 && (n = read(fd, chunk, CHUNK_BYTES)) > 0) {
        good = EVP_DigestUpdate(sum, chunk, (size_t)n);
        *bytes += (uint64_t)n;
    }
    int r = n < 0 ? -errno : good == 1 && EVP_DigestFinal_ex(sum, hash, NULL) == 1 ? 0 : -EIO;
    EVP_MD_CTX_free(sum);
    if (r == 0)
        digest_hex(hash, sizeof hash, out);
    return r;
}

uint64_t digest_fnv(uint64_t sum, const void *bytes, size_t len)
{
    for (const unsigned char *p = bytes; len > 0; p++, len--)
        sum = (sum ^ *p) * UINT64_C(0x100000001b3);
    return sum;
}

void digest_random(void *out, size_t len)
{
    assert(out || len == 0);
    if (RAND_bytes(out, (int)len) != 1) {
        fputs("the system has no random numbers\n", stderr);
        abort();
    }
}

char *digest_random_hex(char *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char b;
        digest_random(&b, 1);
        digest_hex(&b, 1, out + 2 * i);
    }
    return out;
}
