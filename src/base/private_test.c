/* SPDX-License-Identifier: Apache-2.0 */
#include "base/private.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const READABLE[] = {"*.pem", NULL};

struct place {
    char dir[64], key[96], pem[96];
};

static void make(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/fettle-private-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->key, sizeof p->key, "%s/node.key", p->dir);
    snprintf(p->pem, sizeof p->pem, "%s/node.pem", p->dir);
    make(p->key);
    make(p->pem);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    unlink(p->key);
    unlink(p->pem);
    rmdir(p->dir);
    free(p);
    return 0;
}

static void own_files_are_taken(void **state)
{
    struct place *p = *state;
    assert_int_equal(private_check(p->key, PRIVATE_TO_READ, NULL), 0);
    assert_int_equal(private_check_dir(p->dir, READABLE, NULL), 0);
    assert_int_equal(chmod(p->dir, 0755), 0);
    assert_int_equal(chmod(p->pem, 0644), 0);
    assert_int_equal(private_check_dir(p->dir, READABLE, NULL), 0);
}

/* A certificate that was being written when the process was killed; not a key that was. */
static void files_that_a_kill_left_are_taken(void **state)
{
    struct place *p = *state;
    char left[sizeof p->pem + 4];
    snprintf(left, sizeof left, "%s.new", p->pem);
    make(left);
    assert_int_equal(chmod(left, 0644), 0);
    assert_int_equal(private_check_dir(p->dir, READABLE, NULL), 0);
    unlink(left);
    snprintf(left, sizeof left, "%s.new", p->key);
    make(left);
    assert_int_equal(chmod(left, 0644), 0);
    assert_int_equal(private_check_dir(p->dir, READABLE, NULL), -EACCES);
    unlink(left);
}

/* The command that the sentence ends with is all that is needed. */
static void mend(const struct err *e)
{
    const char *from = strchr(e->msg, '"'), *to = strrchr(e->msg, '"');
    assert_non_null(from);
    CLEANUP_TEXT struct text command = {0};
    text_add_bytes(&command, from + 1, (size_t)(to - from) - 1);
    char sh[] = "sh", option[] = "-c";
    char *const argv[] = {sh, option, command.s, NULL};
    pid_t pid;
    int status;
    assert_int_equal(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_mode_that_lets_others_in_is_refused(void **state)
{
    static const mode_t bad[] = {0640, 0604, 0620, 0602, 0666, 0610};
    struct place *p = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        assert_int_equal(chmod(p->key, bad[i]), 0);
        assert_int_equal(private_check(p->key, PRIVATE_TO_READ, &e), -EACCES);
        assert_int_equal(private_check_dir(p->dir, READABLE, &e), -EACCES);
        mend(&e);
        assert_int_equal(private_check_dir(p->dir, READABLE, NULL), 0);
    }
}

static void files_that_others_may_write_are_refused(void **state)
{
    struct place *p = *state;
    const char *paths[] = {p->pem, p->dir};
    for (size_t i = 0; i < 2; i++) {
        struct err e = {0};
        assert_int_equal(chmod(paths[i], 0775), 0);
        assert_int_equal(private_check_dir(p->dir, READABLE, &e), -EACCES);
        mend(&e);
        assert_int_equal(private_check_dir(p->dir, READABLE, NULL), 0);
    }
}

static void a_file_of_somebody_else_is_refused(void **state)
{
    struct place *p = *state;
    struct err e = {0};
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(p->key, 12345, (gid_t)-1), 0);
    assert_int_equal(private_check_dir(p->dir, READABLE, &e), -EACCES);
    assert_non_null(strstr(e.msg, "12345"));
    mend(&e);
    assert_int_equal(private_check_dir(p->dir, READABLE, NULL), 0);
}

static void a_missing_file_is_said(void **state)
{
    struct place *p = *state;
    struct err e = {0};
    assert_int_equal(unlink(p->key), 0);
    assert_int_equal(private_check(p->key, PRIVATE_TO_READ, &e), -ENOENT);
    assert_int_equal(private_check_dir(p->key, READABLE, NULL), 0);
}

/* The open file is judged, and only a file. */
static void a_secret_is_opened_when_it_is_private(void **state)
{
    struct place *p = *state;
    struct err e = {0};
    int fd = private_open(p->key, NULL);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(chmod(p->key, 0640), 0);
    assert_int_equal(private_open(p->key, &e), -EACCES);
    assert_non_null(strstr(e.msg, "chmod go-rwx"));
    assert_int_equal(chmod(p->key, 0602), 0);
    assert_int_equal(private_open(p->key, NULL), -EACCES);
    assert_int_equal(private_open(p->dir, NULL), -EINVAL);
    unlink(p->key);
    assert_int_equal(private_open(p->key, NULL), -ENOENT);
    assert_int_equal(mkfifo(p->key, 0600), 0);
    assert_int_equal(private_open(p->key, NULL), -EINVAL); /* and it does not wait for a writer */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(own_files_are_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_a_kill_left_are_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_mode_that_lets_others_in_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_others_may_write_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_of_somebody_else_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_file_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_secret_is_opened_when_it_is_private, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
