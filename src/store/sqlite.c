/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded engine at work. A commit is one transaction in write-ahead mode and costs one fdatasync; every
 * thousand pages or so a commit also folds the log into the database.
 *
 * When a sync fails nobody can know what is on the disk, and a second try may report success for what
 * the kernel has dropped. The store then takes no more commits until it was found out (sqlite_resolve.c).
 *
 * SQLite keeps working on files that somebody removed, and reports success. So each commit checks that the
 * files are in their place, before it and again when it is on the disk: nothing is acknowledged that the next
 * start would not find.
 */
#include "store/sqlite.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* At most ?2 entries after revision ?1. A revision that the limit would cut in two is left for the next page,
 * since a reader that goes on after the last revision of a page must not miss the rest of it. With ?3 there
 * is at least one whole revision. */
#define PAGE(table)                                                                                         \
    "SELECT " ENTRY_COLUMNS " FROM " table " WHERE revision > ?1 AND revision < max("                       \
    "ifnull((SELECT revision FROM " table " WHERE revision > ?1 ORDER BY revision, n LIMIT 1 OFFSET ?2),"   \
    " 9223372036854775807), ?3 * ifnull((SELECT min(revision) + 1 FROM " table " WHERE revision > ?1), 0))" \
    " ORDER BY revision, n"

/* Before revision ?1 and after ?2. */
#define BACK(table)                                                                 \
    "SELECT " ENTRY_COLUMNS " FROM " table " WHERE revision < ?1 AND revision > ?2" \
    " ORDER BY revision DESC, n DESC"

static const char *const queries[QUERIES] = {
    [QUERY_BEGIN] = "BEGIN", /* takes no lock on journal.db */
    [QUERY_COMMIT] = "COMMIT",
    [QUERY_ROLLBACK] = "ROLLBACK",
    [QUERY_META] = "SELECT " META_COLUMNS " FROM main.meta WHERE id = 1",
    [QUERY_META_PUT] = "INSERT OR REPLACE INTO main.meta(id, " META_COLUMNS ") VALUES(1, ?, ?, ?)",
    [QUERY_RECORDS] = "SELECT " RECORD_COLUMNS " FROM main.record ORDER BY key",
    [QUERY_RECORDS_OF] = "SELECT " RECORD_COLUMNS " FROM main.record WHERE revision = ? ORDER BY key",
    [QUERY_RECORD_PUT] = "INSERT OR REPLACE INTO main.record(" RECORD_COLUMNS ") VALUES(?, ?, ?, ?)",
    [QUERY_RECORD_DELETE] = "DELETE FROM main.record WHERE key = ?",
    [QUERY_ENTRIES] = "SELECT " ENTRY_COLUMNS " FROM main.journal ORDER BY revision, n",
    [QUERY_ENTRIES_AFTER] = PAGE("main.journal"),
    [QUERY_ENTRY_PUT] = "INSERT INTO main.journal(" ENTRY_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [QUERY_ENTRIES_FIRST] = "SELECT min(revision) FROM main.journal",
    [QUERY_ENTRIES_BEFORE] = BACK("main.journal"),
    [QUERY_PAST_BEFORE] = BACK("past.journal"),
    [QUERY_PAST_AFTER] = PAGE("past.journal"),
    [QUERY_PAST_LAST] = "SELECT max(revision) FROM past.journal",
    [QUERY_BOTH] = "SELECT revision FROM main.journal WHERE revision <= ? LIMIT 1",
    [QUERY_STEP] = "SELECT revision FROM main.journal ORDER BY revision, n LIMIT 1 OFFSET ?",
    [QUERY_COPY] = "INSERT INTO past.journal(" ENTRY_COLUMNS ") SELECT " ENTRY_COLUMNS
                   " FROM main.journal WHERE revision < ? ORDER BY revision, n",
    [QUERY_PAST_FIRST] = "SELECT min(revision) FROM past.journal",
    [QUERY_REMOVE] = "DELETE FROM past.journal WHERE revision <= ?",
    /* Reads only the present rows, unchanged. */
    [QUERY_FORGET] =
        "DELETE FROM main.journal WHERE revision <= ? AND EXISTS (SELECT 1 FROM past.journal AS p"
        " WHERE p.revision = journal.revision AND p.n = journal.n AND p.sum = journal.sum)",
};

int sqlite_damaged(const char *path, const char *what, struct err *e)
{
    return err_set(e, -EILSEQ,
                   "%s is damaged: %s; restore a copy of the directory, or move it away to begin anew", path,
                   what);
}

int sqlite_error(sqlite3 *db, const char *path, struct err *e)
{
    int rc = sqlite3_extended_errcode(db);
    int sys = sqlite3_system_errno(db);
    switch (rc & 0xff) {
    case SQLITE_FULL: return err_set(e, -ENOSPC, "%s: no space left", path);
    case SQLITE_IOERR:
        return err_set(e, -EIO, "%s: %s: %s", path, sqlite3_errstr(rc),
                       sys ? strerror(sys) : "unknown cause");
    case SQLITE_BUSY: return err_set(e, -EBUSY, "another process uses %s", path);
    case SQLITE_CANTOPEN:
        return err_set(e, sys ? -sys : -EIO, "cannot open %s: %s", path,
                       sys ? strerror(sys) : sqlite3_errmsg(db));
    case SQLITE_READONLY: return err_set(e, -EACCES, "%s may not be written", path);
    case SQLITE_ERROR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return sqlite_damaged(path, sqlite3_errmsg(db), e);
    default: return err_set(e, -EIO, "%s: %s", path, sqlite3_errmsg(db));
    }
}

int sqlite_prepare(struct sqlite *s, enum sqlite_query from, enum sqlite_query to, struct err *e)
{
    assert(from <= to && to <= QUERIES);
    for (int i = (int)from; i < (int)to; i++)
        if (!s->stmt[i] && sqlite3_prepare_v3(s->db, queries[i], -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[i],
                                              NULL) != SQLITE_OK)
            return sqlite_error(s->db, s->home.db, e);
    return 0;
}

int sqlite_run(struct sqlite *s, enum sqlite_query q, struct err *e)
{
    assert(s->stmt[q] && "sqlite_prepare came before");
    int rc = sqlite3_step(s->stmt[q]);
    int r = rc == SQLITE_DONE ? 0 : sqlite_error(s->db, s->home.db, e);
    if (rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC)
        s->failed = true;
    sqlite3_reset(s->stmt[q]);
    return r;
}

int sqlite_take(struct sqlite *s, enum sqlite_query q, uint64_t *out, struct err *e)
{
    int rc = sqlite3_step(s->stmt[q]);
    if (rc == SQLITE_ROW)
        *out = (uint64_t)sqlite3_column_int64(s->stmt[q], 0);
    int r = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : sqlite_error(s->db, s->home.journal, e);
    sqlite3_reset(s->stmt[q]);
    return r;
}

int sqlite_meta(struct sqlite *s, struct meta_row *row, struct err *e)
{
    sqlite3_stmt *stmt = s->stmt[QUERY_META];
    int r = 0;
    switch (sqlite3_step(stmt)) {
    case SQLITE_ROW:
        if (!meta_read(stmt, row))
            r = sqlite_damaged(s->home.db, "its term and revision are not what was written", e);
        break;
    case SQLITE_DONE: r = sqlite_damaged(s->home.db, "its term and revision are gone", e); break;
    default: r = sqlite_error(s->db, s->home.db, e);
    }
    sqlite3_reset(stmt);
    return r;
}

int sqlite_usable(const struct sqlite *s, struct err *e)
{
    if (s->failed)
        return err_set(e, -EIO, "%s takes no commit until the outcome of the last one is known", s->home.db);
    return home_check(&s->home, e);
}

/* Begins a change and reads the present term and revision. The caller ends the change, even after an
 * error. */
static int change_begin(struct sqlite *s, struct meta_row *meta, struct err *e)
{
    int r = sqlite_usable(s, e);
    if (!r)
        r = sqlite_run(s, QUERY_BEGIN, e);
    return r ? r : sqlite_meta(s, meta, e);
}

/* For reading: it can be that the state is closed, and cannot be opened again yet. */
static int sqlite_readable(const struct sqlite *s, struct err *e)
{
    return s->is_open ? 0 : err_set(e, -EIO, "%s cannot be opened again yet", s->home.db);
}

/* The sentence says the cause. */
int sqlite_unknown(struct err *e)
{
    if (e)
        e->code = STORE_UNKNOWN;
    return STORE_UNKNOWN;
}

/* Commits when r is 0, and takes everything back when it is not or the commit does not succeed. A full disk
 * has no room for the end of the commit, so nothing of it is there; after any other refusal of the commit
 * itself it may be there. */
static int change_end(struct sqlite *s, int r, const struct meta_row *meta, struct err *e)
{
    if (!r) {
        meta_bind(s->stmt[QUERY_META_PUT], meta);
        r = sqlite_run(s, QUERY_META_PUT, e);
    }
    bool may_be_there = false;
    if (!r) {
        r = sqlite_run(s, QUERY_COMMIT, e);
        may_be_there = r != -ENOSPC && r != -EBUSY;
    }
    if (!sqlite3_get_autocommit(s->db))
        sqlite_run(s, QUERY_ROLLBACK, NULL);
    /* The commit is durable, whatever happens to the mark. */
    if (!r)
        home_mark(&s->home, meta->term, meta->revision, NULL);
    if (!r)
        r = home_check(&s->home, e);
    if (!r || !may_be_there)
        return r;
    s->failed = true;
    return sqlite_unknown(e);
}

static int sqlite_campaign(struct store *store, uint64_t *term, struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    struct meta_row meta = {0};
    int r = change_begin(s, &meta, e);
    meta.term++;
    r = change_end(s, r, &meta, e);
    if (!r)
        *term = meta.term;
    return r;
}

static int op_apply(struct sqlite *s, const struct store_op *op, uint64_t revision, struct err *e)
{
    if (op->value) {
        struct record_row row = {op->key, op->value, revision};
        record_bind(s->stmt[QUERY_RECORD_PUT], &row);
        return sqlite_run(s, QUERY_RECORD_PUT, e);
    }
    sqlite3_bind_text(s->stmt[QUERY_RECORD_DELETE], 1, op->key, -1, SQLITE_STATIC);
    return sqlite_run(s, QUERY_RECORD_DELETE, e);
}

int sqlite_apply(struct sqlite *s, const struct store_batch *b, uint64_t revision, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < b->n_ops && !r; i++)
        r = op_apply(s, &b->ops[i], revision, e);
    for (size_t i = 0; i < b->n_entries && !r; i++) {
        struct entry_row row = {revision, i, b->entries[i]};
        entry_bind(s->stmt[QUERY_ENTRY_PUT], &row);
        r = sqlite_run(s, QUERY_ENTRY_PUT, e);
    }
    return r;
}

int sqlite_put(struct sqlite *s, uint64_t term, const struct store_batch *b, struct meta_row *meta,
               struct err *e)
{
    *meta = (struct meta_row){term, meta->revision + 1};
    int r = sqlite_run(s, QUERY_BEGIN, e);
    if (!r)
        r = sqlite_apply(s, b, meta->revision, e);
    meta_bind(s->stmt[QUERY_META_PUT], meta);
    if (!r)
        r = sqlite_run(s, QUERY_META_PUT, e);
    return r ? r : sqlite_run(s, QUERY_COMMIT, e);
}

static int sqlite_commit(struct store *store, uint64_t term, const struct store_batch *b, uint64_t *revision,
                         struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    struct meta_row meta = {0};
    int r = change_begin(s, &meta, e);
    if (!r && term != meta.term)
        r = err_set(e, -EPERM, "term %" PRIu64 " does not lead; the last that was given is %" PRIu64, term,
                    meta.term);
    meta.revision++;
    if (!r)
        r = sqlite_apply(s, b, meta.revision, e);
    r = change_end(s, r, &meta, e);
    if (!r) {
        *revision = meta.revision;
        s->recent += b->n_entries;
    } else if (r == STORE_UNKNOWN) {
        sqlite_unsure(s, b, meta.revision);
    }
    return r;
}

int sqlite_records(struct sqlite *s, store_record_fn *fn, void *arg, struct err *e)
{
    sqlite3_stmt *stmt = s->stmt[QUERY_RECORDS];
    int r = 0, rc = SQLITE_ROW;
    while (!r && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct record_row row;
        r = record_read(stmt, &row) ? fn(arg, row.key, row.value, e)
                                    : sqlite_damaged(s->home.db, "a record is not what was written", e);
    }
    if (!r && rc != SQLITE_DONE)
        r = sqlite_error(s->db, s->home.db, e);
    sqlite3_reset(stmt);
    return r;
}

static int sqlite_load(struct store *store, store_record_fn *fn, void *arg, uint64_t *revision, struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    struct meta_row meta = {0};
    int r = sqlite_readable(s, e);
    if (!r)
        r = sqlite_meta(s, &meta, e);
    if (!r)
        r = sqlite_records(s, fn, arg, e);
    if (!r)
        *revision = meta.revision;
    return r;
}

int sqlite_page(struct sqlite *s, enum sqlite_query q, struct sqlite_page *p, struct err *e)
{
    sqlite3_stmt *stmt = s->stmt[q];
    sqlite3_bind_int64(stmt, 1, p->after < INT64_MAX ? (int64_t)p->after : INT64_MAX);
    sqlite3_bind_int64(stmt, 2, p->left < INT64_MAX ? (int64_t)p->left : INT64_MAX);
    sqlite3_bind_int(stmt, 3, !p->any);
    int r = 0, rc = SQLITE_ROW;
    while (!r && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct entry_row row;
        r = entry_read(stmt, &row) && row.revision >= p->after
                ? p->fn(p->arg, row.revision, &row.entry, e)
                : sqlite_damaged(q == QUERY_PAST_AFTER ? s->home.journal : s->home.db,
                                 "an entry of the journal is not what was written", e);
        p->after = row.revision;
        p->left -= p->left > 0;
        p->any = true;
    }
    if (!r && rc != SQLITE_DONE)
        r = sqlite_error(s->db, q == QUERY_PAST_AFTER ? s->home.journal : s->home.db, e);
    sqlite3_reset(stmt);
    return r;
}

/* Entries that were copied to journal.db may still be in state.db; they are read from journal.db. */
static int sqlite_journal(struct store *store, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                          struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    struct sqlite_page p = {after, max, false, fn, arg};
    int r = sqlite_readable(s, e);
    if (!r && after < s->past_last)
        r = sqlite_page(s, QUERY_PAST_AFTER, &p, e);
    return r || p.after < s->past_last ? r : sqlite_page(s, QUERY_ENTRIES_AFTER, &p, e);
}

/* Backwards: before this revision and after that one, until at least so many entries were read. */
struct back {
    uint64_t before, after;
    size_t left;
    store_journal_fn *fn;
    void *arg;
};

static int back_read(struct sqlite *s, enum sqlite_query q, struct back *b, struct err *e)
{
    const char *path = q == QUERY_PAST_BEFORE ? s->home.journal : s->home.db;
    sqlite3_stmt *stmt = s->stmt[q];
    sqlite3_bind_int64(stmt, 1, b->before < INT64_MAX ? (int64_t)b->before : INT64_MAX);
    sqlite3_bind_int64(stmt, 2, (int64_t)b->after);
    int r = 0, rc = SQLITE_ROW;
    while (!r && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct entry_row row;
        bool good = entry_read(stmt, &row) && row.revision <= b->before;
        if (good && b->left == 0 && row.revision != b->before)
            break;
        r = good ? b->fn(b->arg, row.revision, &row.entry, e)
                 : sqlite_damaged(path, "an entry of the journal is not what was written", e);
        b->before = row.revision;
        b->left -= b->left > 0;
    }
    if (!r && rc != SQLITE_DONE && rc != SQLITE_ROW)
        r = sqlite_error(s->db, path, e);
    sqlite3_reset(stmt);
    return r;
}

static int journal_back(struct store *store, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                        struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    struct back b = {before, s->past_last, max, fn, arg};
    int r = sqlite_readable(s, e);
    if (!r)
        r = back_read(s, QUERY_ENTRIES_BEFORE, &b, e);
    b.after = 0;
    if (b.before > s->past_last + 1)
        b.before = s->past_last + 1;
    return r || b.left == 0 || s->past_last == 0 ? r : back_read(s, QUERY_PAST_BEFORE, &b, e);
}

static int sqlite_first(struct store *store, uint64_t *revision, struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    *revision = 0;
    int r = sqlite_readable(s, e);
    if (!r && s->past_last)
        r = sqlite_take(s, QUERY_PAST_FIRST, revision, e);
    return r || *revision ? r : sqlite_take(s, QUERY_ENTRIES_FIRST, revision, e);
}

static int sqlite_check(struct store *store, struct err *e)
{
    return sqlite_usable((struct sqlite *)store, e);
}

static void db_close(struct sqlite *s)
{
    sqlite_copy_end(&s->store);
    for (size_t i = 0; i < QUERIES; i++)
        sqlite3_finalize(STEAL(s->stmt[i]));
    sqlite3_close(STEAL(s->db));
}

void sqlite_disconnect(struct sqlite *s)
{
    if (s->db)
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    db_close(s);
}

/* Closing folds the log and removes it by its name, which is not to hit a copy that a person put there. */
void sqlite_close(struct store *store)
{
    struct sqlite *s = (struct sqlite *)store;
    if (s->db && s->home.dir && (!s->is_open || home_check(&s->home, NULL)))
        sqlite_disconnect(s);
    db_close(s);
    sqlite_unsure_fini(s);
    home_fini(&s->home);
    free(s);
}

const struct store_engine sqlite_engine = {
    .close = sqlite_close,
    .campaign = sqlite_campaign,
    .load = sqlite_load,
    .commit = sqlite_commit,
    .resolve = sqlite_resolve,
    .journal = sqlite_journal,
    .journal_back = journal_back,
    .tidy = past_tidy,
    .first = sqlite_first,
    .check = sqlite_check,
    .copy = sqlite_copy_step,
    .copy_end = sqlite_copy_end,
};
