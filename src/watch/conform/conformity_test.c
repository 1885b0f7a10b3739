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

static void test_a_rollout_has_two_good_states_and_no_hurry(void **state)
{
    struct world *x = conformant(6, NULL, "");
    world_says(x, 2, 2, B);
    world_run(x, 2);
    text_clear(&x->log);
    rollout_start(x, "default", "lx02", "lx[02-06]", 48);
    world_run(x, 3);
    world_said(x, "conform.restored lx02\n");
    world_says(x, 3, 4, B);
    world_says(x, 1, 1, B); /* it is not part of it */
    world_says(x, 5, 5, C); /* and this is neither the one nor the other */
    world_run(x, 3);
    world_said(x, "conform.seen lx[01,03-04]: kernel.release\n"
                  "conform.seen lx05: kernel.release, package.bash\n"
                  "conform.drift lx01: kernel.release (major)\n");
    struct standing s;
    watch_standing(x->w, world_now(x), world_node(x, 3), &s, NULL);
    assert_true(s.rolled);
    assert_int_equal(s.conformance, CONFORMANCE_CONFORMANT);
    run_verified(x, 1, 6, 26);
    world_said(x, "conform.drift lx05: kernel.release, package.bash (major)\n"
                  "conform.overdue lx01\n"
                  "alarm.drift lx01: the time to remedy the drift is over: counts as down\n");
    run_verified(x, 1, 6, 23); /* the deadline is over */
    const struct alarm *overrun = watch_alarms(x->w);
    while (overrun && overrun->kind != ALARM_ROLLOUT)
        overrun = overrun->next;
    assert_non_null(overrun);
    world_said(
        x,
        "alarm.rollout : the rolling update of class \"default\" is past its deadline: accept or revert it; "
        "nodes that match neither are judged again\n"
        "conform.overdue lx05\n"
        "alarm.drift lx05: the time to remedy the drift is over: counts as down\n");
    assert_int_equal(world_command(x, COMMAND_ROLLOUT_ACCEPT, "", "{\"class\":\"default\"}"), 0);
    world_run(x, 3);
    world_said(x, "alarm.over class default: the rolling update of class \"default\" is not past its "
                  "deadline any more\n"
                  "conform.drift lx05: kernel.release, package.bash (major)\n"
                  "conform.drift lx06: kernel.release (major)\n"
                  "conform.restored lx01\n"
                  "alarm.over conform.overdue lx01: none of these nodes drifts any more\n");
    world_destroy(x);
}

static void test_a_rollout_that_is_reverted_leaves_one_good_state(void **state)
{
    struct world *x = conformant(3, NULL, "");
    world_says(x, 2, 2, B);
    world_run(x, 2);
    rollout_start(x, "default", "lx02", "lx[02-03]", 48);
    world_run(x, 3);
    text_clear(&x->log);
    assert_int_equal(world_command(x, COMMAND_ROLLOUT_REVERT, "", "{\"class\":\"default\"}"), 0);
    world_run(x, 3);
    world_said(x, "conform.drift lx02: kernel.release (major)\n");
    world_destroy(x);
}

static void test_a_node_that_may_have_either_baseline_is_unknown(void **state)
{
    struct world *x = conformant(3, NULL, "");
    world_says(x, 2, 2, B);
    world_run(x, 2);
    rollout_start(x, "default", "lx02", "lx[02-03]", 48);
    world_run(x, 3);
    text_clear(&x->log);
    world_says(x, 3, 3, "kernel.release=6.6 nic.count=?denied package.bash=5.1");
    world_run(x, 3);
    world_said(x, "conform.seen lx03: kernel.release\n");
    world_stands(x, 3, "unknown", "nic.count could not be read: denied");
    world_destroy(x);
}

static void test_an_update_has_ten_minutes_to_go_through(void **state)
{
    struct world *x = conformant(10, &reboots, "lx04");
    world_says(x, 2, 2, B);
    world_run(x, 2);
    rollout_start(x, "gpu", "lx02", "lx[01-10]", 48);
    world_run(x, 3);
    text_clear(&x->log);
    world_says(x, 3, 5, C);
    world_run(x, 300);
    world_says(x, 3, 3, B);
    world_run(x, 290);
    assert_null(world_drift(x, 4));
    assert_null(world_drift(x, 5));
    world_run(x, 20);
    assert_null(world_drift(x, 3));
    assert_non_null(world_drift(x, 5));
    assert_true(world_held(x, 4, CLAIM_DRIFT));
    assert_false(world_held(x, 5, CLAIM_DRIFT)); /* somebody is at work there */
    world_says(x, 1, 1, B);
    world_says(x, 6, 10, B);
    world_run(x, 3);
    assert_int_equal(world_command(x, COMMAND_ROLLOUT_ACCEPT, "", "{\"class\":\"gpu\"}"), 0);
    world_run(x, 3);
    assert_true(world_held(x, 5, CLAIM_DRIFT));
    world_destroy(x);
}

static void test_an_unknown_component_equals_nothing(void **state)
{
    struct world *x = world_create(3);
    world_says(x, 1, 2, UNREAD);
    world_says(x, 3, 3, A);
    world_run(x, 2);
    assert_null(world_cohort(x, 1));
    assert_null(world_cohort(x, 2));
    world_accept(x, "lx03");
    world_stands(x, 1, "unknown", "nic.count could not be read: denied");
    assert_true(world_row(x, 1).unproven);
    assert_false(world_row(x, 1).drifted);
    world_run(x, 60);
    world_says_nothing(x);
    world_destroy(x);
}

static void test_ignored_components_make_no_difference(void **state)
{
    struct world *x = world_create(4);
    const struct class_lines quiet = {"quiet", {{"Nodes", "lx[01-02]"}, {"Ignore", "nic.*"}}};
    world_configure(x, &quiet, 1, "");
    world_says(x, 1, 1, A);
    world_says(x, 2, 2, UNREAD);
    world_run(x, 2);
    assert_int_equal(world_cohort(x, 1)->n, 2);
    world_accept(x, "lx01");
    world_stands(x, 2, "conformant", "");
    world_destroy(x);
}

static void test_a_reload_of_classes_judges_everybody_anew(void **state)
{
    struct world *x = world_create(3);
    const struct class_lines quiet = {"quiet", {{"Nodes", "lx[01-03]"}, {"Ignore", "nic.*"}}};
    const struct class_lines loud = {"quiet", {{"Nodes", "lx[01-03]"}}};
    world_configure(x, &quiet, 1, "");
    world_says(x, 1, 1, "kernel.release=6.1 nic.count=2");
    world_says(x, 3, 3, "kernel.release=6.1 nic.count=2");
    world_says(x, 2, 2, "kernel.release=6.1 nic.count=3");
    world_accept(x, "lx01");
    world_stands(x, 2, "conformant", "");
    assert_int_equal(world_cohort(x, 2)->n, 3);
    world_configure(x, &loud, 1, "");
    world_run(x, 2);
    assert_int_equal(world_cohort(x, 2)->n, 1);
    world_said(x, "conform.drift lx02: nic.count (major)\n");
    world_configure(x, NULL, 0, ""); /* the class that has a baseline is gone */
    world_run(x, 2);
    world_says_nothing(x);
    world_stands(x, 1, "unknown",
                 "its class \"default\" has no baseline; 2 of 3 nodes are as lx01 is "
                 "(baseline accept lx01)");
    world_stands(x, 2, "drifted",
                 "it was drifted (nic.count), and it is not proven that it is right again: "
                 "its class \"default\" has no baseline; 2 of 3 nodes are as lx01 is "
                 "(baseline accept lx01)");
    world_destroy(x);
}

static void test_a_node_that_changes_its_class_is_judged_by_the_new_one(void **state)
{
    struct world *x = world_create(2);
    const struct class_lines quiet = {"quiet", {{"Sensitive", "yes"}, {"Ignore", "nic.*"}}};
    world_configure(x, &quiet, 1, "");
    world_says(x, 1, 1, "kernel.release=6.1 nic.count=2");
    world_says(x, 2, 2, "kernel.release=6.1 nic.count=3");
    world_run(x, 2);
    assert_int_equal(world_cohort(x, 2)->n, 1);
    assert_int_equal(world_command(x, COMMAND_SET, "lx[01-02]", "{\"Sensitive\":\"yes\"}"), 0);
    world_run(x, 2);
    assert_int_equal(world_cohort(x, 2)->n, 2);
    assert_int_equal(world_row(x, 2).class, 0);
    world_destroy(x);
}

static void test_a_new_boot_makes_it_unknown(void **state)
{
    struct world *x = world_create(3);
    world_says(x, 1, 3, A);
    world_accept(x, "lx01");
    watch_close(x->w, world_node(x, 2), world_node(x, 2));
    world_open(x, 2, 2); /* the same boot */
    world_stands(x, 2, "conformant", "");
    world_reboot(x, 2);
    world_stands(x, 2, "unknown", "its fingerprint has not been read since its last boot");
    assert_null(world_cohort(x, 2));
    assert_int_equal(world_row(x, 2).cohort, COHORT_NONE);
    assert_true(world_row(x, 2).unproven);
    assert_int_equal(watch_verified(x->w, world_now(x), world_node(x, 2), NULL), -ENOENT);
    world_run(x, 30);
    world_said(x, "node.admitted lx02\n");
    world_says(x, 2, 2, A);
    world_stands(x, 2, "conformant", "");
    world_destroy(x);
}

static void test_a_fingerprint_that_is_not_verified_becomes_stale(void **state)
{
    struct world *x = world_create(2);
    world_says(x, 1, 2, A);
    world_accept(x, "lx01");
    world_run(x, 12 * 3600);
    world_verifies(x, 1, 1);
    world_run(x, 3600 + 10);
    world_stands(x, 1, "conformant", "");
    world_stands(x, 2, "unknown", "its fingerprint is stale: last read 13h00m ago");
    assert_null(world_cohort(x, 2));
    assert_true(world_row(x, 2).unproven);
    world_says_nothing(x);
    world_verifies(x, 2, 2);
    world_stands(x, 2, "conformant", "");
    assert_int_equal(world_cohort(x, 2)->n, 2);
    world_destroy(x);
}

static void test_time_in_which_the_controller_stood_still_makes_nothing_stale(void **state)
{
    struct world *x = world_create(2);
    world_says(x, 1, 2, A);
    world_accept(x, "lx01");
    x->now_ms += 20 * 3600 * 1000;
    world_run(x, 5);
    world_stands(x, 1, "conformant", "");
    world_destroy(x);
}

static void test_a_node_that_has_less_than_specified_is_told_until_it_has_enough(void **state)
{
    struct world *x = world_create(2);
    world_run(x, 2);
    text_clear(&x->log);
    assert_int_equal(world_command(x, COMMAND_SET, "lx01", "{\"CPUs\":\"64\"}"), 0); /* it has 4 */
    world_run(x, 2);
    world_said(x, "node.shortfall lx01: CPUs 4 < 64\n");
    world_inventory(x, 1); /* the same again is not told */
    world_run(x, 2);
    world_says_nothing(x);
    assert_int_equal(world_command(x, COMMAND_SET, "lx01", "{\"CPUs\":\"4\"}"), 0);
    world_run(x, 2);
    world_said(x, "node.sufficient lx01: has what its specification says\n");
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rollout_has_two_good_states_and_no_hurry),
        cmocka_unit_test(test_a_rollout_that_is_reverted_leaves_one_good_state),
        cmocka_unit_test(test_a_node_that_may_have_either_baseline_is_unknown),
        cmocka_unit_test(test_an_update_has_ten_minutes_to_go_through),
        cmocka_unit_test(test_an_unknown_component_equals_nothing),
        cmocka_unit_test(test_ignored_components_make_no_difference),
        cmocka_unit_test(test_a_reload_of_classes_judges_everybody_anew),
        cmocka_unit_test(test_a_node_that_changes_its_class_is_judged_by_the_new_one),
        cmocka_unit_test(test_a_new_boot_makes_it_unknown),
        cmocka_unit_test(test_a_fingerprint_that_is_not_verified_becomes_stale),
        cmocka_unit_test(test_time_in_which_the_controller_stood_still_makes_nothing_stale),
        cmocka_unit_test(test_a_node_that_has_less_than_specified_is_told_until_it_has_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
