/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of both databases while commits go on. The state is locked against every other connection, so the
 * copy is made by its own one: SQLite carries what that connection commits into a copy that is under way.
 * journal.db comes first and does not change meanwhile, because nothing is tidied; so it never has entries
 * that state.db lacks. A copy is a file of its own, without a log beside it.
 *
 * Nobody counts on a copy before it is whole and synced, so its writes are neither logged nor synced here.
 */
#include "store/sqlite.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP_PAGES = 64 }; /* 256 KiB */

static const char copy_settings[] = "PRAGMA locking_mode = EXCLUSIVE;"
                                    "PRAGMA journal_mode = OFF;"
                                    "PRAGMA synchronous = OFF;";

struct sqlite_copy {
    enum home_db which; /* that is being copied */
    char *path;
    sqlite3 *to;
    sqlite3_backup *run;
};

static const struct {
    const char *schema, *name;
} sources[HOME_DBS] = {[HOME_STATE] = {"main", "state.db"}, [HOME_JOURNAL] = {"past", "journal.db"}};

/* SQLite tells what went wrong when the run has ended. */
static int copy_failed(struct sqlite_copy *k, struct err *e)
{
    sqlite3_backup_finish(STEAL(k->run));
    return sqlite_error(k->to, k->path, e);
}

static void part_close(struct sqlite_copy *k)
{
    if (k->run)
        sqlite3_backup_finish(STEAL(k->run));
    sqlite3_close(STEAL(k->to));
    free(STEAL(k->path));
}

void sqlite_copy_end(struct store *store)
{
    struct sqlite *s = (struct sqlite *)store;
    if (!s->copy)
        return;
    part_close(s->copy);
    free(STEAL(s->copy));
}

static int file_make(const char *path, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(e, -errno, "cannot make %s: %s", path, strerror(errno));
    close(fd);
    return 0;
}

static int part_begin(struct sqlite *s, enum home_db which, const char *dir, struct err *e)
{
    struct sqlite_copy *k = s->copy;
    struct text path = {0};
    text_printf(&path, "%s/%s", dir, sources[which].name);
    k->which = which;
    k->path = text_take(&path);
    int r = file_make(k->path, e);
    if (!r)
        r = sqlite_connect(k->path, copy_settings, &k->to, e);
    if (!r)
        k->run = sqlite3_backup_init(k->to, "main", s->db, sources[which].schema);
    return r || k->run ? r : sqlite_error(k->to, k->path, e);
}

/* The pages say that there is a log, as the source has one; the copy is to need none. */
static int part_end(struct sqlite *s, struct err *e)
{
    struct sqlite_copy *k = s->copy;
    if (sqlite3_backup_finish(STEAL(k->run)) != SQLITE_OK)
        return sqlite_error(k->to, k->path, e);
    int r = sqlite_exec(k->to, k->path, "PRAGMA journal_mode = DELETE", e);
    part_close(k);
    return r;
}

static int copy_begin(struct sqlite *s, const char *dir, struct store_copied *copied, struct err *e)
{
    if (copied->begun)
        return err_set(e, -EAGAIN, "%s was opened anew while it was copied", s->home.db);
    int r = sqlite_usable(s, e);
    if (r)
        return r;
    copied->begun = true;
    copied->journal = s->home.has_journal;
    s->copy = mem_alloc(sizeof *s->copy);
    return part_begin(s, copied->journal ? HOME_JOURNAL : HOME_STATE, dir, e);
}

/* A part is complete. That of the state is what was committed by now. */
static int copy_next(struct sqlite *s, const char *dir, struct store_copied *copied, struct err *e)
{
    struct meta_row meta = {0};
    bool last = s->copy->which == HOME_STATE;
    int r = part_end(s, e);
    if (r || !last)
        return r ? r : part_begin(s, HOME_STATE, dir, e);
    r = sqlite_meta(s, &meta, e);
    copied->term = meta.term;
    copied->revision = meta.revision;
    copied->done = r == 0;
    sqlite_copy_end(&s->store);
    return r;
}

int sqlite_copy_step(struct store *store, const char *dir, struct store_copied *copied, struct err *e)
{
    struct sqlite *s = (struct sqlite *)store;
    int r = s->copy ? sqlite_usable(s, e) : copy_begin(s, dir, copied, e);
    if (!r)
        switch (sqlite3_backup_step(s->copy->run, STEP_PAGES)) {
        case SQLITE_OK: break;
        case SQLITE_DONE: r = copy_next(s, dir, copied, e); break;
        default: r = copy_failed(s->copy, e);
        }
    if (r)
        sqlite_copy_end(store);
    return r;
}
