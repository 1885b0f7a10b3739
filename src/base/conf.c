/* SPDX-License-Identifier: Apache-2.0 */
#include "base/conf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The bytes are copied once and cut in place: keys and values are pieces of that copy, ended by
 * zero bytes. A quoted value only ever becomes shorter. All fields of the file lie in one array in
 * the order of the lines; the first line points to its start.
 */

struct parser {
    struct conf *conf;
    struct conf_field *fields;
    size_t fields_n, fields_cap, lines_cap;
    int number; /* of the line being read */
    struct err *e;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char *skip_blanks(char *s)
{
    return s + strspn(s, " \t");
}

static int conf_complain(const struct parser *p, const char *what)
{
    return err_set(p->e, -EINVAL, "%s:%d: %s", p->conf->path, p->number, what);
}

static int complain_of(const struct parser *p, const char *what, const char *field)
{
    return err_set(p->e, -EINVAL, "%s:%d: %s \"%.80s\"", p->conf->path, p->number, what, field);
}

static int complain_of_comment(const struct parser *p)
{
    return conf_complain(p, "a comment is a line of its own, with its \"#\" in column one");
}

static struct conf_line *current_line(const struct parser *p)
{
    return &p->conf->lines[p->conf->n - 1];
}

static void add_line(struct parser *p)
{
    struct conf *c = p->conf;
    if (c->n == p->lines_cap) {
        p->lines_cap = p->lines_cap ? p->lines_cap * 2 : 64;
        c->lines = mem_grow(c->lines, p->lines_cap * sizeof *c->lines);
    }
    c->lines[c->n++] = (struct conf_line){.number = p->number};
}

static int add_field(struct parser *p, const char *key, const char *value)
{
    struct conf_line *line = current_line(p);
    if (*key == '\0')
        return conf_complain(p, "a value has no name before its \"=\"");
    if (strlen(key) > CONF_FIELD_BYTES_MAX)
        return complain_of(p, "more than 1024 characters in the name", key);
    if (strlen(value) > CONF_FIELD_BYTES_MAX)
        return complain_of(p, "more than 1024 characters in the value of", key);
    if (line->n == CONF_LINE_FIELDS_MAX)
        return complain_of(p, "too many fields; the first too many is", key);
    for (size_t i = p->fields_n - line->n; i < p->fields_n; i++)
        if (strcasecmp(p->fields[i].key, key) == 0)
            return complain_of(p, "this record has two fields", key);

    if (p->fields_n == p->fields_cap) {
        p->fields_cap = p->fields_cap ? p->fields_cap * 2 : 64;
        p->fields = mem_grow(p->fields, p->fields_cap * sizeof *p->fields);
    }
    p->fields[p->fields_n++] = (struct conf_field){key, value};
    line->n++;
    return 0;
}

/* True when a word of the value begins with '#'. */
static bool has_comment(const char *value)
{
    for (const char *s = strchr(value, '#'); s; s = strchr(s + 1, '#'))
        if (s == value || is_blank(s[-1]))
            return true;
    return false;
}

/* True when the value is followed by a second "Name =": a word of letters that begins with a capital, as the
 * names of parameters do. */
static bool has_another_name(const char *value)
{
    for (const char *word = value + strcspn(value, " \t"); *word; word += strcspn(word, " \t")) {
        word += strspn(word, " \t");
        size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const char *next = word + len + strspn(word + len, " \t");
        if (len > 0 && *word >= 'A' && *word <= 'Z' && *next == '=')
            return true;
    }
    return false;
}

static int parse_parameter(struct parser *p, char *line)
{
    char *equals = strchr(line, '=');
    if (*line == '#')
        return complain_of_comment(p);
    if (!equals)
        return complain_of(p, "there is no \"=\" after", line);
    *equals = '\0';
    char *name_end = equals;
    while (name_end > line && is_blank(name_end[-1]))
        name_end--;
    *name_end = '\0';
    if (strpbrk(line, " \t"))
        return complain_of(p, "there is white space inside the name", line);
    char *value = skip_blanks(equals + 1);
    if (has_comment(value))
        return complain_of_comment(p);
    if (has_another_name(value))
        return complain_of(p, "a parameter stands on a line of its own; there is another one behind that of",
                           line);
    return add_field(p, line, value);
}

/* Ends a quoted value, of which *at is the first character, and moves *at behind its closing
 * quote. NULL when it has none. */
static char *conf_unquote(char **at)
{
    char *value = *at, *to = *at, *s = *at;
    for (; *s && *s != '"'; s++) {
        if (s[0] == '\\' && (s[1] == '"' || s[1] == '\\'))
            s++;
        *to++ = *s;
    }
    if (*s != '"')
        return NULL;
    *to = '\0';
    *at = s + 1;
    return value;
}

static int parse_record(struct parser *p, char *at)
{
    while (*at) {
        char *key = at;
        size_t len = strcspn(key, "= \t");
        if (key[len] != '=') {
            key[len] = '\0';
            if (*key == '#')
                return complain_of_comment(p);
            return complain_of(p, "there is no \"=\" after", key);
        }
        key[len] = '\0';
        char *value = key + len + 1;
        if (*value == '"') {
            at = ++value;
            value = conf_unquote(&at);
            if (!value)
                return complain_of(p, "there is no closing quote in the value of", key);
            if (*at && !is_blank(*at))
                return complain_of(p, "there is no white space behind the closing quote of", key);
        } else {
            at = value + strcspn(value, " \t");
        }
        if (*at)
            *at++ = '\0';
        int r = add_field(p, key, value);
        if (r < 0)
            return r;
        at = skip_blanks(at);
    }
    return 0;
}

/* Cuts white space off both ends; NULL when the line holds a comment or nothing. */
static char *trim_line(char *line)
{
    if (*line == '#')
        return NULL;
    line = skip_blanks(line);
    char *end = line + strlen(line);
    while (end > line && (end[-1] == '\r' || is_blank(end[-1])))
        end--;
    *end = '\0';
    return *line ? line : NULL;
}

static int parse_lines(struct parser *p, char *bytes, size_t len, enum conf_form form)
{
    for (char *line = bytes, *end = bytes + len; line < end;) {
        p->number++;
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *next = newline ? newline + 1 : end;
        char *stop = newline ? newline : end;
        if (memchr(line, '\0', (size_t)(stop - line)))
            return conf_complain(p, "there is a NUL byte");
        *stop = '\0';
        line = trim_line(line);
        if (line) {
            add_line(p);
            int r = form == CONF_PARAMETERS ? parse_parameter(p, line) : parse_record(p, line);
            if (r < 0)
                return r;
        }
        line = next;
    }
    return 0;
}

int conf_parse(const char *path, const char *bytes, size_t len, enum conf_form form, struct conf *c,
               struct err *e)
{
    assert(path && c);
    assert(bytes || len == 0);
    *c = (struct conf){0};
    if (len > CONF_FILE_BYTES_MAX)
        return err_set(e, -E2BIG, "%s: more than %d bytes", path, CONF_FILE_BYTES_MAX);
    c->path = mem_dup(path);
    c->bytes = mem_dup_len(bytes, len);
    struct parser p = {.conf = c, .e = e};
    int r = parse_lines(&p, c->bytes, len, form);
    if (r < 0) {
        free(p.fields);
        c->n = 0;
        conf_fini(c);
        return r;
    }
    struct conf_field *fields = p.fields;
    for (size_t i = 0; i < c->n; i++) {
        c->lines[i].fields = fields;
        fields += c->lines[i].n;
    }
    return 0;
}

void conf_fini(struct conf *c)
{
    if (c->n > 0)
        free(c->lines[0].fields);
    free(c->lines);
    free(c->path);
    free(c->bytes);
    *c = (struct conf){0};
}

static int read_all(int fd, struct text *bytes)
{
    enum { CHUNK_BYTES = 1 << 16 };
    for (;;) {
        ssize_t n = read(fd, text_room(bytes, CHUNK_BYTES), CHUNK_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        bytes->len += (size_t)n;
        if (bytes->len > CONF_FILE_BYTES_MAX)
            return -E2BIG;
    }
}

/* Opens without waiting: a named pipe is not a configuration file. */
static int read_file(const char *path, struct text *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    struct stat st;
    int r = fstat(fd, &st) < 0 ? -errno : 0;
    if (r == 0 && !S_ISREG(st.st_mode))
        r = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    if (r == 0 && st.st_size > CONF_FILE_BYTES_MAX)
        r = -E2BIG;
    if (r == 0)
        r = read_all(fd, bytes);
    close(fd);
    return r;
}

int conf_read_bytes(const char *path, struct text *bytes, struct err *e)
{
    int r = read_file(path, bytes);
    if (r == -E2BIG)
        return err_set(e, r, "%s: more than %d bytes", path, CONF_FILE_BYTES_MAX);
    if (r == -EINVAL)
        return err_set(e, r, "%s: not a regular file", path);
    if (r < 0)
        return err_set(e, r, "%s: %s", path, strerror(-r));
    text_add(bytes, "");
    return 0;
}

int conf_read(const char *path, enum conf_form form, struct conf *c, struct err *e)
{
    assert(path && c);
    *c = (struct conf){0};
    CLEANUP_TEXT struct text bytes = {0};
    int r = conf_read_bytes(path, &bytes, e);
    return r < 0 ? r : conf_parse(path, bytes.s, bytes.len, form, c, e);
}

int conf_unknown_key(const struct conf *c, const struct conf_line *line, const char *key,
                     const char *const *known, size_t n, struct err *e)
{
    assert(c && line && key);
    const char *near = text_nearest(key, known, n);
    if (near)
        return err_set(e, -EINVAL, "%s:%d: unknown key \"%.80s\"; the nearest known is \"%s\"", c->path,
                       line->number, key, near);
    return err_set(e, -EINVAL, "%s:%d: unknown key \"%.80s\"", c->path, line->number, key);
}
