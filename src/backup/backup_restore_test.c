/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/made_test.h"

#include <errno.h>
#include <sys/mount.h>

enum { NOON = 1795694400 };
static const struct wall later = {(NOON + INT64_C(3600)) * 1000000000};

static void test_a_state_comes_back(void **state)
{
    struct made *t = *state;
    struct backup_restored is;
    CLEANUP_TEXT struct text dump = {0}, key = {0};
    made_put(t, "a");
    assert_int_equal(made_backup(t, NOON), 0);
    made_put(t, "lost");
    char *to = fixture_dir();
    assert_int_equal(backup_restore(t->path, to, "ann", later, &is, &t->e), 0);
    assert_int_equal(is.revision, 3);
    assert_int_equal(is.manifest.revision, 2);
    struct store *s = fixture_open(to);
    assert_int_equal(fixture_dump(s, &dump, NULL), 0);
    assert_non_null(strstr(dump.s, "origin/" MADE_ORIGIN " = "));
    assert_null(strstr(dump.s, "lost ="));
    assert_non_null(strstr(dump.s, "ann state.restored : restored from the backup of 2026-11-26T12:00:00"));
    assert_non_null(strstr(dump.s, "backup/restored = {\"at\":\"1795698000000000000\",\"backup\":{\"at\":"));
    store_close(s);
    CLEANUP_FREE char *path = fixture_path(to, "ca.key");
    struct stat st;
    fixture_read(path, &key);
    assert_int_equal(key.len, 7);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    fixture_remove(to);
}

/* The term is above all that starts of the original can reach, and above that of an earlier restore. */
static void test_the_term_is_a_later_one(void **state)
{
    struct made *t = *state;
    struct backup_restored first, second, third;
    uint64_t term;
    assert_int_equal(made_backup(t, NOON), 0);
    char *one = fixture_dir(), *two = fixture_dir(), *three = fixture_dir();
    assert_int_equal(backup_restore(t->path, one, "ann", later, &first, &t->e), 0);
    assert_int_equal(first.term, NOON + 3600);
    struct store *s = fixture_open(one);
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    assert_int_equal(term, NOON + 3601);
    store_close(s);
    struct wall then = {later.ns + 2000000000};
    assert_int_equal(backup_restore(t->path, two, "ann", then, &second, &t->e), 0);
    assert_true(second.term > term);
    /* A clock that was set back gives no lower term than the state had. */
    store_close(t->store);
    t->store = fixture_open(two);
    assert_int_equal(store_campaign(t->store, &t->term, NULL), 0);
    made_put(t, "b");
    assert_int_equal(made_backup(t, NOON + 9999), 0);
    assert_int_equal(backup_restore(t->path, three, "ann", (struct wall){1}, &third, &t->e), 0);
    assert_true(third.term > t->term);
    store_close(STEAL(t->store));
    fixture_remove(one);
    fixture_remove(two);
    fixture_remove(three);
}

static void test_a_running_controllers_directory(void **state)
{
    struct made *t = *state;
    struct backup_restored is;
    assert_int_equal(made_backup(t, NOON), 0);
    assert_int_equal(backup_restore(t->path, t->state, "ann", later, &is, &t->e), -EBUSY);
    made_says(&t->e, -EBUSY, "another process uses the state");
    store_close(STEAL(t->store));
    assert_int_equal(backup_restore(t->path, t->state, "ann", later, &is, &t->e), -EEXIST);
    made_says(&t->e, -EEXIST, "is not empty");
}

static void test_a_damaged_backup_changes_nothing(void **state)
{
    struct made *t = *state;
    struct backup_restored is;
    assert_int_equal(made_backup(t, NOON), 0);
    CLEANUP_FREE char *path = fixture_path(t->path, "ca.pem");
    fixture_write(path, "The authority", 13);
    char *to = fixture_dir();
    assert_int_equal(backup_restore(t->path, to, "ann", later, &is, &t->e), -EILSEQ);
    made_says(&t->e, -EILSEQ, "ca.pem is not what was written");
    assert_int_equal(made_names(to), 0);
    fixture_remove(to);
}

static void test_no_room_for_the_state(void **state)
{
    struct made *t = *state;
    struct backup_restored is;
    assert_int_equal(made_backup(t, NOON), 0);
    char *to = fixture_dir();
    if (mount("none", to, "tmpfs", 0, "size=16k,mode=0700")) {
        print_message("cannot mount a small file system here (%s)\n", strerror(errno));
        fixture_remove(to);
        skip();
    }
    assert_int_equal(backup_restore(t->path, to, "ann", later, &is, &t->e), -ENOSPC);
    assert_int_equal(made_names(to), 0);
    assert_int_equal(umount(to), 0);
    fixture_remove(to);
}

/* root restores for the user of the service. */
static void test_the_owner_of_the_directory_gets_the_files(void **state)
{
    struct made *t = *state;
    struct backup_restored is;
    struct stat st;
    static const char *const names[] = {"state.db", "state.lock", "ca.key", "ca.pem"};
    if (geteuid() != 0)
        skip();
    assert_int_equal(made_backup(t, NOON), 0);
    char *to = fixture_dir();
    assert_int_equal(chown(to, 4711, 4712), 0);
    assert_int_equal(backup_restore(t->path, to, "root", later, &is, &t->e), 0);
    for (size_t i = 0; i < 4; i++) {
        CLEANUP_FREE char *path = fixture_path(to, names[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_uid, 4711);
        assert_int_equal(st.st_gid, 4712);
    }
    fixture_remove(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_state_comes_back, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_the_term_is_a_later_one, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_running_controllers_directory, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_damaged_backup_changes_nothing, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_no_room_for_the_state, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_the_owner_of_the_directory_gets_the_files, made_start, made_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
