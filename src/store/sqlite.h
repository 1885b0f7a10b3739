/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_SQLITE_H
#define FETTLE_STORE_SQLITE_H

#include "store/engine.h"
#include "store/home.h"
#include "store/row.h"

/* The embedded engine, shared between its work (sqlite.c) and its opening (sqlite_open.c). */

enum sqlite_query {
    QUERY_BEGIN,
    QUERY_COMMIT,
    QUERY_ROLLBACK,
    QUERY_META,
    QUERY_META_PUT,
    QUERY_RECORDS,
    QUERY_RECORD_PUT,
    QUERY_RECORD_DELETE,
    QUERY_ENTRIES,       /* all */
    QUERY_ENTRIES_AFTER, /* a revision, and at most so many */
    QUERY_ENTRY_PUT,
    QUERIES
};

struct sqlite {
    struct store store;
    struct home home;
    sqlite3 *db;
    sqlite3_stmt *stmt[QUERIES];
    bool failed; /* a sync failed, or files went during a commit; what is on the disk is not known */
};

extern const struct store_engine sqlite_engine;

/* Makes the statements ready. The tables must be there. */
int sqlite_prepare(struct sqlite *s, struct err *e);

/* Where the store stands. */
int sqlite_meta(struct sqlite *s, struct meta_row *row, struct err *e);

/* Closes what is open. */
void sqlite_close(struct store *s);

/* -EILSEQ, with what is wrong with the file and what to do. */
int sqlite_damaged(const char *path, const char *what, struct err *e);

/* SQLite's last error as ours. */
int sqlite_error(sqlite3 *db, const char *path, struct err *e);

#endif
