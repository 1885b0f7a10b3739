/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ROW_H
#define FETTLE_STORE_ROW_H

#include "store/store.h"

#include <sqlite3.h>
#include <stdbool.h>

/*
 * The rows of the embedded engine's three tables, on their way into and out of a statement. Each row has a
 * checksum as its last column, made when it is written; reading gives false when the row has changed. A read
 * row lives until the statement's next step; a bound row must live until the statement was run.
 */

struct meta_row {
    uint64_t term;
    uint64_t revision;
};

struct record_row {
    const char *key;
    const char *value;
    uint64_t revision; /* that last changed it */
};

struct entry_row {
    uint64_t revision;
    uint64_t n; /* its place in the batch, from 0 */
    struct store_entry entry;
};

#define META_COLUMNS "term, revision, sum"
#define RECORD_COLUMNS "key, value, revision, sum"
#define ENTRY_COLUMNS "revision, n, at_ns, actor, what, nodes, text, about, fields, sum"

/* The statements that create all tables, and the journal's alone. */
extern const char row_schema[], row_journal_schema[];

/* The format of both files, in their user_version. Format 1 had no `about` in the journal, format 2 no
 * `fields`. */
enum { ROW_FORMAT = 3 };

void meta_bind(sqlite3_stmt *stmt, const struct meta_row *row);
bool meta_read(sqlite3_stmt *stmt, struct meta_row *row);
void record_bind(sqlite3_stmt *stmt, const struct record_row *row);
bool record_read(sqlite3_stmt *stmt, struct record_row *row);
void entry_bind(sqlite3_stmt *stmt, const struct entry_row *row);
bool entry_read(sqlite3_stmt *stmt, struct entry_row *row);

#endif
