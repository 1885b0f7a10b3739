/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static volatile pid_t *lost; /* who left the session and has no parent; 0: nobody yet */

static struct keeper_job job_of(keeper_work_fn *work, const void *arg)
{
    return (struct keeper_job){.work = work,
                               .arg = (void *)(uintptr_t)arg,
                               .keep = -1,
                               .until = mono_add(mono_now(), span_s(20)),
                               .timeout = span_s(20),
                               .bytes_max = 16};
}

static void shell(void *command)
{
    execl("/bin/sh", "sh", "-c", (char *)command, (char *)NULL);
    _exit(127);
}

static void expect(const struct keeper_job *job, int r, const char *said, const char *why)
{
    CLEANUP_TEXT struct text out = {0};
    struct err e = {0};
    int status = 0;
    assert_int_equal(keeper_run(job, &out, &status, &e), r);
    assert_string_equal(out.s ? out.s : "", said);
    assert_string_equal(e.msg, why);
}

static void the_output_of_a_program_is_told(void **state)
{
    struct keeper_job job = job_of(shell, "echo well; echo bad >&2; exit 3");
    CLEANUP_TEXT struct text out = {0};
    int status = 0;
    assert_int_equal(keeper_run(&job, &out, &status, NULL), 0);
    assert_string_equal(out.s, "well\n");
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void a_program_that_says_too_much_is_killed_or_cut(void **state)
{
    struct keeper_job job = job_of(shell, "echo 0123456789abcdefghij; exec sleep 1000");
    expect(&job, -E2BIG, "0123456789abcdef", "more than 16 bytes");
    job = job_of(shell, "echo 0123456789abcdefghij");
    job.cut = true;
    expect(&job, 0, "0123456789abcdef", "");
}

/* What it said before counts. */
static void its_time_is_over(void **state)
{
    struct keeper_job job = job_of(shell, "echo well; sleep 1000");
    job.until = mono_add(mono_now(), span_ms(500));
    expect(&job, -ETIMEDOUT, "well\n", "it did not end in time");
}

static void lose_one(void *arg)
{
    if (fork() == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        setsid();
        *lost = getpid();
        for (;;)
            pause();
    }
    while (!*lost)
        poll(NULL, 0, 1);
    for (bool *stays = arg; *stays;)
        pause();
}

/* Where nobody reaps orphans, the dead stay as zombies. */
static bool is_gone(void)
{
    char path[64], stat[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)*lost);
    FILE *file = fopen(path, "r");
    bool gone = !file || !fgets(stat, sizeof stat, file) || strstr(stat, ") Z ");
    if (file)
        fclose(file);
    return gone;
}

static void processes_left_behind_are_killed(void **state)
{
    bool stays = false;
    struct keeper_job job = job_of(lose_one, &stays);
    *lost = 0;
    expect(&job, 0, "", "");
    assert_true(*lost > 0 && is_gone());
}

/* Somebody between keeps it, and is killed or told to end. */
static void a_program_dies_with_its_keeper(void **state)
{
    for (int kill_the_parent = 0; kill_the_parent < 2; kill_the_parent++) {
        bool stays = true;
        int status;
        *lost = 0;
        pid_t parent = fork();
        if (parent == 0) {
            struct keeper_job job = job_of(lose_one, &stays);
            CLEANUP_TEXT struct text out = {0};
            pid_t keeper = kill_the_parent ? fork() : 0;
            if (keeper == 0) {
                keeper_run(&job, &out, &status, NULL);
                _exit(0);
            }
            waitpid(keeper, NULL, 0);
        }
        for (int ms = 0; !*lost && ms < 20000; ms += 5)
            poll(NULL, 0, 5);
        assert_true(*lost > 0 && !is_gone());
        kill(parent, kill_the_parent ? SIGKILL : SIGTERM);
        assert_int_equal(waitpid(parent, &status, 0), parent);
        for (int ms = 0; !is_gone() && ms < 20000; ms += 5)
            poll(NULL, 0, 5);
        assert_true(is_gone());
        assert_int_equal(WTERMSIG(status), kill_the_parent ? SIGKILL : SIGTERM);
    }
}

static void fork_many(void *arg)
{
    for (int i = 0; i < 300; i++)
        if (fork() == 0)
            for (;;)
                pause();
    for (;;)
        pause();
}

static void one_that_passes_a_bound_is_killed(void **state)
{
    struct keeper_job job = job_of(fork_many, NULL);
    expect(&job, -EOVERFLOW, "", "it was killed for more than 256 processes");
}

static void say_whether_open(void *fd)
{
    printf("%d %d", fcntl(*(int *)fd, F_GETFD) >= 0, fcntl(*(int *)fd + 1, F_GETFD) >= 0);
    fflush(stdout);
}

static void a_program_gets_one_of_our_descriptors(void **state)
{
    int kept = dup2(STDERR_FILENO, 20);
    assert_int_equal(dup2(STDERR_FILENO, 21), 21);
    struct keeper_job job = job_of(say_whether_open, &kept);
    expect(&job, 0, "0 0", "");
    job = job_of(say_whether_open, &kept);
    job.keep = kept;
    expect(&job, 0, "1 0", "");
    close(20);
    close(21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_of_a_program_is_told),
        cmocka_unit_test(a_program_that_says_too_much_is_killed_or_cut),
        cmocka_unit_test(its_time_is_over),
        cmocka_unit_test(processes_left_behind_are_killed),
        cmocka_unit_test(a_program_dies_with_its_keeper),
        cmocka_unit_test(one_that_passes_a_bound_is_killed),
        cmocka_unit_test(a_program_gets_one_of_our_descriptors),
    };
    lost = mmap(NULL, sizeof *lost, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return lost == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
