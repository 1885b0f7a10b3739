/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/operate/runner.h"

#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The runner by itself, in a directory of state of the test's. */

static int open_home(void **state)
{
    char *home = mem_dup("/tmp/fettle-runner-XXXXXX");
    assert_non_null(mkdtemp(home));
    *state = home;
    return 0;
}

static int close_home(void **state)
{
    static const char *const files[] = {"command", "copy/command", "copy"};
    char *home = *state, path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", home, files[i]);
        remove(path);
    }
    int r = rmdir(home);
    free(home);
    return r;
}

static struct runner_job job_of(const char *command)
{
    return (struct runner_job){.id = "op.1", .command = command, .deadline = span_s(20)};
}

/* Its result, once it is there. */
static void run(const char *home, const struct runner_job *job, bool good, const char *text)
{
    struct err e = {0};
    struct runner_end end;
    int status = 0;
    pid_t pid = runner_start(home, job, &e);
    if (pid < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(runner_take_end(home, job->id, &end));
    assert_string_equal(end.text, text);
    assert_int_equal(end.good, good);
    free(end.text);
}

static void test_the_result_is_the_output(void **state)
{
    static const struct {
        const char *command, *text;
        bool good;
    } cases[] = {{"true", "", true},
                 {"echo out; echo err >&2", "out\nerr\n", true},
                 {"printf 'a\\000b'", "a b", true},
                 {"cat; pwd", "/\n", true}, /* its standard input is empty */
                 {"exit 3", "exit status 3", false},
                 {"echo why; exit 255", "exit status 255: why\n", false},
                 {"kill -KILL $$", "ended by signal 9", false},
                 {"/no/such/program 2>/dev/null", "exit status 127", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct runner_job job = job_of(cases[i].command);
        run(*state, &job, cases[i].good, cases[i].text);
    }
}

static void test_a_command_that_does_not_end_is_killed_at_its_deadline(void **state)
{
    struct runner_job job = job_of("exec sleep 1000");
    job.deadline = span_s(1);
    run(*state, &job, false, "no end in 1s, and killed");
    job.deadline = span_ms(200);
    run(*state, &job, false, "no end in 200ms, and killed");
}

static void test_only_the_operation_that_ran_has_a_result(void **state)
{
    struct runner_job job = job_of("true");
    struct runner_end end;
    char path[128];
    assert_false(runner_take_end(*state, "op.1", &end)); /* none ran */
    run(*state, &job, true, "");
    assert_false(runner_take_end(*state, "op.2", &end));
    assert_false(runner_take_end(*state, "op", &end)); /* the beginning of its name */
    assert_null(end.text);
    job.id = "op.+1";
    run(*state, &job, true, "");
    assert_false(runner_take_end(*state, "op", &end));
    snprintf(path, sizeof path, "%s/command", (const char *)*state);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("op.1\n", f); /* a runner that ended before its command did */
    fclose(f);
    assert_int_equal(chmod(path, 0600), 0);
    assert_false(runner_take_end(*state, "op.1", &end));
}

static void test_a_result_is_copied_where_it_outlives_a_boot(void **state)
{
    struct runner_job job = job_of("echo kept");
    struct runner_end end = {.text = NULL};
    char copy[128];
    snprintf(copy, sizeof copy, "%s/copy", (const char *)*state);
    assert_int_equal(mkdir(copy, 0700), 0);
    job.copy = copy;
    run(*state, &job, true, "kept\n");
    /* Another process writes it, for which nobody waits. */
    for (struct mono until = mono_add(mono_now(), span_s(20)); !end.text && mono_now().ns < until.ns;)
        if (!runner_take_end(copy, "op.1", &end))
            poll(NULL, 0, 5);
    assert_string_equal(end.text, "kept\n");
    free(end.text);
}

static void test_the_runner_that_is_there_is_found(void **state)
{
    struct runner_job job = job_of("exec sleep 1000");
    struct err e = {0};
    char *id = NULL;
    assert_int_equal(runner_find(*state, &id), 0);
    assert_null(id);
    pid_t pid = runner_start(*state, &job, &e);
    assert_true(pid > 0);
    pid_t found = 0;
    for (struct mono until = mono_add(mono_now(), span_s(20)); !found && mono_now().ns < until.ns;) {
        found = runner_find(*state, &id); /* it takes its lock first */
        if (!found)
            poll(NULL, 0, 5);
    }
    assert_int_equal(found, pid);
    assert_string_equal(id, "op.1");
    free(id);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(runner_find(*state, &id), 0);
}

static void test_without_a_directory_nothing_runs(void **state)
{
    struct runner_job job = job_of("true");
    struct err e = {0};
    assert_int_equal(runner_start("/no/such/home", &job, &e), -ENOENT);
    assert_string_equal(e.msg, "/no/such/home/command: No such file or directory");
}

#define IN_HOME(f) cmocka_unit_test_setup_teardown(f, open_home, close_home)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_HOME(test_the_result_is_the_output),
        IN_HOME(test_a_command_that_does_not_end_is_killed_at_its_deadline),
        IN_HOME(test_only_the_operation_that_ran_has_a_result),
        IN_HOME(test_a_result_is_copied_where_it_outlives_a_boot),
        IN_HOME(test_the_runner_that_is_there_is_found),
        cmocka_unit_test(test_without_a_directory_nothing_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
