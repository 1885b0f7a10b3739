/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_CONF_H
#define FETTLE_BASE_CONF_H

#include "base/err.h"
#include "base/text.h"

#include <stddef.h>

/*
 * The two line formats of the 2001 document, as text: this folder knows no key by name.
 *
 *   parameters   Name = value                 one a line; white space around both is ignored. A word of the
 *                                             value that begins with '#', and a second "Name =", are errors
 *   records      Key=Value Key=Value ...      one record a line; separated by blanks or tabs
 *
 * A line with '#' in column one, and a line of white space only, is a comment. Any field (name or
 * value) is at most 1,024 characters; a record has a key once and at most CONF_LINE_FIELDS_MAX
 * fields. A value of a record runs to the next white space; in double quotes it may hold white
 * space, with \" and \\ for the two characters. `Partition= ` is a key with an empty value.
 * Carriage returns at line ends are ignored. No NUL bytes.
 */

enum { CONF_FIELD_BYTES_MAX = 1024, CONF_LINE_FIELDS_MAX = 256, CONF_FILE_BYTES_MAX = 64 << 20 };

struct conf_field {
    const char *key;
    const char *value; /* "" when empty, never NULL */
};

/* One line: a parameter is a record with one field. */
struct conf_line {
    int number; /* from 1 */
    size_t n;
    struct conf_field *fields;
};

/* A whole file, parsed; every pointer inside lives until conf_fini. */
struct conf {
    char *path;
    size_t n;
    struct conf_line *lines;
    char *bytes;
};

enum conf_form { CONF_PARAMETERS, CONF_RECORDS };

/* Reads the file at path. -errno when it cannot be read, -EINVAL for a line of the wrong form, with
 * "PATH:LINE: ..." in the sentence; *c is empty then. */
int conf_read(const char *path, enum conf_form form, struct conf *c, struct err *e);

/* Reads the bytes only, for a file that is parsed more than once. bytes->text is never NULL after success. */
int conf_read_bytes(const char *path, struct text *bytes, struct err *e);

/* Like conf_read, but from memory; path is only for the sentences. */
int conf_parse(const char *path, const char *bytes, size_t len, enum conf_form form, struct conf *c,
               struct err *e);
void conf_fini(struct conf *c);

/* Sets -EINVAL "PATH:LINE: unknown key "Foo"; the nearest known is "Bar"" and returns it. */
int conf_unknown_key(const struct conf *c, const struct conf_line *line, const char *key,
                     const char *const *known, size_t n, struct err *e);

#endif
