/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The older part of the journal, in a file of its own. A start reads all of state.db, and must not take
 * longer each year. So state.db keeps the newest RECENT entries, and earlier ones move to journal.db, which a
 * start only opens. A page of journal.db is checked, by the sums of its rows, when it is read.
 *
 * A step copies some entries, durably; the next removes them from state.db. In between they are in both
 * files, and are read from journal.db. Each step is a transaction of one file, because write-ahead logs
 * promise nothing about two.
 */
#include "store/sqlite.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>

enum {
    APPLICATION_ID = 0x4674746a, /* "Fttj" */
    RECENT = 10000,              /* entries that stay in state.db */
    STEP = 256                   /* entries that move at once; more than a commit has */
};
_Static_assert((int)STEP > (int)STORE_ENTRIES_MAX, "one revision at least moves in a step");

static int past_make(struct sqlite *s, struct err *e)
{
    int r = home_prepare(&s->home, HOME_JOURNAL, e);
    if (r)
        return r;
    const char *path = s->home.fresh[HOME_JOURNAL];
    sqlite3 *db = NULL;
    CLEANUP_TEXT struct text sql = {0};
    text_printf(&sql, "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d; %s COMMIT",
                APPLICATION_ID, ROW_FORMAT, row_journal_schema);
    r = sqlite_connect(path, "PRAGMA synchronous = FULL", &db, e);
    if (!r)
        r = sqlite_exec(db, path, sql.s, e);
    sqlite3_close(db);
    return r ? r : home_publish(&s->home, HOME_JOURNAL, e);
}

static int past_connect(struct sqlite *s, struct err *e)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(s->db, "ATTACH ? AS past", -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(stmt, 1, s->home.journal, -1, SQLITE_STATIC);
        rc = sqlite3_step(stmt);
    }
    int r = rc == SQLITE_DONE ? 0 : sqlite_error(s->db, s->home.journal, e);
    sqlite3_finalize(stmt);
    return r ? r : sqlite_exec(s->db, s->home.journal, "PRAGMA past.locking_mode = EXCLUSIVE", e);
}

static int past_format(struct sqlite *s, struct err *e)
{
    const struct sqlite_file file = {"past", s->home.journal, APPLICATION_ID, "a journal of Fettle"};
    int format = ROW_FORMAT;
    int r = sqlite_format(s, &file, &format, e);
    if (!r && format < ROW_FORMAT)
        r = sqlite_upgrade(s, &file, format, e);
    return r || format == ROW_FORMAT ? r : sqlite_exec(s->db, s->home.journal, "COMMIT", e);
}

static int past_attach(struct sqlite *s, struct err *e)
{
    int r = sqlite3_db_filename(s->db, "past") ? 0 : past_connect(s, e);
    if (!r)
        r = past_format(s, e);
    if (!r) /* the first transaction makes the log, which is watched too */
        r = sqlite_exec(s->db, s->home.journal,
                        "PRAGMA past.synchronous = FULL; PRAGMA past.journal_mode = WAL;"
                        "BEGIN IMMEDIATE; ROLLBACK",
                        e);
    if (!r)
        r = sqlite_prepare(s, QUERY_PAST, QUERIES, e);
    if (!r)
        r = sqlite_take(s, QUERY_PAST_LAST, &s->past_last, e);
    s->copied = true;
    return r;
}

/* journal.db is never ahead of the state. */
static int past_fits(const struct sqlite *s, uint64_t revision, struct err *e)
{
    if (s->past_last <= revision)
        return 0;
    return err_set(e, -EILSEQ,
                   "%s has entries up to revision %" PRIu64 ", but %s stands at revision %" PRIu64
                   "; restore both from one copy, or move %s away to go on without its entries",
                   s->home.journal, s->past_last, s->home.db, revision, s->home.journal);
}

int past_open(struct sqlite *s, uint64_t revision, struct err *e)
{
    int r = s->home.has_journal ? past_attach(s, e) : 0;
    return r ? r : past_fits(s, revision, e);
}

int past_look(struct sqlite *s, uint64_t revision, struct err *e)
{
    int r = s->home.has_journal ? past_connect(s, e) : 0;
    if (!r && s->home.has_journal)
        r = past_format(s, e);
    if (!r && s->home.has_journal)
        r = sqlite_prepare(s, QUERY_PAST_LAST, QUERY_PAST_LAST + 1, e);
    if (!r && s->home.has_journal)
        r = sqlite_take(s, QUERY_PAST_LAST, &s->past_last, e);
    return r ? r : past_fits(s, revision, e);
}

static int past_begin(struct sqlite *s, struct err *e)
{
    int r = s->home.has_journal ? 0 : past_make(s, e);
    s->home.has_journal = r == 0;
    if (!r)
        r = past_attach(s, e);
    return r ? r : home_watch(&s->home, true, e);
}

static int past_copy(struct sqlite *s, struct err *e)
{
    uint64_t before = 0;
    sqlite3_bind_int64(s->stmt[QUERY_STEP], 1, STEP);
    int r = sqlite_take(s, QUERY_STEP, &before, e);
    sqlite3_bind_int64(s->stmt[QUERY_COPY], 1, (int64_t)before);
    if (!r)
        r = sqlite_run(s, QUERY_COPY, e);
    if (!r)
        r = sqlite_take(s, QUERY_PAST_LAST, &s->past_last, e);
    s->copied = true;
    return r;
}

static int past_forget(struct sqlite *s, struct err *e)
{
    uint64_t both = 0;
    sqlite3_bind_int64(s->stmt[QUERY_FORGET], 1, (int64_t)s->past_last);
    sqlite3_bind_int64(s->stmt[QUERY_BOTH], 1, (int64_t)s->past_last);
    int r = sqlite_run(s, QUERY_FORGET, e);
    if (r)
        return r;
    s->recent -= (uint64_t)sqlite3_changes64(s->db);
    r = sqlite_take(s, QUERY_BOTH, &both, e);
    if (!r && both)
        r = err_set(e, -EILSEQ,
                    "%s and %s do not tell the same of revision %" PRIu64 "; restore both from one copy",
                    s->home.db, s->home.journal, both);
    s->copied = r != 0;
    return r;
}

static bool past_moves(const struct sqlite *s)
{
    return s->copied || s->recent >= RECENT + STEP;
}

static int past_move(struct sqlite *s, struct err *e)
{
    int r = s->home.n_files < HOME_FILES ? past_begin(s, e) : 0;
    return r ? r : s->copied ? past_forget(s, e) : past_copy(s, e);
}

int past_tidy(struct store *store, const struct store_keep *keep, struct wall now, bool *more, struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    *more = false;
    int r = sqlite_usable(s, e);
    if (!r && past_moves(s)) {
        *more = true;
        r = past_move(s, e);
    } else if (!r && s->past_last) {
        r = keep_step(s, keep, now, more, e);
    }
    if (!r)
        r = sqlite_usable(s, e);
    *more = r == 0 && *more;
    return r && s->failed ? sqlite_unknown(e) : r;
}
