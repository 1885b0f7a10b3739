/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"
#include "survey/part.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_values_are_unquoted_as_a_shell_does(void **state)
{
    static const struct {
        const char *line, *is;
    } cases[] = {{"ID=rhel", "rhel"},
                 {"ID=\"rhel\"", "rhel"},
                 {"ID='a \"b\"'", "a \"b\""},
                 {"ID=\"a \\\"b\\\" \\\\\"", "a \"b\" \\"},
                 {"ID='a\\b'", "a\\b"},
                 {"ID=a\\ b c", "a b"},
                 {"ID=a'b'\"c\"d", "abcd"},
                 {"ID=\"open", "open"},
                 {"ID=end\\", "end\\"},
                 {"ID=", ""},
                 {"ID=\"\"", ""},
                 {"ID_LIKE=x", NULL},
                 {"XID=x", NULL},
                 {"ID", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text t = {0};
        assert_int_equal(os_release_value(cases[i].line, "ID", &t), cases[i].is != NULL);
        if (cases[i].is)
            assert_string_equal(t.s, cases[i].is);
    }
}

static void test_the_system_s_name_and_version(void **state)
{
    struct tree *t = *state;
    machine_expect(t, "os.id", "-");
    tree_add(t, "usr/lib/os-release", "ID=second\nVERSION_ID=1\n");
    machine_expect(t, "os.id", "second");
    tree_add(t, "etc/os-release", "ID=first\nVERSION_ID=\"9.5\"\nBUILD_ID=b7\n");
    machine_expect(t, "os.id", "first");
    machine_expect(t, "os.version", "9.5 b7");
    tree_add(t, "etc/os-release", "BUILD_ID=b7\n");
    machine_expect(t, "os.id", "-");
    machine_expect(t, "os.version", "b7");
}

static void test_files_that_cannot_be_read_are_unknown(void **state)
{
    struct tree *t = *state;
    tree_add(t, "etc/os-release/", NULL);
    machine_expect(t, "os.id", "? Is a directory");
    machine_expect(t, "os.version", "? Is a directory");
    machine_expect(t, "image.os", "? Is a directory");
    tree_add(t, "etc/fettle-image/", NULL);
    machine_expect(t, "image.os", "? etc/fettle-image: Is a directory");
    machine_expect(t, "image.uenv", "? etc/fettle-image: Is a directory");
}

static void test_the_image_s_file_comes_before_its_release(void **state)
{
    struct tree *t = *state;
    machine_expect(t, "image.os", "-");
    tree_add(t, "etc/os-release", "ID=x\nIMAGE_ID=hpc\nIMAGE_VERSION=7\n");
    machine_expect(t, "image.os", "hpc 7");
    machine_expect(t, "image.uenv", "-");
    tree_add(t, "etc/fettle-image", "uenv=prgenv/24\n");
    machine_expect(t, "image.uenv", "prgenv/24");
    machine_expect(t, "image.os", "hpc 7");
    tree_add(t, "run/fettle/image", "os=booted\n");
    machine_expect(t, "image.os", "booted");
    machine_expect(t, "image.uenv", "-"); /* the other file does not count any more */
    tree_add(t, "run/fettle/image", "so=booted\n");
    machine_expect(t, "image.os", "? run/fettle/image:1: unknown key \"so\"; the nearest known is \"os\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_unquoted_as_a_shell_does),
        IN_TREE(test_the_system_s_name_and_version),
        IN_TREE(test_files_that_cannot_be_read_are_unknown),
        IN_TREE(test_the_image_s_file_comes_before_its_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
