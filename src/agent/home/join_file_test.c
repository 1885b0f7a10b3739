/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/home/join_file.h"

#include "base/text.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static const struct address head = {.host = "head", .port = 6120};

static void reads_what_was_written(void **state)
{
    struct tree *t = *state;
    char token[JOIN_TOKEN_BYTES_MAX];
    struct address at;
    CLEANUP_TEXT struct text path = {0};
    struct stat st;
    assert_int_equal(join_file_write(t->root, "fettle1.a.b", &head, NULL), 0);
    assert_int_equal(join_file_write(t->root, "fettle1.c.d", &head, NULL),
                     0); /* over the one that is there */
    assert_int_equal(join_file_read(t->root, token, &at, NULL), 0);
    assert_string_equal(token, "fettle1.c.d");
    assert_string_equal(at.host, "head");
    assert_int_equal(at.port, 6120);
    text_printf(&path, "%s" JOIN_FILE_PATH, t->root);
    assert_int_equal(stat(path.s, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void others_may_not_read_it(void **state)
{
    struct tree *t = *state;
    char token[JOIN_TOKEN_BYTES_MAX];
    struct address at;
    struct err e = {0};
    CLEANUP_TEXT struct text path = {0};
    assert_int_equal(join_file_write(t->root, "fettle1.a.b", &head, NULL), 0);
    text_printf(&path, "%s" JOIN_FILE_PATH, t->root);
    assert_int_equal(chmod(path.s, 0644), 0);
    assert_int_equal(join_file_read(t->root, token, &at, &e), -EACCES);
    assert_non_null(strstr(e.msg, "chmod"));
    assert_int_equal(join_file_write(t->root, "fettle1.a.b", &head, NULL), 0); /* mends it */
    assert_int_equal(join_file_read(t->root, token, &at, NULL), 0);
}

static void refuses_what_is_no_such_line(void **state)
{
    static const char *const lines[] = {"", "\n", "fettle1.a.b\n", "fettle1.a.b head more\n",
                                        "fettle1.a.b head:0\n"};
    struct tree *t = *state;
    char token[JOIN_TOKEN_BYTES_MAX], lengthy[512];
    struct address at;
    struct err e = {0};
    CLEANUP_TEXT struct text path = {0};
    assert_int_equal(join_file_read(t->root, token, &at, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "--at-boot"));
    text_printf(&path, "%s" JOIN_FILE_PATH, t->root);
    for (size_t i = 0; i <= sizeof lines / sizeof *lines; i++) {
        memset(lengthy, 'x', sizeof lengthy - 1);
        memcpy(lengthy + sizeof lengthy - 7, " head\n", 7);
        tree_add(t, "etc/fettle/join", i < sizeof lines / sizeof *lines ? lines[i] : lengthy);
        assert_int_equal(chmod(path.s, 0600), 0);
        assert_int_equal(join_file_read(t->root, token, &at, &e), -EINVAL);
        assert_non_null(strstr(e.msg, JOIN_FILE_PATH));
    }
    assert_int_equal(join_file_write("/no/such/image", "fettle1.a.b", &head, &e), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(reads_what_was_written),
        IN_TREE(others_may_not_read_it),
        IN_TREE(refuses_what_is_no_such_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
