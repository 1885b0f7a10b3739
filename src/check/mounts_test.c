/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_mount_lines(void **state)
{
    struct mounted m;
    assert_true(mounted_parse(
        "36 35 98:0 /a /b\\040c rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue", &m));
    assert_string_equal(m.path, "/b c");
    assert_string_equal(m.type, "ext3");
    assert_string_equal(m.source, "/dev/root");
    assert_string_equal(m.options, "rw,noatime");
    assert_string_equal(m.super, "rw,errors=continue");
    assert_true(mounted_parse("36 35 98:0 / / rw - tmpfs - rw", &m));
    assert_string_equal(m.source, "-");
    static const char *const wrong[] = {"",
                                        "36",
                                        "36 35 98:0 / / rw",
                                        "36 35 98:0 / / rw -",
                                        "36 35 98:0 / / rw - ext4",
                                        "36 35 98:0 / x rw - ext4 /dev/sda"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mounted_parse(wrong[i], &m));
}

static void test_escapes_of_a_line(void **state)
{
    struct mounted m;
    assert_true(mounted_parse("1 0 0:1 / /a\\134\\011b\\0 rw - tmpfs a\\000b\\400 rw", &m));
    assert_string_equal(m.path, "/a\\\tb\\0"); /* two digits are none */
    assert_string_equal(m.source, "ab\\400");  /* more than a byte, and no end of the text */
}

static void test_a_path_that_is_too_long_is_cut(void **state)
{
    struct mounted m;
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "1 0 0:1 / /%0600d rw - tmpfs x rw", 0);
    assert_true(mounted_parse(line.s, &m));
    assert_int_equal(strlen(m.path), sizeof m.path - 1);
}

static int root_of(const struct trial *t)
{
    int root = open(t->tree->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(root >= 0);
    return root;
}

static void expect_mount(const struct trial *t, const char *path, const char *source)
{
    struct mounted m;
    CLEANUP_FD int root = root_of(t);
    if (mounts_find(root, path, true, &m) != 0)
        fail_msg("there is no mount of %s", path);
    assert_string_equal(m.source, source);
}

static void test_the_nearest_mount_is_found(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/1/mountinfo",
              "1 0 8:1 / / rw - ext4 root rw\n"
              "2 1 8:2 / /home rw - ext4 home rw\n"
              "malformed\n"
              "3 1 8:3 / /home/a\\040b rw - ext4 deep rw\n"
              "4 1 8:4 / /over rw - ext4 below rw\n"
              "5 1 8:5 / /over rw - ext4 above rw\n");
    expect_mount(t, "/", "root");
    expect_mount(t, "/homes", "root");
    expect_mount(t, "/home", "home");
    expect_mount(t, "/home/a", "home");
    expect_mount(t, "/home/a b", "deep");
    expect_mount(t, "/home/a b/c", "deep");
    expect_mount(t, "/over/x", "above");
}

static void test_where_nothing_is_mounted(void **state)
{
    struct trial *t = *state;
    struct mounted m;
    CLEANUP_FD int root = root_of(t);
    assert_int_equal(mounts_find(root, "/x", true, &m), -ENODATA); /* no list */
    trial_add(t, "proc/self/mountinfo", "2 1 8:2 / /home rw - ext4 home rw\n");
    assert_int_equal(mounts_find(root, "/x", true, &m), -ENOENT);
    trial_add(t, "proc/self/mountinfo", "rubbish\n");
    assert_int_equal(mounts_find(root, "/x", true, &m), -EINVAL);
}

struct count {
    int n, most;
};

static bool on_mount(const struct mounted *m, void *arg)
{
    struct count *c = arg;
    return ++c->n < c->most;
}

static void test_a_walk_ends_when_it_has_enough(void **state)
{
    struct trial *t = *state;
    struct count all = {.most = 99}, first = {.most = 1}, none = {.most = 99};
    CLEANUP_FD int root = root_of(t);
    assert_int_equal(mounts_each(root, on_mount, &none), -ENODATA);
    trial_add(t, "proc/1/mountinfo",
              "1 0 8:1 / / rw - ext4 root rw\nmalformed\n2 1 8:2 / /home rw - ext4 home rw\n");
    assert_int_equal(mounts_each(root, on_mount, &all), 0);
    assert_int_equal(all.n, 2);
    assert_int_equal(mounts_each(root, on_mount, &first), 0);
    assert_int_equal(first.n, 1);
    trial_add(t, "proc/1/mountinfo", "malformed\n"); /* there is always a root */
    assert_int_equal(mounts_each(root, on_mount, &none), -EINVAL);
    assert_int_equal(none.n, 0);
}

static bool finds_proc(int root, bool states)
{
    struct mounted m;
    return mounts_find(root, "/proc/self", states, &m) == 0 && strcmp(m.type, "proc") == 0;
}

/* The list of /proc is kept; a child, and a look at another root in between, read it anew. */
static void test_the_list_of_this_machine(void **state)
{
    struct trial *t = *state;
    struct mounted m;
    struct count all = {.most = 9999};
    CLEANUP_FD int machine = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), tree = root_of(t);
    if (!finds_proc(machine, true))
        skip(); /* no /proc is mounted at /proc */
    assert_true(finds_proc(machine, false));
    assert_int_equal(mounts_each(machine, on_mount, &all), 0);
    assert_true(all.n > 0);
    pid_t child = fork();
    if (child == 0)
        _exit(finds_proc(machine, true) ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(mounts_find(tree, "/proc", true, &m), -ENODATA);
    assert_true(finds_proc(machine, true));
}

static void test_types_that_lie_on_a_disk(void **state)
{
    static const char *const disks[] = {"ext4", "xfs", "zfs", "vfat", "bcachefs"};
    static const char *const others[] = {"", "ext", "ext44", "nfs4", "tmpfs", "fuse.ext4"};
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++)
        assert_true(type_disk(disks[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(type_disk(others[i]));
}

static void test_options_are_whole_words(void **state)
{
    assert_true(options_have("rw,noatime", "rw", 2));
    assert_true(options_have("rw,noatime", "noatime", 7));
    assert_true(options_have("rw,noatime", "noatime,x", 7));
    assert_false(options_have("rw,noatime", "atime", 5));
    assert_false(options_have("rw,noatime", "noa", 3));
    assert_false(options_have("", "rw", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mount_lines),
        cmocka_unit_test(test_escapes_of_a_line),
        cmocka_unit_test(test_a_path_that_is_too_long_is_cut),
        IN_TRIAL(test_the_nearest_mount_is_found),
        IN_TRIAL(test_where_nothing_is_mounted),
        IN_TRIAL(test_a_walk_ends_when_it_has_enough),
        IN_TRIAL(test_the_list_of_this_machine),
        cmocka_unit_test(test_types_that_lie_on_a_disk),
        cmocka_unit_test(test_options_are_whole_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
