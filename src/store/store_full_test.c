/* SPDX-License-Identifier: Apache-2.0 */
/* A disk without space: a small file system of our own where we may mount one, and a file size limit. */
#include "store/fixture_test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILL = 20000, COMMITS_MAX = 2000 };

static char filling[FILL + 1];

static int put(struct store *s, uint64_t term, uint64_t i, struct err *e)
{
    char key[32];
    uint64_t revision;
    snprintf(key, sizeof key, "k%06" PRIu64, i);
    return fixture_put(s, term, key, filling, &revision, e);
}

/* Commits until the disk is full, checks what holds then, and gives how many were acknowledged. */
static uint64_t fill(struct store *s, uint64_t term)
{
    CLEANUP_TEXT struct text before = {0}, after = {0};
    struct err e = {0};
    int r;
    uint64_t i = 0;
    do {
        assert_int_equal(fixture_dump(s, &before, NULL), 0);
        r = put(s, term, i++, &e);
    } while (r == 0 && i < COMMITS_MAX);
    assert_int_equal(r, -ENOSPC);
    assert_non_null(strstr(e.msg, "state.db: no space left"));

    /* Again and again, and reads go on and show nothing of it. */
    for (uint64_t again = 0; again < 3; again++)
        assert_int_equal(put(s, term, i + again, &e), -ENOSPC);
    assert_int_equal(fixture_dump(s, &after, NULL), 0);
    assert_string_equal(after.s, before.s);
    return i - 1;
}

/* With space again, the same store goes on, and a reopened one has all of it. */
static void go_on(const char *dir, struct store *s, uint64_t term, uint64_t committed)
{
    CLEANUP_TEXT struct text before = {0}, after = {0};
    struct err e = {0};
    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(put(s, term, committed + i, &e), 0);
    assert_int_equal(fixture_dump(s, &before, NULL), 0);
    store_close(s);
    s = fixture_open(dir);
    assert_int_equal(fixture_dump(s, &after, NULL), 0);
    assert_string_equal(after.s, before.s);
    char last[32];
    snprintf(last, sizeof last, "revision %" PRIu64 "\n", committed + 20);
    assert_non_null(strstr(after.s, last));
    store_close(s);
}

static void ballast_add(const char *path, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(posix_fallocate(fd, 0, (off_t)bytes), 0);
    close(fd);
}

static void test_a_full_disk(void **state)
{
    char *dir = fixture_dir();
    if (mount("none", dir, "tmpfs", 0, "size=4m,mode=0700")) {
        print_message("cannot mount a small file system here (%s); the file size limit stands in\n",
                      strerror(errno));
        fixture_remove(dir);
        skip();
    }
    CLEANUP_FREE char *ballast = fixture_path(dir, "ballast");
    CLEANUP_FREE char *home = fixture_path(dir, "home");
    ballast_add(ballast, 2 << 20);
    struct store *s = fixture_open(home);
    uint64_t term;
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    uint64_t committed = fill(s, term);
    assert_int_equal(unlink(ballast), 0);
    go_on(home, s, term, committed);
    assert_int_equal(umount(dir), 0);
    fixture_remove(dir);
}

/* A state that was closed for want of space opens on a full disk, and is read. */
static void test_a_full_disk_is_opened_and_read(void **state)
{
    char *dir = fixture_dir();
    if (mount("none", dir, "tmpfs", 0, "size=1m,mode=0700")) {
        print_message("cannot mount a small file system here (%s)\n", strerror(errno));
        fixture_remove(dir);
        skip();
    }
    CLEANUP_TEXT struct text before = {0}, after = {0};
    CLEANUP_FREE char *ballast = fixture_path(dir, "ballast");
    CLEANUP_FREE char *home = fixture_path(dir, "home");
    struct store *s = fixture_open(home);
    uint64_t term;
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    assert_int_equal(put(s, term, 1, NULL), 0);
    assert_int_equal(fixture_dump(s, &before, NULL), 0);
    store_close(s);
    int fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, filling, 4096) > 0)
        ;
    close(fd);
    s = fixture_open(home);
    struct err e = {0};
    assert_int_equal(fixture_dump(s, &after, NULL), 0);
    assert_string_equal(after.s, before.s);
    assert_int_equal(store_campaign(s, &term, &e), -ENOSPC);
    assert_int_equal(unlink(ballast), 0);
    assert_int_equal(store_campaign(s, &term, &e), 0);
    assert_int_equal(put(s, term, 2, &e), 0);
    store_close(s);
    assert_int_equal(umount(dir), 0);
    fixture_remove(dir);
}

/* Every file of this process ends at this size. The limit of the process that runs us stays. */
static void size_limit(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_a_file_size_limit(void **state)
{
    char *dir = fixture_dir();
    struct store *s = fixture_open(dir);
    uint64_t term;
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    size_limit(1000000);
    uint64_t committed = fill(s, term);
    size_limit(RLIM_INFINITY);
    signal(SIGXFSZ, SIG_DFL);
    go_on(dir, s, term, committed);
    fixture_remove(dir);
}

/* Where not even a new state has room, nothing is left that the next start would stumble over. */
static void test_no_room_for_a_new_state(void **state)
{
    char *dir = fixture_dir();
    struct store *s = NULL;
    struct err e = {0};
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t bytes = 0; bytes < 12288; bytes += 1000) {
        size_limit(bytes);
        assert_int_equal(store_open_sqlite(dir, &s, &e), -ENOSPC);
    }
    size_limit(RLIM_INFINITY);
    signal(SIGXFSZ, SIG_DFL);
    s = fixture_open(dir);
    uint64_t term;
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    store_close(s);
    fixture_remove(dir);
}

int main(void)
{
    memset(filling, '7', FILL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_a_full_disk_is_opened_and_read),
        cmocka_unit_test(test_a_file_size_limit),
        cmocka_unit_test(test_no_room_for_a_new_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
