/* SPDX-License-Identifier: Apache-2.0 */
/* Commits, terms, pages of the journal, and the files behind an open store. */
#include "store/scene_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_each_commit_is_one_revision(void **state)
{
    struct scene *t = *state;
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(scene_put(t, "k", "1"), 0);
        assert_int_equal(t->revision, i);
    }
    scene_reopen(t);
    assert_int_equal(store_campaign(t->store, &t->term, NULL), 0);
    assert_int_equal(scene_put(t, "k", "2"), 0);
    assert_int_equal(t->revision, 6);
}

static void test_put_replaces_and_delete_removes(void **state)
{
    struct scene *t = *state;
    assert_int_equal(scene_put(t, "a", "1"), 0);
    assert_int_equal(scene_put(t, "a", "2"), 0);
    assert_int_equal(scene_put(t, "b", "3"), 0);
    assert_int_equal(scene_put(t, "b", NULL), 0);
    assert_string_equal(scene_dump(t), "a = 2\nrevision 4\n");
}

static void test_deleting_what_is_not_there_is_no_error(void **state)
{
    struct scene *t = *state;
    assert_int_equal(scene_put(t, "nothing", NULL), 0);
    assert_string_equal(scene_dump(t), "revision 1\n");
}

static void test_each_term_is_higher_than_any_before(void **state)
{
    struct scene *t = *state;
    uint64_t last = t->term;
    for (int i = 0; i < 3; i++) {
        scene_reopen(t);
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
    assert_int_equal(scene_put(t, "a", "1"), -EPERM);
    scene_assert_says(&t->e, -EPERM, "term 1 does not lead; the last that was given is 2");
    t->term = 0;
    assert_int_equal(scene_put(t, "a", "1"), -EPERM);
    t->term = newer;
    assert_int_equal(scene_put(t, "a", "1"), 0);
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
    assert_int_equal(scene_put(t, "k", "1"), 0);
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

static void test_the_journal_is_told_oldest_first(void **state)
{
    struct scene *t = *state;
    journal_fill(t);
    assert_string_equal(scene_dump(t), "k = 1\n"
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
    assert_int_equal(scene_put(t, "l", "1"), 0);
    struct seen seen = {.answer = -EAGAIN};
    assert_int_equal(store_journal(t->store, 0, 8, seen_entry, &seen, &t->e), -EAGAIN);
    scene_assert_says(&t->e, -EAGAIN, "enough");
    assert_int_equal(seen.n, 1);
    seen.n = 0;
    assert_int_equal(store_load(t->store, seen_record, &seen, &t->revision, &t->e), -EPROTO);
    scene_assert_says(&t->e, -EPROTO, "record k is not understood");
    assert_int_equal(seen.n, 1);
    assert_int_equal(scene_put(t, "m", "1"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_commit_is_one_revision),
        TEST(test_put_replaces_and_delete_removes),
        TEST(test_deleting_what_is_not_there_is_no_error),
        TEST(test_each_term_is_higher_than_any_before),
        TEST(test_a_deposed_term_commits_nothing),
        TEST(test_the_journal_is_told_oldest_first),
        TEST(test_the_journal_is_told_after_a_revision_and_up_to_a_number),
        TEST(test_a_reader_ends_the_walk),
        TEST(test_a_commit_costs_one_sync),
        TEST(test_files_that_are_removed_are_missed_before_anybody_is_told),
        TEST(test_a_directory_that_is_moved_away_is_missed),
        TEST(test_closing_leaves_the_files_of_others_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
