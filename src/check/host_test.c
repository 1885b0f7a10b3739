/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define CPUS "sys/devices/system/cpu/"

/* --- processors ----------------------------------------------------------------------------- */

static void test_cpu_online(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=cpu.online", "unsupported there is no /" CPUS "online");
    trial_add(t, CPUS "online", "0-7\n");
    trial_add(t, CPUS "present", "0-7\n");
    trial_expect(t, "Probe=cpu.online", "ok");
    trial_expect(t, "Probe=cpu.online CPUs=8", "ok");
    trial_expect(t, "Probe=cpu.online CPUs=16", "fatal cpu: 8 processors are online (0-7), of 16");
    trial_add(t, CPUS "online", "0-2,4-7\n");
    trial_expect(t, "Probe=cpu.online", "fatal cpu: 7 processors are online (0-2,4-7), of 8");
    trial_add(t, CPUS "online", "rubbish\n");
    trial_expect(t, "Probe=cpu.online", "unknown /" CPUS "online is not understood");
    trial_add(t, CPUS "online", "");
    trial_expect(t, "Probe=cpu.online", "unknown the lists of processors are not understood");
}

/* A list that is longer than a fact: every second of 512. */
static void test_cpu_online_of_many(void **state)
{
    struct trial *t = *state;
    CLEANUP_TEXT struct text list = {0};
    for (int cpu = 0; cpu < 512; cpu += 2)
        text_printf(&list, "%s%d", cpu ? "," : "", cpu);
    trial_add(t, CPUS "online", list.s);
    trial_add(t, CPUS "present", list.s);
    trial_expect(t, "Probe=cpu.online", "ok");
    trial_expect(t, "Probe=cpu.online CPUs=256", "ok");
    trial_begins(t, "Probe=cpu.online CPUs=257", "fatal cpu: 256 processors are online (0,2,4,");
}

static void test_no_sys_is_unknown(void **state)
{
    struct trial *t = *state;
    trial_remove(t, "sys/class");
    trial_expect(t, "Probe=cpu.online", "unknown /sys is not mounted");
    trial_expect(t, "Probe=raid", "unknown /sys is not mounted");
}

static void test_cpu_governor(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=cpu.governor", "unsupported there is no /" CPUS "cpufreq");
    trial_add(t, CPUS "cpufreq/", "");
    trial_expect(t, "Probe=cpu.governor", "unsupported no processor has a governor");
    trial_add(t, CPUS "cpufreq/policy0/scaling_governor", "performance\n");
    trial_add(t, CPUS "cpufreq/policy1/scaling_governor", "performance\n");
    trial_expect(t, "Probe=cpu.governor", "ok");
    trial_add(t, CPUS "cpufreq/policy1/scaling_governor", "powersave\n");
    trial_expect(t, "Probe=cpu.governor",
                 "warn cpu: the governor of 1 of 2 policies is not performance; policy1 has powersave");
    trial_begins(t, "Probe=cpu.governor Governor=powersave",
                 "warn cpu: the governor of 1 of 2 policies is not powersave");
}

static void test_cpu_frequency(void **state)
{
    struct trial *t = *state;
    trial_add(t, CPUS "cpufreq/policy0/scaling_max_freq", "3700000\n");
    trial_expect(t, "Probe=cpu.frequency", "unsupported no processor says its base frequency");
    trial_add(t, CPUS "cpufreq/policy0/base_frequency", "2400000\n");
    trial_expect(t, "Probe=cpu.frequency", "ok");
    trial_add(t, CPUS "cpufreq/policy0/scaling_max_freq", "1200000\n");
    trial_expect(t, "Probe=cpu.frequency",
                 "warn cpu: 1 of 1 policies are limited to 1200 MHz, of 100 % of 2400");
    trial_expect(t, "Probe=cpu.frequency Least=50%", "ok");
    trial_add(t, CPUS "cpufreq/policy0/base_frequency", "none\n");
    trial_expect(t, "Probe=cpu.frequency", "unsupported no processor says its base frequency");
}

static void test_cpu_throttle(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=cpu.throttle", "unsupported");
    trial_add(t, CPUS "cpu0/thermal_throttle/core_throttle_count", "100\n");
    trial_add(t, CPUS "cpu1/thermal_throttle/core_throttle_count", "100\n");
    trial_add(t, CPUS "cpu0/thermal_throttle/package_throttle_count", "5\n");
    trial_expect(t, "Probe=cpu.throttle", "ok"); /* the baseline */
    trial_expect(t, "Probe=cpu.throttle", "ok");
    trial_add(t, CPUS "cpu1/thermal_throttle/core_throttle_count", "102\n");
    trial_begins(t, "Probe=cpu.throttle", "warn cpu: heat slowed cores down 2 times and packages 0 times");
    trial_add(t, CPUS "cpu1/thermal_throttle/core_throttle_count", "103\n");
    trial_begins(t, "Probe=cpu.throttle", "warn");
    trial_add(t, CPUS "cpu1/thermal_throttle/core_throttle_count", "104\n");
    trial_begins(t, "Probe=cpu.throttle", "degraded");
    trial_add(t, CPUS "cpu1/thermal_throttle/core_throttle_count", "1\n"); /* a reset */
    trial_expect(t, "Probe=cpu.throttle", "ok");
}

static void test_thermal(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=thermal", "unsupported");
    trial_add(t, "sys/class/thermal/thermal_zone0/temp", "45000\n");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_0_temp", "30000\n");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_1_type", "critical\n");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_1_temp", "90000\n");
    trial_add(t, "sys/class/hwmon/hwmon0/name", "nvme\n");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_input", "60000\n");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_max", "70000\n");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_crit", "80000\n");
    trial_expect(t, "Probe=thermal", "ok");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_input", "71000\n");
    trial_expect(t, "Probe=thermal",
                 "warn sensor hwmon0/nvme/temp1: 71 degrees Celsius, and its high limit is 70");
    trial_add(t, "sys/class/thermal/thermal_zone0/temp", "95000\n");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_input", "rubbish\n");
    trial_expect(t, "Probe=thermal",
                 "fatal sensor thermal_zone0: 95 degrees Celsius, and its critical limit is 90");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_1_temp", "-274000\n"); /* no limit */
    trial_expect(t, "Probe=thermal", "ok");
}

/* --- memory --------------------------------------------------------------------------------- */

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

#define MC "sys/devices/system/edac/mc/mc0/"

static void test_memory_ecc(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=memory.ecc", "unsupported there is no /sys/devices/system/edac/mc");
    trial_add(t, MC "ce_count", "1000\n");
    trial_add(t, MC "ue_count", "5\n");
    trial_expect(t, "Probe=memory.ecc", "ok"); /* the baseline, however high */
    trial_add(t, MC "ce_count", "1009\n");
    trial_expect(t, "Probe=memory.ecc", "ok");
    trial_add(t, MC "ce_count", "1010\n");
    trial_expect(t, "Probe=memory.ecc", "warn memory mc0: 10 corrected errors within 1d00h, of at most 9");
    trial_add(t, MC "ce_count", "1110\n");
    trial_begins(t, "Probe=memory.ecc", "degraded memory mc0: 110 corrected errors within an hour");
    trial_add(t, MC "ue_count", "6\n");
    trial_begins(t, "Probe=memory.ecc", "fatal memory mc0: 1 uncorrected errors within");
    trial_add(t, MC "ue_count", "rubbish\n");
    trial_begins(t, "Probe=memory.ecc", "unknown the counters of mc0");
}

static void test_memory_ecc_names_the_module(void **state)
{
    struct trial *t = *state;
    trial_add(t, MC "ce_count", "0\n");
    trial_add(t, MC "ue_count", "0\n");
    trial_add(t, MC "ce_noinfo_count", "0\n");
    trial_add(t, MC "ue_noinfo_count", "0\n");
    trial_add(t, MC "dimm3/dimm_ce_count", "0\n");
    trial_add(t, MC "dimm3/dimm_ue_count", "0\n");
    trial_add(t, MC "dimm3/dimm_label", "CPU_SrcID#0_Channel#1_DIMM#0\n");
    trial_expect(t, "Probe=memory.ecc", "ok");
    trial_add(t, MC "dimm3/dimm_ue_count", "2\n");
    trial_add(t, MC "ue_count", "2\n");
    trial_expect(t, "Probe=memory.ecc Window=1h",
                 "fatal memory mc0/dimm3: 2 uncorrected errors within 1h00m in CPU_SrcID#0_Channel#1_DIMM#0");
    trial_add(t, MC "dimm3/dimm_ue_count", "0\n"); /* a reset is no error */
    trial_forget(t);
    trial_expect(t, "Probe=memory.ecc", "ok");
}

/* --- the kernel ----------------------------------------------------------------------------- */

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

static void test_agent(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=agent", "unknown /proc/self: No such file");
    trial_add(t, "proc/self/statm", "500000 120000 900 1 0 9999 0\n");
    trial_begins(t, "Probe=agent", "unknown /proc/self: No such file");
    trial_add(t, "proc/self/fd/0", "");
    trial_expect(t, "Probe=agent", "ok");
    trial_expect(t, "Probe=agent Memory=400MB",
                 "warn agent: it has 480000 KiB of memory, of at most 390625 KiB");
    trial_add(t, "proc/self/statm", "500000\n");
    trial_begins(t, "Probe=agent", "unknown /proc/self: Invalid");
    assert_string_equal(trial_judge(t, "Probe=agent", "memory 900\nfiles 820 1024\n"), "ok");
    assert_string_equal(trial_judge(t, "Probe=agent", "memory 900\nfiles 840 1024\n"),
                        "warn agent: it has 840 files open, of 1024 and at most 80 %");
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

/* --- processes ------------------------------------------------------------------------------ */

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

/* --- PCIe ----------------------------------------------------------------------------------- */

static void add_link(struct trial *t, const char *class, const char *width)
{
    trial_add(t, "sys/devices/pci0/max_link_width", "16\n");
    trial_add(t, "sys/devices/pci0/max_link_speed", "16.0 GT/s PCIe\n");
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/class", class);
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/current_link_width", width);
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/max_link_width", "16\n");
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/current_link_speed", "2.5 GT/s PCIe\n");
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/max_link_speed", "32.0 GT/s PCIe\n");
}

static void test_pcie_link(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=pcie.link", "unsupported");
    trial_add(t, "sys/bus/pci/devices/0000:9b:00.0@", "../../../devices/pci0/0000:9b:00.0");
    add_link(t, "0x030200\n", "16\n");
    trial_expect(t, "Probe=pcie.link", "ok");
    trial_expect(t, "Probe=pcie.link Speed=yes",
                 "degraded gpu 0000:9b:00.0: its PCIe link runs at 2500 MT/s, of 16000");
    add_link(t, "0x030200\n", "8\n");
    trial_expect(t, "Probe=pcie.link", "fatal gpu 0000:9b:00.0: its PCIe link has 8 lanes, of 16");
    trial_add(t, "sys/devices/pci0/max_link_width", "8\n"); /* a narrow slot */
    trial_expect(t, "Probe=pcie.link", "ok");
    add_link(t, "0x030200\n", "8\n");
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/power_state", "D3cold\n");
    trial_expect(t, "Probe=pcie.link", "ok");
    add_link(t, "0x060400\n", "8\n"); /* a bridge */
    trial_begins(t, "Probe=pcie.link", "unsupported");
    add_link(t, "0x030200\n", "rubbish\n");
    trial_begins(t, "Probe=pcie.link", "unsupported");
}

static void add_aer(struct trial *t, const char *file, const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "sys/bus/pci/devices/0000:01:00.0/%s", file);
    trial_add(t, path, text);
}

static void test_pcie_aer(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=pcie.aer", "unsupported");
    add_aer(t, "class", "0x030000\n");
    add_aer(t, "aer_dev_correctable", "RxErr 0\nTOTAL_ERR_COR 50000\n");
    add_aer(t, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 3\n");
    add_aer(t, "aer_dev_fatal", "TOTAL_ERR_FATAL 1\n");
    trial_expect(t, "Probe=pcie.aer", "ok"); /* the baseline */
    add_aer(t, "aer_dev_correctable", "TOTAL_ERR_COR 70000\n");
    trial_expect(t, "Probe=pcie.aer",
                 "warn pci 0000:01:00.0: 2000 corrected PCIe errors a minute, of at most 1000");
    add_aer(t, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 4\n");
    trial_begins(t, "Probe=pcie.aer", "warn pci 0000:01:00.0: 1 uncorrected PCIe errors");
    add_aer(t, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 8\n");
    trial_begins(t, "Probe=pcie.aer", "degraded pci 0000:01:00.0: 5 uncorrected PCIe errors");
    add_aer(t, "aer_dev_fatal", "TOTAL_ERR_FATAL 2\n");
    trial_begins(t, "Probe=pcie.aer", "fatal pci 0000:01:00.0: 1 fatal PCIe errors");
    add_aer(t, "aer_dev_fatal", "nothing\n");
    trial_begins(t, "Probe=pcie.aer", "unknown aer_dev_fatal of 0000:01:00.0");
}

/* --- pcie.acs ------------------------------------------------------------------------------- */

/* A device with its way below the host bridge 16: the address is the way's last part. */
static void add_pci(struct trial *t, const char *way, const char *class)
{
    char path[160], to[160];
    const char *slash = strrchr(way, '/');
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s@", slash ? slash + 1 : way);
    snprintf(to, sizeof to, "../../../devices/pci0000:16/%s", way);
    trial_add(t, path, to);
    snprintf(path, sizeof path, "sys/devices/pci0000:16/%s/class", way);
    trial_add(t, path, class);
    snprintf(path, sizeof path, "sys/devices/pci0000:16/%s/vendor", way);
    trial_add(t, path, "0x10de\n");
}

/* With this ACS control register, behind another capability. */
static void add_bridge(struct trial *t, const char *way, uint8_t control)
{
    char path[160];
    uint8_t config[0x150] = {[0x100] = 0x01, [0x102] = 0x81, [0x103] = 0x14,  /* AER, the next at 0x148 */
                             [0x148] = 0x0d, [0x14a] = 0x01, [0x14c] = 0x7f}; /* ACS, what it can */
    config[0x14e] = control;
    add_pci(t, way, "0x060400\n");
    snprintf(path, sizeof path, "sys/devices/pci0000:16/%s/config", way);
    tree_add_bytes(t->tree, path, config, sizeof config);
}

#define ROOT_PORT "0000:16:01.0"
#define SWITCH ROOT_PORT "/0000:17:00.0"
#define GPU_PORT SWITCH "/0000:18:00.0"
#define NIC_PORT SWITCH "/0000:18:01.0"
#define GPU GPU_PORT "/0000:19:00.0"
#define NIC NIC_PORT "/0000:1a:00.0"
#define NO_SWITCH "unsupported no GPU shares a PCIe switch with another one or an RDMA adapter"

static void test_acs(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=pcie.acs", "unsupported there is no /sys/bus/pci/devices");
    add_bridge(t, ROOT_PORT, 0x1d); /* redirects: nobody's way leads through it */
    add_bridge(t, SWITCH, 0);
    add_bridge(t, GPU_PORT, 0x01); /* checks who sends */
    add_bridge(t, NIC_PORT, 0);
    add_pci(t, GPU, "0x030200\n");
    add_pci(t, NIC, "0x020000\n");
    trial_expect(t, "Probe=pcie.acs", NO_SWITCH);
    trial_add(t, "sys/devices/pci0000:16/" NIC "/infiniband/", "");
    trial_expect(t, "Probe=pcie.acs", "ok");
    static const uint8_t redirect[] = {0x04, 0x08, 0x20, 0x1d};
    for (size_t i = 0; i < sizeof redirect; i++) {
        trial_remove(t, "sys/bus/pci/devices/0000:18:01.0");
        add_bridge(t, NIC_PORT, redirect[i]);
        trial_expect(t, "Probe=pcie.acs",
                     "degraded pcie: 1 of 2 switch ports between GPUs and RDMA adapters redirect what these "
                     "send each other to the root complex (ACS); one is 0000:18:01.0");
    }
    trial_add(t, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor_not lahf_lm\n");
    trial_begins(t, "Probe=pcie.acs", "degraded");
    trial_add(t, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n");
    trial_expect(t, "Probe=pcie.acs", "unsupported a virtual machine does not see its host's PCIe switches");
}

static void test_acs_that_is_not_read(void **state)
{
    struct trial *t = *state;
    add_pci(t, ROOT_PORT "/0000:19:00.0", "0x030200\n");
    add_pci(t, ROOT_PORT "/0000:19:00.1", "0x030200\n");
    trial_expect(t, "Probe=pcie.acs", NO_SWITCH); /* two parts of one card */
    add_bridge(t, SWITCH, 0);
    add_bridge(t, GPU_PORT, 0);
    add_bridge(t, NIC_PORT, 0);
    add_pci(t, GPU_PORT "/0000:1b:00.0", "0x030200\n");
    add_pci(t, NIC_PORT "/0000:1c:00.0", "0x030200\n");
    trial_expect(t, "Probe=pcie.acs", "ok");
    tree_add_bytes(t->tree, "sys/devices/pci0000:16/" GPU_PORT "/config", "rubbish", 7); /* an old bridge */
    trial_expect(t, "Probe=pcie.acs", "ok");
    uint8_t config[258] = {0};
    tree_add_bytes(t->tree, "sys/devices/pci0000:16/" GPU_PORT "/config", config, sizeof config);
    trial_expect(t, "Probe=pcie.acs", "unknown the configuration of 0000:18:00.0: Permission denied");
    uint8_t gone[260];
    memset(gone, 0xff, sizeof gone);
    tree_add_bytes(t->tree, "sys/devices/pci0000:16/" GPU_PORT "/config", gone, sizeof gone);
    trial_expect(t, "Probe=pcie.acs", "unknown the configuration of 0000:18:00.0: Input/output error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_cpu_online),
        IN_TRIAL(test_cpu_online_of_many),
        IN_TRIAL(test_no_sys_is_unknown),
        IN_TRIAL(test_cpu_governor),
        IN_TRIAL(test_cpu_frequency),
        IN_TRIAL(test_cpu_throttle),
        IN_TRIAL(test_thermal),
        IN_TRIAL(test_memory_size),
        IN_TRIAL(test_memory_available),
        IN_TRIAL(test_memory_poison),
        IN_TRIAL(test_swap),
        IN_TRIAL(test_oom),
        IN_TRIAL(test_fragmentation),
        IN_TRIAL(test_compaction),
        IN_TRIAL(test_pressure),
        IN_TRIAL(test_memory_ecc),
        IN_TRIAL(test_memory_ecc_names_the_module),
        IN_TRIAL(test_taint),
        IN_TRIAL(test_crash),
        IN_TRIAL(test_clock_source),
        IN_TRIAL(test_hung_tasks),
        IN_TRIAL(test_agent),
        IN_TRIAL(test_uptime),
        IN_TRIAL(test_watchdog),
        IN_TRIAL(test_load),
        IN_TRIAL(test_pids_and_files),
        IN_TRIAL(test_zombies),
        IN_TRIAL(test_dstate),
        IN_TRIAL(test_a_disk_that_hangs),
        IN_TRIAL(test_kswapd),
        IN_TRIAL(test_pcie_link),
        IN_TRIAL(test_pcie_aer),
        IN_TRIAL(test_acs),
        IN_TRIAL(test_acs_that_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
