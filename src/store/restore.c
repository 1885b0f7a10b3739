/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state is put into an empty directory. Its state.db gets its name last, by a rename, when it is complete,
 * checked and synced; until then the directory has a mark without a state, with which no controller begins.
 */
#include "store/restore.h"

#include "base/text.h"
#include "store/sqlite.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct restore {
    struct home home;
    bool done;
};

/* --- a copy is looked at ---------------------------------------------------------------------- */

/* A connection that is no store: it has no lock and no log. */
static void bare_close(struct sqlite *s)
{
    sqlite_disconnect(s);
    free(s->home.db);
}

static int bare_open(struct sqlite *s, const char *path, int flags, struct err *e)
{
    s->home.db = mem_dup(path);
    if (sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL) != SQLITE_OK)
        return sqlite_error(s->db, path, e);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return 0;
}

int restore_look(const char *path, store_record_fn *fn, void *arg, struct restore_look *out, struct err *e)
{
    struct sqlite s = {0};
    struct meta_row meta = {0};
    int format = 0;
    int r = bare_open(&s, path, SQLITE_OPEN_READONLY, e);
    if (!r)
        r = sqlite_state_format(&s, &format, e);
    if (!r && format == ROW_FORMAT)
        r = sqlite_state_judge(&s, &meta, e);
    if (!r && format == ROW_FORMAT)
        r = sqlite_records(&s, fn, arg, e);
    if (!r && format < ROW_FORMAT)
        r = sqlite_prepare(&s, QUERY_META, QUERY_META + 1, e);
    if (!r && format < ROW_FORMAT)
        r = sqlite_meta(&s, &meta, e);
    if (!r)
        *out = (struct restore_look){meta.term, meta.revision};
    bare_close(&s);
    return r;
}

/* --- a directory gets a state ------------------------------------------------------------------ */

int restore_begin(const char *dir, struct restore **out, struct err *e)
{
    struct restore *r = mem_alloc(sizeof *r);
    int rc = home_init_empty(&r->home, dir, e);
    if (rc < 0) {
        free(r);
        return rc;
    }
    *out = r;
    return 0;
}

/* Where root restores for another user, that one has the directory. */
static int file_give(const struct restore *r, int fd, const char *name, struct err *e)
{
    struct stat dir;
    if (fstat(r->home.dir_fd, &dir) == 0 &&
        (dir.st_uid == geteuid() || fchown(fd, dir.st_uid, dir.st_gid) == 0))
        return 0;
    return err_set(e, -errno, "cannot give %s/%s to the owner of its directory: %s", r->home.dir, name,
                   strerror(errno));
}

int restore_file(struct restore *r, const char *name, int *fd, struct err *e)
{
    assert(!r->done && *name != '/');
    bool is_state = strcmp(name, "state.db") == 0;
    *fd = openat(r->home.dir_fd, is_state ? "state.db.new" : name,
                 O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return err_set(e, -errno, "cannot make %s/%s: %s", r->home.dir, name, strerror(errno));
    int rc = file_give(r, *fd, name, e);
    if (rc < 0)
        close(*fd);
    return rc;
}

/* Opens the state that has not got its name yet, with the journal beside it. */
static int fresh_open(struct restore *r, struct sqlite *s, struct meta_row *meta, struct err *e)
{
    struct stat st;
    int rc = bare_open(s, r->home.fresh[HOME_STATE], SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, e);
    if (!rc)
        rc = sqlite_exec(s->db, s->home.db, "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY", e);
    if (!rc)
        rc = sqlite_state_judge(s, meta, e);
    s->home.journal = mem_dup(r->home.journal);
    s->home.has_journal = fstatat(r->home.dir_fd, "journal.db", &st, AT_SYMLINK_NOFOLLOW) == 0;
    return rc ? rc : past_look(s, meta->revision, e);
}

static int fresh_put(struct restore *r, uint64_t term, const struct store_batch *b, struct meta_row *meta,
                     struct err *e)
{
    struct sqlite s = {.store.engine = &sqlite_engine};
    int rc = fresh_open(r, &s, meta, e);
    if (!rc)
        rc = sqlite_put(&s, term, b, meta, e);
    free(STEAL(s.home.journal));
    bare_close(&s);
    return rc;
}

int restore_end(struct restore *r, uint64_t term, const struct store_batch *b, uint64_t *revision,
                struct err *e)
{
    struct meta_row meta = {0};
    int rc = fresh_put(r, term, b, &meta, e);
    if (!rc)
        rc = file_give(r, r->home.lock_fd, "state.lock", e);
    if (!rc)
        rc = home_mark(&r->home, meta.term, meta.revision, e);
    if (!rc)
        rc = home_sync(&r->home, e);
    if (!rc)
        rc = home_publish(&r->home, HOME_STATE, e);
    if (rc)
        return rc;
    r->done = true;
    *revision = meta.revision;
    return home_filled(&r->home, e);
}

void restore_close(struct restore *r)
{
    if (!r)
        return;
    if (r->done)
        home_fini(&r->home);
    else
        home_give_up(&r->home);
    free(r);
}
