/* SPDX-License-Identifier: Apache-2.0 */
#include "health/kmsg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct bytes {
    const char *at, *end;
};

/* Reads a decimal number and the byte after it. */
static bool take_number(struct bytes *b, uint64_t *out, char behind)
{
    const char *start = b->at;
    *out = 0;
    for (; b->at < b->end && *b->at >= '0' && *b->at <= '9'; b->at++) {
        uint64_t digit = (uint64_t)(*b->at - '0');
        if (*out > (UINT64_MAX - digit) / 10)
            return false;
        *out = *out * 10 + digit;
    }
    if (b->at == start || b->at == b->end || *b->at != behind)
        return false;
    b->at++;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The kernel writes unprintable bytes, and the backslash itself, as "\x1b". */
static char take_char(struct bytes *b)
{
    char c = *b->at++;
    if (c != '\\' || b->end - b->at < 3 || *b->at != 'x')
        return c;
    int high = hex_digit(b->at[1]), low = hex_digit(b->at[2]);
    if (high < 0 || low < 0)
        return c;
    b->at += 3;
    return (char)(high << 4 | low);
}

static void take_text(struct bytes *b, char *out)
{
    size_t n = 0;
    while (b->at < b->end && *b->at != '\n' && n < KMSG_TEXT_BYTES_MAX) {
        char c = take_char(b);
        out[n++] = c ? c : ' ';
    }
    out[n] = '\0';
}

int kmsg_read(const char *record, size_t len, struct kmsg *out, struct err *e)
{
    assert(record && out);
    enum { FACILITY_SHIFT = 3, LEVEL_MASK = 7, PRIORITY_MAX = 0xffff };
    struct bytes b = {record, record + len};
    uint64_t priority;
    *out = (struct kmsg){0};
    if (!take_number(&b, &priority, ',') || priority > PRIORITY_MAX || !take_number(&b, &out->seq, ',') ||
        !take_number(&b, &out->at_us, ','))
        return err_set(e, -EINVAL, "no record of the kernel's log: it does not begin with three numbers");
    const char *text = memchr(b.at, ';', (size_t)(b.end - b.at));
    const char *newline = memchr(b.at, '\n', (size_t)(b.end - b.at));
    if (!text || (newline && newline < text))
        return err_set(e, -EINVAL, "no record of the kernel's log: there is no \";\" before its text");
    b.at = text + 1;
    out->facility = (unsigned)priority >> FACILITY_SHIFT;
    out->level = (unsigned)priority & LEVEL_MASK;
    out->from_kernel = out->facility == 0;
    take_text(&b, out->text);
    return 0;
}
