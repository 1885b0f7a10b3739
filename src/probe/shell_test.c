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

static void become_secretly(void *command)
{
    shell_become_secretly(command);
}

static void expect_of(void (*work)(void *), const char *command, const char *said)
{
    struct keeper_job job = {.work = work,
                             .arg = (void *)(uintptr_t)command,
                             .keep = -1,
                             .until = mono_add(mono_now(), span_s(20)),
                             .timeout = span_s(20),
                             .bytes_max = 4096};
    CLEANUP_TEXT struct text out = {0};
    int status = 0;
    assert_int_equal(keeper_run(&job, &out, &status, NULL), 0);
    assert_string_equal(out.s, said);
}

static void expect(const char *command, const char *said)
{
    expect_of(become, command, said);
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

static void a_secret_is_in_the_environment_and_not_in_the_arguments(void **state)
{
    char path[] = "/tmp/fettle-shell-XXXXXX";
    CLEANUP_TEXT struct text run = {0}, why = {0};
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "s3cret\n", 7), 7);
    text_printf(&run, "PASSWORD=@%s echo $PASSWORD; tr '\\0' ' ' </proc/$$/cmdline | grep -c s[3]cret", path);
    expect_of(become_secretly, run.s, "s3cret\n0\n");
    expect_of(become, "echo A=@/no/such", "A=@/no/such\n");
    fchmod(fd, 0644);
    text_printf(&why,
                "others than its owner may read or write %s (mode 0644); mend it with \"chmod go-rwx %s\"\n",
                path, path);
    expect_of(become_secretly, run.s, why.s);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_does_not_see_how_the_agent_was_started),
        cmocka_unit_test(where_the_agent_has_no_path_it_is_the_usual_one),
        cmocka_unit_test(a_secret_is_in_the_environment_and_not_in_the_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
