/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_DIGEST_H
#define FETTLE_BASE_DIGEST_H

#include <stddef.h>

/*
 * SHA-256, and random numbers for tokens and names of instances.
 */

/* The SHA-256 of bytes. */
void digest_sha256_bytes(const void *bytes, size_t len, unsigned char out[static 32]);

/* The same as lower-case hex. Returns out. */
char *digest_sha256(const void *bytes, size_t len, char out[static 65]);

/* Random bytes fit for secrets. Ends the process when the system has none. */
void digest_random(void *out, size_t len);

/* Random bytes as lower-case hex: 2 * bytes characters and a zero. Returns out. */
char *digest_random_hex(char *out, size_t bytes);

#endif
