/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a store: the lock, the mark, and files that are gone or are none. */
#include "store/home.h"

#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct scene {
    char *dir;
    struct home home;
    struct err e;
    bool found;
};

static int setup(void **state)
{
    struct scene *t = mem_alloc(sizeof *t);
    *t = (struct scene){.dir = fixture_dir(), .home = {.dir_fd = -1, .lock_fd = -1}};
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct scene *t = *state;
    home_fini(&t->home);
    fixture_remove(t->dir);
    free(t);
    return 0;
}

static int init(struct scene *t)
{
    home_fini(&t->home);
    return home_init(&t->home, t->dir, &t->found, &t->e);
}

static void write_file(const struct scene *t, const char *name, const void *bytes, size_t len)
{
    CLEANUP_FREE char *path = fixture_path(t->dir, name);
    fixture_write(path, bytes, len);
}

static void remove_file(const struct scene *t, const char *name)
{
    CLEANUP_FREE char *path = fixture_path(t->dir, name);
    assert_int_equal(unlink(path), 0);
}

static void assert_says(const struct scene *t, const char *words)
{
    if (!strstr(t->e.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", t->e.msg, words);
}

/* As large as a header, and with its first bytes. */
static void write_database(const struct scene *t, const char *name)
{
    char bytes[100] = "SQLite format 3";
    write_file(t, name, bytes, sizeof bytes);
}

static void test_a_new_directory_has_no_state_and_no_mark(void **state)
{
    struct scene *t = *state;
    assert_int_equal(rmdir(t->dir), 0);
    assert_int_equal(init(t), 0);
    assert_false(t->found || t->home.marked || t->home.has_journal);
    struct stat st;
    assert_int_equal(stat(t->dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void test_a_directory_whose_parent_is_missing_is_not_made(void **state)
{
    struct scene *t = *state;
    assert_int_equal(home_init(&t->home, "/nowhere/state", &t->found, &t->e), -ENOENT);
    assert_string_equal(t->e.msg, "cannot make directory /nowhere/state: No such file or directory");
    CLEANUP_FREE char *file = fixture_path(t->dir, "file");
    fixture_write(file, "", 0);
    assert_int_equal(home_init(&t->home, file, &t->found, &t->e), -ENOTDIR);
    assert_says(t, "cannot open directory");
}

static void test_one_process_has_the_lock(void **state)
{
    struct scene *t = *state;
    struct home other;
    bool found;
    assert_int_equal(init(t), 0);
    assert_int_equal(home_init(&other, t->dir, &found, &t->e), -EBUSY);
    assert_says(t, "another process uses the state in ");
    home_fini(&t->home);
    assert_int_equal(home_init(&other, t->dir, &found, &t->e), 0);
    home_fini(&other);
}

static void test_a_mark_is_found_again(void **state)
{
    static const uint64_t cases[][2] = {{0, 0}, {3, 42}, {UINT64_MAX, UINT64_MAX}, {1, 1}};
    struct scene *t = *state;
    write_database(t, "state.db");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(init(t), 0);
        assert_true(t->found);
        assert_int_equal(home_mark(&t->home, cases[i][0], cases[i][1], &t->e), 0);
        assert_int_equal(home_sync(&t->home, &t->e), 0);
        assert_int_equal(init(t), 0);
        assert_true(t->home.marked);
        assert_true(t->home.term == cases[i][0] && t->home.revision == cases[i][1]);
    }
}

static void test_a_mark_that_cannot_be_read_is_refused(void **state)
{
    static const char *const marks[] = {
        "x",
        "fettle state: term 1 revision 2\n",
        "fettle state: term 00000000000000000001 revision 00000000000000000002",
        "fettle state: term 00000000000000000001 revision 00000000000000000002\n\n",
        "fettle state: term 0000000000000000000x revision 00000000000000000002\n",
    };
    struct scene *t = *state;
    write_database(t, "state.db");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        write_file(t, "state.lock", marks[i], strlen(marks[i]));
        assert_int_equal(init(t), -EILSEQ);
        assert_says(t, "/state.lock is damaged; with no fettled running, remove it to go on with state.db");
    }
    static const char good[] = "fettle state: term 00000000000000000001 revision 00000000000000000002\n";
    write_file(t, "state.lock", good, sizeof good - 1);
    assert_int_equal(init(t), 0);
    assert_int_equal(t->home.revision, 2);
}

static void test_a_file_that_is_no_database_is_refused(void **state)
{
    static const struct {
        size_t len;
        char bytes[100];
        const char *words;
    } cases[] = {{0, "", "state.db is empty; restore a copy of the directory"},
                 {99, "SQLite format 3", "state.db is cut off;"},
                 {100, "SQLite format 4", "state.db is not a state of Fettle;"},
                 {100, "", "state.db is not a state of Fettle;"}};
    struct scene *t = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(t, "state.db", cases[i].bytes, cases[i].len);
        assert_int_equal(init(t), -EILSEQ);
        assert_says(t, cases[i].words);
    }
    remove_file(t, "state.db");
    CLEANUP_FREE char *path = fixture_path(t->dir, "state.db");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(init(t), -EILSEQ);
    assert_says(t, "state.db is not a file;");
}

static void test_a_state_that_is_gone_leaves_traces(void **state)
{
    static const char *const traces[] = {"state.db-wal", "state.db-journal", "state.db-shm", "journal.db",
                                         "journal.db-wal"};
    struct scene *t = *state;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        write_database(t, traces[i]);
        assert_int_equal(init(t), -EILSEQ);
        assert_says(t, "state.db is gone, and it was there once; mount or restore its directory, or, to "
                       "begin anew without what is lost: rm ");
        assert_says(t, traces[i]);
        remove_file(t, traces[i]);
    }
    assert_int_equal(init(t), 0);
    assert_int_equal(home_mark(&t->home, 1, 2, &t->e), 0);
    assert_int_equal(init(t), -EILSEQ);
    assert_says(t, "state.lock");
}

static void test_a_database_is_made_beside_and_gets_its_name_at_the_end(void **state)
{
    struct scene *t = *state;
    struct stat st;
    write_file(t, "state.db.new", "of an earlier try", 17);
    write_file(t, "state.db.new-journal", "x", 1);
    assert_int_equal(init(t), 0);
    assert_false(t->found); /* nobody was told of it */
    assert_int_equal(home_prepare(&t->home, HOME_STATE, &t->e), 0);
    assert_int_equal(stat(t->home.fresh[HOME_STATE], &st), 0);
    assert_int_equal(st.st_size, 0);
    CLEANUP_FREE char *left = fixture_path(t->dir, "state.db.new-journal");
    assert_int_equal(access(left, F_OK), -1);
    write_database(t, "state.db.new");
    assert_int_equal(home_publish(&t->home, HOME_STATE, &t->e), 0);
    assert_int_equal(home_publish(&t->home, HOME_STATE, &t->e), -ENOENT); /* there is no second one */
    assert_says(t, "cannot make ");
    assert_int_equal(init(t), 0);
    assert_true(t->found);
}

static void test_files_that_are_watched_are_missed(void **state)
{
    static const char *const files[] = {"state.db", "state.db-wal", "state.lock", "journal.db",
                                        "journal.db-wal"};
    struct scene *t = *state;
    write_database(t, "state.db");
    write_database(t, "journal.db");
    assert_int_equal(init(t), 0);
    assert_true(t->home.has_journal);
    assert_int_equal(home_watch(&t->home, false, &t->e), -ENOENT); /* there is no log yet */
    write_file(t, "state.db-wal", "", 0);
    write_file(t, "journal.db-wal", "", 0);
    assert_int_equal(home_watch(&t->home, true, &t->e), 0);
    CLEANUP_FREE char *away = fixture_path(t->dir, "away");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        CLEANUP_FREE char *path = fixture_path(t->dir, files[i]);
        assert_int_equal(home_check(&t->home, &t->e), 0);
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(home_check(&t->home, &t->e), -ESTALE);
        assert_says(t, "was removed while fettled has it open");
        fixture_write(path, "", 0);
        assert_int_equal(home_check(&t->home, &t->e), -ESTALE);
        assert_says(t, "was replaced by another file while fettled has it open");
        assert_int_equal(rename(away, path), 0);
    }
    assert_int_equal(home_check(&t->home, &t->e), 0);
    assert_int_equal(home_sync_logs(&t->home, &t->e), 0);
    remove_file(t, "journal.db-wal");
    assert_int_equal(home_sync_logs(&t->home, &t->e), -ENOENT);
    assert_int_equal(home_watch(&t->home, false, &t->e), 0); /* the journal's log is not watched then */
    assert_int_equal(home_check(&t->home, &t->e), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_new_directory_has_no_state_and_no_mark),
        TEST(test_a_directory_whose_parent_is_missing_is_not_made),
        TEST(test_one_process_has_the_lock),
        TEST(test_a_mark_is_found_again),
        TEST(test_a_mark_that_cannot_be_read_is_refused),
        TEST(test_a_file_that_is_no_database_is_refused),
        TEST(test_a_state_that_is_gone_leaves_traces),
        TEST(test_a_database_is_made_beside_and_gets_its_name_at_the_end),
        TEST(test_files_that_are_watched_are_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
