/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define CPUS "sys/devices/system/cpu/"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_cpu_online),   IN_TRIAL(test_cpu_online_of_many), IN_TRIAL(test_no_sys_is_unknown),
        IN_TRIAL(test_cpu_governor), IN_TRIAL(test_cpu_frequency),      IN_TRIAL(test_cpu_throttle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
