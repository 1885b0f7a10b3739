/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "probe/part.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int parse(const char *text)
{
    struct cpu_set s;
    int r = cpu_list_parse(text, &s, NULL);
    return r < 0 ? r : (int)cpu_set_count(&s);
}

static void test_list(void **state)
{
    struct cpu_set s;
    assert_int_equal(cpu_list_parse("0-3,8\n", &s, NULL), 0);
    assert_int_equal(s.bits[0], 0x10f);
    assert_int_equal(parse("0-8191"), CPU_MAX);
    assert_int_equal(parse("63-64,64"), 2);
    assert_int_equal(parse("5"), 1);
    assert_int_equal(parse(""), 0);
    assert_int_equal(parse("\n"), 0);
}

static void test_list_refuses(void **state)
{
    static const char *const wrong[] = {
        "3-0",     "0-",    "-3", ",", "0,", "0,,1", "0-3-5", "8192", "a", "0 1", "0-99999999999999999999",
        "0-3:1/2", "0\n1\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(parse(wrong[i]), -EINVAL);
    struct cpu_set s;
    struct err e = {0};
    cpu_list_parse("3-0", &s, &e);
    assert_string_equal(e.msg, "\"3-0\" is not a list of processors below 8192");
}

static void add_cpu(struct tree *t, unsigned cpu, const char *socket, const char *core)
{
    char path[128];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/topology/core_siblings_list", cpu);
    tree_add(t, path, socket);
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
    tree_add(t, path, core);
}

static void expect_topology(struct tree *t, const char *cpus, const char *sockets, const char *cores,
                            const char *threads)
{
    tree_expect(t, "CPUs", cpus);
    tree_expect(t, "Sockets", sockets);
    tree_expect(t, "Cores", cores);
    tree_expect(t, "Threads", threads);
}

/* Two sockets of two cores of two threads, numbered as most firmware does. */
static void add_two_sockets(struct tree *t)
{
    tree_add(t, "sys/devices/system/cpu/online", "0-7\n");
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        char core[16];
        snprintf(core, sizeof core, "%u,%u\n", cpu % 4, cpu % 4 + 4);
        add_cpu(t, cpu, cpu % 4 < 2 ? "0-1,4-5\n" : "2-3,6-7\n", core);
    }
}

static void test_topology(void **state)
{
    struct tree *t = *state;
    add_two_sockets(t);
    expect_topology(t, "8", "2", "2", "2");
}

static void test_offline_processors_do_not_count(void **state)
{
    struct tree *t = *state;
    add_two_sockets(t);
    tree_add(t, "sys/devices/system/cpu/online", "1-7\n");
    add_cpu(t, 1, "1,4-5\n", "1,5\n");
    add_cpu(t, 4, "1,4-5\n", "4\n");
    add_cpu(t, 5, "1,4-5\n", "1,5\n");
    expect_topology(t, "7", "2", "2", "2");
}

static void test_one_thread_a_core(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/devices/system/cpu/online", "0-1\n");
    add_cpu(t, 0, "0-1\n", "0\n");
    add_cpu(t, 1, "0-1\n", "1\n");
    expect_topology(t, "2", "1", "2", "1");
}

static void test_no_topology(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/devices/system/cpu/online", "0-1\n");
    expect_topology(t, "2", NULL, NULL, NULL);
    add_cpu(t, 0, "1\n", "1\n"); /* a list without its owner */
    add_cpu(t, 1, "1\n", "1\n");
    expect_topology(t, "2", NULL, NULL, NULL);
}

/* 512 processors alternate between two sockets, so that each list has 256 numbers. */
static void test_large_machine(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/devices/system/cpu/online", "0-511\n");
    CLEANUP_TEXT struct text even = {0};
    CLEANUP_TEXT struct text odd = {0};
    for (unsigned cpu = 0; cpu < 512; cpu++)
        text_printf(cpu % 2 ? &odd : &even, "%s%u", cpu < 2 ? "" : ",", cpu);
    for (unsigned cpu = 0; cpu < 512; cpu++) {
        char core[16];
        snprintf(core, sizeof core, "%u,%u\n", cpu % 256, cpu % 256 + 256);
        add_cpu(t, cpu, cpu % 2 ? odd.s : even.s, core);
    }
    expect_topology(t, "512", "2", "128", "2");
}

static const char two_processors[] =
    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R)\n"
    "cpu MHz\t\t: 863.874\nflags\t\t: fpu aperf mperf\nbogomips\t: 4800.00\n\n"
    "processor\t: 1\nmodel name\t: another\ncpu MHz\t\t: 900.000\n"
    "flags\t\t: fpu aperfmperf\nbogomips\t: 1.00\n\n";

static void test_cpuinfo_tells_of_the_first_processor(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/cpuinfo", two_processors);
    tree_expect(t, "CPUs", "2"); /* nothing else told */
    tree_expect(t, "CPUModel", "'Intel(R) Xeon(R)'");
    CLEANUP_JSON json_t *inventory = tree_inventory(t);
    double speed = json_real_value(json_object_get(inventory, "Speed"));
    assert_true(speed > 863.8739 && speed < 863.8741);
}

static void test_measured_mhz_are_not_used(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/cpuinfo",
             "processor: 0\ncpu MHz: 811.5\nflags: fpu aperfmperf pni\nbogomips: 4800.00\n");
    tree_expect(t, "Speed", "2400.0");
}

static void test_nominal_speed_comes_first(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/cpuinfo", two_processors);
    tree_add(t, "sys/devices/system/cpu/online", "0-1\n");
    tree_add(t, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
    tree_expect(t, "Speed", "3500.0");
    tree_add(t, "sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2100000\n");
    tree_expect(t, "Speed", "2100.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_list_refuses),
        IN_TREE(test_topology),
        IN_TREE(test_offline_processors_do_not_count),
        IN_TREE(test_one_thread_a_core),
        IN_TREE(test_no_topology),
        IN_TREE(test_large_machine),
        IN_TREE(test_cpuinfo_tells_of_the_first_processor),
        IN_TREE(test_measured_mhz_are_not_used),
        IN_TREE(test_nominal_speed_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
