/* SPDX-License-Identifier: Apache-2.0 */
#include "health/pattern.h"

#include "health/meaning.h"

#include <errno.h>
#include <string.h>

static const char DEV[] = "<dev>";
enum { DEV_LEN = sizeof DEV - 1 };

/* The length of a wildcard at p that matches a run of any length; 0 when there is none. */
static size_t gap_at(const char *p)
{
    if (*p == '*')
        return 1;
    return strncmp(p, DEV, DEV_LEN) == 0 ? DEV_LEN : 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int pattern_check(const char *text, struct err *e)
{
    size_t devs = 0, letters = 0;
    bool gap = false;
    if (strlen(text) > MEANING_LINE_BYTES_MAX)
        return err_set(e, -EINVAL, "the pattern has more than %d bytes", MEANING_LINE_BYTES_MAX);
    for (const char *p = text; *p;) {
        size_t len = gap_at(p);
        if (len && gap)
            return err_set(e, -EINVAL, "nothing stands between two wildcards at \"%.40s\"", p);
        gap = len > 0;
        devs += len == DEV_LEN;
        letters += !len && *p != '#' && !is_white(*p);
        p += len ? len : 1;
    }
    if (devs > 1)
        return err_set(e, -EINVAL, "<dev> stands twice in \"%.80s\"", text);
    if (letters < 4)
        return err_set(e, -EINVAL, "\"%.80s\" has less than four characters beside wildcards", text);
    return 0;
}

/* The end of the piece at the start of the pattern: it has no such wildcard. */
static const char *piece_end(const char *pattern)
{
    while (*pattern && !gap_at(pattern))
        pattern++;
    return pattern;
}

size_t pattern_head(const char *pattern)
{
    size_t n = 0;
    while (pattern[n] && pattern[n] != '#' && !gap_at(pattern + n))
        n++;
    return n;
}

/* How many bytes of s the piece matches at its very start, or -1. A number takes all digits in a row. */
static long piece_at(const char *piece, const char *end, const char *s)
{
    const char *at = s;
    for (; piece < end; piece++) {
        if (*piece == '#') {
            if (!is_digit(*at))
                return -1;
            while (is_digit(*at))
                at++;
        } else if (*at != *piece) {
            return -1;
        } else {
            at++;
        }
    }
    return at - s;
}

/* The first place in s where the piece matches; the last piece must reach the end of s. It never begins in
 * the middle of a number. */
static const char *piece_find(const char *piece, const char *end, const char *s, long *len)
{
    for (const char *at = s; *at; at++) {
        bool cut = *piece == '#' && at > s && is_digit(at[-1]);
        *len = cut ? -1 : piece_at(piece, end, at);
        if (*len >= 0 && (*end || at[*len] == '\0'))
            return at;
    }
    return NULL;
}

static bool device_ok(const char *dev, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (is_white(dev[i]))
            return false;
    return len > 0;
}

bool pattern_match(const char *pattern, const char *line, const char **dev, size_t *dev_len)
{
    const char *end = piece_end(pattern);
    long len = piece_at(pattern, end, line);
    *dev = line;
    *dev_len = 0;
    if (len < 0)
        return false;
    for (line += len; *end;) {
        size_t gap = gap_at(end);
        const char *piece = end + gap, *from = line;
        end = piece_end(piece);
        const char *found = *piece ? piece_find(piece, end, line, &len) : line + strlen(line);
        if (!found)
            return false;
        if (gap == DEV_LEN && !device_ok(from, (size_t)(found - from)))
            return false;
        if (gap == DEV_LEN) {
            *dev = from;
            *dev_len = (size_t)(found - from);
        }
        line = *piece ? found + len : found;
    }
    return *line == '\0';
}

char pattern_first(const char *pattern)
{
    return gap_at(pattern) || *pattern == '#' ? '\0' : *pattern;
}
