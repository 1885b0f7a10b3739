/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_process_lines(void **state)
{
    struct process p;
    assert_true(process_parse("12 (a (name) S) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20\n", &p));
    assert_int_equal(p.pid, 12);
    assert_int_equal(p.ppid, 1);
    assert_int_equal(p.started, 777);
    assert_int_equal(p.ticks, 11 + 12);
    assert_int_equal(p.state, 'Z');
    assert_string_equal(p.name, "a (name) S");
    static const char *const wrong[] = {"",
                                        "12",
                                        "12 (x",
                                        "12 x) S 1",
                                        "12 (x)",
                                        "12 (x) S",
                                        "12 (x) SS 1 2",
                                        "x (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20",
                                        "12 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(process_parse(wrong[i], &p));
}

static void add_process(struct trial *t, unsigned pid, const char *name, char state, unsigned started)
{
    char path[32], stat[128];
    snprintf(path, sizeof path, "proc/%u/stat", pid);
    snprintf(stat, sizeof stat, "%u (%s) %c 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %u 0\n", pid, name, state,
             started);
    trial_add(t, path, stat);
}

static void test_zombies(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=zombies", "unknown");
    for (unsigned pid = 10; pid < 20; pid++)
        add_process(t, pid, "dead", pid % 2 ? 'Z' : 'S', 1);
    trial_expect(t, "Probe=zombies", "ok");
    trial_begins(t, "Probe=zombies Warn=5 Degraded=9", "warn : 5 zombies, of at most 5; one is 1");
    trial_begins(t, "Probe=zombies Warn=2 Degraded=4", "degraded : 5 zombies, of at most 4");
    trial_begins(t, "Probe=zombies Warn=5 Degraded=5", "degraded");
    trial_add(t, "proc/11/stat", "rubbish");
    trial_expect(t, "Probe=zombies Warn=5 Degraded=9", "ok");
}

static void test_dstate(void **state)
{
    struct trial *t = *state;
    add_process(t, 1, "init", 'S', 1);
    add_process(t, 10, "cp", 'D', 100);
    for (int i = 0; i < 2; i++)
        trial_expect(t, "Probe=dstate Looks=3", "ok");
    trial_expect(t, "Probe=dstate Looks=3",
                 "degraded : 1 processes wait and cannot be interrupted, in 3 looks in a row and more; one "
                 "is 10 cp, for 3 "
                 "looks");
    add_process(t, 10, "cp", 'D', 101); /* another one */
    trial_expect(t, "Probe=dstate Looks=3", "ok");
    trial_expect(t, "Probe=dstate Looks=3", "ok");
    add_process(t, 10, "cp", 'S', 101);
    trial_expect(t, "Probe=dstate Looks=3", "ok");
    add_process(t, 10, "cp", 'D', 101); /* it got on meanwhile */
    trial_expect(t, "Probe=dstate Looks=3", "ok");
}

static void test_a_disk_that_hangs(void **state)
{
    struct trial *t = *state;
    add_process(t, 1, "init", 'S', 1);
    add_process(t, 10, "jbd2/sda1-8", 'D', 100);
    add_process(t, 11, "jbd2/loop0-8", 'D', 100);
    trial_expect(t, "Probe=dstate Looks=2", "ok");
    trial_expect(
        t, "Probe=dstate Looks=2",
        "fatal disk sda1: it does not answer: the process that writes its journal has waited in 2 looks in a "
        "row\n"
        "degraded : 2 processes wait and cannot be interrupted, in 2 looks in a row and more; one is 11 "
        "jbd2/loop0-8, for 2 looks");
    add_process(t, 10, "jbd2/sda1-8", 'S', 100);
    trial_begins(t, "Probe=dstate Looks=2", "degraded : 1 processes");
}

/* Its time in ticks, of which user space has 100 a second. */
static void add_kswapd(struct trial *t, const char *name, unsigned parent, unsigned user, unsigned system)
{
    char path[32], stat[160];
    snprintf(path, sizeof path, "proc/9%c/stat", name[6]);
    snprintf(stat, sizeof stat, "9%c (%s) S %u 0 0 0 -1 2 0 0 0 0 %u %u 7 7 20 0 1 0 30 0 0\n", name[6], name,
             parent, user, system);
    trial_add(t, path, stat);
}

static void test_kswapd(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=kswapd", "unknown /proc");
    add_process(t, 1, "init", 'S', 1);
    trial_expect(t, "Probe=kswapd", "unsupported no kswapd is seen here");
    add_kswapd(t, "kswapd0", 1, 0, 0); /* who calls itself so */
    trial_expect(t, "Probe=kswapd", "unsupported no kswapd is seen here");
    add_kswapd(t, "kswapd0", 2, 100, 90000);
    add_kswapd(t, "kswapd1", 2, 0, 1000);
    trial_expect(t, "Probe=kswapd Looks=1 Warn=0%", "ok");         /* the baseline */
    add_kswapd(t, "kswapd0", 2, 101, 90000 + 6000 / 100 * 81 - 2); /* 60 s later */
    trial_expect(t, "Probe=kswapd Looks=1", "ok");
    for (unsigned i = 1; i < 5; i++) {
        add_kswapd(t, "kswapd1", 2, 0, 1000 + i * 5000);
        trial_expect(t, "Probe=kswapd", "ok");
    }
    add_kswapd(t, "kswapd1", 2, 0, 1000 + 5 * 5000);
    trial_expect(
        t, "Probe=kswapd",
        "warn node1: kswapd1 took 83 % of a processor to free memory, of at most 80 %, in 5 looks in "
        "a row");
    trial_expect(t, "Probe=kswapd Looks=1", "ok");
}

#define WORK "run/fettle/work/job"

static void add_process_of(struct trial *t, unsigned pid, const char *name, char state, unsigned user)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "proc/%u/stat", pid);
    snprintf(text, sizeof text, "%u (%s) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u 0\n", pid, name, state,
             pid * 100);
    trial_add(t, path, text);
    snprintf(path, sizeof path, "proc/%u/status", pid);
    snprintf(text, sizeof text, "Name:\t%s\nUid:\t%u\t0\t0\t0\n", name, user);
    trial_add(t, path, text);
}

static void end_process(struct trial *t, unsigned pid)
{
    char path[64];
    static const char *const files[] = {"/stat", "/status", ""};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "proc/%u%s", pid, files[i]);
        trial_remove(t, path);
    }
}

static void test_orphans(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=orphans", "unknown /proc");
    add_process_of(t, 1, "init", 'S', 0);
    add_process_of(t, 70, "exporter", 'S', 65534);
    add_process_of(t, 71, "dynamic", 'S', 61184);
    add_process_of(t, 72, "daemon", 'S', 999);
    add_process_of(t, 500, "python train.py", 'R', 1001);
    add_process_of(t, 501, "gone", 'Z', 1001);
    trial_expect(t, "Probe=orphans", "ok");
    trial_expect(
        t, "Probe=orphans",
        "warn : 1 processes of users are there while no work runs, in 2 looks in a row and more; one is "
        "500 python of user 1001");
    trial_expect(t, "Probe=orphans Users=1001", "ok");
    add_process_of(t, 600, "bash", 'S', 200000);
    trial_expect(t, "Probe=orphans Users=1001", "ok");
    trial_begins(t, "Probe=orphans Users=1001", "warn : 1 processes of users");
    trial_add(t, WORK, "");
    trial_expect(t, "Probe=orphans", "ok work runs");
    trial_remove(t, WORK);
    end_process(t, 500);
    add_process_of(t, 600, "bash", 'S', 1000); /* the same process */
    trial_begins(t, "Probe=orphans Looks=1", "warn : 1 processes of users");
    end_process(t, 600);
    trial_expect(t, "Probe=orphans Looks=1", "ok");
}

static void test_users_that_may(void **state)
{
    struct trial *t = *state;
    add_process_of(t, 500, "agent", 'S', 1001);
    add_process_of(t, 501, "agent", 'S', 1002);
    /* What is bad is said, whoever may. The order is that of the directory, which is not sorted outside
     * /proc. */
    trial_begins(
        t, "Probe=orphans Looks=1 Users=monitor",
        "warn : 2 processes of users are there while no work runs, in 1 looks in a row and more; one is 50");
    trial_add(t, "etc/passwd",
              "root:x:0:0::/:/bin/sh\nmonitors:x:1009:1::/:\nmonitor:x:1001:1::/:/bin/"
              "sh\nbroken\nhalf:x:y:1::/:\n");
    trial_begins(t, "Probe=orphans Looks=1 Users=monitor", "warn : 1 processes of users");
    trial_expect(t, "Probe=orphans Looks=1 Users=monitor,1002", "ok");
    trial_expect(t, "Probe=orphans Looks=1 Users=,1002,,monitor", "ok");
    trial_expect(t, "Probe=orphans Looks=1 Users=monitor,1002,half",
                 "unknown /etc/passwd has no user \"half\"");
    trial_expect(t, "Probe=orphans Looks=1 Users=monitor,1002,broken",
                 "unknown /etc/passwd has no user \"broken\"");
}

/* However many there are, they are counted and some are named. */
static void test_many_orphans(void **state)
{
    struct trial *t = *state;
    for (unsigned pid = 1000; pid < 1300; pid++)
        add_process_of(t, pid, "lost", 'S', 1001);
    trial_begins(t, "Probe=orphans Looks=1", "warn : 300 processes of users");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_lines), IN_TRIAL(test_zombies),      IN_TRIAL(test_dstate),
        IN_TRIAL(test_a_disk_that_hangs),     IN_TRIAL(test_kswapd),       IN_TRIAL(test_orphans),
        IN_TRIAL(test_users_that_may),        IN_TRIAL(test_many_orphans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
