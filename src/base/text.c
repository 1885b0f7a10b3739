/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void *mem_must(void *p)
{
    if (!p) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return p;
}

void *mem_alloc(size_t bytes)
{
    return mem_must(calloc(1, bytes ? bytes : 1));
}

void *mem_grow(void *p, size_t bytes)
{
    return mem_must(realloc(p, bytes ? bytes : 1));
}

char *mem_dup_len(const char *s, size_t len)
{
    char *p = mem_alloc(len + 1);
    memcpy(p, s, len);
    return p;
}

char *mem_dup(const char *s)
{
    return s ? mem_dup_len(s, strlen(s)) : NULL;
}

char *mem_dup_all(const char **const texts[], size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    char *all = bytes > 0 ? mem_alloc(bytes) : NULL, *to = all;
    for (size_t i = 0; i < n; i++) {
        if (!*texts[i])
            continue;
        size_t len = strlen(*texts[i]) + 1;
        memcpy(to, *texts[i], len);
        *texts[i] = to;
        to += len;
    }
    return all;
}

void mem_cleanup_free(void *p)
{
    free(*(void **)p);
}

void text_cleanup(struct text *t)
{
    text_fini(t);
}

void text_fini(struct text *t)
{
    free(t->s);
    *t = (struct text){0};
}

void text_clear(struct text *t)
{
    t->len = 0;
    if (t->s)
        t->s[0] = '\0';
}

char *text_room(struct text *t, size_t more)
{
    size_t need = t->len + more + 1;
    if (need > t->cap) {
        size_t cap = t->cap ? t->cap : 64;
        while (cap < need)
            cap *= 2;
        t->s = mem_grow(t->s, cap);
        t->cap = cap;
    }
    return t->s + t->len;
}

void text_add_bytes(struct text *t, const void *bytes, size_t len)
{
    assert(bytes || len == 0);
    char *at = text_room(t, len);
    if (len)
        memcpy(at, bytes, len);
    at[len] = '\0';
    t->len += len;
}

void text_add(struct text *t, const char *s)
{
    text_add_bytes(t, s, strlen(s));
}

void text_add_char(struct text *t, char c)
{
    text_add_bytes(t, &c, 1);
}

void text_add_u64(struct text *t, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    text_add_bytes(t, digits + i, sizeof digits - i);
}

void text_printf(struct text *t, const char *fmt, ...)
{
    enum { FIRST_BYTES = 64 };
    assert(fmt); /* gcc with sanitizers sees a null format else */
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(text_room(t, FIRST_BYTES), FIRST_BYTES + 1, fmt, ap);
    va_end(ap);
    if (n > FIRST_BYTES)
        vsnprintf(text_room(t, (size_t)n), (size_t)n + 1, fmt, again);
    va_end(again);
    if (n > 0)
        t->len += (size_t)n;
}

size_t text_utf8(const char *bytes)
{
    const unsigned char *s = (const unsigned char *)bytes;
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    size_t n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

uint32_t text_character(const char *s, size_t *bytes)
{
    size_t n = *bytes = text_utf8(s);
    uint32_t c = (unsigned char)s[0];
    if (n > 1)
        c &= 0xffU >> (n + 1);
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return c;
}

bool text_misleads(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

bool text_is_clean(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return false;
    return true;
}

size_t text_line(char *out, size_t size, const char *s)
{
    assert(out && size > 0);
    size_t n = 0;
    for (size_t width; *s; s += width ? width : 1) {
        uint32_t c = text_character(s, &width);
        const char *kept = width == 0 ? "?" : text_misleads(c) ? " " : s;
        size_t len = kept == s ? width : 1;
        if (n + len >= size)
            break;
        memcpy(out + n, kept, len);
        n += len;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
    return n;
}

char *mem_line(const char *s, size_t most)
{
    size_t len = strlen(s), size = (len < most ? len : most) + 1;
    char *line = mem_alloc(size);
    text_line(line, size, s);
    return line;
}

int text_check_line(const char *s, struct err *e)
{
    for (size_t i = 0, width; s[i]; i += width) {
        uint32_t c = text_character(s + i, &width);
        if (width == 0)
            return err_set(e, -EINVAL, "not UTF-8 at byte %zu", i);
        if (text_misleads(c))
            return err_set(e, -EINVAL, "a control character at byte %zu", i);
    }
    return 0;
}

void text_add_json(struct text *t, const char *s)
{
    text_add_char(t, '"');
    const char *run = s;
    for (const char *p = s; *p;) {
        unsigned char c = (unsigned char)*p;
        size_t n = text_utf8(p);
        if (n > 0 && c >= 0x20 && c != '"' && c != '\\') {
            p += n;
            continue;
        }
        text_add_bytes(t, run, (size_t)(p - run));
        if (n == 0)
            text_add(t, "\xef\xbf\xbd");
        else if (c == '"' || c == '\\')
            text_printf(t, "\\%c", c);
        else if (c == '\n')
            text_add(t, "\\n");
        else if (c == '\t')
            text_add(t, "\\t");
        else
            text_printf(t, "\\u%04x", c);
        run = ++p;
    }
    text_add(t, run);
    text_add_char(t, '"');
}

void text_add_member(struct text *t, const char *key, const char *value)
{
    assert(t && key);
    if (t->len == 0)
        text_add_char(t, '{');
    else if (t->s[t->len - 1] != '{')
        text_add_char(t, ',');
    text_printf(t, "\"%s\":", key);
    if (value)
        text_add_json(t, value);
    else
        text_add(t, "null");
}

char *text_take(struct text *t)
{
    if (!t->s)
        text_add(t, "");
    char *s = t->s;
    *t = (struct text){0};
    return s;
}

int text_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out, struct err *e)
{
    assert(s && out);
    assert(min <= max);
    uint64_t n = 0;
    bool good = *s != '\0';
    for (const char *p = s; good && *p; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        good = *p >= '0' && *p <= '9' && n <= (UINT64_MAX - digit) / 10;
        n = n * 10 + digit;
    }
    if (!good || n < min || n > max)
        return err_set(e, -EINVAL, "\"%s\" is not a number from %" PRIu64 " to %" PRIu64, s, min, max);
    *out = n;
    return 0;
}

int text_parse_milli(const char *s, uint64_t *out, struct err *e)
{
    assert(s && out);
    size_t whole = strspn(s, "0123456789");
    const char *frac = s[whole] == '.' ? s + whole + 1 : s + whole;
    size_t digits = strspn(frac, "0123456789");
    if (whole + digits == 0 || whole > 9 || frac[digits] != '\0')
        return err_set(e, -EINVAL, "\"%s\" is not a decimal number", s);
    uint64_t n = 0;
    for (size_t i = 0; i < whole; i++)
        n = n * 10 + (uint64_t)(s[i] - '0');
    for (size_t i = 0; i < 3; i++)
        n = n * 10 + (i < digits ? (uint64_t)(frac[i] - '0') : 0);
    *out = n;
    return 0;
}

int text_parse_bool(const char *s, bool *out, struct err *e)
{
    assert(s && out);
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(s, words[i]) == 0) {
            *out = i % 2 == 1;
            return 0;
        }
    }
    return err_set(e, -EINVAL, "\"%s\" is neither yes nor no", s);
}

enum { NEAREST_BYTES_MAX = 64 };

static bool is_same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t text_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters are missing, added, wrong or swapped with their neighbour. Ignores case; both words are at
 * most NEAREST_BYTES_MAX long. */
static size_t text_distance(const char *a, const char *b)
{
    size_t rows[3][NEAREST_BYTES_MAX + 1];
    size_t lb = strlen(b), la = strlen(a);
    for (size_t i = 0; i <= la; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        for (size_t j = 0; j <= lb; j++) {
            if (i == 0 || j == 0) {
                row[j] = i + j;
                continue;
            }
            row[j] = text_least(above[j - 1] + !is_same_letter(a[i - 1], b[j - 1]),
                                text_least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) && is_same_letter(a[i - 2], b[j - 1]))
                row[j] = text_least(row[j], second[j - 2] + 1);
        }
    }
    return rows[la % 3][lb];
}

const char *text_nearest(const char *word, const char *const *words, size_t n)
{
    assert(words || n == 0);
    size_t len = strlen(word);
    if (len > NEAREST_BYTES_MAX)
        return NULL;
    const char *best = NULL;
    size_t best_distance = (len + 1) / 3 + 1; /* more than one slip for every three letters means another
                                                 word */
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) > NEAREST_BYTES_MAX)
            continue;
        size_t d = text_distance(word, words[i]);
        if (d < best_distance) {
            best_distance = d;
            best = words[i];
        }
    }
    return best;
}

bool text_has_word(const char *list, char between, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; *at;) {
        size_t n = (size_t)(strchrnul(at, between) - at);
        if (n > 0 && n == len && memcmp(at, word, n) == 0)
            return true;
        at += n + (at[n] == between);
    }
    return false;
}
