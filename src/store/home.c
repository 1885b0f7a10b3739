/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The danger here is a state that is silently begun anew: SQLite takes an empty file for an empty database, a
 * missing log for nothing to do, and a cut log for a shorter one. So every file is examined here before
 * SQLite gets it, a new state appears by rename, and the mark beside it remembers its last revision. The mark
 * costs a commit one small write and no sync.
 */
#include "store/home.h"

#include "base/text.h"
#include "store/begun.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DB "state.db"
#define DB_WAL "state.db-wal"
#define LOCK "state.lock"
#define JOURNAL "journal.db"
#define JOURNAL_WAL "journal.db-wal"

/* The last two exist only with a journal.db. */
enum { HOME_FILES_STATE = 3 };
static const char *const watched[HOME_FILES] = {DB, DB_WAL, LOCK, JOURNAL, JOURNAL_WAL};

static const struct {
    const char *name, *fresh, *left; /* `left` is a file of an interrupted creation */
} dbs[HOME_DBS] = {[HOME_STATE] = {DB, DB ".new", DB ".new-journal"},
                   [HOME_JOURNAL] = {JOURNAL, JOURNAL ".new", JOURNAL ".new-journal"}};
static const char db_magic[16] = "SQLite format 3";

enum { DB_HEADER_BYTES = 100, MARK_BYTES = 70 };

static char *path_join(const char *dir, const char *name)
{
    struct text t = {0};
    text_printf(&t, "%s/%s", dir, name);
    return text_take(&t);
}

static int dir_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fsync(fd) ? -errno : 0;
    close(fd);
    return r;
}

static int dir_make(const char *dir, struct err *e)
{
    if (mkdir(dir, 0700)) {
        int code = errno;
        return code == EEXIST ? 0 : err_set(e, -code, "cannot make directory %s: %s", dir, strerror(code));
    }
    CLEANUP_FREE char *copy = mem_dup(dir);
    int r = dir_sync(dirname(copy));
    return r ? err_set(e, r, "cannot sync the directory that holds %s: %s", dir, strerror(-r)) : 0;
}

static void mark_format(char buf[static MARK_BYTES + 1], uint64_t term, uint64_t revision)
{
    snprintf(buf, MARK_BYTES + 1, "fettle state: term %020" PRIu64 " revision %020" PRIu64 "\n", term,
             revision);
}

static int mark_read(struct home *h, const char *dir, struct err *e)
{
    char found[MARK_BYTES + 2] = "", same[MARK_BYTES + 1];
    ssize_t n = pread(h->lock_fd, found, MARK_BYTES + 1, 0);
    if (n < 0) {
        int code = errno;
        return err_set(e, -code, "cannot read %s/" LOCK ": %s", dir, strerror(code));
    }
    if (n == 0)
        return 0;
    uint64_t term = 0, revision = 0;
    int fields = sscanf(found, "fettle state: term %20" SCNu64 " revision %20" SCNu64, &term, &revision);
    mark_format(same, term, revision);
    if (fields != 2 || strcmp(found, same) != 0)
        return err_set(
            e, -EILSEQ,
            "%s/" LOCK " is damaged; with no fettled running, remove it to go on with " DB " as it is", dir);
    h->marked = true;
    h->term = term;
    h->revision = revision;
    return 0;
}

static int lock_take(struct home *h, const char *dir, struct err *e)
{
    h->lock_fd = openat(h->dir_fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (h->lock_fd < 0) {
        int code = errno;
        return err_set(e, -code, "cannot open %s/" LOCK ": %s", dir, strerror(code));
    }
    if (flock(h->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    int code = errno;
    if (code == EWOULDBLOCK)
        return err_set(e, -EBUSY, "another process uses the state in %s", dir);
    return err_set(e, -code, "cannot lock %s/" LOCK ": %s", dir, strerror(code));
}

static bool home_exists(const struct home *h, const char *name)
{
    return faccessat(h->dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* There is no state.db: did one ever exist? The sentence names all traces, so that a person who means to
 * begin anew needs to read it only once. */
static int absent_check(const struct home *h, struct err *e)
{
    static const char *const left[] = {DB_WAL, DB "-journal", DB "-shm", JOURNAL, JOURNAL "-wal"};
    CLEANUP_TEXT struct text traces = {0};
    if (h->marked)
        text_printf(&traces, "%s/" LOCK, h->dir);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (home_exists(h, left[i]))
            text_printf(&traces, "%s%s/%s", traces.len ? " " : "", h->dir, left[i]);
    CLEANUP_FREE char *begun = begun_find(h->dir);
    if (begun)
        text_printf(&traces, "%s%s", traces.len ? " " : "", begun);
    if (!traces.len)
        return 0;
    return err_set(
        e, -EILSEQ,
        "%s is gone, and it was there once; mount or restore its directory, or, to begin anew without what "
        "is lost: rm %s",
        h->db, traces.s);
}

static int present_check(const char *path, int fd, struct err *e)
{
    char header[DB_HEADER_BYTES];
    struct stat st;
    if (fstat(fd, &st)) {
        int code = errno;
        return err_set(e, -code, "cannot read %s: %s", path, strerror(code));
    }
    const char *wrong = NULL;
    if (!S_ISREG(st.st_mode))
        wrong = "is not a file";
    else if (st.st_size == 0)
        wrong = "is empty";
    else if (pread(fd, header, sizeof header, 0) != (ssize_t)sizeof header)
        wrong = "is cut off";
    else if (memcmp(header, db_magic, sizeof db_magic) != 0)
        wrong = "is not a state of Fettle";
    if (!wrong)
        return 0;
    return err_set(e, -EILSEQ, "%s %s; restore a copy of the directory, or move it away to begin anew", path,
                   wrong);
}

/* Checks that an existing file looks like a database. Sets *found only then. */
static int db_find(const struct home *h, enum home_db which, const char *path, bool *found, struct err *e)
{
    /* Close it before SQLite opens the file: closing it later would drop SQLite's locks on it. */
    int fd = openat(h->dir_fd, dbs[which].name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    int code = errno;
    *found = fd >= 0;
    if (fd >= 0) {
        int r = present_check(path, fd, e);
        close(fd);
        return r;
    }
    return code == ENOENT && !home_exists(h, dbs[which].name)
               ? 0
               : err_set(e, -code, "cannot open %s: %s", path, strerror(code));
}

static int state_find(struct home *h, bool *found, struct err *e)
{
    int r = db_find(h, HOME_STATE, h->db, found, e);
    if (!r && !*found)
        r = absent_check(h, e);
    return r ? r : db_find(h, HOME_JOURNAL, h->journal, &h->has_journal, e);
}

static int home_open(struct home *h, const char *dir, struct err *e)
{
    *h = (struct home){.dir_fd = -1, .lock_fd = -1};
    int r = dir_make(dir, e);
    if (r)
        return r;
    h->dir = mem_dup(dir);
    h->db = path_join(dir, DB);
    h->journal = path_join(dir, JOURNAL);
    for (size_t i = 0; i < HOME_DBS; i++)
        h->fresh[i] = path_join(dir, dbs[i].fresh);
    h->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (h->dir_fd >= 0)
        return 0;
    r = -errno;
    return err_set(e, r, "cannot open directory %s: %s", dir, strerror(-r));
}

int home_init(struct home *h, const char *dir, bool *found, struct err *e)
{
    int r = home_open(h, dir, e);
    if (!r)
        r = lock_take(h, dir, e);
    if (!r)
        r = mark_read(h, dir, e);
    if (!r)
        r = state_find(h, found, e);
    if (r)
        home_fini(h);
    return r;
}

/* --- a state that is put here from a copy ----------------------------------------------------- */

#define UNFINISHED "restore.unfinished"

/* What an attempt makes before the state has its name. The note itself goes last. */
static const char *const attempt[] = {DB ".new", DB ".new-journal",  JOURNAL,   "ca.pem",
                                      "ca.key",  JOURNAL "-journal", UNFINISHED};

static bool is_of_attempt(const char *name)
{
    for (size_t i = 0; i < sizeof attempt / sizeof attempt[0]; i++)
        if (strcmp(name, attempt[i]) == 0)
            return true;
    return false;
}

/* The first name in the directory that is in the way; "" for none. */
static int obstacle_find(const struct home *h, char found[static NAME_MAX + 1], struct err *e)
{
    bool again = home_exists(h, UNFINISHED);
    int fd = openat(h->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    *found = '\0';
    if (!list)
        return err_set(e, -errno, "cannot read directory %s: %s", h->dir, strerror(errno));
    for (struct dirent *d; !*found && (d = readdir(list));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 && strcmp(d->d_name, LOCK) != 0 &&
            !(again && is_of_attempt(d->d_name)))
            snprintf(found, NAME_MAX + 1, "%s", d->d_name);
    closedir(list);
    return 0;
}

static int vacant_check(struct home *h, struct err *e)
{
    char found[NAME_MAX + 1];
    struct stat st;
    int r = home_exists(h, LOCK) ? lock_take(h, h->dir, e) : 0; /* whoever runs there is the better reason */
    if (!r)
        r = obstacle_find(h, found, e);
    if (!r && *found)
        r = err_set(e, -EEXIST, "%s is not empty (it has %s); move what is in it elsewhere first", h->dir,
                    found);
    if (!r && !home_exists(h, UNFINISHED) && h->lock_fd >= 0)
        r = mark_read(h, h->dir, e);
    if (!r && h->marked)
        r = err_set(e, -EEXIST,
                    "%s/" LOCK " says that a state stood at revision %" PRIu64
                    " here; when it is lost, remove this file first",
                    h->dir, h->revision);
    if (!r && fstat(h->dir_fd, &st) == 0 && st.st_mode & 077)
        r = err_set(e, -EACCES,
                    "others than its owner may use %s (mode %04o); mend it with \"chmod go-rwx %s\"", h->dir,
                    (unsigned)st.st_mode & 07777, h->dir);
    return r;
}

static void attempt_remove(struct home *h)
{
    if (!home_exists(h, UNFINISHED))
        return;
    if (h->lock_fd >= 0 && ftruncate(h->lock_fd, 0)) /* the next attempt reads no mark either */
        return;
    for (size_t i = 0; i < sizeof attempt / sizeof attempt[0]; i++)
        unlinkat(h->dir_fd, attempt[i], 0);
}

/* First the note, then the mark, then all else: whatever is left of an attempt is known as such. */
static int attempt_note(struct home *h, struct err *e)
{
    int fd = openat(h->dir_fd, UNFINISHED, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || fsync(h->dir_fd)) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        return err_set(e, -code, "cannot make %s/" UNFINISHED ": %s", h->dir, strerror(code));
    }
    close(fd);
    int r = h->lock_fd < 0 ? lock_take(h, h->dir, e) : 0;
    if (!r)
        r = home_mark(h, 0, 0, e);
    return r ? r : home_sync(h, e);
}

int home_init_empty(struct home *h, const char *dir, struct err *e)
{
    int r = home_open(h, dir, e);
    if (!r)
        r = vacant_check(h, e);
    if (!r) {
        attempt_remove(h);
        r = attempt_note(h, e);
        if (r)
            attempt_remove(h);
    }
    if (r)
        home_fini(h);
    return r;
}

void home_give_up(struct home *h)
{
    attempt_remove(h);
    unlinkat(h->dir_fd, LOCK, 0);
    home_fini(h);
}

int home_filled(struct home *h, struct err *e)
{
    if (unlinkat(h->dir_fd, UNFINISHED, 0) || fsync(h->dir_fd)) {
        int code = errno;
        return err_set(e, -code, "cannot remove %s/" UNFINISHED ": %s", h->dir, strerror(code));
    }
    return 0;
}

void home_fini(struct home *h)
{
    if (h->lock_fd >= 0)
        close(h->lock_fd);
    if (h->dir_fd >= 0)
        close(h->dir_fd);
    free(h->dir);
    free(h->db);
    free(h->journal);
    for (size_t i = 0; i < HOME_DBS; i++)
        free(h->fresh[i]);
    *h = (struct home){.dir_fd = -1, .lock_fd = -1};
}

int home_prepare(struct home *h, enum home_db which, struct err *e)
{
    assert((unsigned)which < HOME_DBS && h->lock_fd >= 0);
    unlinkat(h->dir_fd, dbs[which].left, 0);
    int fd = openat(h->dir_fd, dbs[which].fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        int code = errno;
        return err_set(e, -code, "cannot make %s: %s", h->fresh[which], strerror(code));
    }
    close(fd);
    return 0;
}

int home_publish(struct home *h, enum home_db which, struct err *e)
{
    if (renameat(h->dir_fd, dbs[which].fresh, h->dir_fd, dbs[which].name) || fsync(h->dir_fd)) {
        int code = errno;
        return err_set(e, -code, "cannot make %s/%s: %s", h->dir, dbs[which].name, strerror(code));
    }
    return 0;
}

static int file_find(const struct home *h, const char *name, struct home_file *out)
{
    struct stat st;
    CLEANUP_FREE char *path = path_join(h->dir, name);
    if (stat(path, &st))
        return -errno;
    *out = (struct home_file){st.st_dev, st.st_ino};
    return 0;
}

int home_watch(struct home *h, bool journal, struct err *e)
{
    size_t n = journal ? HOME_FILES : HOME_FILES_STATE;
    for (size_t i = 0; i < n; i++) {
        int r = file_find(h, watched[i], &h->files[i]);
        if (r)
            return err_set(e, r, "cannot look at %s/%s: %s", h->dir, watched[i], strerror(-r));
    }
    assert(n <= HOME_FILES);
    h->n_files = n;
    return 0;
}

/* Looks the path up from the root, so that a directory that was moved away, or mounted over, is noticed
 * too. */
int home_check(const struct home *h, struct err *e)
{
    for (size_t i = 0; i < h->n_files; i++) {
        struct home_file now = {0};
        int r = file_find(h, watched[i], &now);
        if (r == 0 && now.device == h->files[i].device && now.inode == h->files[i].inode)
            continue;
        return err_set(
            e, -ESTALE,
            "%s/%s %s while fettled has it open, and no change is taken: move it back if it was moved, "
            "or stop fettled and restore a copy of the directory",
            h->dir, watched[i], r ? "was removed" : "was replaced by another file");
    }
    return 0;
}

int home_mark(struct home *h, uint64_t term, uint64_t revision, struct err *e)
{
    assert(h->lock_fd >= 0 && "only the holder of the lock marks");
    char buf[MARK_BYTES + 1];
    mark_format(buf, term, revision);
    ssize_t n = pwrite(h->lock_fd, buf, MARK_BYTES, 0);
    if (n == MARK_BYTES) {
        h->marked = true;
        h->term = term;
        h->revision = revision;
        return 0;
    }
    int code = n < 0 ? errno : ENOSPC;
    return err_set(e, -code, "cannot write " LOCK " beside %s: %s", h->db, strerror(code));
}

int home_sync(struct home *h, struct err *e)
{
    if (fsync(h->lock_fd) || fsync(h->dir_fd)) {
        int code = errno;
        return err_set(e, -code, "cannot sync " LOCK " beside %s: %s", h->db, strerror(code));
    }
    return 0;
}

int home_sync_logs(struct home *h, struct err *e)
{
    static const char *const logs[] = {DB_WAL, JOURNAL_WAL};
    for (size_t i = 0; i < (h->has_journal ? 2 : 1); i++) {
        int fd = openat(h->dir_fd, logs[i], O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        int code = fd < 0 || fsync(fd) ? errno : 0;
        if (fd >= 0)
            close(fd);
        if (code)
            return err_set(e, -code, "cannot sync %s/%s: %s", h->dir, logs[i], strerror(code));
    }
    return 0;
}
