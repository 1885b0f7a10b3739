/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "probe/sys.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_a_last_line_without_its_end_counts(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/meminfo", "SwapTotal: 0 kB\nMemTotal: 2097152 kB");
    tree_expect(t, "RealMemory", "2048");
}

static void test_bytes_that_no_screen_should_see(void **state)
{
    struct tree *t = *state;
    static const char name[] = "  l\xffx\x1b[2J\t\n";
    tree_add_bytes(t, "proc/sys/kernel/hostname", name, sizeof name - 1);
    tree_expect(t, "Name", "'l\xef\xbf\xbdx [2J'");
}

static void test_a_cut_goes_between_characters(void **state)
{
    struct tree *t = *state;
    char name[200] = "";
    for (size_t i = 0; i + 3 < sizeof name; i += 3)
        memcpy(name + i, "\xe2\x82\xac", 3);
    tree_add(t, "proc/sys/kernel/hostname", name);
    CLEANUP_JSON json_t *inventory = tree_inventory(t);
    const char *cut = json_string_value(json_object_get(inventory, "Name"));
    assert_int_equal(strlen(cut), 126);
    assert_null(strstr(cut, "\xef\xbf\xbd"));
}

/* A pipe without a writer in the place of a file must not be waited for. */
static void test_a_pipe_is_not_waited_for(void **state)
{
    struct tree *t = *state;
    char path[64];
    tree_add(t, "proc/", NULL);
    snprintf(path, sizeof path, "%s/proc/meminfo", t->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    tree_expect(t, "RealMemory", NULL);
}

/* The file would be read for ever if a limit did not end it. */
static void test_a_file_without_an_end_is_left(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/meminfo@", "/dev/zero");
    tree_add(t, "proc/cpuinfo@", "/dev/zero");
    tree_expect(t, "RealMemory", NULL);
    tree_expect(t, "CPUs", NULL);
}

static int root_of(const struct tree *t)
{
    int root = sys_open_root(t->root, NULL);
    assert_true(root >= 0);
    return root;
}

static void test_a_root_that_is_none_is_an_error(void **state)
{
    struct err e = {0};
    assert_int_equal(sys_open_root("/no/such/root", &e), -ENOENT);
    assert_string_equal(e.msg, "/no/such/root: No such file or directory");
    CLEANUP_FD int root = sys_open_root("", NULL);
    assert_true(root >= 0); /* this machine's own */
    assert_int_equal(sys_open_dir(root, "no/such/directory"), -ENOENT);
}

static void test_a_text_is_its_first_line_without_blanks(void **state)
{
    struct tree *t = *state;
    CLEANUP_FD int root = root_of(t);
    char text[SYS_TEXT_BYTES_MAX];
    static const char zero[] = " a\tb\x7f \0c\nd";
    tree_add_bytes(t, "file", zero, sizeof zero - 1);
    assert_int_equal(sys_text(root, "file", text), 0);
    assert_string_equal(text, "a b");
    assert_int_equal(sys_text(root, "absent", text), -ENOENT);
    tree_add(t, "dir/", NULL);
    assert_int_equal(sys_text(root, "dir", text), -EISDIR);
}

static void test_a_number_is_the_whole_line(void **state)
{
    struct tree *t = *state;
    CLEANUP_FD int root = root_of(t);
    uint64_t n = 0;
    tree_add(t, "file", " 18446744073709551615 \n7\n");
    assert_int_equal(sys_u64(root, "file", &n), 0);
    assert_true(n == UINT64_MAX);
    static const char *const wrong[] = {"", "\n7", "-1\n", "7 8\n", "18446744073709551616\n", "0x7\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tree_add(t, "file", wrong[i]);
        assert_true(sys_u64(root, "file", &n) < 0);
    }
    assert_int_equal(sys_u64(root, "absent", &n), -ENOENT);
}

static void test_a_file_must_fit_with_its_zero(void **state)
{
    struct tree *t = *state;
    CLEANUP_FD int root = root_of(t);
    char bytes[8];
    tree_add(t, "file", "1234567");
    assert_int_equal(sys_read(root, "file", bytes, sizeof bytes), 0);
    assert_string_equal(bytes, "1234567");
    tree_add(t, "file", "12345678");
    assert_int_equal(sys_read(root, "file", bytes, sizeof bytes), -E2BIG);
    assert_int_equal(sys_line(root, "file", bytes, sizeof bytes), -E2BIG);
    assert_int_equal(sys_read(root, "absent", bytes, sizeof bytes), -ENOENT);
}

static void test_a_link_is_its_last_part(void **state)
{
    struct tree *t = *state;
    CLEANUP_FD int root = root_of(t);
    char text[SYS_TEXT_BYTES_MAX];
    tree_add(t, "driver@", "../../bus/pci/drivers/mlx5_core");
    assert_int_equal(sys_link(root, "driver", text), 0);
    assert_string_equal(text, "mlx5_core");
    tree_add(t, "bare@", "e1000");
    assert_int_equal(sys_link(root, "bare", text), 0);
    assert_string_equal(text, "e1000");
    tree_add(t, "file", "x");
    assert_int_equal(sys_link(root, "file", text), -EINVAL);
    assert_int_equal(sys_link(root, "absent", text), -ENOENT);
}

static bool join_line(const char *line, void *arg)
{
    text_printf(arg, "[%s]", line);
    return strcmp(line, "stop") != 0;
}

static void test_lines_come_out_of_pieces(void **state)
{
    CLEANUP_TEXT struct text all = {0};
    struct sys_lines lines = {.len = 0};
    assert_true(sys_lines_feed(&lines, "on", 2, join_line, &all));
    assert_true(sys_lines_feed(&lines, "e\n\ntw\0o", 7, join_line, &all));
    assert_string_equal(all.s, "[one][]");
    assert_true(sys_lines_feed(&lines, "\n", 1, join_line, &all));
    assert_string_equal(all.s, "[one][][tw o]");
    assert_false(sys_lines_feed(&lines, "stop\nmore\n", 10, join_line, &all));
    assert_string_equal(all.s, "[one][][tw o][stop]");
}

static void test_a_line_that_is_too_long_is_cut(void **state)
{
    struct tree *t = *state;
    CLEANUP_FD int root = root_of(t);
    CLEANUP_TEXT struct text long_ = {0}, all = {0};
    text_printf(&long_, "%0*d\nnext\n", SYS_LINE_BYTES_MAX + 5, 0);
    tree_add(t, "file", long_.s);
    assert_int_equal(sys_each_line(root, "file", join_line, &all), 0);
    assert_int_equal(all.len, 1 + SYS_LINE_BYTES_MAX - 1 + 1 + strlen("[next]"));
    assert_int_equal(sys_each_line(root, "absent", join_line, &all), -ENOENT);
}

static void test_names_are_sorted_and_each_is_there_once(void **state)
{
    struct tree *t = *state;
    struct sys_names names = {0};
    tree_add(t, "dir/b", "");
    tree_add(t, "dir/a", "");
    tree_add(t, "dir/.hidden", "");
    CLEANUP_FD int root = root_of(t);
    CLEANUP_FD int dir = sys_open_dir(root, "dir");
    assert_int_equal(sys_names_read(&names, dir), 0);
    assert_int_equal(sys_names_read(&names, dir), 0); /* the directory is read from its start again */
    assert_int_equal(names.n, 4);
    sys_names_add(&names, "B");
    sys_names_sort(&names);
    assert_int_equal(names.n, 3);
    assert_string_equal(names.names[0], "B");
    assert_string_equal(names.names[1], "a");
    assert_string_equal(names.names[2], "b");
    sys_names_fini(&names);
    assert_int_equal(sys_names_read(&names, -1), -EBADF);
}

static void test_sys_is_mounted_where_it_has_classes(void **state)
{
    struct tree *t = *state;
    CLEANUP_FD int root = root_of(t);
    tree_add(t, "sys/", NULL);
    assert_false(sys_mounted(root));
    tree_add(t, "sys/class/", NULL);
    assert_true(sys_mounted(root));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_a_last_line_without_its_end_counts),
        IN_TREE(test_bytes_that_no_screen_should_see),
        IN_TREE(test_a_cut_goes_between_characters),
        IN_TREE(test_a_pipe_is_not_waited_for),
        IN_TREE(test_a_file_without_an_end_is_left),
        cmocka_unit_test(test_a_root_that_is_none_is_an_error),
        IN_TREE(test_a_text_is_its_first_line_without_blanks),
        IN_TREE(test_a_number_is_the_whole_line),
        IN_TREE(test_a_file_must_fit_with_its_zero),
        IN_TREE(test_a_link_is_its_last_part),
        cmocka_unit_test(test_lines_come_out_of_pieces),
        IN_TREE(test_a_line_that_is_too_long_is_cut),
        IN_TREE(test_names_are_sorted_and_each_is_there_once),
        IN_TREE(test_sys_is_mounted_where_it_has_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
