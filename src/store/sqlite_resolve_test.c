/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a commit whose outcome was not known. */
#include "store/change.h"
#include "store/scene_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
    assert_int_equal(scene_put(t, "a", "1"), 0);
    sync_errno = EIO;
    sync_loses = loses;
    assert_int_equal(store_commit(t->store, t->term, &batch, &t->revision, &t->e), STORE_UNKNOWN);
    scene_assert_says(&t->e, STORE_UNKNOWN, "state.db");
}

static void test_after_a_failed_sync_nothing_more_is_taken(void **state)
{
    struct scene *t = *state;
    uint64_t term;
    bool more;
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = t->dir};
    commit_unknown(t, false);
    sync_errno = 0;
    assert_int_equal(scene_put(t, "c", "1"), -EIO);
    scene_assert_says(&t->e, -EIO, "takes no commit until the outcome of the last one is known");
    assert_int_equal(store_campaign(t->store, &term, &t->e), -EIO);
    assert_int_equal(store_check(t->store, &t->e), -EIO);
    assert_int_equal(store_tidy(t->store, &keep, wall_now(), &more, &t->e), STORE_UNKNOWN);
    assert_string_equal(scene_dump(t), "a = 1\nrevision 1\n");
}

static void test_an_unknown_commit_that_is_there_is_told(void **state)
{
    struct scene *t = *state;
    commit_unknown(t, false);
    sync_errno = 0;
    assert_string_equal(resolved(t, 1), "2: b=1 a= swap by root");
    assert_string_equal(scene_dump(t), "b = 1\n2: 1 root swap : x\nrevision 2\n");
    assert_string_equal(resolved(t, 2), "nothing");
    assert_int_equal(scene_put(t, "c", "1"), 0);
    assert_int_equal(t->revision, 3);
}

static void test_an_unknown_commit_that_is_gone_stays_gone(void **state)
{
    struct scene *t = *state;
    commit_unknown(t, true);
    sync_errno = 0;
    assert_string_equal(resolved(t, 1), "nothing");
    assert_string_equal(scene_dump(t), "a = 1\nrevision 1\n");
    assert_int_equal(scene_put(t, "c", "1"), 0);
    assert_int_equal(t->revision, 2);
}

/* While the disk refuses, nothing is told, and reading says so; then all of it is. */
static void test_an_outcome_that_stays_unknown_is_asked_again(void **state)
{
    struct scene *t = *state;
    struct text none = {0};
    commit_unknown(t, false);
    assert_non_null(strstr(resolved(t, 1), "state.db"));
    assert_int_equal(t->e.code, -EIO);
    assert_int_equal(fixture_dump(t->store, &none, &t->e), -EIO);
    assert_int_equal(scene_put(t, "c", "1"), -EIO);
    assert_int_equal(store_resolve(t->store, 1, on_change, &none, &t->e), -EIO);
    assert_null(none.s);
    sync_errno = 0;
    assert_string_equal(resolved(t, 1), "2: b=1 a= swap by root");
    assert_string_equal(scene_dump(t), "b = 1\n2: 1 root swap : x\nrevision 2\n");
    assert_int_equal(scene_put(t, "c", "1"), 0);
}

/* What is told is in the database itself: a log of which the disk has only a part would change nothing. */
static void test_a_known_outcome_does_not_rest_on_the_log(void **state)
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
    assert_string_equal(scene_dump(t), "b = 1\n2: 1 root swap : x\nrevision 2\n");
}

/* What came between the looks before and after a commit is not known either, until the file is back. */
static void test_a_log_that_goes_during_a_commit_is_unknown(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *away = fixture_path(t->dir, "away");
    sync_moves = fixture_path(t->dir, "state.db-wal");
    sync_away = away;
    assert_int_equal(scene_put(t, "a", "1"), STORE_UNKNOWN);
    assert_null(sync_moves); /* moved by a sync */
    CLEANUP_FREE char *log = fixture_path(t->dir, "state.db-wal");
    assert_non_null(strstr(resolved(t, 0), "was removed"));
    assert_int_equal(rename(away, log), 0);
    assert_string_equal(resolved(t, 0), "1: a=1");
    assert_int_equal(scene_put(t, "b", "1"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_after_a_failed_sync_nothing_more_is_taken),
        TEST(test_an_unknown_commit_that_is_there_is_told),
        TEST(test_an_unknown_commit_that_is_gone_stays_gone),
        TEST(test_an_outcome_that_stays_unknown_is_asked_again),
        TEST(test_a_known_outcome_does_not_rest_on_the_log),
        TEST(test_a_start_after_a_kill_shows_an_unknown_commit),
        TEST(test_a_log_that_goes_during_a_commit_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
