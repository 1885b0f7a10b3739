/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/normal.h"

#include "conform/pattern.h"
#include "survey/notes.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum where { CMDLINE, MOUNT };
enum action { VALUE, AFTER, SHAPE, PATH, TYPE };

static const struct rule {
    enum where where;
    enum action action;
    const char *match;
} rules[] = {
#define NORMAL(where, action, match, what) {where, action, match},
#include "survey/normal.tbl"
#undef NORMAL
};
enum { RULES = sizeof rules / sizeof *rules };

/* --- shapes: the length of the word at p, behind the byte `before`, that has the shape; 0 for none --------
 */

static bool word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t shape_uuid(const char *p, char before, const char *node)
{
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? p[i] != '-' : !isxdigit((unsigned char)p[i]))
            return 0;
    }
    return 36;
}

/* Six to twenty bytes in hex, with the same sign between all of them. */
static size_t shape_mac(const char *p, char before, const char *node)
{
    enum { BYTES_MIN = 6, BYTES_MAX = 20 };
    size_t n = 0, bytes = 0;
    char sign = p[0] && p[1] ? p[2] : '\0';
    if (sign != ':' && sign != '-')
        return 0;
    while (isxdigit((unsigned char)p[n]) && isxdigit((unsigned char)p[n + 1])) {
        n += 2;
        bytes++;
        if (p[n] != sign || !isxdigit((unsigned char)p[n + 1]))
            break;
        n++;
    }
    return bytes >= BYTES_MIN && bytes <= BYTES_MAX ? n : 0;
}

static size_t normal_digits(const char *p)
{
    return strspn(p, "0123456789");
}

static size_t shape_ipv4(const char *p, char before, const char *node)
{
    const char *start = p;
    if (before == '.' || before == '-') /* a version, as in linux-5.14.0.1 */
        return 0;
    for (int part = 0; part < 4; part++) {
        size_t n = normal_digits(p);
        unsigned value = 0;
        for (size_t i = 0; i < n && i < 4; i++)
            value = value * 10 + (unsigned)(p[i] - '0');
        if (n == 0 || n > 3 || value > 255 || (part < 3 && p[n] != '.'))
            return 0;
        p += n + (part < 3);
    }
    return *p == '.' || *p == '-' ? 0 : (size_t)(p - start);
}

static size_t shape_ipv6(const char *p, char before, const char *node)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    size_t n = strspn(p, "0123456789abcdefABCDEF:.");
    if (n < 3 || n >= sizeof text)
        return 0;
    memcpy(text, p, n);
    text[n] = '\0';
    return inet_pton(AF_INET6, text, &address) == 1 ? n : 0;
}

/* x1000c0s1b0n0, or the chassis or board that it is in: letters in this order, each with a number. */
static size_t shape_xname(const char *p, char before, const char *node)
{
    static const char letters[] = "xcsbn";
    size_t n = 0, parts = 0;
    for (; letters[parts] && tolower((unsigned char)p[n]) == letters[parts]; parts++) {
        size_t number = normal_digits(p + n + 1);
        if (number == 0)
            break;
        n += 1 + number;
    }
    return parts >= 3 ? n : 0;
}

static size_t shape_node(const char *p, char before, const char *node)
{
    size_t len = strlen(node), brief = strcspn(node, ".");
    if (strncasecmp(p, node, len) == 0 && !word_byte(p[len]))
        return len;
    return strncasecmp(p, node, brief) == 0 ? brief : 0;
}

static const struct shape {
    const char *name;
    size_t (*length)(const char *p, char before, const char *node);
} shapes[] = {{"uuid", shape_uuid}, {"mac", shape_mac},     {"ipv4", shape_ipv4},
              {"ipv6", shape_ipv6}, {"xname", shape_xname}, {"node", shape_node}};

static size_t shape_length(const char *name, const char *p, char before, const char *node)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, name) == 0)
            return shapes[i].length(p, before, node);
    assert(false && "a shape of normal.tbl that is none");
    return 0;
}

/* --- values ---------------------------------------------------------------------------------------- */

/* A name of digits alone, or of one letter, is too likely to mean something else. */
static const char *normal_usable(const char *node)
{
    bool letter = false;
    for (const char *p = node; *p && *p != '.'; p++)
        letter = letter || isalpha((unsigned char)*p);
    return letter && strcspn(node, ".") > 1 ? node : NULL;
}

/* How much at p a rule takes out, and how much before that stays; the longest. */
static size_t normal_taken(enum where where, const char *p, char before, const char *node, size_t *kept)
{
    size_t most = 0;
    *kept = 0;
    for (size_t i = 0; i < RULES; i++) {
        const struct rule *r = &rules[i];
        size_t len = strlen(r->match);
        if (r->where != where)
            continue;
        if (r->action == AFTER && strncasecmp(p, r->match, len) == 0) {
            *kept = len;
            return strcspn(p + len, ", \"");
        }
        if (r->action != SHAPE || (!node && strcmp(r->match, "node") == 0))
            continue;
        size_t n = shape_length(r->match, p, before, node);
        if (n > most && !word_byte(p[n]))
            most = n;
    }
    return most;
}

static void put_value(enum where where, const char *text, size_t len, const char *node, struct text *out)
{
    CLEANUP_FREE char *value = mem_dup_len(text, len);
    const char *own = normal_usable(node);
    for (size_t i = 0; i < len;) {
        size_t kept = 0;
        char before = i > 0 ? value[i - 1] : '\0';
        bool begins = (isalnum((unsigned char)value[i]) || value[i] == ':') && !word_byte(before);
        size_t n = !begins ? 0 : normal_taken(where, value + i, before, own, &kept);
        if (n == 0) {
            text_add_char(out, value[i++]);
            continue;
        }
        text_add_bytes(out, value + i, kept);
        text_add_char(out, '*');
        i += kept + n;
    }
}

/* --- parameters and options ------------------------------------------------------------------------- */

static bool same_key(const char *rule, const char *key, size_t len)
{
    if (strlen(rule) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((rule[i] == '-' ? '_' : rule[i]) != (key[i] == '-' ? '_' : key[i]))
            return false;
    return true;
}

static bool whole_value(enum where where, const char *key, size_t len)
{
    for (size_t i = 0; i < RULES; i++)
        if (rules[i].where == where && rules[i].action == VALUE && same_key(rules[i].match, key, len))
            return true;
    return false;
}

/* KEY=VALUE, or a word without a value, which stays. */
static void put_parameter(enum where where, const char *p, size_t len, const char *node, struct text *out)
{
    const char *equal = memchr(p, '=', len);
    size_t key = equal ? (size_t)(equal - p) : len;
    text_add_bytes(out, p, key);
    if (!equal)
        return;
    text_add_char(out, '=');
    if (whole_value(where, p, key))
        text_add_char(out, '*');
    else
        put_value(where, equal + 1, len - key - 1, node, out);
}

/* Up to a blank outside quotes. */
static size_t parameter_length(const char *p)
{
    bool quoted = false;
    size_t n = 0;
    for (; p[n] && (quoted || !isspace((unsigned char)p[n])); n++)
        quoted ^= p[n] == '"';
    return n;
}

void normal_cmdline(const char *text, const char *node, struct text *out)
{
    const char *gap = "";
    for (const char *p = text;;) {
        while (isspace((unsigned char)*p))
            p++;
        size_t n = parameter_length(p);
        if (n == 0)
            return;
        text_add(out, gap);
        put_parameter(CMDLINE, p, n, node, out);
        p += n;
        gap = " ";
    }
}

void normal_options(const char *text, const char *node, struct text *out)
{
    for (const char *p = text;;) {
        size_t n = strcspn(p, ",");
        put_parameter(MOUNT, p, n, node, out);
        if (!p[n])
            return;
        text_add_char(out, ',');
        p += n + 1;
    }
}

void normal_source(const char *text, const char *node, struct text *out)
{
    put_value(MOUNT, text, strlen(text), node, out);
}

static bool normal_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool normal_left_out(const char *path, const char *type)
{
    for (size_t i = 0; i < RULES; i++) {
        const struct rule *r = &rules[i];
        if ((r->action == PATH && normal_below(path, r->match)) ||
            (r->action == TYPE && pattern_matches(r->match, type)))
            return true;
    }
    return false;
}
