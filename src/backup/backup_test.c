/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/made_test.h"

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

enum { NOON = 1795694400 }; /* 2026-11-26T12:00:00Z */

static void test_a_backup_is_made_and_listed(void **state)
{
    struct made *t = *state;
    struct backup_entry *list = NULL;
    size_t n = 0;
    assert_int_equal(made_backup(t, NOON), 0);
    assert_string_equal(t->name, "20261126T120000Z-r1");
    made_put(t, "a");
    assert_int_equal(made_backup(t, NOON + 60), 0);
    assert_int_equal(backup_list(t->shelf, &list, &n, &t->e), 0);
    assert_int_equal(n, 2);
    assert_string_equal(list[0].name, "20261126T120100Z-r2");
    assert_int_equal(list[0].why.code, 0);
    assert_int_equal(list[0].manifest.revision, 2);
    assert_string_equal(list[1].manifest.cluster, MADE_ORIGIN);
    assert_int_equal(list[0].manifest.n, 3);
    assert_true(manifest_bytes(&list[0].manifest) > 4096);
    assert_int_equal(made_names(t->shelf), 3); /* and the lock */
    free(list);
}

static void test_files_are_for_the_owner_alone(void **state)
{
    struct made *t = *state;
    struct stat st;
    static const char *const names[] = {"state.db", "ca.key", "ca.pem", "manifest.json"};
    umask(0);
    assert_int_equal(made_backup(t, NOON), 0);
    for (size_t i = 0; i < 4; i++) {
        CLEANUP_FREE char *path = fixture_path(t->path, names[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
    }
    assert_int_equal(stat(t->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void test_a_directory_that_others_may_read(void **state)
{
    struct made *t = *state;
    chmod(t->shelf, 0750);
    assert_int_equal(made_backup(t, NOON), -EACCES);
    made_says(&t->e, -EACCES, "chmod go-rwx");
    assert_int_equal(made_names(t->shelf), 0);
}

static void test_one_process_at_a_time(void **state)
{
    struct made *t = *state;
    struct backup *first = NULL, *second = NULL;
    assert_int_equal(made_begin(t, &first), 0);
    assert_int_equal(backup_begin(t->shelf, &second, &t->e), -EBUSY);
    made_says(&t->e, -EBUSY, "another process makes a backup");
    backup_close(first);
    assert_int_equal(made_names(t->shelf), 1);
}

/* However a process ends, there is no half backup, and the next one takes away what is left. */
static void test_a_process_that_was_killed(void **state)
{
    struct made *t = *state;
    struct backup_entry *list = NULL;
    struct manifest m;
    size_t n = 1;
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct backup *b;
        bool bad = made_begin(t, &b) != 0;
        raise(bad ? SIGTERM : SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    CLEANUP_FREE char *half = fixture_path(t->shelf, "unfinished");
    assert_int_equal(access(half, F_OK), 0);
    assert_int_equal(backup_verify(half, &m, &t->e), -ENOENT);
    assert_int_equal(backup_list(t->shelf, &list, &n, &t->e), 0);
    assert_int_equal(n, 0);
    free(list);
    assert_int_equal(made_backup(t, NOON), 0);
    assert_int_equal(access(half, F_OK), -1);
    assert_int_equal(backup_verify(t->path, &m, &t->e), 0);
}

static void test_a_full_disk(void **state)
{
    struct made *t = *state;
    static char big[100001];
    struct manifest m;
    if (mount("none", t->shelf, "tmpfs", 0, "size=512k,mode=0700")) {
        print_message("cannot mount a small file system here (%s)\n", strerror(errno));
        skip();
    }
    assert_int_equal(made_backup(t, NOON), 0);
    memset(big, '7', sizeof big - 1);
    uint64_t revision;
    for (int i = 0; i < 10; i++) {
        char key[8];
        snprintf(key, sizeof key, "big%d", i);
        assert_int_equal(fixture_put(t->store, t->term, key, big, &revision, &t->e), 0);
    }
    CLEANUP_FREE char *first = mem_dup(t->path);
    assert_int_equal(made_backup(t, NOON + 60), -ENOSPC);
    assert_int_equal(made_names(t->shelf), 2); /* the first one, and the lock */
    assert_int_equal(backup_verify(first, &m, &t->e), 0);
    assert_int_equal(umount(t->shelf), 0);
}

/* No room for the last file of all. */
static void test_a_full_disk_at_the_end(void **state)
{
    struct made *t = *state;
    struct backup *b = NULL;
    if (mount("none", t->shelf, "tmpfs", 0, "size=256k,mode=0700")) {
        print_message("cannot mount a small file system here (%s)\n", strerror(errno));
        skip();
    }
    assert_int_equal(made_begin(t, &b), 0);
    CLEANUP_FREE char *ballast = fixture_path(t->shelf, "ballast");
    FILE *f = fopen(ballast, "w");
    while (fputs("ballast", f) >= 0 && fflush(f) == 0)
        ;
    fclose(f);
    assert_int_equal(backup_finish(b, t->state, &t->manifest, t->name, &t->e), -ENOSPC);
    backup_close(b);
    assert_int_equal(made_names(t->shelf), 2); /* ballast and lock */
    assert_int_equal(umount(t->shelf), 0);
}

static void test_the_oldest_go(void **state)
{
    struct made *t = *state;
    struct backup *b = NULL;
    struct backup_entry *list = NULL;
    size_t n = 0;
    CLEANUP_FREE char *foreign = fixture_path(t->shelf, "20200101T000000Z-r1");
    CLEANUP_FREE char *notes = fixture_path(t->shelf, "notes");
    fixture_write(notes, "mine", 4);
    mkdir(foreign, 0700);
    for (int i = 0; i < 5; i++)
        assert_int_equal(made_backup(t, NOON + i), 0);
    assert_int_equal(backup_begin(t->shelf, &b, &t->e), 0);
    assert_int_equal(backup_retain(b, "ffffffffffffffff", 1, &t->e), 0);
    assert_int_equal(backup_retain(b, MADE_ORIGIN, 2, &t->e), 0);
    backup_close(b);
    assert_int_equal(backup_list(t->shelf, &list, &n, &t->e), 0);
    assert_int_equal(n, 3);
    assert_string_equal(list[1].name, "20261126T120003Z-r1");
    assert_string_equal(list[2].name, "20200101T000000Z-r1"); /* no backup: it stays */
    assert_int_equal(list[2].why.code, -ENOENT);
    assert_int_equal(access(notes, F_OK), 0);
    free(list);
}

/* The second of two within a second and a revision is refused, and hurts nothing. */
static void test_a_name_that_is_taken(void **state)
{
    struct made *t = *state;
    struct manifest m;
    assert_int_equal(made_backup(t, NOON), 0);
    assert_int_equal(made_backup(t, NOON), -EEXIST);
    assert_int_equal(backup_verify(t->path, &m, &t->e), 0);
    assert_int_equal(made_names(t->shelf), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_backup_is_made_and_listed, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_files_are_for_the_owner_alone, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_directory_that_others_may_read, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_one_process_at_a_time, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_process_that_was_killed, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_full_disk, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_full_disk_at_the_end, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_the_oldest_go, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_name_that_is_taken, made_start, made_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
