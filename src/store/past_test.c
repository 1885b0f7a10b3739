/* SPDX-License-Identifier: Apache-2.0 */
/* The journal in two files: what a start reads stays small, and nobody who reads the journal sees a seam. */
#include "store/fixture_test.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

/* No durable disk is needed. */
int fsync(int fd)
{
    return 0;
}

int fdatasync(int fd)
{
    return 0;
}

static const struct store_keep all = {.bytes = UINT64_MAX, .directory = ""};

enum { COMMITS = 400, STAY = 10000 + 256 };

struct scene {
    char *dir, *journal, *db;
    struct store *store;
    uint64_t term, revision, entries;
    struct text all; /* what was dumped before anything moved */
    struct err e;
};

/* Revisions with 1 to 100 entries. */
static void commit(struct scene *t, size_t n)
{
    struct store_entry entries[100];
    char text[100][32];
    struct store_op op = {.key = "a", .value = "1"};
    for (size_t i = 0; i < n; i++) {
        snprintf(text[i], sizeof text[i], "sentence %" PRIu64, t->entries++);
        entries[i] = (struct store_entry){
            .at = {(int64_t)t->entries}, .actor = "root", .what = "put", .nodes = "lx1", .text = text[i]};
    }
    struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = n, .entries = entries};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, NULL), 0);
}

static void fill(struct scene *t)
{
    for (size_t i = 0; i < COMMITS; i++)
        commit(t, 1 + i * 37 % 100);
    assert_true(t->entries > STAY + 5000);
    assert_int_equal(fixture_dump(t->store, &t->all, NULL), 0);
}

static size_t tidy(struct scene *t)
{
    bool more = true;
    size_t steps = 0;
    for (; more; steps++)
        assert_int_equal(store_tidy(t->store, &all, (struct wall){0}, &more, &t->e), 0);
    return steps;
}

static int scene_start(void **state)
{
    struct scene *t = mem_alloc(sizeof *t);
    *state = t;
    t->dir = fixture_dir();
    t->journal = fixture_path(t->dir, "journal.db");
    t->db = fixture_path(t->dir, "state.db");
    t->store = fixture_open(t->dir);
    return store_campaign(t->store, &t->term, NULL);
}

static int scene_end(void **state)
{
    struct scene *t = *state;
    store_close(t->store);
    fixture_remove(t->dir);
    free(t->journal);
    free(t->db);
    text_fini(&t->all);
    free(t);
    return 0;
}

static void assert_all(struct scene *t)
{
    CLEANUP_TEXT struct text now = {0};
    assert_int_equal(fixture_dump(t->store, &now, &t->e), 0);
    assert_string_equal(now.s, t->all.s);
}

static void reopen(struct scene *t)
{
    store_close(t->store);
    t->store = NULL;
    t->store = fixture_open(t->dir);
}

static int64_t sql(const char *path, const char *text)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
    int64_t n = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

static void test_older_entries_leave_the_file_that_a_start_reads(void **state)
{
    struct scene *t = *state;
    fill(t);
    assert_true(tidy(t) > 20);
    assert_all(t);
    store_close(STEAL(t->store));
    int64_t stay = sql(t->db, "SELECT count(*) FROM journal"),
            past = sql(t->journal, "SELECT count(*) FROM journal");
    assert_in_range(stay, STAY - 256, STAY);
    assert_int_equal(stay + past, t->entries);
    t->store = fixture_open(t->dir);
    assert_all(t);
}

static void test_a_small_journal_stays_where_it_is(void **state)
{
    struct scene *t = *state;
    commit(t, 100);
    assert_int_equal(tidy(t), 1);
    assert_int_not_equal(access(t->journal, F_OK), 0);
}

static int see(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    uint64_t *seen = arg;
    char text[32];
    snprintf(text, sizeof text, "sentence %" PRIu64, seen[1]++);
    assert_string_equal(entry->text, text);
    assert_true(revision >= seen[0]);
    seen[0] = revision;
    seen[2]++;
    return 0;
}

/* Pages of any size: none is larger than asked, but for a single revision, and nothing is missed or twice. */
static void test_pages_cross_the_seam(void **state)
{
    struct scene *t = *state;
    static const size_t sizes[] = {1, 99, 100, 1000, 7777, 100000};
    fill(t);
    for (int half = 0; half < 2; half++) {
        bool more;
        for (int i = 0; i < 5; i++) /* ends with entries that are in both files */
            assert_int_equal(store_tidy(t->store, &all, (struct wall){0}, &more, NULL), 0);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            uint64_t seen[3] = {0, 0, 1}; /* revision, entries, entries of the page */
            while (seen[2] > 0) {
                uint64_t before = seen[0];
                seen[2] = 0;
                assert_int_equal(store_journal(t->store, before, sizes[i], see, seen, NULL), 0);
                assert_true(seen[2] <= sizes[i] || seen[2] <= 100);
            }
            assert_int_equal(seen[1], t->entries);
            assert_int_equal(seen[0], t->revision);
        }
        if (half == 0)
            reopen(t);
    }
}

static int see_back(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    uint64_t *seen = arg;
    char text[32];
    snprintf(text, sizeof text, "sentence %" PRIu64, --seen[1]);
    assert_string_equal(entry->text, text);
    seen[0] = revision;
    seen[2]++;
    return 0;
}

/* The way back, in steps: each ends between two revisions. */
static void test_the_way_back_crosses_the_seam(void **state)
{
    struct scene *t = *state;
    static const size_t sizes[] = {1, 99, 1000, 100000};
    bool more;
    fill(t);
    for (int i = 0; i < 5; i++) /* ends with entries that are in both files */
        assert_int_equal(store_tidy(t->store, &all, (struct wall){0}, &more, NULL), 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t seen[3] = {t->revision + 1, t->entries, 1};
        while (seen[2] > 0) {
            uint64_t before = seen[0];
            seen[2] = 0;
            assert_int_equal(store_journal_back(t->store, before, sizes[i], see_back, seen, NULL), 0);
            assert_true(seen[2] < sizes[i] + 100);
        }
        assert_int_equal(seen[1], 0);
    }
}

/* The process ends after each number of steps, once before and once after that step's second half. */
static void test_a_kill_between_any_two_steps_loses_nothing(void **state)
{
    struct scene *t = *state;
    fill(t);
    store_close(STEAL(t->store));
    for (int steps = 0; steps < 8; steps++) {
        pid_t child = fork();
        if (child == 0) {
            struct store *s = fixture_open(t->dir);
            bool more;
            for (int i = 0; i <= steps; i++)
                assert(store_tidy(s, &all, (struct wall){0}, &more, NULL) == 0);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        t->store = fixture_open(t->dir);
        assert_all(t);
        store_close(STEAL(t->store));
    }
    t->store = fixture_open(t->dir);
    tidy(t);
    assert_all(t);
}

static void moved(struct scene *t)
{
    fill(t);
    tidy(t);
    store_close(STEAL(t->store));
}

static int dump(struct scene *t)
{
    CLEANUP_TEXT struct text now = {0};
    return fixture_dump(t->store, &now, &t->e);
}

static void test_damage_to_the_older_part_is_seen_when_it_is_read(void **state)
{
    struct scene *t = *state;
    moved(t);
    sql(t->journal, "UPDATE journal SET text = 'sentence -1' WHERE revision = 5 AND n = 0");
    t->store = fixture_open(t->dir);
    commit(t, 1);
    assert_int_equal(dump(t), -EILSEQ);
    assert_non_null(
        strstr(t->e.msg, "journal.db is damaged: an entry of the journal is not what was written"));
    uint64_t seen[3] = {t->revision - 1, t->entries - 1, 0};
    assert_int_equal(store_journal(t->store, t->revision - 1, 10, see, seen, NULL), 0);
}

static void assert_refused(struct scene *t, const char *words)
{
    assert_int_equal(store_open_sqlite(t->dir, &t->store, &t->e), -EILSEQ);
    if (!strstr(t->e.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", t->e.msg, words);
}

static void test_a_file_that_is_no_journal_is_refused(void **state)
{
    struct scene *t = *state;
    moved(t);
    sql(t->journal, "PRAGMA user_version = 4");
    assert_refused(t, "journal.db has format 4, this fettled knows formats up to 3");
    sql(t->journal, "PRAGMA application_id = 7");
    assert_refused(t, "journal.db is damaged: it is not a journal of Fettle");
    fixture_write(t->journal, "", 0);
    assert_refused(t, "journal.db is empty");
}

/* As fettled of that format left them. */
static void make_old(const char *path, int format)
{
    sql(path, "ALTER TABLE journal DROP COLUMN fields");
    if (format == 1)
        sql(path, "ALTER TABLE journal DROP COLUMN about");
    sql(path, format == 1 ? "PRAGMA user_version = 1" : "PRAGMA user_version = 2");
}

/* Commits an entry, and opens the store anew. */
static void say(struct scene *t, const char *text, const char *about, const char *fields)
{
    struct store_op op = {.key = "a", .value = "2"};
    struct store_entry entry = {{1}, "root", "put", "", text, about, fields};
    struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, NULL), 0);
    reopen(t);
}

static void assert_said(struct scene *t, const char *line)
{
    CLEANUP_TEXT struct text now = {0};
    assert_int_equal(fixture_dump(t->store, &now, &t->e), 0);
    assert_non_null(strstr(now.s, line));
}

static void test_format_1_is_taken_over(void **state)
{
    struct scene *t = *state;
    moved(t);
    make_old(t->journal, 1);
    make_old(t->db, 1);
    t->store = fixture_open(t->dir);
    assert_all(t);
    say(t, "new", "7.1", "\"to\":\"queue\"");
    assert_said(t, "root put : new about 7.1 with \"to\":\"queue\"\n");
    store_close(STEAL(t->store));
    sql(t->db, "UPDATE journal SET fields = ''");
    assert_refused(t, "state.db is damaged: a row is not what was written");
}

static void test_format_2_is_taken_over(void **state)
{
    struct scene *t = *state;
    say(t, "old", "7.1", NULL);
    moved(t);
    make_old(t->journal, 2);
    make_old(t->db, 2);
    t->store = fixture_open(t->dir);
    say(t, "new", "", "\"to\":\"queue\"");
    assert_said(t, "root put : old about 7.1\n");
    assert_said(t, "root put : new with \"to\":\"queue\"\n");
    store_close(STEAL(t->store));
    sql(t->db, "UPDATE journal SET about = fields, fields = ''");
    assert_refused(t, "state.db is damaged: a row is not what was written");
}

/* A state that is damaged stays as it is, so that the fettled that wrote it can look at it. */
static void test_a_damaged_state_of_format_1_is_not_touched(void **state)
{
    struct scene *t = *state;
    moved(t);
    make_old(t->db, 1);
    sql(t->db, "UPDATE journal SET actor = 'nobody' WHERE n = 0");
    assert_refused(t, "state.db is damaged: a row is not what was written");
    assert_int_equal(sql(t->db, "PRAGMA user_version"), 1);
    assert_int_equal(sql(t->db, "SELECT count(*) FROM pragma_table_info('journal') WHERE name = 'about'"), 0);
}

static void test_a_journal_that_is_ahead_of_the_state_is_refused(void **state)
{
    struct scene *t = *state;
    moved(t);
    sql(t->journal, "INSERT INTO journal VALUES(99999, 0, 1, '', '', '', '', 0, '', '')");
    assert_refused(t, "journal.db has entries up to revision 99999, but ");
}

/* As after one of the two files was restored from another copy. */
static void test_entries_that_differ_are_not_taken_away(void **state)
{
    struct scene *t = *state;
    moved(t);
    sql(t->journal, "DELETE FROM journal WHERE revision > 300");
    sql(t->journal, "INSERT INTO journal VALUES(390, 0, 1, 'a', 'b', 'c', 'd', 5, '', '')");
    t->store = fixture_open(t->dir);
    bool more;
    assert_int_equal(store_tidy(t->store, &all, (struct wall){0}, &more, &t->e), -EILSEQ);
    assert_non_null(strstr(t->e.msg, "do not tell the same of revision "));
    store_close(STEAL(t->store));
    assert_true(sql(t->db, "SELECT count(*) FROM journal WHERE revision = 390") > 0);
    t->store = NULL;
}

static void test_a_journal_that_is_removed_is_missed(void **state)
{
    struct scene *t = *state;
    moved(t);
    t->store = fixture_open(t->dir);
    assert_int_equal(store_campaign(t->store, &t->term, NULL), 0);
    sqlite3 *other; /* nor can another program touch it */
    assert_int_equal(sqlite3_open(t->journal, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "DELETE FROM journal", NULL, NULL, NULL), SQLITE_BUSY);
    sqlite3_close(other);
    assert_int_equal(unlink(t->journal), 0);
    assert_int_equal(store_check(t->store, &t->e), -ESTALE);
    assert_non_null(strstr(t->e.msg, "journal.db was removed while fettled has it open"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_older_entries_leave_the_file_that_a_start_reads),
        TEST(test_a_small_journal_stays_where_it_is),
        TEST(test_pages_cross_the_seam),
        TEST(test_the_way_back_crosses_the_seam),
        TEST(test_a_kill_between_any_two_steps_loses_nothing),
        TEST(test_damage_to_the_older_part_is_seen_when_it_is_read),
        TEST(test_a_file_that_is_no_journal_is_refused),
        TEST(test_format_1_is_taken_over),
        TEST(test_format_2_is_taken_over),
        TEST(test_a_damaged_state_of_format_1_is_not_touched),
        TEST(test_a_journal_that_is_ahead_of_the_state_is_refused),
        TEST(test_entries_that_differ_are_not_taken_away),
        TEST(test_a_journal_that_is_removed_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
