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

/* Adds the shown columns of the rows: as a table; as one JSON array, a row a line; as YAML; as CSV; or
 * folded: one line for each different row, with the list of its nodes, and no headings. */
void view_write(const struct view *v, const struct query *q, const struct rows *r, struct text *out);

/* Fills a table with the shown columns in the form FORM_TABLE. The caller owns the columns, which must
 * outlive it. */
void view_fill(const struct query *q, const struct rows *r, struct column columns[static QUERY_FIELDS_MAX],
               struct table *t);

/* Writes the fields of records, with their units and meanings. */
void view_help(const struct record_info *r, struct text *out);

#endif
