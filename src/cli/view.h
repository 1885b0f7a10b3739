/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_VIEW_H
#define FETTLE_CLI_VIEW_H

#include "cli/print.h"
#include "cli/query.h"

/*
 * Rows of records in the forms of output.
 */

struct view {
    enum form form;
    struct table_look look;
};

/* Adds the shown columns of the rows: a table; one array of JSON, a row a line; the same as YAML; CSV; or,
 * folded, the nodes with the other columns in common, one line for each different row and no headings. */
void view_write(const struct view *v, const struct query *q, const struct rows *r, struct text *out);

/* Fills a table with the shown columns, as the form FORM_TABLE has them. The columns are the
 * caller's and outlive it. */
void view_fill(const struct query *q, const struct rows *r, struct column columns[static QUERY_FIELDS_MAX],
               struct table *t);

/* The fields of records, with their units and meanings. */
void view_help(const struct record_info *r, struct text *out);

#endif
