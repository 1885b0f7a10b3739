/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_RECORD_H
#define FETTLE_CLI_RECORD_H

#include "cli/field.h"

/*
 * The kinds of records that commands list, their fields, and their place in an answer.
 */

enum record {
    RECORD_NODE,
#define RECORD(symbol, command, rows, inner, shown, wide) RECORD_##symbol,
#define COLUMN(name, kind, heading, unit, from, what)
#define MADE(name, kind, heading, function, what)
#define END(symbol)
#include "cli/record.tbl"
#undef RECORD
#undef COLUMN
#undef MADE
#undef END
    RECORDS
};

struct record_info {
    const char *command;      /* the command that lists them */
    const char *rows, *inner; /* their place in the answer */
    const char *shown, *wide; /* names of fields, separated by commas */
    const struct field_info *fields;
    size_t n;
};
const struct record_info *record_info(enum record r);
/* The records that a command lists; NULL when it lists none. */
const struct record_info *record_find(const char *command);

/* One record of an answer. */
struct element {
    const struct fettle_value *answer;
    const char *member;               /* the member of the answer that it is in */
    const struct fettle_value *outer; /* its value there */
    const struct fettle_value *inner; /* the element of the inner array; NULL when that is empty */
};

typedef void record_each_fn(void *arg, const struct element *i);
/* Calls fn for each record of an answer, in order. */
void record_each(const struct record_info *r, const struct fettle_value *answer, record_each_fn *fn,
                 void *arg);

/* The value of a field in a record. The caller frees cell.made; the answer owns the value. */
struct cell record_cell(const struct field_info *f, const struct element *i);

#endif
