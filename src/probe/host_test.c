/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct leaf host[] = {
    {"proc/sys/kernel/ostype", "Linux\n"},
    {"proc/sys/kernel/osrelease", "6.1.0-13-amd64\n"},
    {"proc/sys/kernel/hostname", "lx12\n"},
    {"proc/sys/kernel/arch", "x86_64\n"},
    {"proc/sys/kernel/random/boot_id", "c78951f0-5e54-4a3c-8ca1-798c27d9a69c\n"},
    {"proc/uptime", "1187.23 2337.10\n"},
    {"proc/stat", "cpu  1 2 3\ncpu0 1 2 3\nintr 5\nctxt 7\nbtime 1795207118\nprocesses 9\n"},
    {"tmp/", NULL},
};

static void test_host(void **state)
{
    struct tree *t = *state;
    TREE_ADD(t, host);
    tree_expect(t, "Name", "'lx12'");
    tree_expect(t, "OS", "'Linux.6.1.0-13-amd64'");
    tree_expect(t, "Arch", "'x86_64'");
    tree_expect(t, "BootTime", "1795207118");
}

static void test_os_has_dots_for_blanks(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/sys/kernel/ostype", "GNU Linux\n");
    tree_add(t, "proc/sys/kernel/osrelease", "2.4.7 10\n");
    tree_expect(t, "OS", "'GNU.Linux.2.4.7.10'");
}

static void test_boot_id_and_uptime(void **state)
{
    struct tree *t = *state;
    TREE_ADD(t, host);
    char id[37];
    uint64_t seconds = 0;
    assert_int_equal(probe_boot_id(t->root, id, NULL), 0);
    assert_string_equal(id, "c78951f0-5e54-4a3c-8ca1-798c27d9a69c");
    assert_int_equal(probe_uptime(t->root, &seconds, NULL), 0);
    assert_int_equal(seconds, 1187);
}

static void test_boot_id_and_uptime_that_are_not_there(void **state)
{
    struct tree *t = *state;
    char id[37];
    uint64_t seconds;
    struct err e = {0};
    assert_int_equal(probe_boot_id(t->root, id, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "/proc/sys/kernel/random/boot_id: No such file"));
    assert_int_equal(probe_uptime(t->root, &seconds, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "/proc/uptime: No such file"));

    tree_add(t, "proc/sys/kernel/random/boot_id", "c78951f0-5e54-4a3c-8ca1-798c27d9a69cc\n");
    tree_add(t, "proc/uptime", "soon\n");
    assert_int_equal(probe_boot_id(t->root, id, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "boot_id: no boot id"));
    assert_int_equal(probe_uptime(t->root, &seconds, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "/proc/uptime: \"soon\" is not a number"));
}

static void test_a_machine_is_known_by_its_uuid(void **state)
{
    static const struct {
        const char *file, *is;
    } cases[] = {{"4c4c4544-0039-3510-8052-b4c04f4e3332\n", "4c4c4544-0039-3510-8052-b4c04f4e3332"},
                 {"4c4c4544-0039-3510-8052-b4c04f4e333\n", ""},
                 {"4c4c4544-0039-3510-8052-b4c04f4e33322\n", ""},
                 {"4c4c4544x0039-3510-8052-b4c04f4e3332\n", ""},
                 {"4c4c454g-0039-3510-8052-b4c04f4e3332\n", ""},
                 {"Not Settable\n", ""}};
    struct tree *t = *state;
    char id[37] = "something";
    probe_machine(t->root, id);
    assert_string_equal(id, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tree_add(t, "sys/class/dmi/id/product_uuid", cases[i].file);
        probe_machine(t->root, id);
        assert_string_equal(id, cases[i].is);
    }
}

static void test_a_system_without_its_release_has_no_name(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/sys/kernel/ostype", "Linux\n");
    tree_expect(t, "OS", NULL);
    tree_add(t, "proc/sys/kernel/osrelease", "\n");
    tree_expect(t, "OS", NULL);
    tree_add(t, "proc/stat", "btime 9223372036854775808\n");
    tree_expect(t, "BootTime", NULL);
    tree_add(t, "proc/stat", "btime 9223372036854775807\n");
    tree_expect(t, "BootTime", "9223372036854775807");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_host),
        IN_TREE(test_os_has_dots_for_blanks),
        IN_TREE(test_boot_id_and_uptime),
        IN_TREE(test_boot_id_and_uptime_that_are_not_there),
        IN_TREE(test_a_machine_is_known_by_its_uuid),
        IN_TREE(test_a_system_without_its_release_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
