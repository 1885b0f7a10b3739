/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/node.h"

#include "base/text.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct survey_conf NOTHING;

static void test_a_tree_has_no_drivers_to_ask(void **state)
{
    struct tree *t = *state;
    struct survey_cache cache = {0};
    struct components c = {0};
    struct err e = {0};
    tree_add(t, "sys/class/net/eth0/device/uevent", "PCI_SLOT_NAME=0000:01:00.0\n");
    assert_int_equal(node_read(t->root, "lx01", &NOTHING, &cache, &c, &e), 0);
    assert_true(c.n > 1);
    for (size_t i = 0; i < c.n; i++) /* not what this machine's eth0 has */
        if (strcmp(c.list[i].name, "nic.0000:01:00.0.firmware") == 0)
            assert_int_equal(c.list[i].state, COMPONENT_ABSENT);
    for (size_t i = 1; i < c.n; i++)
        assert_true(strcmp(c.list[i - 1].name, c.list[i].name) < 0);
    components_fini(&c);
    survey_cache_fini(&cache);
    assert_int_equal(node_read("/no/such/root", "lx01", &NOTHING, &cache, &c, &e), -ENOENT);
    assert_string_equal(e.msg, "/no/such/root: No such file or directory");
}

static void test_the_stamp_is_another_one_after_each_change(void **state)
{
    static const struct leaf changes[] = {{"etc/fettle/fingerprint.conf", "File=/a\n"},
                                          {"etc/fettle/fingerprint.conf", "File=/ab\n"},
                                          {"etc/os-release", "ID=x\n"},
                                          {"var/lib/dpkg/status", "Package: a\n"}};
    struct tree *t = *state;
    uint64_t last = node_stamp(t->root, &NOTHING);
    assert_true(node_stamp(t->root, &NOTHING) == last);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        tree_add(t, changes[i].path, changes[i].text);
        uint64_t now = node_stamp(t->root, &NOTHING);
        if (now == last)
            fail_msg("%s makes no difference", changes[i].path);
        last = now;
    }
}

static void test_a_path_lies_below_its_root(void **state)
{
    CLEANUP_FREE char *below = node_path("/tmp/x", "/etc/a"), *own = node_path("", "/etc/a");
    assert_string_equal(below, "/tmp/x/etc/a");
    assert_string_equal(own, "/etc/a");
}

/* How many events there are to read. */
static int count_events(int inotify)
{
    char bytes[4096] __attribute__((aligned(8)));
    int n = 0;
    for (ssize_t len; (len = read(inotify, bytes, sizeof bytes)) > 0;)
        for (const char *p = bytes; p < bytes + len; n++)
            p += sizeof(struct inotify_event) + ((const struct inotify_event *)p)->len;
    return n;
}

static void test_the_nearest_directory_is_watched_for_what_is_not_there(void **state)
{
    struct tree *t = *state;
    int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    assert_true(inotify >= 0);
    tree_add(t, "opt/other/", NULL);
    node_watch(inotify, t->root, "/opt/site/etc/a.conf");
    tree_add(t, "opt/other/x", "");
    assert_int_equal(count_events(inotify), 0);
    tree_add(t, "opt/site/", NULL);
    assert_int_equal(count_events(inotify), 1);
    node_watch(inotify, t->root, "/opt/site/etc/a.conf");
    tree_add(t, "opt/site/etc/a.conf", "x");
    assert_true(count_events(inotify) > 0);
    node_watch(inotify, t->root, "/opt/site/etc/a.conf");
    tree_add(t, "opt/site/etc/a.conf", "y");
    assert_true(count_events(inotify) > 0);
    close(inotify);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_a_tree_has_no_drivers_to_ask),
        IN_TREE(test_the_stamp_is_another_one_after_each_change),
        cmocka_unit_test(test_a_path_lies_below_its_root),
        IN_TREE(test_the_nearest_directory_is_watched_for_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
