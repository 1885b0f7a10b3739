/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_file_is_its_content_size_mode_and_owner(void **state)
{
    struct tree *t = *state;
    struct components c = {0};
    char path[64], said[160];
    tree_add(t, "etc/a", "abc");
    snprintf(path, sizeof path, "%s/etc/a", t->root);
    chmod(path, 04750);
    machine_survey_named(t, "File=/etc/a\nFile=/etc/none\n", &c);
    snprintf(said, sizeof said,
             "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 4750 %u:%u", getuid(),
             getgid());
    assert_string_equal(machine_say(&c, "file./etc/a"), said);
    assert_string_equal(machine_say(&c, "file./etc/none"), "-");
    components_fini(&c);
}

static void a_path_that_is_no_file_is_unknown(void **state)
{
    struct tree *t = *state;
    struct components c = {0};
    char path[64];
    tree_add(t, "etc/dir/", "");
    snprintf(path, sizeof path, "%s/etc/pipe", t->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    tree_add(t, "etc/large", "");
    snprintf(path, sizeof path, "%s/etc/large", t->root);
    assert_int_equal(truncate(path, (64 << 20) + 1), 0);
    machine_survey_named(t, "File=/etc/dir\nFile=/etc/pipe\nFile=/etc/large\n", &c);
    assert_string_equal(machine_say(&c, "file./etc/dir"), "? a directory, not a file");
    assert_string_equal(machine_say(&c, "file./etc/pipe"), "? a pipe, not a file");
    assert_string_equal(machine_say(&c, "file./etc/large"), "? the file has more than 64 MiB");
    components_fini(&c);
}

/* Files whose reading takes longer than anybody waits for. */
static void files_that_hang_do_not_hold_up_the_reading(void **state)
{
    struct tree *t = *state;
    struct survey_conf conf = {0};
    struct survey_calls calls = machine_calls;
    struct components c = {0};
    calls.timeout = span_ms(5);
    for (int i = 1; i <= 3; i++) {
        char name[32], path[64];
        snprintf(name, sizeof name, "file./etc/%d", i);
        survey_conf_name(&conf, name);
        tree_add(t, name + strlen("file./"), "");
        snprintf(path, sizeof path, "%s/etc/%d", t->root, i);
        assert_int_equal(truncate(path, 64 << 20), 0);
    }
    machine_survey_as(t, "gx007", &conf, &calls, &c);
    assert_string_equal(machine_say(&c, "file./etc/1"), "? no answer within 5ms");
    assert_string_equal(machine_say(&c, "file./etc/2"), "? no answer within 5ms");
    assert_string_equal(machine_say(&c, "file./etc/3"),
                        "? not tried, because files before it gave no answer");
    components_fini(&c);
    survey_conf_fini(&conf);
}

static void test_the_kind_of_another_file_is_named(void **state)
{
    struct components c = {0};
    tree_add(*state, "etc/null@", "/dev/null");
    tree_add(*state, "etc/a/b", "x");
    machine_survey_named(*state, "File=/etc/null\nFile=/etc/a/b/c\n", &c);
    assert_string_equal(machine_say(&c, "file./etc/null"), "? a device, not a file");
    assert_string_equal(machine_say(&c, "file./etc/a/b/c"), "-"); /* below a file there is none */
    components_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_file_is_its_content_size_mode_and_owner),
        IN_TREE(a_path_that_is_no_file_is_unknown),
        IN_TREE(files_that_hang_do_not_hold_up_the_reading),
        IN_TREE(test_the_kind_of_another_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
