/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_memory_size(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=memory.size", "unsupported there is no /proc/meminfo");
    trial_add(t, "proc/meminfo", "MemTotal:       1000000 kB\nMemFree: 5 kB\n");
    trial_expect(t, "Probe=memory.size", "ok");
    trial_expect(t, "Probe=memory.size Size=1000MiB", "ok");
    trial_expect(t, "Probe=memory.size Size=1200MiB", "fatal memory: 1000 MB of memory, of at least 1195 MB");
    trial_add(t, "sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       1000000 kB\n");
    trial_add(t, "sys/devices/system/node/node0/cpulist", "0-3\n");
    trial_add(t, "sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       0 kB\n");
    trial_add(t, "sys/devices/system/node/node1/cpulist", "\n");
    trial_expect(t, "Probe=memory.size", "ok");
    trial_add(t, "sys/devices/system/node/node1/cpulist", "4-7\n");
    trial_expect(t, "Probe=memory.size", "fatal node1: node1 has processors (4-7) and no memory");
    trial_add(t, "proc/meminfo", "MemTotal: much\n");
    trial_begins(t, "Probe=memory.size", "unknown /proc/meminfo: ");
}

static void test_memory_available(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable:     500000 kB\n");
    trial_expect(t, "Probe=memory.available", "ok");
    trial_expect(t, "Probe=memory.available Least=1GiB",
                 "warn memory: 500000 KiB of memory are available, of at least 1048576 KiB");
    trial_add(t, "proc/meminfo", "MemTotal: 1000000 kB\n");
    trial_begins(t, "Probe=memory.available", "unknown");
}

static void test_memory_poison(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/meminfo", "MemTotal: 1000000 kB\n");
    trial_begins(t, "Probe=memory.poison", "unsupported");
    trial_add(t, "proc/meminfo", "HardwareCorrupted:     0 kB\n");
    trial_expect(t, "Probe=memory.poison", "ok");
    trial_add(t, "proc/meminfo", "HardwareCorrupted:     4 kB\n");
    trial_begins(t, "Probe=memory.poison", "warn memory: 4 KiB of memory are poisoned");
    trial_add(t, "proc/meminfo", "HardwareCorrupted:     40 kB\n");
    trial_begins(t, "Probe=memory.poison", "degraded memory: 40 KiB");
}

static void test_swap(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n");
    trial_expect(t, "Probe=swap", "unsupported this machine has no swap");
    trial_add(t, "proc/meminfo", "SwapTotal: 1000000 kB\nSwapFree: 500000 kB\n");
    trial_expect(t, "Probe=swap", "ok");
    trial_add(t, "proc/meminfo", "SwapTotal: 1000000 kB\nSwapFree: 400000 kB\n");
    trial_expect(t, "Probe=swap", "warn swap: 60 % of 1000 MB of swap are used, of at most 50 %");
    trial_add(t, "proc/meminfo", "SwapTotal: 1000000 kB\nSwapFree: 2000000 kB\n");
    trial_begins(t, "Probe=swap", "unknown");
}

static void test_oom(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/vmstat", "nr_free_pages 5\noom_kill 100\n");
    trial_expect(t, "Probe=oom", "ok");
    trial_add(t, "proc/vmstat", "oom_kill 101\n");
    trial_begins(t, "Probe=oom", "info memory: 1 processes were killed for want of memory");
    trial_add(t, "proc/vmstat", "oom_kill 110\n");
    trial_begins(t, "Probe=oom", "warn memory: 10 processes");
    t->now_s += 2 * 3600;
    trial_expect(t, "Probe=oom", "ok");
    trial_add(t, "proc/vmstat", "oom_kill -\n");
    trial_begins(t, "Probe=oom", "unknown");
}

/* As Linux 6.18 wrote it on a machine with 4 KiB pages. */
#define BUDDYINFO                                                                                           \
    "Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1      3 \n" \
    "Node 0, zone    DMA32      1      2      4      2      5      4      3      3      4      2    752 \n"

static void test_fragmentation(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=memory.fragmentation", "unsupported there is no /proc/buddyinfo");
    trial_add(t, "proc/buddyinfo", "rubbish\n");
    trial_begins(t, "Probe=memory.fragmentation", "unknown /proc/buddyinfo");
    trial_add(t, "proc/buddyinfo",
              BUDDYINFO
              "Node 0, zone   Normal  34123  14601   9156   6171   4148   3167   1366    807    367    "
              "201    937 \n");
    trial_expect(t, "Probe=memory.fragmentation Looks=1", "ok");
    trial_add(t, "proc/buddyinfo",
              BUDDYINFO
              "Node 1, zone   Normal   1000   1000   1000   1000   1000      0      0      0      0      "
              "0      0 \n");
    trial_expect(t, "Probe=memory.fragmentation Looks=2", "ok");
    trial_expect(
        t, "Probe=memory.fragmentation Looks=2",
        "warn node1: 0 % of its 124 MB of free memory lie in pieces of 2 MiB or more, of at least 5 %, "
        "in 2 looks in a row");
    trial_expect(t, "Probe=memory.fragmentation Large=0% Looks=1", "ok");
    trial_add(t, "proc/buddyinfo", "Node 0, zone   Normal 0 0 0 0 0 0 0 0 0 0 0\n"); /* nothing is free */
    trial_expect(t, "Probe=memory.fragmentation Looks=1", "ok");
}

static void test_compaction(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/buddyinfo", BUDDYINFO);
    trial_add(t, "proc/vmstat", "compact_stall 9\ncompact_fail 70000\n");
    trial_expect(t, "Probe=memory.fragmentation", "ok");
    trial_add(t, "proc/vmstat", "compact_stall 9\ncompact_fail 73005\n");
    trial_expect(t, "Probe=memory.fragmentation",
                 "warn memory: 601 compactions a minute were waited for in vain, of at most 600");
    trial_expect(t, "Probe=memory.fragmentation Failed=601", "ok");
    t->now_s += 600;
    trial_expect(t, "Probe=memory.fragmentation", "ok");
}

static void test_pressure(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=pressure", "unsupported");
    trial_add(t, "proc/pressure/memory",
              "some avg10=9 avg60=50.00 avg300=0 total=1\nfull avg10=0.00 avg60=9.99 avg300=1 total=2\n");
    trial_add(t, "proc/pressure/io", "full avg10=0.00 avg60=20.00 avg300=1 total=2\n");
    trial_expect(t, "Probe=pressure", "ok");
    trial_expect(t, "Probe=pressure IO=15%",
                 "warn io: all work waited for io for 20 % of a minute, of at most 15 %");
    trial_add(t, "proc/pressure/memory", "full avg10=0.00 avg60=11.50 avg300=1 total=2\n");
    trial_begins(t, "Probe=pressure", "warn memory: all work waited for memory for 11 %");
    trial_add(t, "proc/pressure/memory", "rubbish\n");
    trial_begins(t, "Probe=pressure", "unknown /proc/pressure/memory");
}

#define WORK "run/fettle/work/job"

static void test_work(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 100 kB\n");
    trial_add(t, WORK, "");
    trial_expect(t, "Probe=memory.idle Looks=1", "ok work runs");
    trial_remove(t, WORK);
    trial_begins(t, "Probe=memory.idle Looks=1", "degraded");
    trial_add(t, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/", "");
    trial_expect(t, "Probe=memory.idle Looks=1", "ok work runs");
    trial_remove(t, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7");
    trial_remove(t, "run/fettle/work");
    trial_add(t, "run/fettle/work", ""); /* nobody can tell */
    trial_begins(t, "Probe=memory.idle Looks=1", "unknown the work that runs: ");
}

static void memory_is(struct trial *t, unsigned available, unsigned pages, const char *want)
{
    char text[128];
    snprintf(text, sizeof text, "MemTotal: 1000 kB\nMemAvailable: %u kB\nHugetlb: %u kB\n", available, pages);
    trial_add(t, "proc/meminfo", text);
    trial_expect(t, "Probe=memory.idle", want);
}

static void test_memory(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=memory.idle", "unsupported there is no /proc/meminfo");
    memory_is(t, 800, 0, "ok");
    memory_is(t, 500, 300, "ok"); /* pages that the site set aside */
    memory_is(t, 789, 0, "ok");
    memory_is(t, 789, 0, "ok");
    memory_is(t, 789, 0,
              "degraded memory: 21 % are in use while no work runs, of at most 20 %, in 3 looks in a row");
    memory_is(t, 800, 0, "ok");
    memory_is(t, 789, 0, "ok"); /* the row begins anew */
    memory_is(t, 5000, 0, "ok");
    trial_expect(t, "Probe=memory.idle Used=0 Looks=1", "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_memory_size),   IN_TRIAL(test_memory_available),
        IN_TRIAL(test_memory_poison), IN_TRIAL(test_swap),
        IN_TRIAL(test_oom),           IN_TRIAL(test_fragmentation),
        IN_TRIAL(test_compaction),    IN_TRIAL(test_pressure),
        IN_TRIAL(test_work),          IN_TRIAL(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
