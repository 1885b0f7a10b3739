/* SPDX-License-Identifier: Apache-2.0 */
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char home[] = "/tmp/fettle-directory-XXXXXX";
static int at;

static int make_home(void **state)
{
    at = mkdtemp(home) ? open(home, O_RDONLY | O_DIRECTORY) : -1;
    return at < 0;
}

static int remove_home(void **state)
{
    return close(at) || rmdir(home);
}

static void make_file(const char *path)
{
    int fd = openat(at, path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool is_there(const char *path)
{
    return faccessat(at, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_files_go_with_their_directory(void **state)
{
    assert_int_equal(mkdirat(at, "d", 0700), 0);
    make_file("d/a");
    make_file("d/.hidden");
    assert_int_equal(directory_remove(at, "d"), 0);
    assert_false(is_there("d"));
    assert_int_equal(directory_remove(at, "d"), -ENOENT);
}

/* Nothing outside of it is touched. */
static void test_a_link_is_not_followed(void **state)
{
    assert_int_equal(mkdirat(at, "d", 0700), 0);
    make_file("d/a");
    assert_int_equal(symlinkat("d", at, "link"), 0);
    assert_true(directory_remove(at, "link") < 0);
    assert_true(is_there("d/a"));
    assert_int_equal(unlinkat(at, "link", 0), 0);
    assert_int_equal(directory_remove(at, "d"), 0);
}

static void test_a_directory_inside_stays(void **state)
{
    assert_int_equal(mkdirat(at, "d", 0700), 0);
    assert_int_equal(mkdirat(at, "d/inner", 0700), 0);
    assert_true(directory_remove(at, "d") < 0);
    assert_true(is_there("d/inner"));
    assert_int_equal(unlinkat(at, "d/inner", AT_REMOVEDIR), 0);
    assert_int_equal(directory_remove(at, "d"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_go_with_their_directory),
        cmocka_unit_test(test_a_link_is_not_followed),
        cmocka_unit_test(test_a_directory_inside_stays),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
