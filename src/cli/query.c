/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/query.h"

#include "base/clock.h"
#include "base/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what was asked ---- */

void query_fini(struct query *q)
{
    free(q->nodes);
    for (size_t i = 0; i < q->n_filters; i++)
        for (size_t v = 0; v < q->filters[i].n; v++)
            free(q->filters[i].values[v]);
    *q = (struct query){0};
}

size_t query_need(struct query *q, enum field f)
{
    if (q->place[f] == 0) {
        q->columns[q->n_columns++] = f;
        q->place[f] = q->n_columns;
    }
    return q->place[f] - 1;
}

/* The next name of a list with commas between; false at the end. */
static bool next_name(const char **list, const char **name, size_t *len)
{
    if (!*list)
        return false;
    *name = *list + strspn(*list, " \t");
    *len = strcspn(*name, ",");
    *list = (*name)[*len] == ',' ? *name + *len + 1 : NULL;
    while (*len > 0 && isspace((unsigned char)(*name)[*len - 1]))
        --*len;
    return true;
}

int query_show(struct query *q, const char *list, struct err *e)
{
    const char *name;
    size_t len;
    while (next_name(&list, &name, &len)) {
        enum field f = FIELDS;
        int r = field_parse(name, len, &f, e);
        if (r < 0)
            return r;
        query_need(q, f);
    }
    q->shown = q->n_columns;
    return 0;
}

int query_sort(struct query *q, const char *list, struct err *e)
{
    const char *name;
    size_t len;
    while (next_name(&list, &name, &len)) {
        bool down = *name == '-' || *name == '+' ? *name == '-' : false;
        size_t sign = *name == '-' || *name == '+';
        enum field f = FIELDS;
        int r = field_parse(name + sign, len - sign, &f, e);
        if (r < 0)
            return r;
        if (q->n_sorts == QUERY_FIELDS_MAX)
            return err_set(e, -EINVAL, "more than %d fields to sort by", QUERY_FIELDS_MAX);
        q->sorts[q->n_sorts].column = query_need(q, f);
        q->sorts[q->n_sorts++].down = down;
    }
    return 0;
}

/* ---- filters ---- */

static size_t parse_compare(const char *s, enum compare *out)
{
    static const struct {
        const char *sign;
        enum compare compare;
    } signs[] = {{"!=", COMPARE_NE}, {"<=", COMPARE_LE}, {">=", COMPARE_GE}, {"=", COMPARE_EQ},
                 {"<", COMPARE_LT},  {">", COMPARE_GT},  {"~", COMPARE_PART}};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (strncmp(s, signs[i].sign, strlen(signs[i].sign)) == 0) {
            *out = signs[i].compare;
            return strlen(signs[i].sign);
        }
    }
    return 0;
}

static bool is_numeric(enum field f)
{
    enum field_kind k = field_info(f)->kind;
    return k == KIND_NUMBER || k == KIND_MILLI || k == KIND_SPAN || k == KIND_TIME;
}

/* A number as a person writes it; for lengths of time also "5m". An empty value stands for null. */
static int parse_number(enum field f, const char *value, int64_t *milli, struct err *e)
{
    uint64_t n = 0;
    struct span s;
    *milli = -1;
    if (*value == '\0')
        return 0;
    if (text_parse_milli(value, &n, NULL) == 0) {
        *milli = (int64_t)n;
    } else if (field_info(f)->kind == KIND_TIME &&
               text_parse_u64(value, 0, INT64_MAX / 1000, &n, NULL) == 0) {
        *milli = (int64_t)n * 1000;
    } else if (field_info(f)->kind == KIND_SPAN && span_parse(value, &s, NULL) == 0) {
        *milli = span_to_ms(s);
    } else {
        return err_set(e, -EINVAL, "%s is compared with \"%s\", which is not a number", field_info(f)->name,
                       value);
    }
    return 0;
}

/* Where the values are words of a table, a misspelt one would find nothing and look like good news. */
static int check_word(enum field f, const char *value, struct err *e)
{
    static const char *const states[] = {
#define LIFECYCLE(symbol, name, idle, busy, what, todo) idle, busy,
#include "node/lifecycle.tbl"
#undef LIFECYCLE
    };
    static const char *const lifecycles[] = {
#define LIFECYCLE(symbol, name, idle, busy, what, todo) name,
#include "node/lifecycle.tbl"
#undef LIFECYCLE
    };
    if (*value == '\0' || (f != FIELD_STATE && f != FIELD_LIFECYCLE))
        return 0;
    const char *const *words = f == FIELD_STATE ? states : lifecycles;
    size_t n = f == FIELD_STATE ? sizeof states / sizeof *states : sizeof lifecycles / sizeof *lifecycles;
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(words[i], value) == 0)
            return 0;
    const char *near = text_nearest(value, words, n);
    return err_set(e, -EINVAL, "%s is never \"%s\"%s%s%s", field_info(f)->name, value,
                   near ? "; the nearest known is \"" : "", near ? near : "", near ? "\"" : "");
}

static int add_value(struct filter *filter, enum field f, const char *value, size_t len, struct err *e)
{
    if (filter->n == QUERY_VALUES_MAX)
        return err_set(e, -EINVAL, "more than %d values of %s in one filter", QUERY_VALUES_MAX,
                       field_info(f)->name);
    char *copy = filter->values[filter->n] = mem_dup_len(value, len);
    int64_t *milli = &filter->milli[filter->n++];
    bool yes;
    if (field_info(f)->kind == KIND_FLAG && *copy) {
        int r = text_parse_bool(copy, &yes, e);
        if (r < 0)
            return err_wrap(e, r, "%s", field_info(f)->name);
        *milli = yes;
    }
    if (filter->compare == COMPARE_PART)
        return 0;
    return is_numeric(f) ? parse_number(f, copy, milli, e) : check_word(f, copy, e);
}

int query_filter(struct query *q, const char *text, struct err *e)
{
    size_t len = strcspn(text, "!=<>~");
    enum compare compare = COMPARE_EQ;
    size_t sign = parse_compare(text + len, &compare);
    if (len == 0 || sign == 0)
        return err_set(e, -EINVAL, "\"%s\" is not a filter: FIELD=VALUE, or one of != < <= > >= ~", text);
    enum field f = FIELDS;
    int r = field_parse(text, len, &f, e);
    if (r < 0)
        return r;
    if (q->n_filters == QUERY_FILTERS_MAX)
        return err_set(e, -EINVAL, "more than %d filters", QUERY_FILTERS_MAX);
    struct filter *filter = &q->filters[q->n_filters++];
    *filter = (struct filter){.column = query_need(q, f), .compare = compare};
    const char *list = text + len + sign, *value;
    if (compare != COMPARE_EQ && compare != COMPARE_NE)
        return add_value(filter, f, list, strlen(list), e);
    while (r == 0 && next_name(&list, &value, &len))
        r = add_value(filter, f, value, len, e);
    return r;
}

int query_args(struct query *q, const char *const *args, size_t n, struct err *e)
{
    CLEANUP_TEXT struct text nodes = {0};
    for (size_t i = 0; i < n; i++) {
        if (strpbrk(args[i], "=<>~")) {
            int r = query_filter(q, args[i], e);
            if (r < 0)
                return r;
            continue;
        }
        text_add(&nodes, nodes.len ? "," : "");
        text_add(&nodes, args[i]);
    }
    if (!nodes.s)
        return 0;
    CLEANUP_HOSTLIST struct hostlist h = {0};
    int r = hostlist_parse(nodes.s, &h, e);
    if (r < 0)
        return r;
    if (h.n == 0)
        return err_set(e, -EINVAL, "\"%s\" names no node", nodes.s);
    free(q->nodes);
    q->nodes = hostlist_fold((const char *const *)h.names, h.n);
    return 0;
}

void query_fields(const struct query *q, struct text *out)
{
    for (size_t i = 0; i < q->n_columns; i++) {
        text_add(out, i > 0 ? "," : "");
        text_add(out, field_info(q->columns[i])->name);
    }
}

/* ---- comparing ---- */

int query_natural(const char *a, const char *b)
{
    while (*a && *b) {
        if (!isdigit((unsigned char)*a) || !isdigit((unsigned char)*b)) {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
            continue;
        }
        const char *za = a + strspn(a, "0"), *zb = b + strspn(b, "0");
        size_t la = strspn(za, "0123456789"), lb = strspn(zb, "0123456789");
        int way = la != lb ? (la < lb ? -1 : 1) : strncmp(za, zb, la);
        if (way == 0 && za - a != zb - b) /* the same number: less padding first */
            way = za - a < zb - b ? -1 : 1;
        if (way != 0)
            return way < 0 ? -1 : 1;
        a = za + la;
        b = zb + lb;
    }
    return *a ? 1 : *b ? -1 : 0;
}

static bool is_null(const struct fettle_value *v)
{
    return fettle_value_kind(v) == FETTLE_NULL;
}

static int compare_cells(enum field f, const struct fettle_value *a, const struct fettle_value *b)
{
    int64_t na, nb;
    if (is_numeric(f) && fettle_value_milli(a, &na) == 0 && fettle_value_milli(b, &nb) == 0)
        return na < nb ? -1 : na > nb;
    if (fettle_value_kind(a) == FETTLE_TEXT && fettle_value_kind(b) == FETTLE_TEXT)
        return query_natural(fettle_value_text(a), fettle_value_text(b));
    CLEANUP_TEXT struct text ta = {0}, tb = {0};
    field_raw(a, &ta);
    field_raw(b, &tb);
    return query_natural(ta.s, tb.s);
}

static bool holds(enum compare compare, int way)
{
    switch (compare) {
    case COMPARE_EQ: return way == 0;
    case COMPARE_NE: return way != 0;
    case COMPARE_LT: return way < 0;
    case COMPARE_LE: return way <= 0;
    case COMPARE_GT: return way > 0;
    case COMPARE_GE: return way >= 0;
    case COMPARE_PART: break;
    }
    return false;
}

static bool list_has(const struct fettle_value *list, const char *value)
{
    if (*value == '\0')
        return fettle_value_count(list) == 0;
    for (const struct fettle_value *i = fettle_value_first(list); i; i = fettle_value_next(i)) {
        const char *s = fettle_value_text(i);
        if (s && strcasecmp(s, value) == 0)
            return true;
    }
    return false;
}

/* Whether the cell is the value, in any case of letters; a list is each of its elements. */
static bool is_equal(enum field f, const struct filter *filter, size_t i, const struct fettle_value *v)
{
    const char *value = filter->values[i];
    int64_t n;
    if (fettle_value_kind(v) == FETTLE_ARRAY)
        return list_has(v, value);
    if (is_null(v))
        return *value == '\0';
    if (is_numeric(f) && fettle_value_milli(v, &n) == 0)
        return n == filter->milli[i];
    if (fettle_value_kind(v) == FETTLE_BOOL)
        return *value && fettle_value_true(v) == (filter->milli[i] != 0);
    const char *s = fettle_value_text(v);
    return s && strcasecmp(s, value) == 0;
}

static bool is_ordered(enum field f, const struct filter *filter, const struct fettle_value *v)
{
    int64_t n;
    if (is_null(v))
        return false;
    if (is_numeric(f) && fettle_value_milli(v, &n) == 0)
        return filter->milli[0] >= 0 &&
               holds(filter->compare, n < filter->milli[0] ? -1 : n > filter->milli[0]);
    CLEANUP_TEXT struct text t = {0};
    field_raw(v, &t);
    if (filter->compare == COMPARE_PART)
        return strcasestr(t.s, filter->values[0]) != NULL;
    return holds(filter->compare, query_natural(t.s, filter->values[0]));
}

static bool passes(const struct query *q, const struct fettle_value *const *cells)
{
    for (size_t i = 0; i < q->n_filters; i++) {
        const struct filter *filter = &q->filters[i];
        const struct fettle_value *v = cells[filter->column];
        enum field f = q->columns[filter->column];
        bool good = false;
        if (filter->compare == COMPARE_EQ || filter->compare == COMPARE_NE) {
            for (size_t n = 0; n < filter->n && !good; n++)
                good = is_equal(f, filter, n, v);
            good = good == (filter->compare == COMPARE_EQ);
        } else {
            good = is_ordered(f, filter, v);
        }
        if (!good)
            return false;
    }
    return true;
}

/* ---- rows ---- */

/* Rows of one answer have their members in one order, so that the next is where it was expected. */
static void take_cells(const struct query *q, const struct fettle_value *row,
                       const struct fettle_value **cells, size_t *expected)
{
    memset(cells, 0, q->n_columns * sizeof(struct fettle_value *));
    size_t i = 0;
    for (const struct fettle_value *v = fettle_value_first(row); v; v = fettle_value_next(v), i++) {
        size_t c = i < q->n_columns ? expected[i] : 0;
        if (strcmp(field_info(q->columns[c])->name, fettle_value_key(v)) != 0) {
            for (c = 0; c < q->n_columns; c++)
                if (strcmp(field_info(q->columns[c])->name, fettle_value_key(v)) == 0)
                    break;
            if (i < q->n_columns && c < q->n_columns)
                expected[i] = c;
        }
        if (c < q->n_columns)
            cells[c] = v;
    }
}

static int compare_rows(const void *a, const void *b, void *arg)
{
    const struct fettle_value *const *x = *(const struct fettle_value *const *const *)a;
    const struct fettle_value *const *y = *(const struct fettle_value *const *const *)b;
    const struct query *q = arg;
    for (size_t i = 0; i < q->n_sorts; i++) {
        size_t c = q->sorts[i].column;
        if (is_null(x[c]) != is_null(y[c]))
            return is_null(x[c]) ? 1 : -1; /* what is not known comes last, either way */
        int way = is_null(x[c]) ? 0 : compare_cells(q->columns[c], x[c], y[c]);
        if (way != 0)
            return q->sorts[i].down ? -way : way;
    }
    return x < y ? -1 : x > y; /* as configured */
}

static void sort_rows(struct rows *r, const struct query *q)
{
    const struct fettle_value ***order = mem_alloc(r->n * sizeof *order);
    size_t bytes = r->n_columns * sizeof(struct fettle_value *);
    for (size_t i = 0; i < r->n; i++)
        order[i] = r->cells + i * r->n_columns;
    qsort_r(order, r->n, sizeof *order, compare_rows, (void *)(uintptr_t)q);
    const struct fettle_value **sorted = mem_alloc(r->n * bytes);
    for (size_t i = 0; i < r->n; i++)
        memcpy(sorted + i * r->n_columns, order[i], bytes);
    free(order);
    free(r->cells);
    r->cells = sorted;
}

void rows_take(struct rows *r, const struct query *q, const struct fettle_answer *a)
{
    const struct fettle_value *nodes = fettle_value_find(fettle_answer_value(a), "nodes");
    size_t expected[QUERY_FIELDS_MAX];
    for (size_t i = 0; i < QUERY_FIELDS_MAX; i++)
        expected[i] = i < q->n_columns ? i : 0;
    *r = (struct rows){.n_columns = q->n_columns};
    r->cells = mem_alloc(fettle_value_count(nodes) * q->n_columns * sizeof *r->cells);
    for (const struct fettle_value *row = fettle_value_first(nodes); row; row = fettle_value_next(row)) {
        const struct fettle_value **cells = r->cells + r->n * r->n_columns;
        take_cells(q, row, cells, expected);
        if (passes(q, cells))
            r->n++;
    }
    if (q->n_sorts > 0 && r->n > 1)
        sort_rows(r, q);
}

void rows_fini(struct rows *r)
{
    free(r->cells);
    *r = (struct rows){0};
}
