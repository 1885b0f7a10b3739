/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/query.h"

#include "base/clock.h"
#include "base/hostlist.h"

#include <assert.h>
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

static const struct field_info *info_of(const struct query *q, size_t f)
{
    return &q->record->fields[f];
}

const struct field_info *query_column(const struct query *q, size_t column)
{
    return info_of(q, q->columns[column]);
}

size_t query_need(struct query *q, size_t f)
{
    assert(q);
    if (q->place[f] == 0) {
        q->columns[q->n_columns++] = f;
        q->place[f] = q->n_columns;
    }
    return q->place[f] - 1;
}

/* Takes the next name of a comma-separated list; false at the end. */
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

static int find_field(const struct query *q, const char *name, size_t len, size_t *out, struct err *e)
{
    return field_find(q->record->fields, q->record->n, name, len, out, e);
}

int query_show(struct query *q, const char *list, struct err *e)
{
    const char *name;
    size_t len;
    while (next_name(&list, &name, &len)) {
        size_t f = 0;
        int r = find_field(q, name, len, &f, e);
        if (r < 0)
            return r;
        query_need(q, f);
    }
    q->shown = q->n_columns;
    return 0;
}

/* ---- -o ---- */

static const struct {
    const char *word;
    enum form form;
} forms[] = {{"json", FORM_JSON}, {"yaml", FORM_YAML}, {"csv", FORM_CSV}, {"help", FORM_HELP}};

static bool is_word(const char *word, const char *name, size_t len)
{
    return strlen(word) == len && strncasecmp(word, name, len) == 0;
}

static int take_form(const char *name, size_t len, enum form *form, struct err *e)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (!is_word(forms[i].word, name, len))
            continue;
        if (*form != FORM_TABLE && *form != forms[i].form)
            return err_set(e, -EINVAL, "%s is one form of output, and there is another one already",
                           forms[i].word);
        *form = forms[i].form;
        return 1;
    }
    return 0;
}

static void show_all(struct query *q)
{
    for (size_t f = 0; f < q->record->n; f++)
        query_need(q, f);
    q->shown = q->n_columns;
}

int query_output(struct query *q, const char *list, enum form *form, struct err *e)
{
    const char *name;
    size_t len;
    while (next_name(&list, &name, &len)) {
        CLEANUP_FREE char *word = mem_dup_len(name, len);
        int r = take_form(name, len, form, e);
        if (r == 0 && is_word("all", name, len)) {
            show_all(q);
        } else if (r == 0) {
            bool wide = is_word("wide", name, len);
            r = query_show(q, wide ? q->record->shown : word, e);
            if (r == 0 && wide && *q->record->wide)
                r = query_show(q, q->record->wide, e);
        }
        if (r < 0)
            return r;
    }
    return query_default(q, *form);
}

int query_default(struct query *q, enum form form)
{
    if (q->shown > 0)
        return 0;
    if (form == FORM_JSON || form == FORM_YAML)
        show_all(q);
    return q->shown > 0 ? 0 : query_show(q, q->record->shown, NULL);
}

int query_sort(struct query *q, const char *list, struct err *e)
{
    const char *name;
    size_t len;
    while (next_name(&list, &name, &len)) {
        bool down = *name == '-' || *name == '+' ? *name == '-' : false;
        size_t sign = *name == '-' || *name == '+';
        size_t f = 0;
        int r = find_field(q, name + sign, len - sign, &f, e);
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

static bool is_numeric(const struct field_info *f)
{
    return field_is_number(f) || f->kind == KIND_TIME;
}

/* A number as people write it; lengths of time also as "5m". An empty value stands for null. */
static int parse_number(const struct field_info *f, const char *value, int64_t *milli, struct err *e)
{
    uint64_t n = 0;
    struct span s;
    *milli = -1;
    if (*value == '\0')
        return 0;
    if (text_parse_milli(value, &n, NULL) == 0) {
        *milli = (int64_t)n;
    } else if (f->kind == KIND_TIME && text_parse_u64(value, 0, INT64_MAX / 1000, &n, NULL) == 0) {
        *milli = (int64_t)n * 1000;
    } else if ((f->kind == KIND_SPAN || f->kind == KIND_AGE) && span_parse(value, &s, NULL) == 0) {
        *milli = span_to_ms(s);
    } else {
        return err_set(e, -EINVAL, "%s is compared with \"%s\", which is not a number", f->name, value);
    }
    return 0;
}

/* Partitions have numbers in one field and names in another. */
static int check_partition(const struct field_info *f, const char *value, struct err *e)
{
    if (f != field_info(FIELD_PARTITION) || value[strspn(value, "0123456789")] == '\0')
        return 0;
    const char *names = field_info(FIELD_PARTITIONS)->name;
    return err_set(e, -EINVAL, "%s has numbers, and \"%s\" is none; %s=%s chooses by name", f->name, value,
                   names, value);
}

/* When the values are words of a table, a misspelt one would match nothing and look like good news. */
static int check_word(const struct field_info *f, const char *value, struct err *e)
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
    bool state = f == field_info(FIELD_STATE);
    if (*value == '\0' || (!state && f != field_info(FIELD_LIFECYCLE)))
        return 0;
    const char *const *words = state ? states : lifecycles;
    size_t n = state ? sizeof states / sizeof *states : sizeof lifecycles / sizeof *lifecycles;
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(words[i], value) == 0)
            return 0;
    const char *near = text_nearest(value, words, n);
    return err_set(e, -EINVAL, "%s is never \"%s\"%s%s%s", f->name, value,
                   near ? "; the nearest known is \"" : "", near ? near : "", near ? "\"" : "");
}

static int add_value(struct filter *filter, const struct field_info *f, const char *value, size_t len,
                     struct err *e)
{
    if (filter->n == QUERY_VALUES_MAX)
        return err_set(e, -EINVAL, "more than %d values of %s in one filter", QUERY_VALUES_MAX, f->name);
    char *copy = filter->values[filter->n] = mem_dup_len(value, len);
    int64_t *milli = &filter->milli[filter->n++];
    bool yes;
    if (f->kind == KIND_FLAG && *copy) {
        int r = text_parse_bool(copy, &yes, e);
        if (r < 0)
            return err_wrap(e, r, "%s", f->name);
        *milli = yes;
    }
    if (filter->compare == COMPARE_PART)
        return 0;
    int rc = check_partition(f, copy, e);
    if (rc < 0)
        return rc;
    return is_numeric(f) ? parse_number(f, copy, milli, e) : check_word(f, copy, e);
}

int query_filter(struct query *q, const char *text, struct err *e)
{
    size_t len = strcspn(text, "!=<>~");
    enum compare compare = COMPARE_EQ;
    size_t sign = parse_compare(text + len, &compare);
    if (len == 0 || sign == 0)
        return err_set(e, -EINVAL, "\"%s\" is not a filter: FIELD=VALUE, or one of != < <= > >= ~", text);
    size_t f = 0;
    int r = find_field(q, text, len, &f, e);
    if (r < 0)
        return r;
    if (q->n_filters == QUERY_FILTERS_MAX)
        return err_set(e, -EINVAL, "more than %d filters", QUERY_FILTERS_MAX);
    struct filter *filter = &q->filters[q->n_filters++];
    *filter = (struct filter){.column = query_need(q, f), .compare = compare};
    const char *list = text + len + sign, *value;
    if (compare != COMPARE_EQ && compare != COMPARE_NE)
        return add_value(filter, info_of(q, f), list, strlen(list), e);
    while (r == 0 && next_name(&list, &value, &len))
        r = add_value(filter, info_of(q, f), value, len, e);
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
        text_add(out, query_column(q, i)->name);
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

static bool is_null(const struct cell *c)
{
    return cell_kind(c) == FETTLE_NULL;
}

/* True when the value is missing, or its word means unknown. */
static bool is_unknown(const struct cell *c)
{
    const char *s = cell_text(c);
    return is_null(c) || (cell_kind(c) == FETTLE_TEXT && s && strcmp(s, "unknown") == 0);
}

static int compare_cells(const struct field_info *f, const struct cell *a, const struct cell *b)
{
    int64_t na, nb;
    if (is_numeric(f) && field_milli(f, a, &na) == 0 && field_milli(f, b, &nb) == 0)
        return na < nb ? -1 : na > nb;
    if (cell_kind(a) == FETTLE_TEXT && cell_kind(b) == FETTLE_TEXT)
        return query_natural(cell_text(a), cell_text(b));
    CLEANUP_TEXT struct text ta = {0}, tb = {0};
    field_raw(f, a, &ta);
    field_raw(f, b, &tb);
    return query_natural(ta.s, tb.s);
}

static bool query_holds(enum compare compare, int way)
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

/* Whether the cell equals the value, in any case of letters; a list equals each of its elements. */
static bool is_equal(const struct field_info *f, const struct filter *filter, size_t i, const struct cell *c)
{
    const char *value = filter->values[i];
    int64_t n;
    if (cell_kind(c) == FETTLE_ARRAY)
        return list_has(c->value, value);
    if (is_null(c))
        return *value == '\0';
    if (is_numeric(f) && field_milli(f, c, &n) == 0)
        return n == filter->milli[i];
    if (cell_kind(c) == FETTLE_BOOL)
        return *value && fettle_value_true(c->value) == (filter->milli[i] != 0);
    const char *s = cell_text(c);
    return s && strcasecmp(s, value) == 0;
}

static bool is_ordered(const struct field_info *f, const struct filter *filter, const struct cell *c)
{
    int64_t n;
    if (is_null(c) || (filter->compare != COMPARE_PART && is_unknown(c)))
        return false;
    if (filter->compare != COMPARE_PART && is_numeric(f) && field_milli(f, c, &n) == 0)
        return filter->milli[0] >= 0 &&
               query_holds(filter->compare, n < filter->milli[0] ? -1 : n > filter->milli[0]);
    CLEANUP_TEXT struct text t = {0};
    field_raw(f, c, &t);
    if (filter->compare == COMPARE_PART)
        return strcasestr(t.s, filter->values[0]) != NULL;
    return query_holds(filter->compare, query_natural(t.s, filter->values[0]));
}

static bool is_one_of(const struct field_info *f, const struct filter *filter, const struct cell *c)
{
    for (size_t n = 0; n < filter->n; n++)
        if (is_equal(f, filter, n, c))
            return true;
    return false;
}

static bool query_passes(const struct query *q, const struct cell *cells)
{
    for (size_t i = 0; i < q->n_filters; i++) {
        const struct filter *filter = &q->filters[i];
        const struct field_info *f = query_column(q, filter->column);
        const struct cell *c = &cells[filter->column];
        bool good = filter->compare == COMPARE_EQ   ? is_one_of(f, filter, c)
                    : filter->compare == COMPARE_NE ? !is_unknown(c) && !is_one_of(f, filter, c)
                                                    : is_ordered(f, filter, c);
        if (!good)
            return false;
    }
    return true;
}

/* ---- rows ---- */

static void free_made(struct cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(cells[i].made);
}

/* Makes room for one more row, which is empty. */
static struct cell *rows_room(struct rows *r)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 64;
        r->cells = mem_grow(r->cells, r->cap * r->n_columns * sizeof *r->cells);
    }
    struct cell *cells = r->cells + r->n * r->n_columns;
    memset(cells, 0, r->n_columns * sizeof *cells);
    return cells;
}

struct taking {
    struct rows *rows;
    const struct query *q;
    size_t expected[QUERY_FIELDS_MAX]; /* the column of a node's nth member */
};

static void keep_row(struct taking *t, struct cell *cells)
{
    if (t->rows->skip > 0 && t->rows->skip--)
        free_made(cells, t->q->n_columns);
    else if (query_passes(t->q, cells))
        t->rows->n++;
    else
        free_made(cells, t->q->n_columns);
}

/* A node's members are its fields, in the same order in all rows, so the next one is where it was before. */
static void take_node(void *arg, const struct element *e)
{
    struct taking *t = arg;
    const struct query *q = t->q;
    struct cell *cells = rows_room(t->rows);
    size_t i = 0;
    bool is_object = fettle_value_kind(e->outer) == FETTLE_OBJECT;
    const struct fettle_value *first = is_object ? fettle_value_first(e->outer) : NULL;
    for (const struct fettle_value *v = first; v; v = fettle_value_next(v), i++) {
        size_t c = i < q->n_columns ? t->expected[i] : 0;
        if (strcmp(query_column(q, c)->name, fettle_value_key(v)) != 0) {
            for (c = 0; c < q->n_columns; c++)
                if (strcmp(query_column(q, c)->name, fettle_value_key(v)) == 0)
                    break;
            if (i < q->n_columns && c < q->n_columns)
                t->expected[i] = c;
        }
        if (c < q->n_columns)
            cells[c].value = v;
    }
    keep_row(t, cells);
}

static void take_record(void *arg, const struct element *e)
{
    struct taking *t = arg;
    struct cell *cells = rows_room(t->rows);
    for (size_t c = 0; c < t->q->n_columns; c++)
        cells[c] = record_cell(query_column(t->q, c), e);
    keep_row(t, cells);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
    const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;
    const struct query *q = *(const struct query *const *)arg;
    for (size_t i = 0; i < q->n_sorts; i++) {
        size_t c = q->sorts[i].column;
        if (is_null(&x[c]) != is_null(&y[c]))
            return is_null(&x[c]) ? 1 : -1; /* unknown values come last, in either direction */
        int way = is_null(&x[c]) ? 0 : compare_cells(query_column(q, c), &x[c], &y[c]);
        if (way != 0)
            return q->sorts[i].down ? -way : way;
    }
    return x < y ? -1 : x > y; /* as configured */
}

static void sort_rows(struct rows *r, const struct query *q)
{
    const struct cell **order = mem_alloc(r->n * sizeof *order);
    size_t bytes = r->n_columns * sizeof *r->cells;
    for (size_t i = 0; i < r->n; i++)
        order[i] = r->cells + i * r->n_columns;
    qsort_r(order, r->n, sizeof *order, compare_rows, &q);
    struct cell *sorted = mem_alloc(r->n * bytes);
    for (size_t i = 0; i < r->n; i++)
        memcpy(sorted + i * r->n_columns, order[i], bytes);
    free(order);
    free(r->cells);
    r->cells = sorted;
    r->cap = r->n;
}

void rows_add(struct rows *r, const struct query *q, const struct fettle_value *answer)
{
    struct taking t = {.rows = r, .q = q};
    for (size_t i = 0; i < QUERY_FIELDS_MAX; i++)
        t.expected[i] = i < q->n_columns ? i : 0;
    r->n_columns = q->n_columns;
    record_each(q->record, answer, q->record == record_info(RECORD_NODE) ? take_node : take_record, &t);
}

void rows_order(struct rows *r, const struct query *q)
{
    if (q->n_sorts > 0 && r->n > 1)
        sort_rows(r, q);
    while (q->limit > 0 && r->n > q->limit)
        free_made(r->cells + --r->n * r->n_columns, r->n_columns);
}

static bool has_text(const struct rows *r, size_t column)
{
    for (size_t i = 0; i < r->n; i++) {
        const char *text = cell_text(rows_cell(r, i, column));
        if (text && *text)
            return true;
    }
    return false;
}

/* The column moves after all others: each cell keeps its place in the row's memory. */
void rows_hide_empty(struct rows *r, struct query *q, size_t field)
{
    size_t at = q->place[field] - 1; /* none: larger than any */
    if (at >= q->shown || has_text(r, at))
        return;
    for (size_t i = 0; i < r->n; i++) {
        struct cell *row = r->cells + i * r->n_columns, hidden = row[at];
        memmove(row + at, row + at + 1, (r->n_columns - at - 1) * sizeof *row);
        row[r->n_columns - 1] = hidden;
    }
    memmove(q->columns + at, q->columns + at + 1, (q->n_columns - at - 1) * sizeof *q->columns);
    q->columns[q->n_columns - 1] = field;
    q->shown--;
    for (size_t i = 0; i < q->n_columns; i++)
        q->place[q->columns[i]] = i + 1;
}

void rows_fini(struct rows *r)
{
    free_made(r->cells, r->n * r->n_columns);
    free(r->cells);
    *r = (struct rows){0};
}
