/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_SQLITE_H
#define FETTLE_STORE_SQLITE_H

#include "store/engine.h"
#include "store/home.h"
#include "store/row.h"

/* The embedded engine, shared by its work (sqlite.c), its opening (sqlite_open.c), and the older part of the
 * journal (past.c). */

enum sqlite_query {
    QUERY_BEGIN,
    QUERY_COMMIT,
    QUERY_ROLLBACK,
    QUERY_META,
    QUERY_META_PUT,
    QUERY_RECORDS,
    QUERY_RECORDS_OF, /* those that a revision put */
    QUERY_RECORD_PUT,
    QUERY_RECORD_DELETE,
    QUERY_ENTRIES,       /* all that are in state.db */
    QUERY_ENTRIES_AFTER, /* after a revision, with a limit */
    QUERY_ENTRY_PUT,
    QUERY_ENTRIES_FIRST,
    QUERY_ENTRIES_BEFORE, /* before a revision, newest first */
    QUERY_PAST,           /* the following need journal.db */
    QUERY_PAST_AFTER = QUERY_PAST,
    QUERY_PAST_LAST,
    QUERY_BOTH, /* a revision of state.db up to the last in journal.db */
    QUERY_STEP, /* the revision before which the next entries to move end */
    QUERY_COPY,
    QUERY_FORGET,
    QUERY_PAST_FIRST,
    QUERY_PAST_BEFORE,
    QUERY_REMOVE,
    QUERIES
};

struct sqlite {
    struct store store;
    struct home home;
    sqlite3 *db;
    sqlite3_stmt *stmt[QUERIES];
    uint64_t recent;    /* entries in state.db */
    uint64_t past_last; /* the last revision in journal.db; 0: none */
    uint64_t
        exported; /* entries of journal.db up to this revision are exported, and can be removed; 0: none */
    bool copied;  /* entries in state.db may be in journal.db, too */
    bool failed;  /* a sync failed, or files went during a commit; what is on the disk is not known */
    bool is_open; /* there is a state to read */
    struct {
        uint64_t revision; /* of the commit whose outcome is not known; 0: none */
        size_t n;          /* the keys that it deletes */
        char **deleted;
    } unsure;
    struct sqlite_copy *copy; /* under way; NULL: none */
};

extern const struct store_engine sqlite_engine;

/* Prepares the statements from..to-1 that are not ready. The tables must exist. */
int sqlite_prepare(struct sqlite *s, enum sqlite_query from, enum sqlite_query to, struct err *e);

/* Connects to the database at path, with these settings. */
int sqlite_connect(const char *path, const char *settings, sqlite3 **db, struct err *e);

/* One of the two files, as it is attached. */
struct sqlite_file {
    const char *schema; /* "main" or "past" */
    const char *path;
    int64_t application_id;
    const char *noun; /* "a state of Fettle" */
};

/* Reads a file's format; one before ROW_FORMAT must be upgraded. -EILSEQ: it is not Fettle's, or of a newer
 * format. */
int sqlite_format(struct sqlite *s, const struct sqlite_file *f, int *format, struct err *e);

/* Upgrades a file to the present format, in a transaction that it begins and the caller ends. */
int sqlite_upgrade(struct sqlite *s, const struct sqlite_file *f, int format, struct err *e);

/* Runs statements that give no rows. */
int sqlite_exec(sqlite3 *db, const char *path, const char *sql, struct err *e);

/* The first column of the first row of a statement's result. */
int sqlite_number(sqlite3 *db, const char *path, const char *sql, int64_t *out, struct err *e);

/* The same for a statement that is prepared and bound; *out is unchanged when there is no row. */
int sqlite_take(struct sqlite *s, enum sqlite_query q, uint64_t *out, struct err *e);

/* Runs a statement that gives no rows. */
int sqlite_run(struct sqlite *s, enum sqlite_query q, struct err *e);

/* 0 while changes can be taken: no sync has failed, and the files are in their place. */
int sqlite_usable(const struct sqlite *s, struct err *e);

/* A page of entries of one of the files, after a revision. */
struct sqlite_page {
    uint64_t after;
    size_t left; /* the most entries */
    bool any;    /* there was an entry: a whole revision is no longer owed */
    store_journal_fn *fn;
    void *arg;
};
int sqlite_page(struct sqlite *s, enum sqlite_query q, struct sqlite_page *p, struct err *e);

/* Opens journal.db, if it exists; `revision` is the present revision of the state. */
int past_open(struct sqlite *s, uint64_t revision, struct err *e);
/* The same without a log and without anything to be done with it later. */
int past_look(struct sqlite *s, uint64_t revision, struct err *e);
int past_tidy(struct store *s, const struct store_keep *keep, struct wall now, bool *more, struct err *e);
/* One step of limiting journal.db. *more says whether there was something to do. */
int keep_step(struct sqlite *s, const struct store_keep *keep, struct wall now, bool *more, struct err *e);

/* Calls fn with every record, in key order; as store_load. */
int sqlite_records(struct sqlite *s, store_record_fn *fn, void *arg, struct err *e);
/* Reads the present term and revision. */
int sqlite_meta(struct sqlite *s, struct meta_row *row, struct err *e);

/* Closes what is open. */
void sqlite_close(struct store *s);
/* Closes the connection, and leaves its log. */
void sqlite_disconnect(struct sqlite *s);

/* Opens the state in the directory, and judges all of it. */
int sqlite_state_open(struct sqlite *s, struct err *e);
/* Judges the state of the connection, and upgrades a good one of an older format. */
int sqlite_state_judge(struct sqlite *s, struct meta_row *meta, struct err *e);
/* Reads the format of the connection's state. Errors as those of sqlite_format. */
int sqlite_state_format(struct sqlite *s, int *format, struct err *e);
/* Puts what a batch has, under a revision, in the transaction that is open. */
int sqlite_apply(struct sqlite *s, const struct store_batch *b, uint64_t revision, struct err *e);
/* Commits a batch as the next revision, under this term, which the state has from now on. */
int sqlite_put(struct sqlite *s, uint64_t term, const struct store_batch *b, struct meta_row *meta,
               struct err *e);

/* One step of a copy (store_copy), and its end, whether it is complete or not. */
int sqlite_copy_step(struct store *store, const char *dir, struct store_copied *copied, struct err *e);
void sqlite_copy_end(struct store *store);
/* Everything that was committed is in the databases, on the disk, and the logs are empty. */
int sqlite_fold(struct sqlite *s, struct err *e);

/* STORE_UNKNOWN, with the sentence that is there. */
int sqlite_unknown(struct err *e);
/* Notes a batch that may have become this revision, or not; store_resolve will tell. */
void sqlite_unsure(struct sqlite *s, const struct store_batch *b, uint64_t revision);
void sqlite_unsure_fini(struct sqlite *s);
int sqlite_resolve(struct store *store, uint64_t after, store_change_fn *fn, void *arg, struct err *e);

/* -EILSEQ, with the fault of the file and the remedy. */
int sqlite_damaged(const char *path, const char *what, struct err *e);

/* Converts SQLite's last error. */
int sqlite_error(sqlite3 *db, const char *path, struct err *e);

#endif
