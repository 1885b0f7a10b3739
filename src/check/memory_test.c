/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_memory_keeps_what_was_asked_for(void **state)
{
    struct memory *m = memory_create();
    *memory_number(m, "a") = 7;
    *memory_number(m, "b") = 8;
    memory_turn(m);
    assert_int_equal(*memory_number(m, "a"), 7);
    memory_turn(m);
    assert_int_equal(*memory_number(m, "a"), 7);
    assert_int_equal(*memory_number(m, "b"), 0);
    memory_forget(m);
    assert_int_equal(*memory_number(m, "a"), 0);
    memory_destroy(m);
    memory_destroy(NULL);
}

static void test_memory_is_bounded(void **state)
{
    struct memory *m = memory_create();
    char name[16];
    for (int i = 0; i < 4096; i++) {
        snprintf(name, sizeof name, "%d", i);
        *memory_number(m, name) = 1;
    }
    *memory_number(m, "beyond") = 1;
    assert_int_equal(*memory_number(m, "beyond"), 0);
    assert_int_equal(*memory_number(m, "4095"), 1);
    memory_destroy(m);
}

static void test_window(void **state)
{
    struct memory *m = memory_create();
    struct span window = span_s(800);
    struct mono now = {.ns = 0};
    assert_int_equal(memory_window(m, "w", now, window, 5), 5);
    assert_int_equal(memory_window(m, "w", mono_add(now, span_s(50)), window, 2), 7);
    assert_int_equal(memory_window(m, "w", mono_add(now, span_s(700)), window, 1), 8);
    assert_int_equal(memory_window(m, "w", mono_add(now, span_s(800)), window, 0), 1);
    assert_int_equal(memory_window(m, "w", mono_add(now, span_s(5000)), window, 3), 3);
    assert_int_equal(memory_window(m, "w", mono_add(now, span_s(5000)), window, UINT64_MAX), UINT64_MAX);
    memory_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_keeps_what_was_asked_for),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
