/* SPDX-License-Identifier: Apache-2.0 */
#include "store/scene_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

static mode_t mode_of(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = fixture_path(dir, name);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void test_open_makes_files_that_only_their_owner_reads(void **state)
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

static void test_a_second_opener_is_refused(void **state)
{
    struct scene *t = *state;
    struct store *second = NULL;
    assert_int_equal(store_open_sqlite(t->dir, &second, &t->e), -EBUSY);
    scene_assert_says(&t->e, -EBUSY, "another process uses the state in /tmp/");
    assert_null(second);
    assert_int_equal(scene_put(t, "a", "1"), 0);
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
    scene_assert_says(&t->e, -EBUSY, "another process uses");
    close(done[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
    close(done[0]);
    t->store = fixture_open(t->dir);
    assert_int_equal(scene_put(t, "a", "1"), 0);
}

static void test_an_inaccessible_file_is_named(void **state)
{
    struct scene *t = *state;
    struct store *s = NULL;
    CLEANUP_FREE char *orphan = fixture_path(t->dir, "no/where");
    CLEANUP_FREE char *file = fixture_path(t->dir, "state.db");
    assert_int_equal(store_open_sqlite(orphan, &s, &t->e), -ENOENT);
    scene_assert_says(&t->e, -ENOENT, orphan);
    assert_int_equal(store_open_sqlite(file, &s, &t->e), -ENOTDIR);
    scene_assert_says(&t->e, -ENOTDIR, file);
    if (geteuid() != 0)
        skip();
    store_close(t->store);
    assert_int_equal(seteuid(65534), 0);
    int r = store_open_sqlite(t->dir, &s, &t->e);
    assert_int_equal(seteuid(0), 0);
    t->store = fixture_open(t->dir);
    assert_int_equal(r, -EACCES);
    scene_assert_says(&t->e, -EACCES, t->dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_open_makes_files_that_only_their_owner_reads),
        TEST(test_a_second_opener_is_refused),
        TEST(test_other_programs_cannot_touch_an_open_state),
        TEST(test_a_state_that_another_program_holds_is_busy),
        TEST(test_an_inaccessible_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
