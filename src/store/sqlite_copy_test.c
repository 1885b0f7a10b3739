/* SPDX-License-Identifier: Apache-2.0 */
#include "store/scene_test.h"

#include "store/restore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS = 600, VALUE_BYTES = 2000, STEPS_MAX = 10000 };

static char value[VALUE_BYTES + 1];

static void put(struct scene *t, unsigned i)
{
    char key[32];
    snprintf(key, sizeof key, "k%06u", i);
    assert_int_equal(scene_put(t, key, value), 0);
}

static int on_record(void *arg, const char *key, const char *val, struct err *e)
{
    text_printf(arg, "%s=%zu\n", key, strlen(val));
    return 0;
}

static void look(const char *dir, struct text *records, struct restore_look *out)
{
    CLEANUP_FREE char *path = fixture_path(dir, "state.db");
    text_clear(records);
    text_add(records, "");
    assert_int_equal(restore_look(path, on_record, records, out, NULL), 0);
}

/* Copies, and commits record number `from` and so on between the steps. Gives the number of steps. */
static unsigned copy(struct scene *t, const char *dir, unsigned from, struct store_copied *copied)
{
    unsigned steps = 0;
    for (; !copied->done && steps < STEPS_MAX; steps++) {
        assert_int_equal(store_copy(t->store, dir, copied, &t->e), 0);
        if (!copied->done)
            put(t, from + steps);
    }
    assert_true(copied->done);
    return steps;
}

static void test_commits_go_on_and_are_in_the_copy(void **state)
{
    struct scene *t = *state;
    CLEANUP_TEXT struct text records = {0}, expected = {0};
    struct store_copied copied = {0};
    struct restore_look is;
    char *dir = fixture_dir();
    for (unsigned i = 0; i < RECORDS; i++)
        put(t, i);
    unsigned steps = copy(t, dir, RECORDS, &copied);
    assert_true(steps > 3);
    assert_int_equal(copied.revision, RECORDS + steps - 1);
    assert_int_equal(copied.term, t->term);
    put(t, 999999); /* after the copy */
    look(dir, &records, &is);
    assert_int_equal(is.revision, copied.revision);
    assert_int_equal(is.term, t->term);
    for (unsigned i = 0; i < RECORDS + steps - 1; i++)
        text_printf(&expected, "k%06u=%d\n", i, VALUE_BYTES);
    assert_string_equal(records.s, expected.s);
    fixture_remove(dir);
}

/* The copy needs no log, and nobody else may read it. */
static void test_a_copy_is_one_private_file(void **state)
{
    struct scene *t = *state;
    struct store_copied copied = {0};
    struct stat st;
    char *dir = fixture_dir();
    put(t, 1);
    copy(t, dir, 2, &copied);
    CLEANUP_FREE char *db = fixture_path(dir, "state.db"), *wal = fixture_path(dir, "state.db-wal");
    assert_int_equal(stat(db, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(access(wal, F_OK), -1);
    assert_false(copied.journal);
    fixture_remove(dir);
}

static void test_nothing_is_overwritten(void **state)
{
    struct scene *t = *state;
    struct store_copied copied = {0};
    char *dir = fixture_dir();
    CLEANUP_FREE char *db = fixture_path(dir, "state.db");
    fixture_write(db, "mine", 4);
    assert_int_equal(store_copy(t->store, dir, &copied, &t->e), -EEXIST);
    CLEANUP_TEXT struct text is = {0};
    fixture_read(db, &is);
    assert_int_equal(is.len, 4);
    fixture_remove(dir);
}

/* A store that was opened anew in the middle does not go on with half a copy. */
static void test_a_store_that_was_opened_anew(void **state)
{
    struct scene *t = *state;
    struct store_copied copied = {0};
    char *dir = fixture_dir();
    for (unsigned i = 0; i < RECORDS; i++)
        put(t, i);
    assert_int_equal(store_copy(t->store, dir, &copied, &t->e), 0);
    assert_false(copied.done);
    sync_errno = EIO;
    struct store_op op = {.key = "a", .value = "1"};
    struct store_batch b = {.n_ops = 1, .ops = &op};
    uint64_t revision;
    assert_int_equal(store_commit(t->store, t->term, &b, &revision, &t->e), STORE_UNKNOWN);
    assert_int_equal(store_copy(t->store, dir, &copied, &t->e), -EIO);
    sync_errno = 0;
    scene_reopen(t);
    assert_int_equal(store_copy(t->store, dir, &copied, &t->e), -EAGAIN);
    assert_true(strstr(t->e.msg, "opened anew"));
    fixture_remove(dir);
}

/* A full disk of the copy's ends the copy, and hurts no commit. */
static void test_a_full_disk_of_the_copys(void **state)
{
    struct scene *t = *state;
    struct store_copied copied = {0};
    char *dir = fixture_dir();
    if (mount("none", dir, "tmpfs", 0, "size=256k,mode=0700")) {
        print_message("cannot mount a small file system here (%s)\n", strerror(errno));
        fixture_remove(dir);
        skip();
    }
    for (unsigned i = 0; i < RECORDS; i++)
        put(t, i);
    int r = 0;
    for (unsigned i = 0; r == 0 && i < STEPS_MAX; i++) {
        r = store_copy(t->store, dir, &copied, &t->e);
        assert_false(copied.done);
        put(t, RECORDS + i);
    }
    scene_assert_says(&t->e, -ENOSPC, "no space left");
    assert_int_equal(umount(dir), 0);
    copied = (struct store_copied){0};
    copy(t, dir, 2 * RECORDS, &copied);
    fixture_remove(dir);
}

int main(void)
{
    memset(value, '7', VALUE_BYTES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commits_go_on_and_are_in_the_copy, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_a_copy_is_one_private_file, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_nothing_is_overwritten, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_a_store_that_was_opened_anew, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(test_a_full_disk_of_the_copys, scene_start, scene_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
