/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_QUERY_H
#define FETTLE_CLI_QUERY_H

#include "cli/field.h"

/*
 * Which nodes, which fields of them, which filters, in which order: what `node list` and `watch`
 * are told, and the rows that come of it.
 */

enum { QUERY_FIELDS_MAX = FIELDS, QUERY_FILTERS_MAX = 32, QUERY_VALUES_MAX = 64 };

enum compare { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE, COMPARE_PART };

struct filter {
    size_t column;
    enum compare compare;
    size_t n;
    char *values[QUERY_VALUES_MAX];  /* any of them (none of them for !=) */
    int64_t milli[QUERY_VALUES_MAX]; /* the same as numbers, for fields that are */
};

struct query {
    char *nodes;                          /* folded host list; NULL for all */
    enum field columns[QUERY_FIELDS_MAX]; /* to ask for; the first `shown` are shown */
    size_t n_columns, shown;
    struct {
        size_t column;
        bool down;
    } sorts[QUERY_FIELDS_MAX];
    size_t n_sorts;
    struct filter filters[QUERY_FILTERS_MAX];
    size_t n_filters;
    size_t place[FIELDS]; /* column of a field plus one, 0 for none */
};

/* Zero-initialise; query_fini when done. The order of calls: fields, then the rest. */
void query_fini(struct query *q);
/* "name,State,cpus"; each field once. -EINVAL. */
int query_show(struct query *q, const char *list, struct err *e);
/* "State,-CPUs". -EINVAL. */
int query_sort(struct query *q, const char *list, struct err *e);
/* "CPUs>=64". -EINVAL. */
int query_filter(struct query *q, const char *text, struct err *e);
/* Arguments: filters, which hold one of "=<>~", and host lists. -EINVAL. */
int query_args(struct query *q, const char *const *args, size_t n, struct err *e);
/* Makes sure that the field is asked for; its column. */
size_t query_need(struct query *q, enum field f);
/* What to ask for: "Name,State". */
void query_fields(const struct query *q, struct text *out);

/* The rows of an answer that pass the filters, in order. Values are the answer's. */
struct rows {
    size_t n_columns;
    size_t n;
    const struct fettle_value **cells; /* n times n_columns; NULL for null */
};
void rows_take(struct rows *r, const struct query *q, const struct fettle_answer *a);
void rows_fini(struct rows *r);
static inline const struct fettle_value *rows_cell(const struct rows *r, size_t row, size_t column)
{
    return r->cells[row * r->n_columns + column];
}

/* Compares as people count: "lx2" before "lx10". */
int query_natural(const char *a, const char *b);

#endif
