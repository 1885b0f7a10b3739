/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- characters ---- */

static size_t run_of_plain(const char *s)
{
    size_t n = 0;
    while ((unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x7f)
        n++;
    return n;
}

size_t print_safe(struct text *out, const char *s)
{
    size_t columns = 0;
    while (s && *s) {
        size_t plain = run_of_plain(s);
        text_add_bytes(out, s, plain);
        columns += plain;
        s += plain;
        if (!*s)
            break;
        size_t n, before = out->len;
        uint32_t c = text_character(s, &n);
        if (n == 0)
            text_printf(out, "\\x%02x", (unsigned char)*s);
        else if (text_misleads(c))
            text_printf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
        else
            text_add_bytes(out, s, n);
        columns += n > 0 && !text_misleads(c) ? 1 : out->len - before;
        s += n > 0 ? n : 1;
    }
    return columns;
}

void print_csv(struct text *out, const char *s)
{
    if (!strpbrk(s, ",\"")) {
        print_safe(out, s);
        return;
    }
    CLEANUP_TEXT struct text safe = {0};
    print_safe(&safe, s);
    text_add_char(out, '"');
    for (const char *p = safe.s; *p; p++) {
        if (*p == '"')
            text_add_char(out, '"');
        text_add_char(out, *p);
    }
    text_add_char(out, '"');
}

/* ---- JSON ---- */

static void add_json_character(struct text *out, const char *s, size_t n, uint32_t c)
{
    if (n == 0)
        text_add(out, "\\ufffd");
    else if (c == '"' || c == '\\')
        text_printf(out, "\\%c", (int)c);
    else if (c == '\n')
        text_add(out, "\\n");
    else if (c == '\t')
        text_add(out, "\\t");
    else if (text_misleads(c))
        text_printf(out, "\\u%04x", c);
    else
        text_add_bytes(out, s, n);
}

void print_json_string(struct text *out, const char *s)
{
    text_add_char(out, '"');
    while (*s) {
        size_t plain = run_of_plain(s);
        size_t quote = strcspn(s, "\"\\");
        if (quote < plain)
            plain = quote;
        text_add_bytes(out, s, plain);
        s += plain;
        if (!*s)
            break;
        size_t n;
        uint32_t c = text_character(s, &n);
        add_json_character(out, s, n, c);
        s += n > 0 ? n : 1;
    }
    text_add_char(out, '"');
}

static void print_json_children(struct text *out, const struct fettle_value *v, bool object)
{
    text_add_char(out, object ? '{' : '[');
    for (const struct fettle_value *i = fettle_value_first(v), *first = i; i; i = fettle_value_next(i)) {
        if (i != first)
            text_add_char(out, ',');
        if (object) {
            print_json_string(out, fettle_value_key(i));
            text_add_char(out, ':');
        }
        print_json(out, i);
    }
    text_add_char(out, object ? '}' : ']');
}

void print_json(struct text *out, const struct fettle_value *v)
{
    switch (fettle_value_kind(v)) {
    case FETTLE_NULL: text_add(out, "null"); break;
    case FETTLE_BOOL:
    case FETTLE_NUMBER: text_add(out, fettle_value_text(v)); break;
    case FETTLE_TEXT: print_json_string(out, fettle_value_text(v)); break;
    case FETTLE_ARRAY: print_json_children(out, v, false); break;
    case FETTLE_OBJECT: print_json_children(out, v, true); break;
    }
}

/* ---- YAML ---- */

static void add_blanks(struct text *out, size_t n)
{
    memset(text_room(out, n), ' ', n);
    out->len += n;
    out->s[out->len] = '\0';
}

/* True when every reader of YAML takes the unquoted text for this text. */
static bool is_plain_yaml(const char *s)
{
    static const char *const others[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
    if (!isalpha((unsigned char)*s))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcasecmp(s, others[i]) == 0)
            return false;
    size_t len = strlen(s);
    return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-") == len;
}

static void print_yaml_string(struct text *out, const char *s)
{
    if (is_plain_yaml(s))
        text_add(out, s);
    else
        print_json_string(out, s);
}

static void print_yaml_scalar(struct text *out, const struct fettle_value *v)
{
    text_add_char(out, ' ');
    if (fettle_value_kind(v) == FETTLE_TEXT)
        print_yaml_string(out, fettle_value_text(v));
    else
        print_json(out, v); /* null, numbers, [], {} */
    text_add_char(out, '\n');
}

static void print_yaml_lines(struct text *out, const struct fettle_value *v, int indent, bool first_on_line);

static void print_yaml_element(struct text *out, const struct fettle_value *v, int indent)
{
    text_add_char(out, '-');
    if (fettle_value_kind(v) == FETTLE_OBJECT && fettle_value_count(v) > 0) {
        text_add_char(out, ' ');
        print_yaml_lines(out, v, indent + 2, true);
    } else {
        print_yaml(out, v, indent + 2);
    }
}

static void print_yaml_lines(struct text *out, const struct fettle_value *v, int indent, bool first_on_line)
{
    for (const struct fettle_value *i = fettle_value_first(v), *first = i; i; i = fettle_value_next(i)) {
        add_blanks(out, i == first && first_on_line ? 0 : (size_t)indent);
        if (fettle_value_key(i)) {
            print_yaml_string(out, fettle_value_key(i));
            text_add_char(out, ':');
            print_yaml(out, i, indent + 2);
        } else {
            print_yaml_element(out, i, indent);
        }
    }
}

void print_yaml(struct text *out, const struct fettle_value *v, int indent)
{
    if (fettle_value_count(v) == 0) {
        print_yaml_scalar(out, v);
        return;
    }
    text_add_char(out, '\n');
    print_yaml_lines(out, v, indent, false);
}

/* ---- trees ---- */

static bool is_flat_list(const struct fettle_value *v)
{
    if (fettle_value_kind(v) != FETTLE_ARRAY)
        return false;
    for (v = fettle_value_first(v); v; v = fettle_value_next(v))
        if (!fettle_value_text(v))
            return false;
    return true;
}

static void print_flat_list(struct text *out, const struct fettle_value *v)
{
    for (const struct fettle_value *i = fettle_value_first(v), *first = i; i; i = fettle_value_next(i)) {
        text_add(out, i == first ? "" : ", ");
        print_safe(out, fettle_value_text(i));
    }
    text_add_char(out, '\n');
}

static void print_member(struct text *out, const struct fettle_value *v, int indent)
{
    enum { NAME_COLUMNS = 16 };
    const char *key = fettle_value_key(v);
    add_blanks(out, (size_t)indent);
    size_t width = key ? print_safe(out, key) : (text_add_char(out, '-'), 1);
    if (fettle_value_text(v) || is_flat_list(v)) {
        add_blanks(out, key && width < NAME_COLUMNS ? NAME_COLUMNS - width : 1);
        if (is_flat_list(v)) {
            print_flat_list(out, v);
        } else {
            print_safe(out, fettle_value_text(v));
            text_add_char(out, '\n');
        }
    } else {
        text_add_char(out, '\n');
        print_tree(out, v, indent + 2);
    }
}

void print_tree(struct text *out, const struct fettle_value *v, int indent)
{
    for (v = fettle_value_first(v); v; v = fettle_value_next(v)) {
        const char *text = fettle_value_text(v);
        bool empty = text ? *text == '\0' : fettle_value_count(v) == 0;
        if (!empty)
            print_member(out, v, indent);
    }
}

/* ---- tables ---- */

void table_fini(struct table *t)
{
    text_fini(&t->bytes);
    free(t->cells);
}

void table_add(struct table *t, const char *s)
{
    assert(t->n_columns > 0);
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 256;
        t->cells = mem_grow(t->cells, t->cap * sizeof *t->cells);
    }
    size_t column = t->n % t->n_columns;
    struct table_cell *cell = &t->cells[t->n++];
    cell->at = (uint32_t)t->bytes.len;
    cell->width = (uint32_t)print_safe(&t->bytes, s);
    text_add_char(&t->bytes, '\0');
    if (cell->width > t->width[column])
        t->width[column] = cell->width;
}

static const char *colour_of(const char *word)
{
    static const struct {
        const char *word, *colour;
    } colours[] = {{"IDLE", "\033[32m"},    {"BUSY", "\033[36m"}, {"DRAINING", "\033[33m"},
                   {"DRAINED", "\033[33m"}, {"DOWN", "\033[31m"}, {"UNLISTED", "\033[35m"},
                   {"ok", "\033[32m"},      {"warn", "\033[33m"}, {"degraded", "\033[33m"},
                   {"fatal", "\033[31m"},   {"lost", "\033[31m"}};
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        if (strcmp(colours[i].word, word) == 0)
            return colours[i].colour;
    return NULL;
}

/* The number of bytes that fill so many columns. */
static size_t bytes_of_columns(const char *s, size_t columns)
{
    size_t n = 0;
    for (; s[n] && columns > 0; columns--)
        do
            n++;
        while (((unsigned char)s[n] & 0xC0) == 0x80);
    return n;
}

/* Writes one cell, cut with a mark when it is too wide, and the space before the next one. */
static void write_cell(const struct column *c, const char *s, size_t len, size_t cell_width, size_t width,
                       bool last, bool colour, struct text *out)
{
    const char *paint = colour && c->colour ? colour_of(s) : NULL;
    size_t pad = width > cell_width ? width - cell_width : 0;
    bool cut = cell_width > width;
    if (c->right)
        add_blanks(out, pad);
    text_add(out, paint ? paint : "");
    text_add_bytes(out, s, cut ? bytes_of_columns(s, width - 1) : len);
    text_add(out, cut ? "\u2026" : "");
    text_add(out, paint ? "\033[0m" : "");
    if (!last)
        add_blanks(out, (c->right ? 0 : pad) + 2);
}

static void end_line(struct text *out)
{
    while (out->len > 0 && out->s[out->len - 1] == ' ')
        out->len--;
    text_add_char(out, '\n');
}

/* Columns of texts become narrower, the widest first, until a line fits; none below its heading or a few
 * letters. */
static void print_fit(const struct table *t, size_t width[], size_t limit)
{
    enum { LEAST = 8 };
    for (;;) {
        size_t line = 0, widest = t->n_columns;
        for (size_t i = 0; i < t->n_columns; i++) {
            size_t least = strlen(t->columns[i].heading);
            line += width[i] + (i > 0 ? 2 : 0);
            if (!t->columns[i].right && width[i] > LEAST && width[i] > least &&
                (widest == t->n_columns || width[i] > width[widest]))
                widest = i;
        }
        if (line <= limit || widest == t->n_columns)
            return;
        width[widest]--;
    }
}

static void write_headings(const struct table *t, const size_t width[], struct text *out)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        const struct column *c = &t->columns[i];
        size_t len = strlen(c->heading);
        write_cell(c, c->heading, len, len, width[i], i + 1 == t->n_columns, false, out);
    }
    end_line(out);
}

void table_write(const struct table *t, const struct table_look *look, struct text *out)
{
    size_t width[TABLE_COLUMNS_MAX];
    size_t line = 1;
    for (size_t i = 0; i < t->n_columns; i++) {
        size_t heading = look->header ? strlen(t->columns[i].heading) : 0;
        width[i] = t->width[i] > heading ? t->width[i] : heading > 0 ? heading : 1;
    }
    if (look->width > 0)
        print_fit(t, width, look->width);
    for (size_t i = 0; i < t->n_columns; i++)
        line += width[i] + 2;
    text_room(out, (t->n / t->n_columns + 1) * line);
    text_add(out, "");
    if (look->header)
        write_headings(t, width, out);
    for (size_t i = 0; i < t->n; i++) {
        size_t column = i % t->n_columns;
        bool last = column + 1 == t->n_columns;
        const char *s = t->bytes.s + t->cells[i].at;
        size_t next = i + 1 < t->n ? t->cells[i + 1].at : t->bytes.len;
        size_t len = next - 1 - t->cells[i].at;
        bool empty = len == 0 && (!last || t->columns[column].right);
        write_cell(&t->columns[column], empty ? "-" : s, empty ? 1 : len, empty ? 1 : t->cells[i].width,
                   width[column], last, look->colour, out);
        if (last)
            end_line(out);
    }
}

void table_write_csv(const struct table *t, bool header, struct text *out)
{
    for (size_t i = 0; header && i < t->n_columns; i++) {
        text_add(out, i > 0 ? "," : "");
        print_csv(out, t->columns[i].heading);
    }
    text_add(out, header ? "\r\n" : "");
    for (size_t i = 0; i < t->n; i++) {
        size_t column = i % t->n_columns;
        text_add(out, column > 0 ? "," : "");
        print_csv(out, t->bytes.s + t->cells[i].at);
        text_add(out, column + 1 == t->n_columns ? "\r\n" : "");
    }
}

bool print_colours(const char *when)
{
    if (when && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static struct winsize terminal_size(void)
{
    struct winsize w = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0)
        return (struct winsize){0};
    return w;
}

size_t print_width(void)
{
    return terminal_size().ws_col;
}

size_t print_height(void)
{
    return terminal_size().ws_row;
}
