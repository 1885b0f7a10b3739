/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_PRINT_H
#define FETTLE_CLI_PRINT_H

#include "base/text.h"
#include "fettle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Output. Text from outside never reaches a terminal unchanged: control characters, characters that change
 * the direction of writing, and bytes that are not UTF-8 are escaped.
 */

/* Adds s with such characters as "\x1b" or "\u202e". Returns its width in columns. NULL is empty. */
size_t print_safe(struct text *out, const char *s);

/* Adds s as a field of comma-separated values: safe, and in quotes where RFC 4180 wants them. */
void print_csv(struct text *out, const char *s);

/* Adds a value as compact JSON, in which such characters are escaped too; NULL is null. */
void print_json(struct text *out, const struct fettle_value *v);
void print_json_string(struct text *out, const char *s);

/* Adds a value as YAML after a name with its colon, or after "-" or "---": a blank and the rest of the line,
 * or lines of their own with this indent. Ends with a line end. */
void print_yaml(struct text *out, const struct fettle_value *v, int indent);

/* Adds a value for people: members one a line as "name  value", nested ones indented. */
void print_tree(struct text *out, const struct fettle_value *v, int indent);

/* ---- tables ---- */

struct column {
    const char *heading;
    bool right;  /* numbers */
    bool colour; /* words for a state */
};

/* Columns as wide as their content. Zero-initialise with the columns; table_fini when done. */
struct table {
    const struct column *columns;
    size_t n_columns;
    size_t width[64];
    struct text bytes; /* the cells' text, each with a zero byte */
    struct table_cell {
        uint32_t at;
        uint32_t width;
    } * cells;
    size_t n, cap;
};
enum { TABLE_COLUMNS_MAX = 64 };

void table_fini(struct table *t);
/* Adds the next cell of the row, left to right. An empty one is shown as "-", in the last column as
 * nothing. */
void table_add(struct table *t, const char *s);
struct table_look {
    bool header, colour;
    size_t width; /* columns of the terminal; 0: no limit */
};
/* One line a row, two blanks between columns, none at the end. When a line is wider than the terminal, texts
 * are cut, with a mark; right-aligned columns are not. */
void table_write(const struct table *t, const struct table_look *look, struct text *out);
/* The same as comma-separated values, each line ended by CR LF; headings are the columns'. */
void table_write_csv(const struct table *t, bool header, struct text *out);

/* Whether to colour: "always", "never"; "auto" or NULL: when standard output is a terminal that may be
 * coloured (NO_COLOR, TERM=dumb). */
bool print_colours(const char *when);
/* The width and height of the terminal on standard output, in columns and lines; 0 when it is not a terminal,
 * or unknown. */
size_t print_width(void);
size_t print_height(void);

#endif
