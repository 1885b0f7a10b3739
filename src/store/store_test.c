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
    assert_string_equal(scene_dump(*state), "revision 0\n");
}

static void test_a_commit_is_there_after_opening_again(void **state)
{
    struct scene *t = *state;
    assert_int_equal(fixture_put(t->store, t->term, "claim/42", "{\"a\":1}", &t->revision, NULL), 0);
    assert_int_equal(t->revision, 1);
    const char *whole =
        "claim/42 = {\"a\":1}\n1: 1795207317123000000 root put lx[01-64]: claim/42\nrevision 1\n";
    assert_string_equal(scene_dump(t), whole);
    scene_reopen(t);
    assert_string_equal(scene_dump(t), whole);
}

static void test_records_come_in_the_order_of_their_keys(void **state)
{
    struct scene *t = *state;
    static const char *const keys[] = {"node/2", "claim/9", "node/10", "Z", "claim/10", "node/1"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(scene_put(t, keys[i], "0"), 0);
    assert_string_equal(
        scene_dump(t), "Z = 0\nclaim/10 = 0\nclaim/9 = 0\nnode/1 = 0\nnode/10 = 0\nnode/2 = 0\nrevision 6\n");
}

static void test_a_refused_batch_leaves_nothing(void **state)
{
    struct scene *t = *state;
    struct store_op ops[] = {{"a", "1"}, {"b", "2"}, {"", "3"}};
    struct store_batch b = {.n_ops = 3, .ops = ops};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -EINVAL);
    b.n_ops = 2;
    assert_int_equal(store_commit(t->store, t->term + 1, &b, &t->revision, &t->e), -EPERM);
    assert_string_equal(scene_dump(t), "revision 0\n");
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
    assert_string_equal(scene_dump(t), "a = 1\nb = 2\nrevision 1\n");
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
    scene_assert_says(&t->e, -E2BIG, "a batch of 129 records, the limit is 128");
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
    scene_assert_says(&t->e, -E2BIG, "a batch of 129 journal entries, the limit is 128");
    b.n_entries = STORE_ENTRIES_MAX;
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

static void test_more_bytes_than_the_limit_are_refused(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *value = mem_alloc(STORE_BATCH_BYTES_MAX + 1);
    memset(value, '1', STORE_BATCH_BYTES_MAX);
    assert_int_equal(scene_put(t, "k", value), -E2BIG);
    scene_assert_says(&t->e, -E2BIG, "a batch of more than 1048576 bytes");
    value[STORE_BATCH_BYTES_MAX - 1] = '\0';
    assert_int_equal(scene_put(t, "k", value), 0);

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
    assert_int_equal(scene_put(t, key, "1"), -E2BIG);
    scene_assert_says(&t->e, -E2BIG, "is 513 bytes long, the limit is 512");
    key[512] = '\0';
    assert_int_equal(scene_put(t, key, "1"), 0);
    assert_int_equal(scene_put(t, "", "1"), -EINVAL);
    scene_assert_says(&t->e, -EINVAL, "a key is empty");
    assert_int_equal(scene_put(t, "a\nb", "1"), -EINVAL);
    scene_assert_says(&t->e, -EINVAL, "byte 0x0a");
    assert_int_equal(scene_put(t, "kn\xc3\xb6ten", "1"), -EINVAL);
    assert_int_equal(scene_put(t, "a b~!", "1"), 0);
}

static void test_a_key_stands_once_in_a_batch(void **state)
{
    struct scene *t = *state;
    struct store_op ops[] = {{"a", "1"}, {"b", "2"}, {"a", NULL}};
    struct store_batch b = {.n_ops = 3, .ops = ops};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -EINVAL);
    scene_assert_says(&t->e, -EINVAL, "key \"a\" stands twice");
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

static void test_what_cannot_be_accessed_is_named(void **state)
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
        TEST(test_open_makes_what_only_its_owner_reads),
        TEST(test_a_new_store_is_empty_at_revision_0),
        TEST(test_a_commit_is_there_after_opening_again),
        TEST(test_records_come_in_the_order_of_their_keys),
        TEST(test_a_refused_batch_leaves_nothing),
        TEST(test_more_records_than_the_limit_are_refused),
        TEST(test_more_entries_than_the_limit_are_refused),
        TEST(test_more_bytes_than_the_limit_are_refused),
        TEST(test_keys_are_printable_and_short),
        TEST(test_a_key_stands_once_in_a_batch),
        TEST(test_a_second_opener_is_refused),
        TEST(test_other_programs_cannot_touch_an_open_state),
        TEST(test_a_state_that_another_program_holds_is_busy),
        TEST(test_what_cannot_be_accessed_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
