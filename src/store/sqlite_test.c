/* SPDX-License-Identifier: Apache-2.0 */
/* What a commit costs, and the files behind an open store. */
#include "store/scene_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The log's header is synced once, and once in a thousand pages the log is folded. */
static void test_a_commit_costs_one_sync(void **state)
{
    struct scene *t = *state;
    enum { COMMITS = 100 };
    assert_int_equal(scene_put(t, "warm", "1"), 0);
    syncs = 0;
    for (int i = 0; i < COMMITS; i++)
        assert_int_equal(fixture_put(t->store, t->term, "k", "1", &t->revision, &t->e), 0);
    assert_in_range(syncs, COMMITS, COMMITS + 4);
}

/* SQLite commits happily into files that have no name any more. */
static void test_files_that_are_removed_are_missed_before_anybody_is_told(void **state)
{
    struct scene *t = *state;
    static const char *const files[] = {"state.db", "state.db-wal", "state.lock"};
    assert_int_equal(scene_put(t, "a", "1"), 0);
    assert_int_equal(store_check(t->store, &t->e), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        CLEANUP_FREE char *path = fixture_path(t->dir, files[i]), *away = fixture_path(t->dir, "away");
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(scene_put(t, "b", "1"), -ESTALE);
        scene_assert_says(&t->e, -ESTALE, files[i]);
        scene_assert_says(&t->e, -ESTALE, "was removed while fettled has it open");
        assert_int_equal(store_check(t->store, &t->e), -ESTALE);
        fixture_write(path, "x", 1);
        assert_int_equal(scene_put(t, "b", "1"), -ESTALE);
        scene_assert_says(&t->e, -ESTALE, "was replaced by another file");
        assert_int_equal(rename(away, path), 0);
        assert_int_equal(store_check(t->store, &t->e), 0);
        assert_int_equal(scene_put(t, "a", "2"), 0);
    }
    assert_string_equal(scene_dump(t), "a = 2\nrevision 4\n");
}

static void test_a_directory_that_is_moved_away_is_missed(void **state)
{
    struct scene *t = *state;
    CLEANUP_TEXT struct text away = {0};
    text_printf(&away, "%s-away", t->dir);
    assert_int_equal(rename(t->dir, away.s), 0);
    assert_int_equal(scene_put(t, "a", "1"), -ESTALE);
    assert_int_equal(mkdir(t->dir, 0700), 0);
    assert_int_equal(scene_put(t, "a", "1"), -ESTALE);
    assert_int_equal(rmdir(t->dir), 0);
    assert_int_equal(rename(away.s, t->dir), 0);
    assert_int_equal(scene_put(t, "a", "1"), 0);
}

/* A copy that a person put there while the store was open keeps its log when the store is closed. */
static void test_closing_leaves_the_files_of_others_alone(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *log = fixture_path(t->dir, "state.db-wal"), *away = fixture_path(t->dir, "away");
    assert_int_equal(scene_put(t, "a", "1"), 0);
    assert_int_equal(rename(log, away), 0);
    fixture_write(log, "of the copy", 11);
    store_close(t->store);
    assert_int_equal(access(log, F_OK), 0);
    assert_int_equal(rename(away, log), 0);
    t->store = fixture_open(t->dir);
    assert_string_equal(scene_dump(t), "a = 1\nrevision 1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_commit_costs_one_sync),
        TEST(test_files_that_are_removed_are_missed_before_anybody_is_told),
        TEST(test_a_directory_that_is_moved_away_is_missed),
        TEST(test_closing_leaves_the_files_of_others_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
