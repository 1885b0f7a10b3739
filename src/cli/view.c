/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view.h"

#include "base/hostlist.h"

#include <stdlib.h>
#include <string.h>

/* True when its words have colours. */
static bool is_state(const struct field_info *f)
{
    return f == field_info(FIELD_STATE) || strcmp(f->name, "Severity") == 0 || strcmp(f->name, "Result") == 0;
}

static void set_columns(const struct query *q, bool by_name, struct column columns[static QUERY_FIELDS_MAX],
                        struct table *t)
{
    for (size_t i = 0; i < q->shown; i++) {
        const struct field_info *f = query_column(q, i);
        columns[i] = (struct column){
            .heading = by_name ? f->name : f->heading, .right = field_is_number(f), .colour = is_state(f)};
    }
    t->columns = columns;
    t->n_columns = q->shown;
}

/* Most cells are text that is taken unchanged. */
static void add_cell(struct table *t, const struct field_info *f, const struct cell *c, bool raw,
                     struct text *scratch)
{
    if (cell_kind(c) == FETTLE_TEXT && (raw || f->kind == KIND_TEXT)) {
        table_add(t, cell_text(c));
        return;
    }
    text_clear(scratch);
    if (raw)
        field_raw(f, c, scratch);
    else
        field_show(f, c, scratch);
    table_add(t, scratch->s ? scratch->s : "");
}

static void add_rows(struct table *t, const struct query *q, const struct rows *r, bool raw)
{
    CLEANUP_TEXT struct text scratch = {0};
    for (size_t i = 0; i < r->n; i++)
        for (size_t c = 0; c < q->shown; c++)
            add_cell(t, query_column(q, c), rows_cell(r, i, c), raw, &scratch);
}

void view_fill(const struct query *q, const struct rows *r, struct column columns[static QUERY_FIELDS_MAX],
               struct table *t)
{
    set_columns(q, false, columns, t);
    add_rows(t, q, r, false);
}

static void write_table(const struct view *v, const struct query *q, const struct rows *r, struct text *out)
{
    struct column columns[QUERY_FIELDS_MAX];
    struct table t = {0};
    view_fill(q, r, columns, &t);
    table_write(&t, &v->look, out);
    table_fini(&t);
}

static void write_csv(const struct view *v, const struct query *q, const struct rows *r, struct text *out)
{
    struct column columns[QUERY_FIELDS_MAX];
    struct table t = {0};
    set_columns(q, true, columns, &t);
    add_rows(&t, q, r, true);
    table_write_csv(&t, v->look.header, out);
    table_fini(&t);
}

static void write_json(const struct query *q, const struct rows *r, struct text *out)
{
    text_add(out, "[");
    for (size_t i = 0; i < r->n; i++) {
        text_add(out, i > 0 ? ",\n {" : "\n {");
        for (size_t c = 0; c < q->shown; c++) {
            text_add(out, c > 0 ? "," : "");
            print_json_string(out, query_column(q, c)->name);
            text_add(out, ":");
            field_json(query_column(q, c), rows_cell(r, i, c), out);
        }
        text_add(out, "}");
    }
    text_add(out, r->n > 0 ? "\n]\n" : "]\n");
}

static void write_yaml(const struct query *q, const struct rows *r, struct text *out)
{
    text_add(out, r->n > 0 ? "" : "[]\n");
    for (size_t i = 0; i < r->n; i++)
        for (size_t c = 0; c < q->shown; c++) {
            const struct field_info *f = query_column(q, c);
            const struct cell *cell = rows_cell(r, i, c);
            text_printf(out, "%s%s:", c > 0 ? "  " : "- ", f->name);
            if (cell->value && f->kind != KIND_SHARE && f->kind != KIND_COST) {
                print_yaml(out, cell->value, 4);
                continue;
            }
            text_add_char(out, ' ');
            field_json(f, cell, out);
            text_add_char(out, '\n');
        }
}

/* ---- help ---- */

void view_help(const struct record_info *r, struct text *out)
{
    static const struct column columns[] = {
        {.heading = "FIELD"}, {.heading = "HEADING"}, {.heading = "UNIT"}, {.heading = "MEANING"}};
    struct table t = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};
    for (size_t i = 0; i < r->n; i++) {
        const char *const cells[] = {r->fields[i].name, r->fields[i].heading, r->fields[i].unit,
                                     r->fields[i].what};
        for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++)
            table_add(&t, cells[k]);
    }
    table_write(&t, &(struct table_look){.header = true}, out);
    table_fini(&t);
    text_printf(out, "\nwithout -o  %s\n", r->shown);
    text_printf(out, "-o wide     %s%s%s\n", r->shown, *r->wide ? "," : "", r->wide);
    text_add(out, "-o all      all of these\n"
                  "-o json, yaml, csv   the form; with fields behind it these: -o json,");
    text_printf(out, "%s\n", r->fields[0].name);
}

/* ---- folding ---- */

struct line {
    char *rest; /* the other columns as shown, with a zero byte after each */
    size_t len;
    size_t row;
};

static int compare_bytes(const struct line *x, const struct line *y)
{
    size_t shorter = x->len < y->len ? x->len : y->len;
    int way = shorter ? memcmp(x->rest, y->rest, shorter) : 0;
    return way != 0 ? way : x->len < y->len ? -1 : x->len > y->len;
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int way = compare_bytes(x, y);
    return way != 0 ? way : x->row < y->row ? -1 : x->row > y->row;
}

/* Groups of equal lines, in the order of their first rows. */
struct group {
    size_t begin, end;
    size_t row;
};

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->row < y->row ? -1 : x->row > y->row;
}

static struct line *make_lines(const struct query *q, const struct rows *r, size_t name)
{
    struct line *lines = mem_alloc(r->n * sizeof *lines);
    for (size_t i = 0; i < r->n; i++) {
        struct text t = {0};
        for (size_t c = 0; c < q->shown; c++) {
            if (c == name)
                continue;
            field_show(query_column(q, c), rows_cell(r, i, c), &t);
            text_add_char(&t, '\0');
        }
        lines[i] = (struct line){.len = t.len, .row = i};
        lines[i].rest = text_take(&t);
    }
    qsort(lines, r->n, sizeof *lines, compare_lines);
    return lines;
}

static struct group *make_groups(const struct line *lines, size_t n, size_t *n_groups)
{
    struct group *groups = mem_alloc(n * sizeof *groups);
    *n_groups = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_bytes(&lines[i - 1], &lines[i]) != 0)
            groups[(*n_groups)++] = (struct group){.begin = i, .row = lines[i].row};
        groups[*n_groups - 1].end = i + 1;
    }
    qsort(groups, *n_groups, sizeof *groups, compare_groups);
    return groups;
}

static void add_group(struct table *t, const struct group *g, const struct line *lines, const struct rows *r,
                      size_t name)
{
    const char **names = mem_alloc((g->end - g->begin) * sizeof *names);
    size_t n = 0;
    for (size_t i = g->begin; i < g->end; i++) {
        const char *s = cell_text(rows_cell(r, lines[i].row, name));
        if (s)
            names[n++] = s;
    }
    CLEANUP_FREE char *folded = hostlist_fold(names, n);
    free(names);
    table_add(t, folded);
    const struct line *first = &lines[g->begin];
    for (const char *s = first->rest; s < first->rest + first->len; s += strlen(s) + 1)
        table_add(t, s);
}

static void write_folded(const struct view *v, const struct query *q, const struct rows *r, struct text *out)
{
    struct column columns[QUERY_FIELDS_MAX + 1] = {{.heading = "NAME"}};
    struct table t = {.columns = columns, .n_columns = 1};
    size_t name = q->place[FIELD_NAME] - 1;
    for (size_t c = 0; c < q->shown; c++)
        if (c != name)
            columns[t.n_columns++] = (struct column){.heading = query_column(q, c)->heading,
                                                     .right = field_is_number(query_column(q, c)),
                                                     .colour = is_state(query_column(q, c))};
    struct line *lines = make_lines(q, r, name);
    size_t n_groups;
    struct group *groups = make_groups(lines, r->n, &n_groups);
    for (size_t i = 0; i < n_groups; i++)
        add_group(&t, &groups[i], lines, r, name);
    table_write(&t, &(struct table_look){.colour = v->look.colour}, out);
    table_fini(&t);
    for (size_t i = 0; i < r->n; i++)
        free(lines[i].rest);
    free(lines);
    free(groups);
}

void view_write(const struct view *v, const struct query *q, const struct rows *r, struct text *out)
{
    switch (v->form) {
    case FORM_TABLE: write_table(v, q, r, out); break;
    case FORM_JSON: write_json(q, r, out); break;
    case FORM_YAML: write_yaml(q, r, out); break;
    case FORM_HELP: view_help(q->record, out); break;
    case FORM_CSV: write_csv(v, q, r, out); break;
    case FORM_FOLD: write_folded(v, q, r, out); break;
    }
}
