/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/family.h"

#include "base/text.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Each test is a process of its own, as whoever has a family is. */

enum { LOST_MAX = 8, WAIT_MS = 20000 };

struct shared {
    pid_t lost[LOST_MAX]; /* who left the session and has no parent */
    int n;
};

static struct shared *shared;

static bool in_a_process_of_its_own(void (*fn)(bool), bool with_group)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        fn(with_group);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && status != 0) {
        print_message("line %d or so\n", WEXITSTATUS(status) - 1);
        for (int i = 0; i < shared->n; i++)
            kill(shared->lost[i], SIGKILL);
    }
    return status == 0;
}

#define MUST(condition)                \
    do {                               \
        if (!(condition))              \
            _exit(__LINE__ % 200 + 1); \
    } while (0)

static bool wait_for(bool (*is)(void))
{
    for (int ms = 0; ms < WAIT_MS; ms += 5) {
        if (is())
            return true;
        poll(NULL, 0, 5);
    }
    return false;
}

static void lose_oneself(void)
{
    setsid();
    if (fork() != 0)
        _exit(0);
    setsid();
    shared->lost[shared->n++] = getpid();
    for (;;)
        pause();
}

static bool all_are_lost(void)
{
    return shared->n == 3;
}

static void begin(struct family *f, bool with_group)
{
    shared->n = 0;
    family_begin(f, false);
    if (!with_group)
        family_end(f);
}

/* Somebody who stays, and three who are lost. */
static void start_all(struct family *f, bool with_group)
{
    begin(f, with_group);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        family_join(f);
        for (int i = 0; i < 3; i++) {
            pid_t child = fork();
            if (child == 0)
                lose_oneself();
            waitpid(child, NULL, 0);
            for (int ms = 0; shared->n <= i && ms < WAIT_MS; ms += 5)
                poll(NULL, 0, 5);
        }
        for (;;)
            pause();
    }
    MUST(wait_for(all_are_lost));
}

/* Where nobody reaps orphans, the dead stay as zombies. */
static bool is_gone(pid_t pid)
{
    char path[64], stat[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    bool gone = !file || !fgets(stat, sizeof stat, file) || strstr(stat, ") Z ");
    if (file)
        fclose(file);
    return gone;
}

static bool all_are_gone(void)
{
    for (int i = 0; i < shared->n; i++)
        if (!is_gone(shared->lost[i]))
            return false;
    return true;
}

/* Whoever lost them has ended, too. */
static bool they_are_four(void)
{
    return family_measure().processes == 4;
}

static void kill_them(bool with_group)
{
    struct family f;
    start_all(&f, with_group);
    MUST(wait_for(they_are_four));
    MUST(family_kill(&f, span_s(20)));
    MUST(all_are_gone());
    MUST(family_measure().processes == 0);
    MUST(!f.group || access(f.group, F_OK) == 0);
    char *group = mem_dup(f.group);
    family_end(&f);
    MUST(!group || access(group, F_OK) != 0);
}

static void leave_them(bool with_group)
{
    struct family f;
    start_all(&f, with_group);
    char *group = mem_dup(f.group);
    family_end(&f);
    MUST(!group || access(group, F_OK) != 0);
    MUST(!all_are_gone());
    MUST(family_kill(&f, span_s(20)));
}

/* Whoever has the family is killed; the next one ends it. */
static void die(bool with_group)
{
    struct family f;
    start_all(&f, with_group);
    raise(SIGKILL);
}

static void come_next(bool with_group)
{
    struct family f;
    family_begin(&f, false);
    MUST(wait_for(all_are_gone));
    family_end(&f);
}

static void be_96_mb(void)
{
    size_t n = 96 << 20;
    char *bytes = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(bytes, 1, n);
    shared->n = 1;
    for (;;)
        pause();
}

static void grow(bool with_group)
{
    struct family f;
    begin(&f, with_group);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        be_96_mb();
    }
    for (int ms = 0; shared->n == 0 && ms < WAIT_MS; ms += 5)
        poll(NULL, 0, 5);
    struct family_size is = family_measure();
    MUST(is.processes == 1 && is.memory_bytes >= 80 << 20); /* the kernel counts in batches */
    MUST(!family_excess(&f));
    f.memory_bytes_max = 64 << 20;
    MUST(strcmp(family_excess(&f), "64 MB of memory") == 0);
    f.processes_max = 0;
    MUST(strcmp(family_excess(&f), "0 processes") == 0);
    MUST(family_kill(&f, span_s(20)));
    family_end(&f);
}

static bool has_bounds(const struct family *f, const char *file)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/%s", f->group ? f->group : "", file);
    return access(path.s, F_OK) == 0;
}

enum { NO_CONTROLLERS = 77 };

/* The kernel ends all of them, also those that are small, before anybody looks. */
static void be_bounded(bool with_group)
{
    struct family f;
    begin(&f, with_group);
    if (!has_bounds(&f, "memory.max") || !has_bounds(&f, "pids.max"))
        _exit(NO_CONTROLLERS);
    f.memory_bytes_max = 64 << 20;
    f.processes_max = 8;
    MUST(!family_excess(&f));
    pid_t pid = fork();
    if (pid == 0) {
        family_join(&f);
        if (fork() == 0)
            be_96_mb();
        for (;;)
            pause();
    }
    int status;
    MUST(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    MUST(strcmp(family_excess(&f), "64 MB of memory") == 0);
    MUST(family_kill(&f, span_s(20)));
    family_end(&f);
    begin(&f, with_group);
    f.processes_max = 8;
    MUST(!family_excess(&f));
    pid = fork();
    if (pid == 0) {
        family_join(&f);
        for (int i = 0; i < 8; i++)
            if (fork() == 0)
                for (;;)
                    pause();
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid);
    MUST(family_measure().processes == 7);
    MUST(strcmp(family_excess(&f), "8 processes") == 0);
    MUST(family_kill(&f, span_s(20)));
    family_end(&f);
}

static bool is_there_a_group(void)
{
    struct family f;
    family_begin(&f, false);
    bool is = f.group != NULL;
    family_end(&f);
    return is;
}

static void all_are_killed(void **state)
{
    assert_true(in_a_process_of_its_own(kill_them, false));
}

static void all_are_killed_as_a_group(void **state)
{
    if (!is_there_a_group())
        skip();
    assert_true(in_a_process_of_its_own(kill_them, true));
}

static void the_rest_is_left_alone(void **state)
{
    assert_true(in_a_process_of_its_own(leave_them, false));
    assert_true(in_a_process_of_its_own(leave_them, true));
}

static void the_next_one_ends_the_group_of_the_dead(void **state)
{
    if (!is_there_a_group())
        skip();
    assert_false(in_a_process_of_its_own(die, true));
    assert_false(all_are_gone());
    assert_true(in_a_process_of_its_own(come_next, true));
}

static void it_is_measured(void **state)
{
    assert_true(in_a_process_of_its_own(grow, false));
    struct family small, large;
    family_begin(&small, false);
    family_end(&small);
    family_begin(&large, true);
    family_end(&large);
    assert_true(small.processes_max > 10 && large.processes_max > small.processes_max);
    assert_true(small.memory_bytes_max > 64 << 20);
}

/* Where the controllers of memory and processes are delegated to whoever runs this. */
static void the_kernel_keeps_the_bounds(void **state)
{
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        alarm(60);
        be_bounded(true);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_CONTROLLERS)
        skip();
    assert_int_equal(status, 0);
}

/* The group of this process in version 2's tree, as a directory; false where there is none. */
static bool find_own_group(struct text *out)
{
    char line[1024], mount[256] = "", own[512] = "";
    FILE *f = fopen("/proc/self/mountinfo", "r");
    while (f && !*mount && fgets(line, sizeof line, f))
        if (strstr(line, " - cgroup2 "))
            (void)sscanf(line, "%*s %*s %*s / %255s", mount);
    if (f)
        fclose(f);
    f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(line, sizeof line, f))
        (void)sscanf(line, "0::%511s", own);
    if (f)
        fclose(f);
    text_printf(out, "%s%s", mount, strcmp(own, "/") == 0 ? "" : own);
    return *mount && *own;
}

static bool move_to(const char *group)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/cgroup.procs", group);
    FILE *f = fopen(path.s, "w");
    bool moved = f && fputs("0", f) >= 0;
    return f && fclose(f) == 0 && moved;
}

static bool is_offered(const char *group, const char *controller)
{
    char line[256] = "";
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/cgroup.controllers", group);
    FILE *f = fopen(path.s, "r");
    bool is = f && fgets(line, sizeof line, f) && strstr(line, controller);
    if (f)
        fclose(f);
    return is;
}

/* A daemon in a group that it shares with nobody, as a service is. Without the two controllers it stays where
 * it was, and its families are made there all the same. */
static void settle(bool with_group)
{
    CLEANUP_TEXT struct text before = {0}, group = {0}, beside = {0}, now = {0}, families = {0};
    struct family f;
    if (!find_own_group(&before))
        _exit(NO_CONTROLLERS);
    text_printf(&group, "%s/fettle-test-%d", before.s, (int)getpid());
    if (mkdir(group.s, 0755) || !move_to(group.s))
        _exit(NO_CONTROLLERS);
    bool settles = is_offered(group.s, "memory") && is_offered(group.s, "pids");
    text_printf(&beside, "%s/fettle-agent", group.s);
    text_printf(&families, "%s/fettle-", group.s);
    family_settle();
    find_own_group(&now);
    bool right = strcmp(now.s, settles ? beside.s : group.s) == 0;
    bool there = access(beside.s, F_OK) == 0;
    family_begin(&f, false);
    bool below = !f.group || strncmp(f.group, families.s, families.len) == 0;
    family_end(&f);
    MUST(move_to(before.s));
    rmdir(beside.s);
    MUST(rmdir(group.s) == 0);
    MUST(right && there == settles && below);
}

static void it_settles_where_families_can_be_bounded(void **state)
{
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        alarm(60);
        settle(true);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_CONTROLLERS)
        skip(); /* only root, and whoever a group was delegated to, can make one */
    assert_int_equal(status, 0);
}

static void join(bool with_group)
{
    struct family f;
    int status;
    family_begin(&f, false);
    pid_t pid = fork();
    if (pid == 0) {
        CLEANUP_TEXT struct text own = {0};
        family_join(&f);
        MUST(find_own_group(&own) && strcmp(own.s, f.group) == 0);
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
    family_end(&f);
}

static void a_process_that_joins_is_in_the_group(void **state)
{
    if (!is_there_a_group())
        skip();
    assert_true(in_a_process_of_its_own(join, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_killed),
        cmocka_unit_test(all_are_killed_as_a_group),
        cmocka_unit_test(the_rest_is_left_alone),
        cmocka_unit_test(the_next_one_ends_the_group_of_the_dead),
        cmocka_unit_test(it_is_measured),
        cmocka_unit_test(the_kernel_keeps_the_bounds),
        cmocka_unit_test(a_process_that_joins_is_in_the_group),
        cmocka_unit_test(it_settles_where_families_can_be_bounded),
    };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    family_settle();
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
