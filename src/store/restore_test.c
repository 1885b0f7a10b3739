/* SPDX-License-Identifier: Apache-2.0 */
#include "store/restore.h"

#include "store/scene_test.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct store_entry entry = {
    .actor = "root", .what = "state.restored", .nodes = "", .text = "from a copy"};
static const struct store_op mark = {"backup/restored", "{}"};
static const struct store_batch batch = {.n_ops = 1, .ops = &mark, .n_entries = 1, .entries = &entry};

/* A copy of the scene's store, with so many entries; more than some thousand make a journal.db. */
static char *make_copy(struct scene *t, unsigned entries, struct store_copied *copied)
{
    char *dir = fixture_dir();
    bool more = true;
    const struct store_keep keep = {.bytes = UINT64_MAX};
    for (unsigned i = 0; i < entries; i++)
        assert_int_equal(fixture_put(t->store, t->term, "a", "1", &t->revision, &t->e), 0);
    while (more)
        assert_int_equal(store_tidy(t->store, &keep, wall_now(), &more, &t->e), 0);
    while (!copied->done)
        assert_int_equal(store_copy(t->store, dir, copied, &t->e), 0);
    return dir;
}

static int bring(struct restore *r, const char *from, const char *name, struct err *e)
{
    CLEANUP_TEXT struct text bytes = {0};
    CLEANUP_FREE char *path = fixture_path(from, name);
    int fd, rc = restore_file(r, name, &fd, e);
    if (rc)
        return rc;
    fixture_read(path, &bytes);
    assert_int_equal(write(fd, bytes.s, bytes.len), (ssize_t)bytes.len);
    close(fd);
    return 0;
}

/* How many names the directory has. */
static unsigned names(const char *dir)
{
    unsigned n = 0;
    DIR *list = opendir(dir);
    while (readdir(list))
        n++;
    closedir(list);
    return n - 2;
}

static void test_a_copy_becomes_a_state(void **state)
{
    struct scene *t = *state;
    struct store_copied copied = {0};
    CLEANUP_TEXT struct text before = {0}, after = {0};
    char *copy = make_copy(t, 13000, &copied), *to = fixture_dir();
    struct restore *r = NULL;
    uint64_t revision, term;
    assert_true(copied.journal);
    assert_int_equal(restore_begin(to, &r, &t->e), 0);
    assert_int_equal(bring(r, copy, "state.db", &t->e), 0);
    assert_int_equal(bring(r, copy, "journal.db", &t->e), 0);
    assert_int_equal(restore_end(r, 5000, &batch, &revision, &t->e), 0);
    restore_close(r);
    assert_int_equal(revision, copied.revision + 1);
    struct store *s = fixture_open(to);
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    assert_int_equal(term, 5001);
    /* The same as the original with the same commit. */
    assert_int_equal(store_commit(t->store, t->term, &batch, &revision, &t->e), 0);
    assert_int_equal(fixture_dump(t->store, &before, NULL), 0);
    assert_int_equal(fixture_dump(s, &after, NULL), 0);
    assert_string_equal(before.s, after.s);
    store_close(s);
    fixture_remove(to);
    fixture_remove(copy);
}

static void test_a_directory_with_files_is_left_alone(void **state)
{
    struct scene *t = *state;
    struct restore *r = NULL;
    char *to = fixture_dir();
    CLEANUP_FREE char *file = fixture_path(to, "ca.key");
    fixture_write(file, "key", 3);
    assert_int_equal(restore_begin(to, &r, &t->e), -EEXIST);
    scene_assert_says(&t->e, -EEXIST, "it has ca.key");
    assert_int_equal(names(to), 1);
    fixture_remove(to);
}

static void test_a_running_controllers_directory(void **state)
{
    struct scene *t = *state;
    struct restore *r = NULL;
    assert_int_equal(restore_begin(t->dir, &r, &t->e), -EBUSY);
    scene_assert_says(&t->e, -EBUSY, "another process uses the state");
}

static void test_a_lost_state_is_said(void **state)
{
    struct scene *t = *state;
    struct restore *r = NULL;
    CLEANUP_FREE char *db = fixture_path(t->dir, "state.db"), *wal = fixture_path(t->dir, "state.db-wal");
    scene_put(t, "a", "1");
    store_close(t->store);
    t->store = NULL;
    unlink(db);
    unlink(wal);
    assert_int_equal(restore_begin(t->dir, &r, &t->e), -EEXIST);
    scene_assert_says(&t->e, -EEXIST, "says that a state stood at revision 1");
    t->store = NULL;
}

static void test_a_directory_that_others_may_read(void **state)
{
    struct scene *t = *state;
    struct restore *r = NULL;
    char *to = fixture_dir();
    chmod(to, 0755);
    assert_int_equal(restore_begin(to, &r, &t->e), -EACCES);
    scene_assert_says(&t->e, -EACCES, "chmod go-rwx");
    assert_int_equal(names(to), 0);
    fixture_remove(to);
}

/* What is not finished leaves nothing, or when the process was killed, nothing that begins. */
static void test_an_attempt_that_ended_in_the_middle(void **state)
{
    struct scene *t = *state;
    struct store_copied copied = {0};
    struct restore *r = NULL;
    struct store *s = NULL;
    uint64_t revision;
    int fd;
    char *copy = make_copy(t, 3, &copied), *to = fixture_dir();
    assert_int_equal(restore_begin(to, &r, &t->e), 0);
    assert_int_equal(restore_file(r, "ca.key", &fd, &t->e), 0);
    close(fd);
    restore_close(r);
    assert_int_equal(names(to), 0);

    pid_t child = fork();
    if (child == 0) {
        bool bad = restore_begin(to, &r, &t->e) || bring(r, copy, "state.db", &t->e) ||
                   bring(r, copy, "ca.pem", &t->e);
        _exit(bad);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(store_open_sqlite(to, &s, &t->e), -EILSEQ); /* nobody begins anew there */
    assert_int_equal(restore_begin(to, &r, &t->e), 0);
    assert_int_equal(bring(r, copy, "state.db", &t->e), 0);
    assert_int_equal(restore_end(r, 7, &batch, &revision, &t->e), 0);
    restore_close(r);
    s = fixture_open(to);
    store_close(s);
    fixture_remove(to);
    fixture_remove(copy);
}

/* A state that is no good gets no name. */
static void test_a_damaged_copy(void **state)
{
    struct scene *t = *state;
    struct store_copied copied = {0};
    struct restore *r = NULL;
    uint64_t revision;
    char *copy = make_copy(t, 30, &copied), *to = fixture_dir();
    CLEANUP_FREE char *db = fixture_path(copy, "state.db");
    CLEANUP_TEXT struct text bytes = {0};
    fixture_read(db, &bytes);
    char *at = memmem(bytes.s, bytes.len, "lx[01-64]", 9);
    assert_non_null(at);
    *at ^= 1;
    fixture_write(db, bytes.s, bytes.len);
    assert_int_equal(restore_begin(to, &r, &t->e), 0);
    assert_int_equal(bring(r, copy, "state.db", &t->e), 0);
    assert_int_equal(restore_end(r, 7, &batch, &revision, &t->e), -EILSEQ);
    restore_close(r);
    assert_int_equal(names(to), 0);
    fixture_remove(to);
    fixture_remove(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_copy_becomes_a_state, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_a_directory_with_files_is_left_alone, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_a_running_controllers_directory, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_a_lost_state_is_said, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_a_directory_that_others_may_read, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_an_attempt_that_ended_in_the_middle, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_a_damaged_copy, scene_start, scene_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
