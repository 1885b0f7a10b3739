/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash as its authors describe it (Aumasson and Bernstein, 2012), with one round for each word and three
 * at the end, as the hash tables of several languages use it. OpenSSL has it as a MAC, but setting that up
 * costs more than the hash of a name. The test compares the two.
 */
#include "base/table.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static uint64_t secret[2];

/* Runs before main, so that no thread sees a table without its key. */
__attribute__((constructor)) static void draw_secret(void)
{
    if (getrandom(secret, sizeof secret, 0) == (ssize_t)sizeof secret)
        return;
    fputs("the system has no random numbers\n", stderr);
    abort();
}

static inline uint64_t table_rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline void table_mix(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = table_rotate(s->v1, 13) ^ s->v0;
    s->v0 = table_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = table_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = table_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = table_rotate(s->v1, 17) ^ s->v2;
    s->v2 = table_rotate(s->v2, 32);
}

static inline void take_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    table_mix(s);
    s->v0 ^= word;
}

static inline uint64_t little_endian(const unsigned char *p, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)p[i] << 8 * i;
    return word;
}

uint64_t table_siphash(const uint64_t k[static 2], const void *bytes, size_t len)
{
    struct sip s = {k[0] ^ UINT64_C(0x736f6d6570736575), k[1] ^ UINT64_C(0x646f72616e646f6d),
                    k[0] ^ UINT64_C(0x6c7967656e657261), k[1] ^ UINT64_C(0x7465646279746573)};
    const unsigned char *p = bytes;
    size_t whole = len - len % 8;
    for (size_t i = 0; i < whole; i += 8)
        take_word(&s, little_endian(p + i, 8));
    take_word(&s, little_endian(p + whole, len - whole) | (uint64_t)len << 56);
    s.v2 ^= 0xff;
    for (int i = 0; i < 3; i++)
        table_mix(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t table_hash(const void *key, size_t len)
{
    return table_siphash(secret, key, len);
}
