/* SPDX-License-Identifier: Apache-2.0 */
#include "store/change.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

/* Stand before the C library's: they count the syncs of the process and let some fail. A disk that loses what
 * it refuses has the file as it was at the last sync. */
static unsigned int syncs;
static int sync_errno;
static bool sync_loses;
static char *sync_moves; /* the file that the next sync moves away */
static const char *sync_away;
enum { FDS = 64 };
static off_t synced[FDS];

static off_t file_len(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_size : 0;
}

static int sync_counted(long call, int fd)
{
    syncs++;
    if (sync_errno) {
        if (sync_loses && fd < FDS && ftruncate(fd, synced[fd]) != 0)
            abort();
        errno = sync_errno;
        return -1;
    }
    if (sync_moves && rename(sync_moves, sync_away) == 0)
        free(STEAL(sync_moves));
    if (fd < FDS)
        synced[fd] = file_len(fd);
    return (int)syscall(call, fd);
}

int fsync(int fd)
{
    return sync_counted(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_counted(SYS_fdatasync, fd);
}

struct scene {
    char *dir;
    struct store *store;
    uint64_t term;
    uint64_t revision;
    struct text dump;
    struct err e;
};

static int scene_start(void **state)
{
    struct scene *t = mem_alloc(sizeof *t);
    *state = t;
    t->dir = fixture_dir();
    t->store = fixture_open(t->dir);
    return store_campaign(t->store, &t->term, NULL);
}

static int scene_end(void **state)
{
    struct scene *t = *state;
    sync_errno = 0;
    sync_loses = false;
    store_close(t->store);
    fixture_remove(t->dir);
    text_fini(&t->dump);
    free(t);
    return 0;
}

static void reopen(struct scene *t)
{
    store_close(t->store);
    t->store = fixture_open(t->dir);
}

static int put(struct scene *t, const char *key, const char *value)
{
    struct store_op op = {.key = key, .value = value};
    struct store_batch b = {.n_ops = 1, .ops = &op};
    return store_commit(t->store, t->term, &b, &t->revision, &t->e);
}

static const char *dump(struct scene *t)
{
    assert_int_equal(fixture_dump(t->store, &t->dump, &t->e), 0);
    return t->dump.s;
}

static void assert_says(const struct err *e, int code, const char *words)
{
    assert_int_equal(e->code, code);
    if (!strstr(e->msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e->msg, words);
}

static mode_t mode_of(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = fixture_path(dir, name);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void test_open_makes_what_only_its_owner_reads(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *dir = fixture_path(t->dir, "made");
    mode_t was = umask(0);
    struct store *s = fixture_open(dir);
    umask(was);
    uint64_t term;
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    assert_int_equal(mode_of(t->dir, "made"), 0700);
    assert_int_equal(mode_of(dir, "state.db"), 0600);
    assert_int_equal(mode_of(dir, "state.db-wal"), 0600);
    assert_int_equal(mode_of(dir, "state.lock"), 0600);
    store_close(s);
}

static void test_a_new_store_is_empty_at_revision_0(void **state)
{
    assert_string_equal(dump(*state), "revision 0\n");
}

static void test_a_commit_is_there_after_opening_again(void **state)
{
    struct scene *t = *state;
    assert_int_equal(fixture_put(t->store, t->term, "claim/42", "{\"a\":1}", &t->revision, NULL), 0);
    assert_int_equal(t->revision, 1);
    const char *whole =
        "claim/42 = {\"a\":1}\n1: 1795207317123000000 root put lx[01-64]: claim/42\nrevision 1\n";
    assert_string_equal(dump(t), whole);
    reopen(t);
    assert_string_equal(dump(t), whole);
}

static void test_each_commit_is_one_revision(void **state)
{
    struct scene *t = *state;
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(put(t, "k", "1"), 0);
        assert_int_equal(t->revision, i);
    }
    reopen(t);
    assert_int_equal(store_campaign(t->store, &t->term, NULL), 0);
    assert_int_equal(put(t, "k", "2"), 0);
    assert_int_equal(t->revision, 6);
}

static void test_records_come_in_the_order_of_their_keys(void **state)
{
    struct scene *t = *state;
    static const char *const keys[] = {"node/2", "claim/9", "node/10", "Z", "claim/10", "node/1"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(put(t, keys[i], "0"), 0);
    assert_string_equal(
        dump(t), "Z = 0\nclaim/10 = 0\nclaim/9 = 0\nnode/1 = 0\nnode/10 = 0\nnode/2 = 0\nrevision 6\n");
}

static void test_put_replaces_and_delete_removes(void **state)
{
    struct scene *t = *state;
    assert_int_equal(put(t, "a", "1"), 0);
    assert_int_equal(put(t, "a", "2"), 0);
    assert_int_equal(put(t, "b", "3"), 0);
    assert_int_equal(put(t, "b", NULL), 0);
    assert_string_equal(dump(t), "a = 2\nrevision 4\n");
}

static void test_deleting_what_is_not_there_is_no_error(void **state)
{
    struct scene *t = *state;
    assert_int_equal(put(t, "nothing", NULL), 0);
    assert_string_equal(dump(t), "revision 1\n");
}

static void test_a_refused_batch_leaves_nothing(void **state)
{
    struct scene *t = *state;
    struct store_op ops[] = {{"a", "1"}, {"b", "2"}, {"", "3"}};
    struct store_batch b = {.n_ops = 3, .ops = ops};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -EINVAL);
    b.n_ops = 2;
    assert_int_equal(store_commit(t->store, t->term + 1, &b, &t->revision, &t->e), -EPERM);
    assert_string_equal(dump(t), "revision 0\n");
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
    assert_string_equal(dump(t), "a = 1\nb = 2\nrevision 1\n");
}

static void test_each_term_is_higher_than_any_before(void **state)
{
    struct scene *t = *state;
    uint64_t last = t->term;
    for (int i = 0; i < 3; i++) {
        reopen(t);
        assert_int_equal(store_campaign(t->store, &t->term, &t->e), 0);
        assert_true(t->term > last);
        last = t->term;
    }
}

static void test_a_deposed_term_commits_nothing(void **state)
{
    struct scene *t = *state;
    uint64_t newer;
    assert_int_equal(store_campaign(t->store, &newer, &t->e), 0);
    assert_int_equal(put(t, "a", "1"), -EPERM);
    assert_says(&t->e, -EPERM, "term 1 does not lead; the last that was given is 2");
    t->term = 0;
    assert_int_equal(put(t, "a", "1"), -EPERM);
    t->term = newer;
    assert_int_equal(put(t, "a", "1"), 0);
}

static void test_more_records_than_the_limit_are_refused(void **state)
{
    struct scene *t = *state;
    struct store_op ops[STORE_OPS_MAX + 1];
    char keys[STORE_OPS_MAX + 1][8];
    for (int i = 0; i <= STORE_OPS_MAX; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        ops[i] = (struct store_op){keys[i], "1"};
    }
    struct store_batch b = {.n_ops = STORE_OPS_MAX + 1, .ops = ops};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -E2BIG);
    assert_says(&t->e, -E2BIG, "a batch of 129 records, the limit is 128");
    b.n_ops = STORE_OPS_MAX;
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

static void test_more_entries_than_the_limit_are_refused(void **state)
{
    struct scene *t = *state;
    struct store_entry entries[STORE_ENTRIES_MAX + 1];
    for (int i = 0; i <= STORE_ENTRIES_MAX; i++)
        entries[i] = (struct store_entry){{0}, "root", "drain", "", "", NULL, NULL};
    struct store_batch b = {.n_entries = STORE_ENTRIES_MAX + 1, .entries = entries};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -E2BIG);
    assert_says(&t->e, -E2BIG, "a batch of 129 journal entries, the limit is 128");
    b.n_entries = STORE_ENTRIES_MAX;
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

static void test_more_bytes_than_the_limit_are_refused(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *value = mem_alloc(STORE_BATCH_BYTES_MAX + 1);
    memset(value, '1', STORE_BATCH_BYTES_MAX);
    assert_int_equal(put(t, "k", value), -E2BIG);
    assert_says(&t->e, -E2BIG, "a batch of more than 1048576 bytes");
    value[STORE_BATCH_BYTES_MAX - 1] = '\0';
    assert_int_equal(put(t, "k", value), 0);

    struct store_op op = {"k", value};
    struct store_entry entry = {{0}, "", "", "", "x", NULL, NULL};
    struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -E2BIG);
}

static void test_keys_are_printable_and_short(void **state)
{
    struct scene *t = *state;
    char key[514];
    memset(key, 'k', sizeof key);
    key[513] = '\0';
    assert_int_equal(put(t, key, "1"), -E2BIG);
    assert_says(&t->e, -E2BIG, "is 513 bytes long, the limit is 512");
    key[512] = '\0';
    assert_int_equal(put(t, key, "1"), 0);
    assert_int_equal(put(t, "", "1"), -EINVAL);
    assert_says(&t->e, -EINVAL, "a key is empty");
    assert_int_equal(put(t, "a\nb", "1"), -EINVAL);
    assert_says(&t->e, -EINVAL, "byte 0x0a");
    assert_int_equal(put(t, "kn\xc3\xb6ten", "1"), -EINVAL);
    assert_int_equal(put(t, "a b~!", "1"), 0);
}

static void test_a_key_stands_once_in_a_batch(void **state)
{
    struct scene *t = *state;
    struct store_op ops[] = {{"a", "1"}, {"b", "2"}, {"a", NULL}};
    struct store_batch b = {.n_ops = 3, .ops = ops};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -EINVAL);
    assert_says(&t->e, -EINVAL, "key \"a\" stands twice");
}

struct seen {
    size_t n;
    uint64_t revisions[8];
    char texts[8][16];
    int answer;
};

static int seen_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct seen *seen = arg;
    assert_true(seen->n < 8);
    seen->revisions[seen->n] = revision;
    snprintf(seen->texts[seen->n++], sizeof seen->texts[0], "%s", entry->text);
    return seen->answer ? err_set(e, seen->answer, "enough") : 0;
}

/* Three commits: of two entries, of none, of one. */
static void journal_fill(struct scene *t)
{
    struct store_entry two[] = {{{1}, "root", "drain", "lx01", "first", NULL, NULL},
                                {{2}, "root", "drain", "lx02", "second", "7.1 7.2", "\"to\":\"queue\""}};
    struct store_entry one = {{-3}, "fettled", "node.down", "", "third", NULL, NULL};
    struct store_batch a = {.n_entries = 2, .entries = two}, b = {.n_entries = 1, .entries = &one};
    assert_int_equal(store_commit(t->store, t->term, &a, &t->revision, &t->e), 0);
    assert_int_equal(put(t, "k", "1"), 0);
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

static void test_the_journal_is_told_oldest_first(void **state)
{
    struct scene *t = *state;
    journal_fill(t);
    assert_string_equal(dump(t), "k = 1\n"
                                 "1: 1 root drain lx01: first\n"
                                 "1: 2 root drain lx02: second about 7.1 7.2 with \"to\":\"queue\"\n"
                                 "3: -3 fettled node.down : third\n"
                                 "revision 3\n");
}

static void test_the_journal_is_told_after_a_revision_and_up_to_a_number(void **state)
{
    struct scene *t = *state;
    journal_fill(t);
    static const struct {
        uint64_t after;
        size_t max, n;
        const char *first;
    } cases[] = {{0, 8, 3, "first"},     {1, 8, 1, "third"}, {2, 8, 1, "third"},
                 {3, 8, 0, ""},          {0, 2, 2, "first"}, {1, 0, 1, "third"},
                 {UINT64_MAX, 8, 0, ""}, {0, 1, 2, "first"}}; /* what was committed together is told together
                                                               */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen seen = {0};
        assert_int_equal(store_journal(t->store, cases[i].after, cases[i].max, seen_entry, &seen, &t->e), 0);
        assert_int_equal(seen.n, cases[i].n);
        assert_string_equal(seen.texts[0], cases[i].first);
    }
}

static int seen_record(void *arg, const char *key, const char *value, struct err *e)
{
    struct seen *seen = arg;
    seen->n++;
    return err_set(e, -EPROTO, "record %s is not understood", key);
}

static void test_a_reader_ends_the_walk(void **state)
{
    struct scene *t = *state;
    journal_fill(t);
    assert_int_equal(put(t, "l", "1"), 0);
    struct seen seen = {.answer = -EAGAIN};
    assert_int_equal(store_journal(t->store, 0, 8, seen_entry, &seen, &t->e), -EAGAIN);
    assert_says(&t->e, -EAGAIN, "enough");
    assert_int_equal(seen.n, 1);
    seen.n = 0;
    assert_int_equal(store_load(t->store, seen_record, &seen, &t->revision, &t->e), -EPROTO);
    assert_says(&t->e, -EPROTO, "record k is not understood");
    assert_int_equal(seen.n, 1);
    assert_int_equal(put(t, "m", "1"), 0);
}

static void test_a_second_opener_is_refused(void **state)
{
    struct scene *t = *state;
    struct store *second = NULL;
    assert_int_equal(store_open_sqlite(t->dir, &second, &t->e), -EBUSY);
    assert_says(&t->e, -EBUSY, "another process uses the state in /tmp/");
    assert_null(second);
    assert_int_equal(put(t, "a", "1"), 0);
}

static void test_other_programs_cannot_touch_an_open_state(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *path = fixture_path(t->dir, "state.db");
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db;
        int rc = sqlite3_open(path, &db);
        if (rc == SQLITE_OK)
            rc = sqlite3_exec(db, "UPDATE meta SET term = 9", NULL, NULL, NULL);
        _exit(rc == SQLITE_BUSY ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_a_state_that_another_program_holds_is_busy(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *path = fixture_path(t->dir, "state.db");
    store_close(t->store);
    t->store = NULL;
    int ready[2], done[2];
    assert_int_equal(pipe(ready) | pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db;
        char c = 0;
        close(done[1]);
        sqlite3_open(path, &db);
        sqlite3_exec(db, "BEGIN IMMEDIATE; UPDATE meta SET term = 9", NULL, NULL, NULL);
        _exit(write(ready[1], &c, 1) == 1 && read(done[0], &c, 1) == 0 ? 0 : 1);
    }
    char c;
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(store_open_sqlite(t->dir, &t->store, &t->e), -EBUSY);
    assert_says(&t->e, -EBUSY, "another process uses");
    close(done[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
    close(done[0]);
    t->store = fixture_open(t->dir);
    assert_int_equal(put(t, "a", "1"), 0);
}

static void test_what_cannot_be_accessed_is_named(void **state)
{
    struct scene *t = *state;
    struct store *s = NULL;
    CLEANUP_FREE char *orphan = fixture_path(t->dir, "no/where");
    CLEANUP_FREE char *file = fixture_path(t->dir, "state.db");
    assert_int_equal(store_open_sqlite(orphan, &s, &t->e), -ENOENT);
    assert_says(&t->e, -ENOENT, orphan);
    assert_int_equal(store_open_sqlite(file, &s, &t->e), -ENOTDIR);
    assert_says(&t->e, -ENOTDIR, file);
    if (geteuid() != 0)
        skip();
    store_close(t->store);
    assert_int_equal(seteuid(65534), 0);
    int r = store_open_sqlite(t->dir, &s, &t->e);
    assert_int_equal(seteuid(0), 0);
    t->store = fixture_open(t->dir);
    assert_int_equal(r, -EACCES);
    assert_says(&t->e, -EACCES, t->dir);
}

/* The log's header is synced once, and once in a thousand pages the log is folded. */
static void test_a_commit_costs_one_sync(void **state)
{
    struct scene *t = *state;
    enum { COMMITS = 100 };
    assert_int_equal(put(t, "warm", "1"), 0);
    syncs = 0;
    for (int i = 0; i < COMMITS; i++)
        assert_int_equal(fixture_put(t->store, t->term, "k", "1", &t->revision, &t->e), 0);
    assert_in_range(syncs, COMMITS, COMMITS + 4);
}

/* --- outcomes that are not known ---------------------------------------------------------------- */

static void on_change(void *arg, struct store_change *c)
{
    struct text *t = arg;
    text_printf(t, "%d:", (int)c->revision);
    for (size_t i = 0; i < c->batch.n_ops; i++)
        text_printf(t, " %s=%s", c->batch.ops[i].key, c->batch.ops[i].value ? c->batch.ops[i].value : "");
    for (size_t i = 0; i < c->batch.n_entries; i++)
        text_printf(t, " %s by %s", c->batch.entries[i].what, c->batch.entries[i].actor);
    change_destroy(c);
}

/* What the store tells of the commits after the revision. */
static const char *resolved(struct scene *t, uint64_t after)
{
    static char shown[sizeof t->e.msg];
    CLEANUP_TEXT struct text found = {0};
    int rc = store_resolve(t->store, after, on_change, &found, &t->e);
    snprintf(shown, sizeof shown, "%s", rc < 0 ? t->e.msg : found.s ? found.s : "nothing");
    return shown;
}

/* Puts b and deletes a, while the disk refuses every sync. */
static void commit_unknown(struct scene *t, bool loses)
{
    const struct store_op ops[] = {{"b", "1"}, {"a", NULL}};
    const struct store_entry entry = {.at = {1}, .actor = "root", .what = "swap", .nodes = "", .text = "x"};
    const struct store_batch batch = {.n_ops = 2, .ops = ops, .n_entries = 1, .entries = &entry};
    assert_int_equal(put(t, "a", "1"), 0);
    sync_errno = EIO;
    sync_loses = loses;
    assert_int_equal(store_commit(t->store, t->term, &batch, &t->revision, &t->e), STORE_UNKNOWN);
    assert_says(&t->e, STORE_UNKNOWN, "state.db");
}

static void test_after_a_failed_sync_nothing_more_is_taken(void **state)
{
    struct scene *t = *state;
    uint64_t term;
    bool more;
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = t->dir};
    commit_unknown(t, false);
    sync_errno = 0;
    assert_int_equal(put(t, "c", "1"), -EIO);
    assert_says(&t->e, -EIO, "takes no commit until the outcome of the last one is known");
    assert_int_equal(store_campaign(t->store, &term, &t->e), -EIO);
    assert_int_equal(store_check(t->store, &t->e), -EIO);
    assert_int_equal(store_tidy(t->store, &keep, wall_now(), &more, &t->e), STORE_UNKNOWN);
    assert_string_equal(dump(t), "a = 1\nrevision 1\n");
}

static void test_an_unknown_commit_that_is_there_is_told(void **state)
{
    struct scene *t = *state;
    commit_unknown(t, false);
    sync_errno = 0;
    assert_string_equal(resolved(t, 1), "2: b=1 a= swap by root");
    assert_string_equal(dump(t), "b = 1\n2: 1 root swap : x\nrevision 2\n");
    assert_string_equal(resolved(t, 2), "nothing");
    assert_int_equal(put(t, "c", "1"), 0);
    assert_int_equal(t->revision, 3);
}

static void test_an_unknown_commit_that_is_gone_stays_gone(void **state)
{
    struct scene *t = *state;
    commit_unknown(t, true);
    sync_errno = 0;
    assert_string_equal(resolved(t, 1), "nothing");
    assert_string_equal(dump(t), "a = 1\nrevision 1\n");
    assert_int_equal(put(t, "c", "1"), 0);
    assert_int_equal(t->revision, 2);
}

/* While the disk refuses, nothing is told, and reading says so; then all of it is. */
static void test_what_cannot_be_found_out_is_asked_again(void **state)
{
    struct scene *t = *state;
    struct text none = {0};
    commit_unknown(t, false);
    assert_non_null(strstr(resolved(t, 1), "state.db"));
    assert_int_equal(t->e.code, -EIO);
    assert_int_equal(fixture_dump(t->store, &none, &t->e), -EIO);
    assert_int_equal(put(t, "c", "1"), -EIO);
    assert_int_equal(store_resolve(t->store, 1, on_change, &none, &t->e), -EIO);
    assert_null(none.s);
    sync_errno = 0;
    assert_string_equal(resolved(t, 1), "2: b=1 a= swap by root");
    assert_string_equal(dump(t), "b = 1\n2: 1 root swap : x\nrevision 2\n");
    assert_int_equal(put(t, "c", "1"), 0);
}

/* What is told is in the database itself: a log of which the disk has only a part would change nothing. */
static void test_what_was_found_out_does_not_rest_on_the_log(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *log = fixture_path(t->dir, "state.db-wal");
    struct stat st;
    commit_unknown(t, false);
    sync_errno = 0;
    resolved(t, 1);
    assert_int_equal(stat(log, &st), 0);
    assert_int_equal(st.st_size, 0);
}

/* A process that is killed before anything was found out: the next start finds one of the two, and what it
 * finds is in the database. */
static void test_a_start_after_a_kill_shows_an_unknown_commit(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *log = fixture_path(t->dir, "state.db-wal");
    struct stat st;
    int status;
    store_close(t->store);
    pid_t child = fork();
    if (child == 0) {
        t->store = fixture_open(t->dir);
        if (store_campaign(t->store, &t->term, &t->e))
            _exit(1);
        commit_unknown(t, false);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    t->store = fixture_open(t->dir);
    assert_int_equal(stat(log, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_string_equal(dump(t), "b = 1\n2: 1 root swap : x\nrevision 2\n");
}

/* What came between the looks before and after a commit is not known either, until the file is back. */
static void test_a_log_that_goes_during_a_commit_is_unknown(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *away = fixture_path(t->dir, "away");
    sync_moves = fixture_path(t->dir, "state.db-wal");
    sync_away = away;
    assert_int_equal(put(t, "a", "1"), STORE_UNKNOWN);
    assert_null(sync_moves); /* moved by a sync */
    CLEANUP_FREE char *log = fixture_path(t->dir, "state.db-wal");
    assert_non_null(strstr(resolved(t, 0), "was removed"));
    assert_int_equal(rename(away, log), 0);
    assert_string_equal(resolved(t, 0), "1: a=1");
    assert_int_equal(put(t, "b", "1"), 0);
}

/* SQLite commits happily into files that have no name any more. */
static void test_files_that_are_removed_are_missed_before_anybody_is_told(void **state)
{
    struct scene *t = *state;
    static const char *const files[] = {"state.db", "state.db-wal", "state.lock"};
    assert_int_equal(put(t, "a", "1"), 0);
    assert_int_equal(store_check(t->store, &t->e), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        CLEANUP_FREE char *path = fixture_path(t->dir, files[i]), *away = fixture_path(t->dir, "away");
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(put(t, "b", "1"), -ESTALE);
        assert_says(&t->e, -ESTALE, files[i]);
        assert_says(&t->e, -ESTALE, "was removed while fettled has it open");
        assert_int_equal(store_check(t->store, &t->e), -ESTALE);
        fixture_write(path, "x", 1);
        assert_int_equal(put(t, "b", "1"), -ESTALE);
        assert_says(&t->e, -ESTALE, "was replaced by another file");
        assert_int_equal(rename(away, path), 0);
        assert_int_equal(store_check(t->store, &t->e), 0);
        assert_int_equal(put(t, "a", "2"), 0);
    }
    assert_string_equal(dump(t), "a = 2\nrevision 4\n");
}

static void test_a_directory_that_is_moved_away_is_missed(void **state)
{
    struct scene *t = *state;
    CLEANUP_TEXT struct text away = {0};
    text_printf(&away, "%s-away", t->dir);
    assert_int_equal(rename(t->dir, away.s), 0);
    assert_int_equal(put(t, "a", "1"), -ESTALE);
    assert_int_equal(mkdir(t->dir, 0700), 0);
    assert_int_equal(put(t, "a", "1"), -ESTALE);
    assert_int_equal(rmdir(t->dir), 0);
    assert_int_equal(rename(away.s, t->dir), 0);
    assert_int_equal(put(t, "a", "1"), 0);
}

/* A copy that a person put there while the store was open keeps its log when the store is closed. */
static void test_closing_leaves_the_files_of_others_alone(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *log = fixture_path(t->dir, "state.db-wal"), *away = fixture_path(t->dir, "away");
    assert_int_equal(put(t, "a", "1"), 0);
    assert_int_equal(rename(log, away), 0);
    fixture_write(log, "of the copy", 11);
    store_close(t->store);
    assert_int_equal(access(log, F_OK), 0);
    assert_int_equal(rename(away, log), 0);
    t->store = fixture_open(t->dir);
    assert_string_equal(dump(t), "a = 1\nrevision 1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_open_makes_what_only_its_owner_reads),
        TEST(test_a_new_store_is_empty_at_revision_0),
        TEST(test_a_commit_is_there_after_opening_again),
        TEST(test_each_commit_is_one_revision),
        TEST(test_records_come_in_the_order_of_their_keys),
        TEST(test_put_replaces_and_delete_removes),
        TEST(test_deleting_what_is_not_there_is_no_error),
        TEST(test_a_refused_batch_leaves_nothing),
        TEST(test_each_term_is_higher_than_any_before),
        TEST(test_a_deposed_term_commits_nothing),
        TEST(test_more_records_than_the_limit_are_refused),
        TEST(test_more_entries_than_the_limit_are_refused),
        TEST(test_more_bytes_than_the_limit_are_refused),
        TEST(test_keys_are_printable_and_short),
        TEST(test_a_key_stands_once_in_a_batch),
        TEST(test_the_journal_is_told_oldest_first),
        TEST(test_the_journal_is_told_after_a_revision_and_up_to_a_number),
        TEST(test_a_reader_ends_the_walk),
        TEST(test_a_second_opener_is_refused),
        TEST(test_other_programs_cannot_touch_an_open_state),
        TEST(test_a_state_that_another_program_holds_is_busy),
        TEST(test_what_cannot_be_accessed_is_named),
        TEST(test_a_commit_costs_one_sync),
        TEST(test_after_a_failed_sync_nothing_more_is_taken),
        TEST(test_an_unknown_commit_that_is_there_is_told),
        TEST(test_an_unknown_commit_that_is_gone_stays_gone),
        TEST(test_what_cannot_be_found_out_is_asked_again),
        TEST(test_what_was_found_out_does_not_rest_on_the_log),
        TEST(test_a_start_after_a_kill_shows_an_unknown_commit),
        TEST(test_a_log_that_goes_during_a_commit_is_unknown),
        TEST(test_files_that_are_removed_are_missed_before_anybody_is_told),
        TEST(test_a_directory_that_is_moved_away_is_missed),
        TEST(test_closing_leaves_the_files_of_others_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
