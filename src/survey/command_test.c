/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_command_is_what_it_printed(void **state)
{
    struct components c = {0};
    machine_survey_named(
        *state,
        "Command=a Run=\"printf ' one\\\\ntwo \\\\n'\"\nCommand=b Run=\"echo x; exit 3\"\n"
        "Command=c Run=\"cat; echo $LC_ALL$HOME$SHELL$USER; pwd; echo e >&2\"\nCommand=d Run=true\n",
        &c);
    assert_string_equal(machine_say(&c, "command.a"), "one\ntwo");
    assert_string_equal(machine_say(&c, "command.b"), "? exit status 3");
    assert_string_equal(machine_say(&c, "command.c"), "C/\n/");
    assert_string_equal(machine_say(&c, "command.d"), "");
    components_fini(&c);
}

/* Its own three, and the one with which ls reads the directory. */
static void a_command_has_none_of_our_descriptors(void **state)
{
    struct components c = {0};
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    machine_survey_named(*state, "Command=a Run=\"ls /proc/self/fd | tr '\\n' ' '\"\n", &c);
    assert_string_equal(machine_say(&c, "command.a"), "0 1 2 3");
    close(fds[0]);
    close(fds[1]);
    components_fini(&c);
}

static void a_command_that_says_too_much_is_unknown(void **state)
{
    struct components c = {0};
    machine_survey_named(*state,
                         "Command=a Run=yes\nCommand=b Run=\"head -c 4096 /dev/zero | tr '\\\\0' x\"\n"
                         "Command=c Run=\"head -c 4 /dev/zero\"\nCommand=d Run=\"printf '\\\\377'\"\n",
                         &c);
    assert_string_equal(machine_say(&c, "command.a"), "? more than 4096 bytes");
    assert_int_equal(strlen(machine_say(&c, "command.b")), 4096);
    assert_string_equal(machine_say(&c, "command.c"), "? it printed a zero byte");
    assert_string_equal(machine_say(&c, "command.d"), "? the value is not UTF-8");
    components_fini(&c);
}

/* Also what left its session, and left its number in a file. */
static void a_command_that_hangs_is_killed_with_its_children(void **state)
{
    struct tree *t = *state;
    struct components c = {0};
    char conf[256], path[64], number[16] = "";
    snprintf(path, sizeof path, "%s/pid", t->root);
    snprintf(conf, sizeof conf,
             "Command=a Run=\"setsid sh -c 'echo $$ >%s; exec sleep 100' & sleep 100\" Deadline=1s\n", path);
    machine_survey_named(t, conf, &c);
    assert_string_equal(machine_say(&c, "command.a"), "? no answer within 1s");
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(number, sizeof number, f));
    fclose(f);
    pid_t pid = (pid_t)strtol(number, NULL, 10);
    assert_true(pid > 1);
    bool gone = false;
    for (struct mono until = mono_add(mono_now(), span_s(10)); !gone && mono_now().ns < until.ns;) {
        char state_of[64], text[128] = "";
        snprintf(state_of, sizeof state_of, "/proc/%d/stat", pid);
        FILE *stat = fopen(state_of, "re");
        gone = !stat || !fgets(text, sizeof text, stat) || strstr(text, ") Z");
        if (stat)
            fclose(stat);
    }
    assert_true(gone);
    components_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_command_is_what_it_printed),
        IN_TREE(a_command_has_none_of_our_descriptors),
        IN_TREE(a_command_that_says_too_much_is_unknown),
        IN_TREE(a_command_that_hangs_is_killed_with_its_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
