/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates the state of the embedded engine, and judges an existing one.
 *
 * One process at a time: home.c holds a lock against Fettle's own processes, and SQLite's exclusive mode
 * keeps others out. It also avoids the shared memory file, and with it one more way to meet a full disk.
 *
 * SQLite finds damage to its trees (quick_check), but not damage to the content of rows or to their order. So
 * each row has a checksum and all rows are read once, except for the older part of the journal, which would
 * take longer each year (past.c). The mark proves that the newest commits are there: a log that was cut or
 * removed looks like a shorter one.
 *
 * Nothing is changed before the state was found good. Until then closing does not fold the log either.
 */
#include "store/sqlite.h"

#include "base/text.h"
#include "store/begun.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
    APPLICATION_ID = 0x4674746c, /* "Fttl" */
    BUSY_MS = 1000
};

static const char state_settings[] = "PRAGMA main.locking_mode = EXCLUSIVE;"
                                     "PRAGMA main.synchronous = FULL;"
                                     "PRAGMA temp_store = MEMORY;"
                                     "PRAGMA cell_size_check = ON;"
                                     "PRAGMA wal_autocheckpoint = 1000;";

int sqlite_exec(sqlite3 *db, const char *path, const char *sql, struct err *e)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_error(db, path, e);
}

/* SQLite knows one error for a full disk; quotas and file size limits have others */
static ssize_t write_at(int fd, const void *bytes, size_t len, off_t at)
{
    ssize_t n = pwrite(fd, bytes, len, at);
    if (n < 0 && (errno == EDQUOT || errno == EFBIG))
        errno = ENOSPC;
    return n;
}

static void write_replace(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)write_at);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)write_at);
}

int sqlite_connect(const char *path, const char *settings, sqlite3 **db, struct err *e)
{
    write_replace();
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, db, flags, NULL) != SQLITE_OK)
        return sqlite_error(*db, path, e);
    sqlite3_busy_timeout(*db, BUSY_MS);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return sqlite_exec(*db, path, settings, e);
}

static int state_make(struct sqlite *s, struct err *e)
{
    int r = home_prepare(&s->home, HOME_STATE, e);
    if (r)
        return r;
    const char *path = s->home.fresh[HOME_STATE];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    CLEANUP_TEXT struct text sql = {0};
    text_printf(&sql, "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d; %s", APPLICATION_ID,
                ROW_FORMAT, row_schema);
    r = sqlite_connect(path, state_settings, &db, e);
    if (!r)
        r = sqlite_exec(db, path, sql.s, e);
    if (!r && sqlite3_prepare_v2(db, "INSERT INTO meta VALUES(1, ?, ?, ?)", -1, &stmt, NULL) != SQLITE_OK)
        r = sqlite_error(db, path, e);
    if (!r) {
        meta_bind(stmt, &(struct meta_row){0});
        r = sqlite3_step(stmt) == SQLITE_DONE ? 0 : sqlite_error(db, path, e);
    }
    sqlite3_finalize(stmt);
    if (!r)
        r = sqlite_exec(db, path, "COMMIT", e);
    sqlite3_close(db);
    return r ? r : home_publish(&s->home, HOME_STATE, e);
}

int sqlite_number(sqlite3 *db, const char *path, const char *sql, int64_t *out, struct err *e)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    int r = rc == SQLITE_ROW ? 0 : sqlite_error(db, path, e);
    if (!r)
        *out = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return r;
}

static int file_number(struct sqlite *s, const struct sqlite_file *f, const char *name, int64_t *out,
                       struct err *e)
{
    CLEANUP_TEXT struct text sql = {0};
    text_printf(&sql, "PRAGMA %s.%s", f->schema, name);
    return sqlite_number(s->db, f->path, sql.s, out, e);
}

int sqlite_format(struct sqlite *s, const struct sqlite_file *f, int *format, struct err *e)
{
    CLEANUP_TEXT struct text what = {0};
    int64_t id = 0, version = 0;
    int r = file_number(s, f, "application_id", &id, e);
    if (!r)
        r = file_number(s, f, "user_version", &version, e);
    if (r)
        return r;
    text_printf(&what, "it is not %s", f->noun);
    if (id != f->application_id)
        return sqlite_damaged(f->path, what.s, e);
    if (version > ROW_FORMAT)
        return err_set(e, -EILSEQ,
                       "%s has format %" PRId64 ", this fettled knows formats up to %d; use a newer one",
                       f->path, version, ROW_FORMAT);
    *format = (int)version;
    return version > 0 ? 0 : sqlite_damaged(f->path, "it has no format", e);
}

int sqlite_upgrade(struct sqlite *s, const struct sqlite_file *f, int format, struct err *e)
{
    static const char *const added[] = {[1] = "about", [2] = "fields"}; /* by the format that lacks the
                                                                           column */
    CLEANUP_TEXT struct text sql = {0};
    text_add(&sql, "BEGIN IMMEDIATE;");
    for (int i = format; i < ROW_FORMAT; i++)
        text_printf(&sql, "ALTER TABLE %s.journal ADD COLUMN %s TEXT NOT NULL DEFAULT '';", f->schema,
                    added[i]);
    text_printf(&sql, "PRAGMA %s.user_version = %d", f->schema, ROW_FORMAT);
    return sqlite_exec(s->db, f->path, sql.s, e);
}

static int trees_check(struct sqlite *s, struct err *e)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(s->db, "PRAGMA main.quick_check(1)", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    int r = 0;
    if (rc != SQLITE_ROW)
        r = sqlite_error(s->db, s->home.db, e);
    else if (strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") != 0)
        r = sqlite_damaged(s->home.db, (const char *)sqlite3_column_text(stmt, 0), e);
    sqlite3_finalize(stmt);
    return r;
}

static bool records_ordered(sqlite3_stmt *stmt, int *rc)
{
    CLEANUP_TEXT struct text last = {0};
    struct record_row row;
    while ((*rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (!record_read(stmt, &row) || (last.s && strcmp(last.s, row.key) >= 0))
            return false;
        text_clear(&last);
        text_add(&last, row.key);
    }
    return true;
}

static bool entries_ordered(sqlite3_stmt *stmt, uint64_t *entries, int *rc)
{
    struct entry_row row, last = {0};
    for (*entries = 0; (*rc = sqlite3_step(stmt)) == SQLITE_ROW; ++*entries) {
        if (!entry_read(stmt, &row) || row.revision < last.revision)
            return false;
        if (row.revision == last.revision ? row.n != last.n + 1 : row.n != 0)
            return false;
        last = row;
    }
    return true;
}

/* Reads every row and checks its content and order. */
static int rows_check(struct sqlite *s, struct err *e)
{
    int rc = SQLITE_DONE;
    bool good = records_ordered(s->stmt[QUERY_RECORDS], &rc);
    if (good && rc == SQLITE_DONE)
        good = entries_ordered(s->stmt[QUERY_ENTRIES], &s->recent, &rc);
    int r = 0;
    if (!good)
        r = sqlite_damaged(s->home.db, "a row is not what was written", e);
    else if (rc != SQLITE_DONE)
        r = sqlite_error(s->db, s->home.db, e);
    sqlite3_reset(s->stmt[QUERY_RECORDS]);
    sqlite3_reset(s->stmt[QUERY_ENTRIES]);
    return r;
}

/* Checks that the state is not older than its mark. */
static int mark_check(struct sqlite *s, struct meta_row *meta, struct err *e)
{
    int r = sqlite_meta(s, meta, e);
    const struct home *h = &s->home;
    if (r || !h->marked || (meta->term >= h->term && meta->revision >= h->revision))
        return r;
    return err_set(
        e, -EILSEQ,
        "%s stands at revision %" PRIu64 " (term %" PRIu64 "), but revision %" PRIu64 " (term %" PRIu64
        ") was committed; restore a newer copy with its state.db-wal, or remove state.lock to go on "
        "without what is lost",
        h->db, meta->revision, meta->term, h->revision, h->term);
}

int sqlite_state_format(struct sqlite *s, int *format, struct err *e)
{
    const struct sqlite_file file = {"main", s->home.db, APPLICATION_ID, "a state of Fettle"};
    return sqlite_format(s, &file, format, e);
}

int sqlite_state_judge(struct sqlite *s, struct meta_row *meta, struct err *e)
{
    const struct sqlite_file file = {"main", s->home.db, APPLICATION_ID, "a state of Fettle"};
    int format = ROW_FORMAT;
    int r = sqlite_state_format(s, &format, e);
    if (!r && format < ROW_FORMAT)
        r = sqlite_upgrade(s, &file, format, e);
    if (!r)
        r = trees_check(s, e);
    if (!r)
        r = sqlite_prepare(s, 0, QUERY_PAST, e);
    if (!r)
        r = rows_check(s, e);
    if (!r)
        r = mark_check(s, meta, e);
    return r || format == ROW_FORMAT ? r : sqlite_exec(s->db, s->home.db, "COMMIT", e);
}

int sqlite_state_open(struct sqlite *s, struct err *e)
{
    struct meta_row meta = {0};
    int r = sqlite_connect(s->home.db, state_settings, &s->db, e);
    if (!r && sqlite3_db_readonly(s->db, "main"))
        r = sqlite_damaged(s->home.db, "its header forbids writing", e);
    if (!r)
        r = sqlite_state_judge(s, &meta, e);
    if (!r)
        r = past_open(s, meta.revision, e);
    if (!r)
        r = sqlite_exec(s->db, s->home.db, "PRAGMA main.journal_mode = WAL", e);
    bool marked = s->home.marked && s->home.term == meta.term && s->home.revision == meta.revision;
    if (!r && !marked)
        r = home_mark(&s->home, meta.term, meta.revision, e);
    if (!r)
        r = home_sync(&s->home, e);
    if (!r)
        r = begun_note(s->home.dir, e);
    if (!r) /* the first transaction makes the log, which is watched too */
        r = sqlite_exec(s->db, s->home.db, "BEGIN IMMEDIATE; ROLLBACK", e);
    if (!r)
        r = home_watch(&s->home, s->home.has_journal, e);
    if (!r)
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return r;
}

/* The process before may have ended after a refused sync (sqlite_resolve.c). A full disk is read all the
 * same, and takes nothing until there is room. */
static int log_settle(struct sqlite *s, struct err *e)
{
    int r = sqlite_fold(s, e);
    return r == -ENOSPC ? 0 : r;
}

int store_open_sqlite(const char *dir, struct store **out, struct err *e)
{
    struct sqlite *s = mem_alloc(sizeof *s);
    s->store.engine = &sqlite_engine;
    bool found = false;
    int r = home_init(&s->home, dir, &found, e);
    if (!r && !found)
        r = state_make(s, e);
    if (!r)
        r = sqlite_state_open(s, e);
    if (!r)
        r = log_settle(s, e);
    s->is_open = r == 0;
    if (r) {
        sqlite_close(&s->store);
        return r;
    }
    *out = &s->store;
    return 0;
}
