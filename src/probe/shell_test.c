/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/shell.h"

#include "probe/keeper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void become(void *command)
{
    shell_become(command);
}

static void expect(const char *command, const char *said)
{
    struct keeper_job job = {.work = become,
                             .arg = (void *)(uintptr_t)command,
                             .keep = -1,
                             .until = mono_add(mono_now(), span_s(20)),
                             .patience = span_s(20),
                             .bytes_max = 4096};
    CLEANUP_TEXT struct text out = {0};
    int status = 0;
    assert_int_equal(keeper_run(&job, &out, &status, NULL), 0);
    assert_string_equal(out.s, said);
}

static void a_command_does_not_see_how_the_agent_was_started(void **state)
{
    mode_t mask = umask(0077);
    setenv("PATH", "/opt/site/bin:/usr/bin:/bin", 1);
    setenv("FETTLE_NODE", "lx01", 1);
    setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    expect("env | grep -Ev '^(_|PWD|OLDPWD|SHLVL|FETTLE_TEST_WORLD|FETTLE_[A-MO-Z].*)=' | sort; pwd; umask",
           "FETTLE_NODE=lx01\nHOME=/\nLC_ALL=C\nPATH=/opt/site/bin:/usr/bin:/bin\n/\n0022\n");
    umask(mask);
}

static void where_the_agent_has_no_path_it_is_the_usual_one(void **state)
{
    unsetenv("PATH");
    expect("echo $PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_does_not_see_how_the_agent_was_started),
        cmocka_unit_test(where_the_agent_has_no_path_it_is_the_usual_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
