/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_fini(struct buffer *b)
{
    free(b->s);
    *b = (struct buffer){0};
}

void buffer_clear(struct buffer *b)
{
    b->len = 0;
    b->short_of_memory = false;
    if (b->s)
        b->s[0] = '\0';
}

static bool buffer_grow(struct buffer *b, size_t more)
{
    if (b->short_of_memory || more > SIZE_MAX / 4 - b->len)
        return false;
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need)
        cap *= 2;
    char *s = realloc(b->s, cap);
    if (!s)
        return false;
    b->s = s;
    b->cap = cap;
    return true;
}

void buffer_add_bytes(struct buffer *b, const void *bytes, size_t n)
{
    if (!buffer_grow(b, n)) {
        b->short_of_memory = true;
        return;
    }
    if (n)
        memcpy(b->s + b->len, bytes, n);
    b->len += n;
    b->s[b->len] = '\0';
}

void buffer_add(struct buffer *b, const char *s)
{
    buffer_add_bytes(b, s, strlen(s));
}

void buffer_add_u64(struct buffer *b, uint64_t n)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, n);
    buffer_add(b, digits);
}

void buffer_add_json(struct buffer *b, const char *s)
{
    buffer_add(b, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        char escape[8];
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof escape, "\\%c", c);
        else if (c < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", c);
        else
            snprintf(escape, sizeof escape, "%c", c);
        buffer_add(b, escape);
    }
    buffer_add(b, "\"");
}

void buffer_add_url(struct buffer *b, const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *s; s++) {
        char escape[8];
        if (strchr(plain, *s))
            snprintf(escape, sizeof escape, "%c", *s);
        else
            snprintf(escape, sizeof escape, "%%%02X", (unsigned char)*s);
        buffer_add(b, escape);
    }
}

int buffer_check(const struct buffer *b, struct err *e)
{
    return b->short_of_memory ? err_set(e, -ENOMEM, "no memory") : 0;
}

char *buffer_take(struct buffer *b)
{
    if (!b->s)
        buffer_add(b, "");
    char *s = b->s;
    *b = (struct buffer){0};
    return s;
}
