/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"
#include "survey/part.h"

#include <errno.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void mounts_are_read_from_the_first_process(void **state)
{
    struct tree *t = *state;
    machine_add(t, "gpu.tree");
    tree_add(t, "proc/self/mountinfo", "22 1 259:2 / / ro - xfs /dev/nvme0n1p2 ro\n");
    machine_expect(t, "mount./", "xfs ro ro");
    tree_add(t, "proc/1/mountinfo", "22 1 259:2 / / rw - xfs /dev/nvme0n1p2 rw\n");
    machine_expect(t, "mount./", "xfs rw rw");
}

static void join_mount(void *arg, const char *path, const char *value)
{
    text_printf(arg, "%s: %s\n", path, value);
}

static void expect_mounts(const char *text, const char *node, const char *want)
{
    CLEANUP_TEXT struct text all = {0};
    text_add(&all, "");
    assert_int_equal(mounts_parse(text, node, join_mount, &all), 0);
    assert_string_equal(all.s, want);
}

static void test_the_last_of_two_mounts_counts(void **state)
{
    expect_mounts("1 0 8:1 / / rw - xfs /dev/a rw\n2 1 8:2 / /x rw - xfs /dev/b rw\n"
                  "3 1 8:3 / /x ro - ext4 /dev/c ro\n",
                  "n1", "/: xfs rw rw\n/x: ext4 ro ro\n");
}

static void test_words_of_a_line(void **state)
{
    expect_mounts("1 0 8:1 / /a\\040b\\134 rw shared:1 master:2 - xfs /dev/a rw\n", "n1",
                  "/a b\\: xfs rw rw\n");
    expect_mounts("1 0 8:1 / /a\\000 rw - xfs /dev/a\n", "n1", "/a\\000: xfs rw \n");
    expect_mounts("1 0 8:1 /data /x rw - xfs /dev/a rw\nrubbish\n", "n1", "/x: xfs rw rw root /data\n");
    expect_mounts("1 0 8:1 /data /x rw - xfs /dev/a ro\n", NULL, "/x: xfs rw ro /dev/a /data\n");
}

static void test_a_server_is_part_of_the_mount(void **state)
{
    expect_mounts("1 0 0:3 / /a rw - nfs4 srv:/home rw\n2 0 0:4 / /b rw - cifs //srv/x rw\n"
                  "3 0 0:5 / /c rw - lustre 10.1.0.5@o2ib:/s rw\n4 0 0:6 / /d rw - xfs /dev/sda rw\n",
                  "n1",
                  "/a: nfs4 rw rw from srv:/home\n/b: cifs rw rw from //srv/x\n"
                  "/c: lustre rw rw from *@o2ib:/s\n/d: xfs rw rw\n");
}

static void test_mounts_of_an_automounter_do_not_count(void **state)
{
    expect_mounts("1 0 0:3 / /net rw - autofs systemd-1 rw\n2 1 0:4 / /net/a rw - nfs4 srv:/a rw\n"
                  "3 1 0:5 / /net rw - nfs4 srv:/n rw\n4 0 0:6 / /network rw - xfs /dev/a rw\n",
                  "n1", "/net: autofs\n/network: xfs rw rw\n");
}

static void test_mounts_of_users_do_not_count(void **state)
{
    expect_mounts("1 0 0:3 / /u rw - fuse.sshfs me@host:/ rw,user_id=1000\n"
                  "2 0 0:4 / /r rw - fuse.s3 bucket rw,user_id=0\n"
                  "3 0 0:5 / /n rw - fuse.x y rw\n",
                  "n1", "/r: fuse.s3 rw rw,user_id=0\n/n: fuse.x rw rw\n");
}

static void test_lists_that_are_not_understood(void **state)
{
    CLEANUP_TEXT struct text many = {0}, all = {0};
    static const char *const none[] = {"", "\n\n", "1 0 8:1 / / rw -", "1 0 8:1 / / rw - xfs",
                                       "1 0 8:1 / x rw - xfs /dev/a rw"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(mounts_parse(none[i], "n1", join_mount, &all), -EINVAL);
    for (int i = 0; i < 2047; i++)
        text_printf(&many, "1 0 8:1 / /%d rw - xfs /dev/a rw\n", i);
    assert_int_equal(mounts_parse(many.s, "n1", join_mount, &all), 0);
    text_add(&many, "1 0 8:1 / /last rw - xfs /dev/a rw\nand one more\n");
    assert_int_equal(mounts_parse(many.s, "n1", join_mount, &all), -E2BIG);
}

static void test_a_list_that_is_not_understood_is_unknown(void **state)
{
    struct tree *t = *state;
    machine_expect(t, "mount.*", "? /proc/self/mountinfo: No such file or directory");
    tree_add(t, "proc/1/mountinfo", "rubbish\n");
    machine_expect(t, "mount.*", "? /proc/1/mountinfo has no line that is understood");
    CLEANUP_TEXT struct text many = {0};
    for (int i = 0; i < 2049; i++)
        text_printf(&many, "1 0 8:1 / /%d rw - xfs /dev/a rw\n", i);
    tree_add(t, "proc/1/mountinfo", many.s);
    machine_expect(t, "mount.*", "? there are more than 2,047 mounts");
}

static void test_a_path_is_remote_where_a_server_may_block_it(void **state)
{
    static const char list[] = "1 0 8:1 / / rw - xfs /dev/a rw\n2 1 0:4 / /home rw - nfs4 srv:/home rw\n"
                               "3 2 8:2 / /home/local rw - ext3 /dev/b rw\n"
                               "4 1 0:5 / /net rw - autofs systemd-1 rw\n";
    assert_false(mounts_remote(list, "/etc/passwd"));
    assert_false(mounts_remote(list, "/homes/a"));
    assert_true(mounts_remote(list, "/home"));
    assert_true(mounts_remote(list, "/home/a"));
    assert_false(mounts_remote(list, "/home/local/a"));
    assert_true(mounts_remote(list, "/net/a"));
    assert_false(mounts_remote("", "/a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(mounts_are_read_from_the_first_process),
        cmocka_unit_test(test_the_last_of_two_mounts_counts),
        cmocka_unit_test(test_words_of_a_line),
        cmocka_unit_test(test_a_server_is_part_of_the_mount),
        cmocka_unit_test(test_mounts_of_an_automounter_do_not_count),
        cmocka_unit_test(test_mounts_of_users_do_not_count),
        cmocka_unit_test(test_lists_that_are_not_understood),
        IN_TREE(test_a_list_that_is_not_understood_is_unknown),
        cmocka_unit_test(test_a_path_is_remote_where_a_server_may_block_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
