/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int setup(void **state)
{
    snprintf(path, sizeof path, "/tmp/fettle-secret-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
    return unlink(path);
}

static void file_holds(const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

/* What is read, or the error's code. */
static int reads(const char *bytes, size_t len, const char *want)
{
    CLEANUP_TEXT struct text t = {0};
    struct err e = {0};
    file_holds(bytes, len);
    int rc = secret_read(path, &t, &e);
    if (rc == 0)
        assert_string_equal(t.s, want);
    else
        assert_non_null(strstr(e.msg, path));
    return rc;
}

static void test_a_secret_is_the_first_line(void **state)
{
    char longest[SECRET_BYTES_MAX + 2];
    memset(longest, 'x', sizeof longest);
    assert_int_equal(reads("s3cret\n", 7, "s3cret"), 0);
    assert_int_equal(reads("with blank \r\nmore", 17, "with blank "), 0);
    assert_int_equal(reads("x", 1, "x"), 0);
    assert_int_equal(reads("", 0, NULL), -EINVAL);
    assert_int_equal(reads("\nx", 2, NULL), -EINVAL);
    assert_int_equal(reads("a\0b\n", 4, NULL), -EINVAL);
    assert_int_equal(reads(longest, SECRET_BYTES_MAX + 1, NULL), -EINVAL);
    longest[SECRET_BYTES_MAX] = '\0';
    assert_int_equal(reads(longest, SECRET_BYTES_MAX, longest), 0);
}

static void test_a_secret_that_others_may_read_is_none(void **state)
{
    struct err e = {0};
    CLEANUP_TEXT struct text t = {0};
    file_holds("s3cret", 6);
    chmod(path, 0640);
    assert_int_equal(secret_read(path, &t, &e), -EACCES);
    assert_non_null(strstr(e.msg, "mend it with \"chmod go-rwx "));
    assert_int_equal(secret_read("/no/such", &t, &e), -ENOENT);
    assert_int_equal(t.len, 0);
}

static void test_a_command_begins_with_its_secrets(void **state)
{
    struct secrets s = {0};
    const char *rest = NULL;
    CLEANUP_TEXT struct text run = {0}, want = {0};
    file_holds("s3 cret\n", 8);
    text_printf(&run, " USER_2=@%s  PASSWORD=@%s curl A=@%s", path, path, path);
    text_printf(&want, "curl A=@%s", path);
    assert_int_equal(secrets_take(run.s, &s, &rest, NULL), 0);
    assert_string_equal(rest, want.s);
    assert_string_equal(s.set[0], "USER_2=s3 cret");
    assert_string_equal(s.set[1], "PASSWORD=s3 cret");
    assert_null(s.set[2]);
    secrets_fini(&s);
}

static void test_other_commands_stay_as_they_are(void **state)
{
    static const char *const all[] = {"true",       "A=b true",    "A=@b true", "=@/x true",
                                      "a=@/x true", "2A=@/x true", "A B=@/x",   ""};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct secrets s = {0};
        const char *rest = NULL;
        assert_int_equal(secrets_take(all[i], &s, &rest, NULL), 0);
        assert_ptr_equal(rest, all[i]);
        assert_null(s.set[0]);
    }
}

static void test_a_command_without_its_secret_is_not_run(void **state)
{
    struct secrets s = {0};
    const char *rest = NULL;
    struct err e = {0};
    CLEANUP_TEXT struct text run = {0};
    assert_int_equal(secrets_take("A=@/no/such true", &s, &rest, &e), -ENOENT);
    assert_null(rest);
    secrets_fini(&s);
    file_holds("x", 1);
    for (int i = 0; i <= SECRETS_MAX; i++)
        text_printf(&run, "A%d=@%s ", i, path);
    assert_int_equal(secrets_take(run.s, &s, &rest, &e), -E2BIG);
    secrets_fini(&s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_secret_is_the_first_line),
        TEST(test_a_secret_that_others_may_read_is_none),
        TEST(test_a_command_begins_with_its_secrets),
        TEST(test_other_commands_stay_as_they_are),
        TEST(test_a_command_without_its_secret_is_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
