/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/conform/baseline_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_fingerprint_is_written_down_once(void **state)
{
    struct world *x = world_create(4);
    world_says(x, 1, 3, A);
    world_run(x, 20);
    world_said(x, "conform.seen lx[01-03]: \n");
    world_says(x, 2, 3, B);
    world_run(x, 20);
    world_said(x, "conform.seen lx[02-03]: kernel.release\n");
    world_reboot(x, 2);
    world_says(x, 2, 2, B);
    world_verifies(x, 1, 3);
    world_run(x, 60);
    world_said(x, "node.admitted lx02\n");
    world_destroy(x);
}

static void test_a_fingerprint_whose_components_nobody_knows_is_not_written_down(void **state)
{
    struct world *x = conformant(2, NULL, "");
    world_claims(x, 1, B);
    world_run(x, 60);
    world_says_nothing(x);
    world_destroy(x);
}

static void test_changes_of_the_same_moment_are_written_down_now_and_then(void **state)
{
    struct world *x = world_create(1);
    for (int i = 0; i < 60; i++) {
        world_says(x, 1, 1, i % 2 ? A : B);
        world_run(x, 1);
    }
    size_t n = 0;
    for (const char *p = x->log.s; p && (p = strstr(p, "conform.seen")); p++)
        n++;
    assert_in_range(n, 4, 12);
    world_destroy(x);
}

static void test_a_shell_without_room_is_asked_again(void **state)
{
    struct world *x = conformant(2, NULL, "");
    x->refuse = true;
    world_says(x, 2, 2, B);
    world_run(x, 5);
    world_says_nothing(x);
    x->refuse = false;
    world_run(x, 2);
    world_said(x, "conform.seen lx02: kernel.release\nconform.drift lx02: kernel.release (major)\n");
    world_destroy(x);
}

static void test_drift_that_changes_all_the_time_is_written_down_ever_less_often(void **state)
{
    static const char D[] = "kernel.release=6.8 nic.count=2 package.bash=5.1";
    struct world *x = conformant(2, NULL, "");
    for (int i = 0; i < 2 * HOUR / 5; i++) {
        world_says(x, 2, 2, i % 2 ? C : D);
        world_run(x, 5);
    }
    assert_in_range(times_said(x, "conform.drift"), 6, 13);
    assert_in_range(times_said(x, "conform.seen"), 6, 17);
    world_run(x, 2 * HOUR);
    text_clear(&x->log); /* and after a rest it is as if nothing had been */
    world_says(x, 2, 2, B);
    world_run(x, 2);
    world_says(x, 2, 2, C);
    world_run(x, 12);
    assert_int_equal(times_said(x, "conform.drift"), 2);
    world_destroy(x);
}

static void test_drift_that_becomes_worse_does_not_wait(void **state)
{
    static const char OTHER[] = "kernel.release=6.1 nic.count=2 package.bash=5.3";
    struct world *x = conformant(2, NULL, "");
    for (int i = 0; i < 60; i++) {
        world_says(x, 2, 2, i % 2 ? MINOR : OTHER);
        world_run(x, 10);
    }
    assert_int_equal(world_drift(x, 2)->severity, SEVERITY_MINOR);
    world_says(x, 2, 2, B);
    world_run(x, 2);
    assert_int_equal(world_drift(x, 2)->severity, SEVERITY_MAJOR);
    world_destroy(x);
}

static void test_ignored_components_are_written_down_once_an_hour(void **state)
{
    static const struct class_lines blind = {"gpu", {{"Nodes", "lx[01-40]"}, {"Ignore", "package.*"}}};
    struct world *x = conformant(2, &blind, "");
    for (int i = 0; i < 2 * HOUR / 60; i++) {
        world_says(x, 2, 2, i % 2 ? A : MINOR);
        world_run(x, 60);
    }
    assert_in_range(times_said(x, "conform.seen"), 1, 3);
    text_clear(&x->log);
    world_says(x, 2, 2, B); /* and what counts at once */
    world_run(x, 2);
    assert_int_equal(times_said(x, "conform.seen"), 1);
    world_destroy(x);
}

/* So many components that the words of one command are the work of a tick. */
static void says_much(struct world *x, int i, int what)
{
    CLEANUP_TEXT struct text list = {0};
    for (int c = 0; c < 1500; c++)
        text_printf(&list, "package.p%04d=1 ", c);
    text_printf(&list, "z=%d", what);
    world_says(x, i, i, list.s);
}

static void test_a_node_that_changes_all_the_time_holds_up_no_drift(void **state)
{
    struct world *x = world_create(200);
    world_configure(x, NULL, 0, "lx20");
    says_much(x, 1, 0);
    says_much(x, 20, 0);
    world_run(x, 2);
    assert_int_equal(world_command(x, COMMAND_BASELINE_ACCEPT, "lx20", NULL), 0);
    for (int second = 1; second <= 12; second++) {
        for (int i = 1; i <= 12; i++)
            says_much(x, i, 100 * second + i);
        if (second == 10)
            says_much(x, 20, 1);
        world_run(x, 1);
    }
    assert_true(world_held(x, 20, CLAIM_DRIFT));
    world_destroy(x);
}

static void test_nodes_that_change_have_their_turns(void **state)
{
    struct world *x = world_create(100);
    for (int second = 0; second < 4; second++) {
        for (int i = 1; i <= 100; i++) {
            char list[40];
            snprintf(list, sizeof list, "kernel.release=%d.%d", second, i);
            world_says(x, i, i, list);
        }
        world_run(x, 1);
    }
    for (int i = 1; i <= 100; i++)
        if (!world_node(x, i)->seen)
            fail_msg("lx%02d was not written down", i);
    world_destroy(x);
}

static void test_sensitive_nodes_are_judged_before_others(void **state)
{
    struct world *x = world_create(200);
    world_configure(x, NULL, 0, "lx190");
    for (int i = 1; i <= 200; i++)
        says_much(x, i, i);
    world_run(x, 20);
    assert_int_equal(world_command(x, COMMAND_BASELINE_ACCEPT, "lx01", NULL), 0);
    world_run(x, 3);
    assert_true(world_held(x, 190, CLAIM_DRIFT));
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fingerprint_is_written_down_once),
        cmocka_unit_test(test_a_fingerprint_whose_components_nobody_knows_is_not_written_down),
        cmocka_unit_test(test_changes_of_the_same_moment_are_written_down_now_and_then),
        cmocka_unit_test(test_a_shell_without_room_is_asked_again),
        cmocka_unit_test(test_drift_that_changes_all_the_time_is_written_down_ever_less_often),
        cmocka_unit_test(test_drift_that_becomes_worse_does_not_wait),
        cmocka_unit_test(test_ignored_components_are_written_down_once_an_hour),
        cmocka_unit_test(test_a_node_that_changes_all_the_time_holds_up_no_drift),
        cmocka_unit_test(test_nodes_that_change_have_their_turns),
        cmocka_unit_test(test_sensitive_nodes_are_judged_before_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
