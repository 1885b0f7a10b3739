/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_DIGEST_H
#define FETTLE_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/*
 * SHA-256, random numbers for tokens and names of instances, and FNV-1a. Use FNV-1a only where nobody gains
 * by making a second text with the same sum.
 */

/* The SHA-256 of bytes. */
void digest_sha256_bytes(const void *bytes, size_t len, unsigned char out[static 32]);

/* The same of several pieces, one after the other. */
struct digest_piece {
    const void *bytes;
    size_t len;
};
void digest_sha256_pieces(const struct digest_piece *pieces, size_t n, unsigned char out[static 32]);

/* Bytes as lower-case hex: 2 * n characters and a zero. Returns out. */
char *digest_hex(const unsigned char *in, size_t n, char *out);

/* The SHA-256 of bytes as hex. Returns out. */
char *digest_sha256(const void *bytes, size_t len, char out[static 65]);

/* The same of all that a file has from its present place on, and how much that is. -errno. */
int digest_sha256_file(int fd, uint64_t *bytes, char out[static 65]);

/* Adds bytes to a 64-bit FNV-1a sum and returns the new sum. Begin with DIGEST_FNV_START. */
#define DIGEST_FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t digest_fnv(uint64_t sum, const void *bytes, size_t len);

/* Random bytes fit for secrets. Ends the process when the system has none. */
void digest_random(void *out, size_t len);

/* Random bytes as lower-case hex: 2 * bytes characters and a zero. Returns out. */
char *digest_random_hex(char *out, size_t bytes);

#endif
