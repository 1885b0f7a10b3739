/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct text *out, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    char *to = text_room(out, (len + 2) / 3 * 4);
    for (; len > 0; p += 3, len -= len < 3 ? len : 3) {
        unsigned group = (unsigned)p[0] << 16 | (len > 1 ? (unsigned)p[1] << 8 : 0) | (len > 2 ? p[2] : 0);
        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = len > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = len > 2 ? digits[group & 63] : '=';
    }
    *to = '\0';
    out->len = (size_t)(to - out->s);
}

static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The bytes of a group of four characters; 0 when it is none. Only the last group may be padded, and the bits
 * that it does not need are zero. */
static size_t group_read(const char s[static 4], bool last, unsigned char out[static 3])
{
    size_t padding = !last ? 0 : s[2] == '=' && s[3] == '=' ? 2 : s[3] == '=' ? 1 : 0;
    unsigned group = 0;
    for (size_t i = 0; i < 4; i++) {
        int v = i < 4 - padding ? digit_value(s[i]) : 0;
        if (v < 0)
            return 0;
        group = group << 6 | (unsigned)v;
    }
    if (group & ((1U << 8 * padding) - 1))
        return 0;
    out[0] = (unsigned char)(group >> 16);
    out[1] = (unsigned char)(group >> 8);
    out[2] = (unsigned char)group;
    return 3 - padding;
}

bool base64_take(const char *s, size_t len, struct text *out)
{
    size_t n = 0;
    if (len % 4)
        return false;
    unsigned char *to = (unsigned char *)text_room(out, len / 4 * 3);
    for (size_t i = 0; i < len; i += 4) {
        size_t taken = group_read(s + i, i + 4 == len, to + n);
        if (taken == 0) {
            *to = '\0';
            return false;
        }
        n += taken;
    }
    to[n] = '\0';
    out->len += n;
    return true;
}

bool base64_take_exactly(const char *s, size_t len, void *out, size_t bytes)
{
    CLEANUP_TEXT struct text t = {0};
    if (len != (bytes + 2) / 3 * 4 || !base64_take(s, len, &t) || t.len != bytes)
        return false;
    if (bytes > 0)
        memcpy(out, t.s, bytes);
    return true;
}
