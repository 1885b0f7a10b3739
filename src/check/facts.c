/* SPDX-License-Identifier: Apache-2.0 */
/* Facts as text: a gatherer writes them, and a judge reads them. */
#include "check/part.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fact_add(struct text *out, const char *key, const char *fmt, ...)
{
    char value[sizeof((struct fact_line *)NULL)->value];
    va_list args;
    assert(*key && !strpbrk(key, " \n") && "a fact's key is one word");
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    for (char *p = value; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    text_add(out, key);
    text_add_char(out, ' ');
    text_add(out, value);
    text_add_char(out, '\n');
}

static void fact_copy(char *to, size_t size, const char *from, size_t len)
{
    if (len > size - 1)
        len = size - 1;
    memcpy(to, from, len);
    to[len] = '\0';
}

bool fact_next(const char **at, struct fact_line *out)
{
    while (**at == '\n')
        (*at)++;
    if (!**at)
        return false;
    const char *line = *at;
    size_t len = strcspn(line, "\n"), key = strcspn(line, " \n");
    fact_copy(out->key, sizeof out->key, line, key);
    fact_copy(out->value, sizeof out->value, line + key + (key < len), len - key - (key < len));
    *at = line + len;
    return true;
}

bool fact_find(const char *facts, const char *key, struct fact_line *out)
{
    for (const char *at = facts; fact_next(&at, out);)
        if (strcmp(out->key, key) == 0)
            return true;
    return false;
}

bool fact_u64(const char *facts, const char *key, uint64_t *out)
{
    struct fact_line line;
    return fact_find(facts, key, &line) && text_parse_u64(line.value, 0, UINT64_MAX, out, NULL) == 0;
}

bool fact_i64(const char *facts, const char *key, int64_t *out)
{
    struct fact_line line;
    uint64_t n;
    if (!fact_find(facts, key, &line))
        return false;
    bool negative = line.value[0] == '-';
    if (text_parse_u64(line.value + negative, 0, INT64_MAX, &n, NULL) < 0)
        return false;
    *out = negative ? -(int64_t)n : (int64_t)n;
    return true;
}
