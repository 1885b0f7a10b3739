/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_REPORT_H
#define FETTLE_CLI_REPORT_H

#include "cli/command.h"
#include "cli/print.h"

/*
 * Answers for people: lines of a name and a value, and tables; or the unchanged JSON.
 */

/* "Name          value"; nothing when there is no value. */
void report_line(struct text *out, const char *name, const char *value);
/* The age of the time, by this machine's clock: "3m12s"; "" when it is not a time. */
const char *report_age(const char *time, char buf[static 32]);
/* The same with the time before it: "Since         2026-11-20T20:41:57.123Z (3m12s ago)". */
void report_since(struct text *out, const char *name, const char *time);
/* The values of one thing in two places, for a row of a table. Values of a kilobyte are cut, so that the
 * table stays readable, and follow under the table in full. */
struct report_pair {
    const char *name, *label[2], *value[2];
};
/* Adds the next two cells: both values, long ones cut. */
void report_pair_cells(struct table *t, const struct report_pair *p);
/* Under the table: both values, when one of them was cut. */
void report_pair_rest(struct text *out, const struct report_pair *p);
/* A component on one side of a difference: its value, "(absent)", or why it is unknown. */
void report_side(const struct fettle_value *side, struct text *out);
/* The next cell of the row: an object's member, flags as yes and no. */
void report_cell(struct table *t, const struct fettle_value *object, const char *key);
/* A member's text, "" without one. */
const char *report_text(const struct fettle_value *object, const char *key);
/* The table, with headings unless --no-header; or, when v is given and --json was used, v. Ends t. */
void report_table(struct call *c, struct table *t, const struct fettle_value *v);
/* A value as one line of JSON, or as a document of YAML. */
void report_json(struct call *c, const struct fettle_value *v);
/* Prints the result of a change: the nodes it changed ("lx07: approved"), or `nothing` when it names none;
 * the claims that still hold them; and refusals. Frees the answer. Returns the exit status, which is that of
 * a conflict after a refusal. */
int report_change(struct call *c, struct fettle_answer *answer, const char *done, const char *nothing);

/* Prints the result of --dry-run: what would be done to which nodes, and refusals. Frees the answer. Returns
 * the exit status, which is that of a conflict after a refusal. */
int report_would(struct call *c, struct fettle_answer *answer);
/* Prints on standard error what will be done to which nodes, according to a dry run; for several nodes it
 * asks whether to go on. Frees the answer. 0, or -EBUSY for no. */
int report_confirm(struct call *c, struct fettle_answer *answer, struct err *e);

/* for each element of an array */
#define REPORT_EACH(i, array) \
    for (const struct fettle_value *i = fettle_value_first(array); i; i = fettle_value_next(i))

#endif
