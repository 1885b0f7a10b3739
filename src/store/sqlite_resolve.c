/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of a commit whose outcome is not known. The connection is opened anew, with all the checks of a
 * start, and shows whether the commit is in the log. That is what the kernel has in memory: after a refused
 * sync the kernel takes the pages for clean, so the disk may have less, and another sync says nothing. So all
 * of the log is written into the databases and synced there, and the log is cut to nothing, durably: a log
 * that the disk has a part of must not be found again over databases that are newer.
 *
 * One process has the directory, so there is one commit at most that is not known, and its records tell
 * which. The keys that it deletes are not in the tables any more, or still are when the commit is not there:
 * they are kept from the commit.
 */
#include "store/sqlite.h"

#include "base/text.h"
#include "store/change.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void unsure_forget(struct sqlite *s)
{
    for (size_t i = 0; i < s->unsure.n; i++)
        free(s->unsure.deleted[i]);
    free(s->unsure.deleted);
    s->unsure.deleted = NULL;
    s->unsure.n = 0;
    s->unsure.revision = 0;
}

void sqlite_unsure_fini(struct sqlite *s)
{
    unsure_forget(s);
}

void sqlite_unsure(struct sqlite *s, const struct store_batch *b, uint64_t revision)
{
    assert(revision > 0 && s->failed && "a commit whose outcome is known is not unsure");
    unsure_forget(s);
    s->unsure.revision = revision;
    s->unsure.deleted = mem_alloc((b->n_ops + 1) * sizeof *s->unsure.deleted);
    for (size_t i = 0; i < b->n_ops; i++)
        if (!b->ops[i].value)
            s->unsure.deleted[s->unsure.n++] = mem_dup(b->ops[i].key);
}

int sqlite_fold(struct sqlite *s, struct err *e)
{
    if (sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) != SQLITE_OK)
        return sqlite_error(s->db, s->home.db, e);
    return home_sync_logs(&s->home, e);
}

/* Until it returns 0, `failed` stands and nothing is read or written. */
static int sqlite_reopen(struct sqlite *s, struct err *e)
{
    int r = home_check(&s->home, e);
    if (r)
        return r;
    s->is_open = false;
    sqlite_disconnect(s);
    r = sqlite_state_open(s, e);
    if (!r)
        r = sqlite_fold(s, e);
    s->is_open = r == 0;
    s->failed = r != 0;
    return r;
}

static int on_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct store_change *c = arg;
    if (revision == c->revision)
        change_add_entry(c, entry);
    return 0;
}

static int puts_read(struct sqlite *s, struct store_change *c, struct err *e)
{
    sqlite3_stmt *stmt = s->stmt[QUERY_RECORDS_OF];
    int r = 0, rc = SQLITE_ROW;
    sqlite3_bind_int64(stmt, 1, (int64_t)c->revision);
    while (!r && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct record_row row;
        if (record_read(stmt, &row))
            change_add_op(c, row.key, row.value);
        else
            r = sqlite_damaged(s->home.db, "a record is not what was written", e);
    }
    if (!r && rc != SQLITE_DONE)
        r = sqlite_error(s->db, s->home.db, e);
    sqlite3_reset(stmt);
    return r;
}

static int change_read(struct sqlite *s, uint64_t after, uint64_t revision, store_change_fn *fn, void *arg,
                       struct err *e)
{
    if (revision != after + 1 || revision != s->unsure.revision)
        return err_set(e, -ERANGE,
                       "%s stands at revision %" PRIu64 ", and what was committed since revision %" PRIu64
                       " is not known",
                       s->home.db, revision, after);
    struct store_change *c = change_create(revision);
    int r = puts_read(s, c, e);
    for (size_t i = 0; i < s->unsure.n && !r; i++)
        change_add_op(c, s->unsure.deleted[i], NULL);
    if (!r)
        r = store_journal(&s->store, after, STORE_ENTRIES_MAX, on_entry, c, e);
    if (r)
        change_destroy(c);
    else
        fn(arg, c);
    return r;
}

int sqlite_resolve(struct store *store, uint64_t after, store_change_fn *fn, void *arg, struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    struct meta_row meta = {0};
    int r = s->failed ? sqlite_reopen(s, e) : 0;
    if (!r)
        r = sqlite_meta(s, &meta, e);
    if (!r && meta.revision > after)
        r = change_read(s, after, meta.revision, fn, arg, e);
    if (!r)
        unsure_forget(s);
    return r;
}
