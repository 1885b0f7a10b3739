/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_REPORT_H
#define FETTLE_CLI_REPORT_H

#include "cli/command.h"
#include "cli/print.h"

/*
 * Answers as a person reads them: lines of a name and a value, and tables; or the JSON as it came.
 */

/* "Name          value"; nothing when there is no value. */
void report_line(struct text *out, const char *name, const char *value);
/* How long ago that was, by this machine's clock: "3m12s"; "" for what is no time. */
const char *report_age(const char *time, char buf[static 32]);
/* The same with the time before it: "Since         2026-11-20T20:41:57.123Z (3m12s ago)". */
void report_since(struct text *out, const char *name, const char *time);
/* What a row of a table says of one thing in two places. A table stays readable with values of a kilobyte:
 * long ones are cut in it, and stand under it in full. */
struct report_pair {
    const char *name, *label[2], *value[2];
};
/* The next two cells: both values, the long ones cut. */
void report_pair_cells(struct table *t, const struct report_pair *p);
/* Under the table: the values of a pair of which one was cut. */
void report_pair_rest(struct text *out, const struct report_pair *p);
/* What a component is on one side of a difference: the value, "(absent)", or why it is not known. */
void report_side(const struct fettle_value *side, struct text *out);
/* The next cell of the row: an object's member, flags as yes and no. */
void report_cell(struct table *t, const struct fettle_value *object, const char *key);
/* A member's text, "" without one. */
const char *report_text(const struct fettle_value *object, const char *key);
/* The table, with headings unless --no-header; or, where v is given and --json was said, v. Ends t. */
void report_table(struct call *c, struct table *t, const struct fettle_value *v);
/* A value as one line of JSON, or as a document of YAML. */
void report_json(struct call *c, const struct fettle_value *v);
/* What a change did to which nodes ("lx07: approved"), or `nothing` where it did not name any; and what
 * still holds the nodes; and what was refused, which is the exit status of a conflict. Frees the answer.
 * Returns the exit status. */
int report_change(struct call *c, struct fettle_answer *answer, const char *done, const char *nothing);

/* What --dry-run was answered: what would be done to which nodes, and what was refused, which is the exit
 * status of a conflict. Frees the answer. Returns the exit status. */
int report_would(struct call *c, struct fettle_answer *answer);
/* On standard error: what is about to be done to which nodes, as a dry run said it; and where they are
 * several, asks whether to go on. Frees the answer. 0, or -EBUSY for no. */
int report_confirm(struct call *c, struct fettle_answer *answer, struct err *e);

/* for each element of an array */
#define REPORT_EACH(i, array) \
    for (const struct fettle_value *i = fettle_value_first(array); i; i = fettle_value_next(i))

#endif
