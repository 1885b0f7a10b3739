/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"
#include "probe/probe.h"
#include "probe/tree_test.h"

#include <errno.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_memory(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/meminfo",
             "MemTotal:        2097152 kB\nMemFree: 1 kB\nSwapCached: 0 kB\nSwapTotal: 2097152 kB\nSwapFree: "
             "0 kB\n");
    tree_expect(t, "RealMemory", "2048");
    tree_expect(t, "VirtualMemory", "4096");
}

static void test_memory_without_swap(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/meminfo", "MemTotal:        2097152 kB\nSwapTotal:             0 kB\n");
    tree_expect(t, "VirtualMemory", "2048");
}

static void test_swap_that_is_not_told_is_not_none(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/meminfo", "MemTotal:        2097152 kB\n");
    tree_expect(t, "RealMemory", "2048");
    tree_expect(t, "VirtualMemory", NULL);
}

static void test_memory_that_is_free(void **state)
{
    struct tree *t = *state;
    uint64_t free_mb = 0, all_mb = 0;
    struct err e = {0};
    assert_int_equal(probe_memory_free("/no/such/root", &free_mb, &all_mb, &e), -ENOENT);
    assert_string_equal(e.msg, "/no/such/root: No such file or directory");
    assert_int_equal(probe_memory_free(t->root, &free_mb, &all_mb, &e), -ENOENT);
    tree_add(t, "proc/meminfo", "MemTotal: 2097152 kB\nMemFree: 9 kB\n");
    assert_int_equal(probe_memory_free(t->root, &free_mb, &all_mb, &e), -ENODATA);
    assert_string_equal(e.msg, "/proc/meminfo does not say how much memory is free");
    tree_add(t, "proc/meminfo", "MemTotal: 2097152 kB\nMemFree: 9 kB\nMemAvailable: 1049599 kB\n");
    assert_int_equal(probe_memory_free(t->root, &free_mb, &all_mb, NULL), 0);
    assert_int_equal(free_mb, 1024); /* rounded down */
    assert_int_equal(all_mb, 2048);
}

static void test_lines_that_say_no_memory(void **state)
{
    static const char *const lines[] = {"",
                                        "MemTotal",
                                        "MemTotal 5 kB",
                                        "MemTotal: 5",
                                        "MemTotal: kB",
                                        "MemTotal: 5 MB",
                                        "MemTotal: -5 kB",
                                        "MemTotal2: 5 kB",
                                        "MemTotal: 4611686018427387904 kB",
                                        "MemTotal: 000000000000000000000005 kB"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct memory_info m = {0};
        assert_true(memory_info_line(lines[i], &m));
        assert_false(m.has_total);
    }
    struct memory_info m = {0};
    assert_true(memory_info_line("MemTotal: 4611686018427387903 kB", &m));
    assert_true(m.has_total);
    assert_true(memory_info_line("MemTotal: 7 kB", &m)); /* the first counts */
    assert_false(memory_info_line("SwapTotal: 7 kB", &m));
    assert_int_equal(m.total_kb, INT64_MAX / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_memory),
        IN_TREE(test_memory_without_swap),
        IN_TREE(test_swap_that_is_not_told_is_not_none),
        IN_TREE(test_memory_that_is_free),
        cmocka_unit_test(test_lines_that_say_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
