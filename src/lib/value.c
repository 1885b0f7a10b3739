/* SPDX-License-Identifier: Apache-2.0
 *
 * An answer of ten thousand nodes is a megabyte that a command line must read in a few
 * milliseconds, which a tree of allocated nodes and hash tables does not allow. Here the values lie
 * in one array in the order of the text: the children of a container follow it, and each value says
 * how many entries it takes, so that the next sibling is found by adding. Strings are unescaped
 * where they stand in the text (they only get shorter) and ended by a zero byte over their closing
 * quote. A number is ended only when the separator after it was read.
 *
 * The grammar is RFC 8259's and nothing more. Of members with one name, the first is found.
 */
#include "lib/value.h"

#include "base/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct fettle_value {
    const char *key;  /* NULL unless it is a member of an object */
    const char *text; /* of strings and numbers */
    uint32_t count;   /* children */
    uint32_t span;    /* entries of the subtree, itself included */
    uint8_t kind;     /* enum fettle_kind */
    bool truth;       /* of FETTLE_BOOL */
    bool last;        /* the last of its siblings */
};

struct fettle_answer {
    char *bytes;
    struct fettle_value *values;
    size_t n, cap;
};

struct reader {
    char *start;
    char *p;
    char *end;        /* *end is a zero byte, which no token accepts */
    char *number_end; /* where a zero byte goes when the separator there was read */
    struct fettle_answer *a;
    uint32_t open[VALUE_DEPTH_MAX];     /* containers around p */
    uint32_t youngest[VALUE_DEPTH_MAX]; /* their latest child */
    int depth;
};

static int value_bad(const struct reader *r, const char *what, struct err *e)
{
    return err_set(e, -EPROTO, "the answer is not JSON: %s at byte %zu", what, (size_t)(r->p - r->start));
}

static void skip_space(struct reader *r)
{
    while (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r')
        r->p++;
}

static int value_add(struct reader *r, const char *key, enum fettle_kind kind, uint32_t *at, struct err *e)
{
    struct fettle_answer *a = r->a;
    if (a->n == a->cap) {
        size_t cap = a->cap ? a->cap * 2 : 64;
        struct fettle_value *more = cap <= UINT32_MAX ? realloc(a->values, cap * sizeof *more) : NULL;
        if (!more)
            return err_set(e, -ENOMEM, "no memory");
        a->values = more;
        a->cap = cap;
    }
    *at = (uint32_t)a->n++;
    a->values[*at] = (struct fettle_value){.key = key, .kind = (uint8_t)kind, .span = 1};
    if (r->depth > 0) {
        a->values[r->open[r->depth - 1]].count++;
        r->youngest[r->depth - 1] = *at;
    }
    return 0;
}

static int value_hex4(const char *s, unsigned *out)
{
    unsigned n = 0;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (unsigned)((c | 0x20) - 'a') + 10;
        else
            return -1;
        n = n * 16 + digit;
    }
    *out = n;
    return 0;
}

static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* p is after "\u". The zero byte at the end stops hex4 from reading past it. */
static int read_unicode(struct reader *r, char **to, struct err *e)
{
    unsigned c, low;
    if (value_hex4(r->p, &c) < 0)
        return value_bad(r, "a wrong \\u escape", e);
    r->p += 4;
    if (c >= 0xd800 && c < 0xdc00) {
        if (r->p[0] != '\\' || r->p[1] != 'u' || value_hex4(r->p + 2, &low) < 0 || low < 0xdc00 ||
            low > 0xdfff)
            return value_bad(r, "half a surrogate pair", e);
        r->p += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c == 0 || (c >= 0xdc00 && c <= 0xdfff)) {
        return value_bad(r, c == 0 ? "a zero character" : "half a surrogate pair", e);
    }
    *to = put_utf8(*to, c);
    return 0;
}

static int read_escape(struct reader *r, char **to, struct err *e)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char c = *++r->p;
    if (c == 'u') {
        r->p++;
        return read_unicode(r, to, e);
    }
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return value_bad(r, "an unknown escape", e);
    *(*to)++ = into[found - from];
    r->p++;
    return 0;
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* p is on the opening quote; afterwards it is after the closing one. */
static int read_string(struct reader *r, const char **out, struct err *e)
{
    char *to = ++r->p;
    *out = to;
    while (is_plain(*r->p)) /* most strings end here without having to be moved */
        r->p++;
    to = r->p;
    while (*r->p != '"') {
        if (is_plain(*r->p)) {
            *to++ = *r->p++;
        } else if (*r->p == '\\') {
            int rc = read_escape(r, &to, e);
            if (rc < 0)
                return rc;
        } else {
            size_t n = (unsigned char)*r->p < 0x80 ? 0 : text_utf8(r->p);
            if (n == 0)
                return value_bad(
                    r, r->p == r->end ? "it ends inside a string" : "a byte that may not stand in a string",
                    e);
            memmove(to, r->p, n);
            to += n;
            r->p += n;
        }
    }
    *to = '\0';
    r->p++;
    return 0;
}

static size_t skip_digits(struct reader *r)
{
    char *from = r->p;
    while (*r->p >= '0' && *r->p <= '9')
        r->p++;
    return (size_t)(r->p - from);
}

static int read_number(struct reader *r, const char **out, struct err *e)
{
    *out = r->p;
    if (*r->p == '-')
        r->p++;
    bool zero = *r->p == '0';
    size_t digits = skip_digits(r);
    if (digits == 0 || (zero && digits > 1))
        return value_bad(r, "a wrong number", e);
    if (*r->p == '.') {
        r->p++;
        if (skip_digits(r) == 0)
            return value_bad(r, "a wrong number", e);
    }
    if (*r->p == 'e' || *r->p == 'E') {
        r->p++;
        if (*r->p == '+' || *r->p == '-')
            r->p++;
        if (skip_digits(r) == 0)
            return value_bad(r, "a wrong number", e);
    }
    r->number_end = r->p;
    return 0;
}

static int read_word(struct reader *r, struct fettle_value *v, struct err *e)
{
    static const struct {
        const char *word;
        size_t len;
        enum fettle_kind kind;
        bool truth;
    } words[] = {
        {"true", 4, FETTLE_BOOL, true}, {"false", 5, FETTLE_BOOL, false}, {"null", 4, FETTLE_NULL, false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(r->p, words[i].word, words[i].len) != 0)
            continue;
        v->kind = (uint8_t)words[i].kind;
        v->truth = words[i].truth;
        r->p += words[i].len;
        return 0;
    }
    return value_bad(r, r->p == r->end ? "it ends too early" : "no value", e);
}

static int open_container(struct reader *r, const char *key, struct err *e)
{
    uint32_t at;
    enum fettle_kind kind = *r->p == '{' ? FETTLE_OBJECT : FETTLE_ARRAY;
    if (r->depth == VALUE_DEPTH_MAX)
        return value_bad(r, "it nests too deep", e);
    int rc = value_add(r, key, kind, &at, e);
    if (rc < 0)
        return rc;
    r->open[r->depth++] = at;
    r->p++;
    return 0;
}

static void close_container(struct reader *r)
{
    struct fettle_value *v = &r->a->values[r->open[--r->depth]];
    if (v->count > 0)
        r->a->values[r->youngest[r->depth]].last = true;
    v->span = (uint32_t)(r->a->n - r->open[r->depth]);
    r->p++;
}

static int read_key(struct reader *r, const char **key, struct err *e)
{
    skip_space(r);
    if (*r->p != '"')
        return value_bad(r, "no name of a member", e);
    int rc = read_string(r, key, e);
    if (rc < 0)
        return rc;
    skip_space(r);
    if (*r->p != ':')
        return value_bad(r, "no colon after a name", e);
    r->p++;
    skip_space(r);
    return 0;
}

/* Reads one value that is not a container. */
static int read_scalar(struct reader *r, const char *key, struct err *e)
{
    uint32_t at;
    int rc = value_add(r, key, FETTLE_NULL, &at, e);
    if (rc < 0)
        return rc;
    struct fettle_value *v = &r->a->values[at];
    if (*r->p == '"') {
        v->kind = FETTLE_TEXT;
        return read_string(r, &v->text, e);
    }
    if (*r->p == '-' || (*r->p >= '0' && *r->p <= '9')) {
        v->kind = FETTLE_NUMBER;
        return read_number(r, &v->text, e);
    }
    return read_word(r, v, e);
}

static bool in_object(const struct reader *r)
{
    return r->a->values[r->open[r->depth - 1]].kind == FETTLE_OBJECT;
}

/* Reads the ends of containers up to a comma or the end of the root. */
static int read_separator(struct reader *r, struct err *e)
{
    while (r->depth > 0) {
        skip_space(r);
        char c = *r->p;
        if (c == ',') {
            r->p++;
        } else if (c == (in_object(r) ? '}' : ']')) {
            close_container(r);
        } else {
            return value_bad(r, r->p == r->end ? "it ends too early" : "no comma between two values", e);
        }
        if (r->number_end)
            *r->number_end = '\0';
        r->number_end = NULL;
        if (c == ',')
            return 0;
    }
    return 0;
}

/* Reads one member or element, and the containers that end after it. */
static int read_next(struct reader *r, struct err *e)
{
    const char *key = NULL;
    int rc = in_object(r) ? read_key(r, &key, e) : 0;
    if (rc < 0)
        return rc;
    skip_space(r);
    if (*r->p != '{' && *r->p != '[') {
        rc = read_scalar(r, key, e);
        return rc < 0 ? rc : read_separator(r, e);
    }
    rc = open_container(r, key, e);
    if (rc < 0)
        return rc;
    skip_space(r);
    if (*r->p != (in_object(r) ? '}' : ']'))
        return 0;
    return read_separator(r, e);
}

static int read_all(struct reader *r, struct err *e)
{
    skip_space(r);
    if (*r->p != '{' && *r->p != '[')
        return value_bad(r, "neither an object nor an array", e);
    int rc = open_container(r, NULL, e);
    skip_space(r);
    if (rc == 0 && *r->p == (in_object(r) ? '}' : ']'))
        rc = read_separator(r, e);
    while (rc == 0 && r->depth > 0)
        rc = read_next(r, e);
    if (rc < 0)
        return rc;
    r->a->values[0].last = true;
    skip_space(r);
    return r->p == r->end ? 0 : value_bad(r, "something follows its end", e);
}

int answer_read(char *bytes, size_t len, struct fettle_answer **out, struct err *e)
{
    struct fettle_answer *a = calloc(1, sizeof *a);
    if (!a) {
        free(bytes);
        return err_set(e, -ENOMEM, "no memory");
    }
    a->bytes = bytes;
    bytes[len] = '\0';
    struct reader r = {.start = bytes, .p = bytes, .end = bytes + len, .a = a};
    int rc = read_all(&r, e);
    if (rc < 0) {
        fettle_answer_free(a);
        return rc;
    }
    *out = a;
    return 0;
}

const struct fettle_value *fettle_answer_value(const struct fettle_answer *a)
{
    return a ? a->values : NULL;
}

void fettle_answer_free(struct fettle_answer *a)
{
    if (!a)
        return;
    free(a->values);
    free(a->bytes);
    free(a);
}

enum fettle_kind fettle_value_kind(const struct fettle_value *v)
{
    return v ? (enum fettle_kind)v->kind : FETTLE_NULL;
}

const struct fettle_value *fettle_value_first(const struct fettle_value *v)
{
    return v && v->count > 0 ? v + 1 : NULL;
}

const struct fettle_value *fettle_value_next(const struct fettle_value *v)
{
    return v && !v->last ? v + v->span : NULL;
}

size_t fettle_value_count(const struct fettle_value *v)
{
    return v ? v->count : 0;
}

const char *fettle_value_key(const struct fettle_value *v)
{
    return v ? v->key : NULL;
}

const struct fettle_value *fettle_value_find(const struct fettle_value *v, const char *key)
{
    if (fettle_value_kind(v) != FETTLE_OBJECT)
        return NULL;
    for (v = fettle_value_first(v); v; v = fettle_value_next(v))
        if (strcmp(v->key, key) == 0)
            return v;
    return NULL;
}

const char *fettle_value_text(const struct fettle_value *v)
{
    if (fettle_value_kind(v) == FETTLE_BOOL)
        return v->truth ? "true" : "false";
    return v ? v->text : NULL;
}

/* Reads "-12" or "863.8" in units of 10 to the power of -decimals. Exponents are not decimal
 * notation: Fettle writes none. */
static int read_decimal(const struct fettle_value *v, int decimals, int64_t *out)
{
    if (fettle_value_kind(v) != FETTLE_NUMBER)
        return -EINVAL;
    const char *s = v->text;
    bool negative = *s == '-';
    int64_t n = 0;
    int taken = -1; /* digits after the point, -1 before it */
    for (s += negative; *s; s++) {
        if (*s == '.' && decimals > 0) {
            taken = 0;
            continue;
        }
        if (*s < '0' || *s > '9')
            return -EINVAL;
        if (taken == decimals)
            continue;
        if (taken >= 0)
            taken++;
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, *s - '0', &n))
            return -ERANGE;
    }
    for (int i = taken < 0 ? 0 : taken; i < decimals; i++)
        if (__builtin_mul_overflow(n, 10, &n))
            return -ERANGE;
    if (!negative && n == INT64_MIN)
        return -ERANGE;
    *out = negative ? n : -n;
    return 0;
}

int fettle_value_number(const struct fettle_value *v, int64_t *out)
{
    return read_decimal(v, 0, out);
}

int fettle_value_milli(const struct fettle_value *v, int64_t *out)
{
    return read_decimal(v, 3, out);
}

bool fettle_value_true(const struct fettle_value *v)
{
    return fettle_value_kind(v) == FETTLE_BOOL && v->truth;
}

const char *fettle_get_text(const struct fettle_value *object, const char *key)
{
    return fettle_value_text(fettle_value_find(object, key));
}

int fettle_get_number(const struct fettle_value *object, const char *key, int64_t *out)
{
    return fettle_value_number(fettle_value_find(object, key), out);
}

int fettle_get_milli(const struct fettle_value *object, const char *key, int64_t *out)
{
    return fettle_value_milli(fettle_value_find(object, key), out);
}

bool fettle_get_true(const struct fettle_value *object, const char *key)
{
    return fettle_value_true(fettle_value_find(object, key));
}
