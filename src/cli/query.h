/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_QUERY_H
#define FETTLE_CLI_QUERY_H

#include "cli/record.h"

/*
 * Which records, fields, filters and order a command that lists records was asked for, and the resulting
 * rows.
 */

enum { QUERY_FIELDS_MAX = FIELDS, QUERY_FILTERS_MAX = 32, QUERY_VALUES_MAX = 64 };

enum form { FORM_TABLE, FORM_JSON, FORM_YAML, FORM_CSV, FORM_FOLD, FORM_HELP };

enum compare { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE, COMPARE_PART };

struct filter {
    size_t column;
    enum compare compare;
    size_t n;
    char *values[QUERY_VALUES_MAX];  /* matches any of them (for != none of them) */
    int64_t milli[QUERY_VALUES_MAX]; /* the same as numbers, for numeric fields */
};

struct query {
    const struct record_info *record;
    char *nodes;                      /* folded host list; NULL for all */
    size_t columns[QUERY_FIELDS_MAX]; /* the fields to ask for; the first `shown` are shown */
    size_t n_columns, shown;
    struct {
        size_t column;
        bool down;
    } sorts[QUERY_FIELDS_MAX];
    size_t n_sorts;
    struct filter filters[QUERY_FILTERS_MAX];
    size_t n_filters;
    size_t limit;         /* the most rows; 0: all */
    size_t place[FIELDS]; /* the column of a field plus one; 0: none */
};

/* Zero-initialise, with the record; query_fini when done. The order of calls: fields, then the rest. */
void query_fini(struct query *q);
/* "name,State,cpus"; each field once. -EINVAL. */
int query_show(struct query *q, const char *list, struct err *e);
/* Like the argument of -o: also `wide`, `all`, and one form of output. Without a field, those of the form:
 * all for JSON and YAML. -EINVAL. */
int query_output(struct query *q, const char *list, enum form *form, struct err *e);
/* Shows the fields of the form, unless some are shown already. 0. */
int query_default(struct query *q, enum form form);
/* "State,-CPUs". -EINVAL. */
int query_sort(struct query *q, const char *list, struct err *e);
/* "CPUs>=64". -EINVAL. */
int query_filter(struct query *q, const char *text, struct err *e);
/* Arguments: filters, which hold one of "=<>~", and host lists. -EINVAL. */
int query_args(struct query *q, const char *const *args, size_t n, struct err *e);
/* Makes sure that the field is asked for; returns its column. */
size_t query_need(struct query *q, size_t field);
const struct field_info *query_column(const struct query *q, size_t column);
/* The fields to ask for: "Name,State". */
void query_fields(const struct query *q, struct text *out);

/* The rows of answers that pass the filters, in order. The answers own the values. Zero-initialise. */
struct rows {
    size_t n_columns;
    size_t n, cap;
    size_t skip;        /* how many records to skip first */
    struct cell *cells; /* n times n_columns */
};
/* Adds the rows of one answer. */
void rows_add(struct rows *r, const struct query *q, const struct fettle_value *answer);
/* Call after the last answer: sorts the rows, and keeps as many as wanted. */
void rows_order(struct rows *r, const struct query *q);
/* Hides a shown field that is empty in all rows; q is a copy for what is shown of the rows. */
void rows_hide_empty(struct rows *r, struct query *q, size_t field);
void rows_fini(struct rows *r);
static inline const struct cell *rows_cell(const struct rows *r, size_t row, size_t column)
{
    return &r->cells[row * r->n_columns + column];
}

/* Compares in natural order: "lx2" before "lx10". */
int query_natural(const char *a, const char *b);

#endif
