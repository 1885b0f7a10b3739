/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define CPUS "sys/devices/system/cpu/"

static void test_taint(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=kernel.taint", "unsupported");
    trial_add(t, "proc/sys/kernel/tainted", "12289\n"); /* P O E */
    trial_expect(t, "Probe=kernel.taint", "ok");
    trial_add(t, "proc/sys/kernel/tainted", "128\n");
    trial_expect(t, "Probe=kernel.taint", "fatal kernel: the kernel died once (oops): taint D of 128");
    trial_expect(t, "Probe=kernel.taint Ignore=DW", "ok");
    trial_add(t, "proc/sys/kernel/tainted", "512\n");
    trial_begins(t, "Probe=kernel.taint", "info kernel: the kernel warned");
    trial_add(t, "proc/sys/kernel/tainted", "bad\n");
    trial_begins(t, "Probe=kernel.taint", "unknown");
}

static void test_crash(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=kernel.crash", "unsupported");
    trial_add(t, "sys/fs/pstore/", "");
    trial_expect(t, "Probe=kernel.crash", "ok");
    trial_add(t, "sys/fs/pstore/dmesg-erst-1", "Panic");
    trial_expect(t, "Probe=kernel.crash", "info kernel: 1 records of crashes lie in /sys/fs/pstore");
    trial_add(t, "var/lib/systemd/pstore/1/dmesg.txt",
              "Panic"); /* systemd-pstore was quicker than the agent */
    trial_expect(t, "Probe=kernel.crash",
                 "info kernel: 1 records of crashes lie in /sys/fs/pstore, and 1 in /var/lib/systemd/pstore");
}

static void test_clock_source(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=clock.source", "unsupported");
    trial_add(t, "sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    trial_add(t, "sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n");
    trial_expect(t, "Probe=clock.source", "ok");
    trial_expect(t, "Probe=clock.source Source=kvm-clock",
                 "warn clock: the clock's source is tsc, not kvm-clock; there are tsc hpet acpi_pm");
    trial_add(t, "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    trial_begins(t, "Probe=clock.source", "warn clock: the clock's source is hpet");
    trial_add(t, "sys/devices/system/clocksource/clocksource0/current_clocksource", "\n");
    trial_begins(t, "Probe=clock.source", "unknown");
}

static void test_hung_tasks(void **state)
{
    struct trial *t = *state;
    static const char path[] = "proc/sys/kernel/hung_task_detect_count";
    trial_begins(t, "Probe=kernel.hung", "unsupported there is no /proc/sys/kernel/hung_task_detect_count");
    trial_add(t, path, "17\n");
    trial_expect(t, "Probe=kernel.hung", "ok");
    trial_add(t, path, "19\n");
    trial_expect(t, "Probe=kernel.hung",
                 "warn kernel: it found 2 hung tasks within ten minutes; 3 are too many");
    trial_add(t, path, "20\n");
    trial_begins(t, "Probe=kernel.hung", "degraded kernel: it found 3 hung tasks");
    t->now_s += 700;
    trial_expect(t, "Probe=kernel.hung", "ok");
}

static void test_uptime(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=uptime", "unknown");
    trial_add(t, "proc/uptime", "601.5 2000.1\n");
    trial_expect(t, "Probe=uptime", "ok");
    trial_add(t, "proc/uptime", "42.5 2000.1\n");
    trial_expect(t, "Probe=uptime", "info : booted 42 s ago, which is less than 10m00s");
    trial_add(t, "proc/uptime", "rubbish\n");
    trial_begins(t, "Probe=uptime", "unknown");
}

static void test_watchdog(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=watchdog", "unsupported");
    trial_add(t, "sys/class/watchdog/watchdog0/state", "inactive\n");
    trial_expect(t, "Probe=watchdog", "warn watchdog: none of 1 watchdogs is armed");
    trial_add(t, "sys/class/watchdog/watchdog1/state", "active\n");
    trial_expect(t, "Probe=watchdog", "ok");
}

static void test_load(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=load", "unsupported");
    trial_add(t, "proc/loadavg", "9.0 7.9 3.0 1/80 11206\n");
    trial_add(t, CPUS "online", "0-3\n");
    trial_expect(t, "Probe=load", "ok");
    trial_add(t, "proc/loadavg", "0.0 8.1 3.0 1/80 11206\n");
    trial_expect(t, "Probe=load", "warn : the load is 8 on 4 processors, of less than 2 on each");
    trial_expect(t, "Probe=load Warn=4", "ok");
    assert_string_equal(trial_judge(t, "Probe=load", "load 5\nprocessors 0\n"),
                        "unknown the load is not understood");
    trial_add(t, "proc/loadavg", "high\n");
    trial_begins(t, "Probe=load", "unknown /proc/loadavg");
}

static void test_pids_and_files(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=pids", "unsupported");
    trial_add(t, "proc/loadavg", "0 0 0 1/810 11206\n");
    trial_add(t, "proc/sys/kernel/pid_max", "32768\n");
    trial_add(t, "proc/sys/kernel/threads-max", "1000\n");
    trial_expect(t, "Probe=pids",
                 "warn : 810 of 1000 processes and threads are used, which is more than 80 %");
    trial_add(t, "proc/sys/kernel/threads-max", "2000\n");
    trial_expect(t, "Probe=pids", "ok");
    trial_add(t, "proc/sys/kernel/threads-max", "\n");
    trial_begins(t, "Probe=pids", "unknown");
    trial_add(t, "proc/sys/fs/file-nr", "960\t0\t1000\n");
    trial_expect(t, "Probe=files", "degraded : 960 of 1000 open files are used, which is more than 95 %");
    trial_add(t, "proc/sys/fs/file-nr", "960\n");
    trial_begins(t, "Probe=files", "unknown");
}

static void comes_to(struct trial *t, const char *record, const char *facts, const char *want)
{
    assert_string_equal(trial_judge(t, record, facts), want);
}

static void test_each_taint_that_means_something(void **state)
{
    comes_to(*state, "Probe=kernel.taint", "tainted 16\n",
             "fatal kernel: a processor reported a machine check: taint M of 16");
    comes_to(*state, "Probe=kernel.taint", "tainted 32\n",
             "warn kernel: a page of memory was found in a bad state: taint B of 32");
    comes_to(*state, "Probe=kernel.taint", "tainted 16384\n",
             "fatal kernel: a processor was stuck (soft lockup): taint L of 16384");
    comes_to(*state, "Probe=kernel.taint Ignore=L", "tainted 16400\n",
             "fatal kernel: a processor reported a machine check: taint M of 16400");
}

static void test_facts_that_are_not_there_are_unknown(void **state)
{
    static const struct {
        const char *record, *says;
    } cases[] = {{"Probe=kernel.taint", "unknown the kernel's taint is not understood"},
                 {"Probe=kernel.crash", "unknown the records of crashes are not understood"},
                 {"Probe=kernel.hung", "unknown the number of hung tasks is not understood"},
                 {"Probe=clock.source", "unknown the clock's source is not understood"},
                 {"Probe=uptime", "unknown the time since the boot is not understood"},
                 {"Probe=load", "unknown the load is not understood"},
                 {"Probe=pids", "unknown the number of processes is not understood"},
                 {"Probe=files", "unknown the number of open files is not understood"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        comes_to(*state, cases[i].record, "other 1\n", cases[i].says);
}

static void test_the_edges_of_load_and_use(void **state)
{
    comes_to(*state, "Probe=load", "load 7999\nprocessors 4\n", "ok");
    comes_to(*state, "Probe=load", "load 8000\nprocessors 4\n",
             "warn : the load is 8 on 4 processors, of less than 2 on each");
    comes_to(*state, "Probe=files", "files 800 1000\n", "ok");
    comes_to(*state, "Probe=files", "files 810 1000\n",
             "warn : 810 of 1000 open files are used, which is more than 80 %");
    comes_to(*state, "Probe=files", "files 950 1000\n",
             "warn : 950 of 1000 open files are used, which is more than 80 %");
    comes_to(*state, "Probe=files", "files 960 1000\n",
             "degraded : 960 of 1000 open files are used, which is more than 95 %");
    comes_to(*state, "Probe=pids", "threads 90\npid_max 100\nthreads_max 9000\n",
             "warn : 90 of 100 processes and threads are used, which is more than 80 %");
    comes_to(*state, "Probe=uptime", "uptime 600\n", "ok");
    comes_to(*state, "Probe=uptime", "uptime 599\n", "info : booted 599 s ago, which is less than 10m00s");
}

static void test_files_of_the_kernel_that_are_not_understood(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/loadavg", "0.1 0.1 0.1\n");
    trial_expect(t, "Probe=load", "unknown /proc/loadavg: Invalid argument");
    trial_expect(t, "Probe=pids", "unknown /proc/loadavg: Invalid argument");
    trial_add(t, "proc/loadavg", "0.1 0.1 0.1 180 7\n");
    trial_expect(t, "Probe=pids", "unknown /proc/loadavg: Invalid argument");
    trial_expect(t, "Probe=load", "unsupported there is no /" CPUS "online");
    trial_add(t, CPUS "online", "some\n");
    trial_expect(t, "Probe=load", "unknown /" CPUS "online: Invalid argument");
    trial_expect(t, "Probe=files", "unsupported there is no /proc/sys/fs/file-nr");
    trial_add(t, "sys/class/watchdog/watchdog0/state", "\n");
    trial_expect(t, "Probe=watchdog", "unsupported there is no watchdog that says its state");
    trial_add(t, "sys/fs/pstore/", "");
    trial_add(t, "var/lib/systemd/pstore@", "pstore");
    trial_expect(t, "Probe=kernel.crash",
                 "unknown /var/lib/systemd/pstore: Too many levels of symbolic links");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_taint),
        IN_TRIAL(test_crash),
        IN_TRIAL(test_clock_source),
        IN_TRIAL(test_hung_tasks),
        IN_TRIAL(test_uptime),
        IN_TRIAL(test_watchdog),
        IN_TRIAL(test_load),
        IN_TRIAL(test_pids_and_files),
        IN_TRIAL(test_each_taint_that_means_something),
        IN_TRIAL(test_facts_that_are_not_there_are_unknown),
        IN_TRIAL(test_the_edges_of_load_and_use),
        IN_TRIAL(test_files_of_the_kernel_that_are_not_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
