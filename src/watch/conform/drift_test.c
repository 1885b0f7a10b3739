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

static void test_drift_and_its_end(void **state)
{
    struct world *x = conformant(5, NULL, "");
    world_says(x, 3, 4, C);
    world_run(x, 2);
    world_said(x, "conform.seen lx[03-04]: kernel.release, package.bash\n"
                  "conform.drift lx[03-04]: kernel.release, package.bash (major)\n");
    assert_int_equal(world_drift(x, 3)->count, 2);
    assert_int_equal(world_drift(x, 3)->state, DRIFT_OPEN);
    world_stands(x, 3, "drifted",
                 "it is not as version 1 of its baseline says: kernel.release (major); "
                 "package.bash (minor)");
    world_run(x, 60);
    world_says_nothing(x);
    world_says(x, 3, 3, A);
    world_run(x, 2);
    world_said(x, "conform.seen lx03: kernel.release, package.bash\nconform.restored lx03\n");
    assert_null(world_drift(x, 3));
    assert_non_null(world_drift(x, 4));
    world_destroy(x);
}

/* A person who works on a node may change it. */
static void test_a_node_in_maintenance_is_judged_afterwards(void **state)
{
    struct world *x = conformant(5, NULL, "");
    for (int i = 3; i <= 4; i++)
        watch_window(x->w, world_node(x, i), "reservation root_1");
    world_says(x, 3, 4, C);
    world_run(x, 60);
    world_said(x, "node.maintenance lx[03-04]: reservation root_1\n"
                  "conform.seen lx[03-04]: kernel.release, package.bash\n");
    world_says(x, 4, 4, A);
    for (int i = 3; i <= 4; i++)
        watch_window(x->w, world_node(x, i), NULL);
    world_run(x, 2);
    world_said(x, "node.maintenance lx[03-04]: over\n"
                  "conform.seen lx04: kernel.release, package.bash\n"
                  "conform.drift lx03: kernel.release, package.bash (major)\n");
    assert_non_null(world_drift(x, 3));
    assert_null(world_drift(x, 4));
    world_destroy(x);
}

static void test_the_record_of_a_drift_is_kept_up_to_date(void **state)
{
    struct world *x = conformant(2, NULL, "");
    world_says(x, 2, 2, MINOR);
    world_run(x, 15);
    world_said(x, "conform.seen lx02: package.bash\nconform.drift lx02: package.bash (minor)\n");
    struct wall since = world_drift(x, 2)->since;
    world_says(x, 2, 2, C);
    world_run(x, 15);
    world_said(x, "conform.seen lx02: kernel.release\n"
                  "conform.drift lx02: kernel.release, package.bash (major)\n");
    assert_int_equal(world_drift(x, 2)->since.ns, since.ns);
    world_destroy(x);
}

static void test_a_new_baseline_judges_everybody_anew(void **state)
{
    struct world *x = conformant(12, NULL, "");
    world_says(x, 1, 1, B);
    world_run(x, 2);
    text_clear(&x->log);
    assert_int_equal(world_command(x, COMMAND_BASELINE_ACCEPT, "lx01", NULL), 0);
    world_run(x, 3);
    world_said(
        x, "alarm.drift : 11 of 12 nodes of class \"default\" are drifted at once, more than 10 %: none is "
           "rebooted or counts as down for it until it is fewer\n"
           "conform.drift lx[02-12]: kernel.release (major)\n"
           "conform.restored lx01\n");
    assert_int_equal(world_drift(x, 2)->version, 2);
    world_destroy(x);
}

static void test_nobody_is_compared_where_there_is_no_baseline(void **state)
{
    struct world *x = world_create(4);
    world_says(x, 1, 3, A);
    world_says(x, 4, 4, B);
    world_run(x, 100);
    world_said(x, "conform.seen lx[01-03]: \nconform.seen lx04: \n");
    world_destroy(x);
}

static void test_a_critical_drift_tells_a_person_at_once(void **state)
{
    struct world *x = conformant(3, &reboots, "");
    world_says(x, 2, 2, "kernel.release=6.1 nic.count=1 package.bash=5.1");
    world_run(x, 30);
    world_said(x, "conform.seen lx02: nic.count\n"
                  "conform.drift lx02: nic.count (critical)\n"
                  "alarm.drift lx02: critical drift: a person is needed\n"
                  "node.drained lx02\n"
                  "conform.reboot lx02: \n");
    world_destroy(x);
}

static void test_unknown_is_neither_drift_nor_its_end(void **state)
{
    struct world *x = conformant(3, NULL, "");
    world_says(x, 2, 2, UNREAD);
    world_run(x, 30);
    world_said(x, "conform.seen lx02: \n");
    world_says(x, 3, 3, "kernel.release=6.6 nic.count=?denied package.bash=5.1");
    world_run(x, 12); /* the known components differ */
    world_said(x, "conform.seen lx03: kernel.release\nconform.drift lx03: kernel.release (major)\n");
    world_says(x, 3, 3, UNREAD);
    world_run(x, 60);
    world_said(x, "conform.seen lx03: kernel.release\n");
    world_stands(x, 3, "drifted",
                 "it was drifted (kernel.release), and it is not proven that it is right again: "
                 "nic.count could not be read: denied");
    world_destroy(x);
}

static void test_silence_and_staleness_prove_nothing(void **state)
{
    struct world *x = conformant(12, NULL, "");
    world_says(x, 2, 2, B);
    world_run(x, 2);
    text_clear(&x->log);
    x->off[2] = x->off[3] = true;
    world_run(x, 200);
    assert_non_null(strstr(x->log.s, "node.silent lx[02-03]"));
    world_run(x, 23 * HOUR); /* all fingerprints are stale */
    assert_null(strstr(x->log.s, "conform."));
    world_stands(x, 2, "drifted",
                 "it was drifted (kernel.release), and it is not proven that it is right again: "
                 "its fingerprint is stale: last read 23h03m ago");
    world_destroy(x);
}

static void test_a_new_leader_changes_nothing(void **state)
{
    struct world *x = conformant(12, NULL, "lx05");
    world_says(x, 2, 2, B);
    world_says(x, 5, 5, B);
    world_run(x, 3);
    text_clear(&x->log);
    uint64_t digest = cluster_digest(x->c);
    world_lead_anew(x);
    world_run(x, 20);
    world_says_nothing(x);
    world_stands(x, 1, "unknown", "it has not sent its fingerprint since this controller started");
    world_stands(x, 2, "drifted",
                 "it was drifted (kernel.release), and it is not proven that it is right again: "
                 "it has not sent its fingerprint since this controller started");
    world_open(x, 1, 12);
    world_run(x, 10);
    world_says(x, 1, 1, A);
    world_says(x, 2, 2, B);
    world_says(x, 3, 4, A);
    world_says(x, 5, 5, B);
    world_says(x, 6, 12, A);
    world_run(x, 10);
    world_says_nothing(x);
    assert_int_equal(cluster_digest(x->c), digest);
    world_stands(x, 1, "conformant", "");
    world_destroy(x);
}

static void test_a_drift_remedied_while_nobody_led_is_found(void **state)
{
    struct world *x = conformant(2, NULL, "");
    world_says(x, 2, 2, B);
    world_run(x, 3);
    text_clear(&x->log);
    world_lead_anew(x);
    world_run(x, 30 * HOUR); /* the time to remedy it is over, and nothing is known */
    assert_null(strstr(x->log.s, "conform."));
    world_open(x, 1, 2);
    world_run(x, 12);
    text_clear(&x->log);
    world_says(x, 2, 2, A);
    world_run(x, 3);
    world_said(x, "conform.seen lx02: kernel.release\nconform.restored lx02\n");
    world_destroy(x);
}

static void test_a_node_that_comes_back_drifted_stays_out_and_the_alarm_rises(void **state)
{
    struct world *x = conformant(3, &reboots, "");
    world_says(x, 2, 2, B);
    world_run(x, 30);
    world_said(x, "conform.seen lx02: kernel.release\nconform.drift lx02: kernel.release (major)\n"
                  "node.drained lx02\nconform.reboot lx02: \n");
    world_reboot(x, 2);
    world_run(x, 30);
    world_said(x, "node.admitted lx02\n"); /* it has not sent its fingerprint yet */
    world_says(x, 2, 2, B);
    world_run(x, 120);
    world_said(x, "conform.persists lx02: kernel.release (major)\n"
                  "alarm.drift lx02: came back from a boot and is still drifted\n");
    assert_int_equal(world_drift(x, 2)->state, DRIFT_PERSISTS);
    assert_true(world_held(x, 2, CLAIM_DRIFT));
    world_reboot(x, 2);
    world_says(x, 2, 2, A);
    world_run(x, 3);
    world_said(x, "node.admitted lx02\nconform.seen lx02: kernel.release\nconform.restored lx02\n"
                  "alarm.over conform.persists lx02: none of these nodes drifts any more\n");
    assert_false(world_held(x, 2, CLAIM_DRIFT));
    world_destroy(x);
}

static void test_a_drift_that_reboots_do_not_cure_calls_for_a_person(void **state)
{
    struct world *x = conformant(3, &reboots, "");
    char boot[37];
    struct err e;
    for (int times = 0; times < 3; times++) {
        world_says(x, 2, 2, B);
        world_run(x, 30);
        assert_non_null(strstr(x->log.s, "conform.reboot lx02"));
        world_reboot(x, 2);
        world_says(x, 2, 2, A);
        world_run(x, 2 * HOUR);
        text_clear(&x->log);
    }
    world_says(x, 2, 2, B);
    world_run(x, HOUR);
    world_said(x, "conform.seen lx02: kernel.release\nconform.drift lx02: kernel.release (major)\n"
                  "node.drained lx02\n"
                  "alarm.drift lx02: drifts again after 3 reboots within a week: a person is needed\n");
    world_boot(x, 2, boot);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), -EBUSY);
    assert_string_equal(e.msg, "it was rebooted 3 times within a week");
    world_lead_anew(x);
    world_open(x, 1, 3);
    world_says(x, 2, 2, B);
    world_run(x, HOUR);
    world_said(x, "alarm.drift lx02: drifts again after 3 reboots within a week: a person is needed\n");
    x->clock.ns += 7 * 24 * HOUR * INT64_C(1000000000);
    world_run(x, HOUR);
    world_said(x, "conform.reboot lx02: \n");
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), 0);
    world_destroy(x);
}

static void test_a_reboot_hurts_no_work(void **state)
{
    struct world *x = conformant(5, &reboots, "");
    char boot[37];
    struct err e;
    x->work[2] = "[\"job\"]";
    world_run(x, 10);
    world_says(x, 2, 2, B);
    world_says(x, 3, 3, MINOR);
    world_run(x, HOUR);
    world_said(x, "conform.seen lx02: kernel.release\nconform.seen lx03: package.bash\n"
                  "conform.drift lx02: kernel.release (major)\nconform.drift lx03: package.bash (minor)\n");
    world_boot(x, 2, boot);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), -EAGAIN);
    assert_string_equal(e.msg, "it is not drained");
    x->work[2] = "[]";
    world_run(x, 20);
    world_said(x, "node.drained lx02\nconform.reboot lx02: \n");
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), 0);
    x->work[2] = NULL;
    world_run(x, 10);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), -EAGAIN);
    assert_string_equal(e.msg, "it is not known whether work runs on it");
    x->work[2] = "[]";
    world_run(x, 10);
    x->off[2] = true;
    world_run(x, 40);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), -EAGAIN);
    assert_string_equal(e.msg, "it is not heard");
    x->off[2] = false;
    world_run(x, 10);
    world_says(x, 2, 2, A);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), -EBUSY);
    assert_string_equal(e.msg, "it is not proven that it is drifted now");
    world_says(x, 2, 2, B);
    world_reboot(x, 2);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), -EBUSY);
    assert_string_equal(e.msg, "it was booted since");
    world_destroy(x);
}

static void test_a_new_leader_reboots_nobody_before_it_knows_the_nodes(void **state)
{
    struct world *x = conformant(5, &reboots, "");
    char boot[37];
    struct err e;
    world_says(x, 2, 2, B);
    world_run(x, 10);
    world_boot(x, 2, boot);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), 0);
    world_lead_anew(x);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), -EAGAIN);
    assert_string_equal(e.msg, "it was not heard since this controller began");
    world_open(x, 1, 5);
    world_run(x, 10);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), -EAGAIN);
    assert_string_equal(e.msg, "it is not proven that it is drifted now");
    world_says(x, 2, 2, B);
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 2), boot, &e), 0);
    world_destroy(x);
}

static void test_a_sensitive_node_waits_for_a_person(void **state)
{
    struct world *x = conformant(3, NULL, "lx02");
    world_says(x, 2, 2, MINOR);
    world_run(x, 2);
    assert_true(world_held(x, 2, CLAIM_DRIFT));
    assert_int_equal(world_command(x, COMMAND_APPROVE, "lx02", NULL), -EBUSY);
    text_clear(&x->log);
    world_says(x, 2, 2, A);
    world_run(x, 20);
    world_said(x, "conform.seen lx02: package.bash\nconform.restored lx02\n");
    assert_int_equal(world_drift(x, 2)->state, DRIFT_REMEDIED);
    assert_true(world_held(x, 2, CLAIM_DRIFT));
    world_stands(x, 2, "conformant", "");
    world_says(x, 2, 2, B); /* and it drifts again before the next look */
    world_run(x, 20);
    world_said(x, "conform.seen lx02: kernel.release\nconform.drift lx02: kernel.release (major)\n");
    assert_int_equal(world_drift(x, 2)->state, DRIFT_OPEN);
    world_says(x, 2, 2, A);
    world_run(x, 20);
    assert_int_equal(world_command(x, COMMAND_APPROVE, "lx02", NULL), 0);
    assert_false(world_held(x, 2, CLAIM_DRIFT));
    assert_null(world_drift(x, 2));
    world_destroy(x);
}

static void test_a_drift_that_is_not_remedied_in_time_counts_as_down(void **state)
{
    struct world *x = conformant(4, NULL, "lx02");
    world_says(x, 2, 3, MINOR);
    world_run(x, 5);
    text_clear(&x->log);
    run_verified(x, 1, 4, 3);
    assert_null(strstr(x->log.s, "conform."));
    run_verified(x, 1, 4, 2);
    assert_non_null(strstr(x->log.s, "conform.overdue lx02\n"));
    assert_non_null(
        strstr(x->log.s, "alarm.drift lx02: the time to remedy the drift is over: counts as down"));
    text_clear(&x->log);
    run_verified(x, 1, 4, 18);
    world_says_nothing(x);
    run_verified(x, 1, 4, 2);
    world_said(x, "conform.overdue lx03\n"
                  "alarm.drift lx03: the time to remedy the drift is over: counts as down\n");
    assert_true(world_held(x, 3, CLAIM_OVERDUE));
    world_says(x, 3, 3, A);
    world_run(x, 20);
    world_said(x, "conform.seen lx03: package.bash\nconform.restored lx03\n"
                  "alarm.over conform.overdue lx03: none of these nodes drifts any more\n");
    assert_true(world_held(x, 3, CLAIM_OVERDUE)); /* until a person approves */
    world_destroy(x);
}

static void test_a_drifted_node_that_becomes_sensitive_is_held(void **state)
{
    struct world *x = conformant(4, NULL, "");
    world_says(x, 2, 2, MINOR);
    world_run(x, 60);
    assert_false(world_held(x, 2, CLAIM_DRIFT));
    world_configure(x, NULL, 0, "lx02");
    world_run(x, 12);
    assert_true(world_held(x, 2, CLAIM_DRIFT));
    text_clear(&x->log);
    world_run(x, 60);
    world_says_nothing(x);
    world_destroy(x);
}

static enum place_pass pass_of(const struct world *x, int i)
{
    size_t n;
    return watch_rows(x->w, &n)[world_node(x, i)->id].pass;
}

static void test_a_class_that_excludes_drains_until_it_is_right_again(void **state)
{
    struct world *x = conformant(30, &excludes, "");
    world_says(x, 2, 2, MINOR);
    world_run(x, 12);
    assert_true(world_held(x, 2, CLAIM_DRIFT));
    assert_int_equal(pass_of(x, 2), PASS_DRIFT);
    world_says(x, 2, 2, A);
    world_run(x, 12);
    assert_false(world_held(x, 2, CLAIM_DRIFT));
    assert_int_equal(pass_of(x, 2), PASS_NONE);
    world_destroy(x);
}

/* A package that was pushed everywhere takes no cluster out of service. */
static void test_a_class_that_excludes_is_braked(void **state)
{
    struct world *x = conformant(30, &excludes, "lx05");
    world_says(x, 2, 30, B);
    world_run(x, 120);
    for (int i = 2; i <= 30; i++) {
        assert_int_equal(world_held(x, i, CLAIM_DRIFT),
                         i == 5); /* a sensitive node is drained all the same */
        assert_int_equal(pass_of(x, i), i == 5 ? PASS_DRIFT : PASS_NONE);
    }
    world_says(x, 4, 30, A);
    world_run(x, 30);
    assert_true(world_held(x, 2, CLAIM_DRIFT)); /* they are few now */
    assert_true(world_held(x, 3, CLAIM_DRIFT));
    assert_false(world_held(x, 4, CLAIM_DRIFT));
    world_destroy(x);
}

static void test_a_drifted_node_whose_class_now_asks_for_a_reboot_is_held(void **state)
{
    static const struct class_lines calm = {"gpu", {{"Nodes", "lx[01-40]"}}};
    struct world *x = conformant(4, &calm, "");
    world_says(x, 2, 2, B);
    world_run(x, 60);
    assert_false(world_held(x, 2, CLAIM_DRIFT));
    world_configure(x, &reboots, 1, "");
    world_run(x, 12);
    assert_true(world_held(x, 2, CLAIM_DRIFT));
    world_destroy(x);
}

static void test_mass_drift_reboots_nobody_and_takes_nobody_down(void **state)
{
    struct world *x = conformant(30, &reboots, "lx05");
    char boot[37];
    struct err e;
    world_says(x, 5, 8, B); /* four of thirty */
    world_run(x, 10);
    world_said(
        x,
        "alarm.drift : 4 of 30 nodes of class \"gpu\" are drifted at once, more than 10 %: none is rebooted "
        "or counts as down for it until it is fewer\n"
        "conform.seen lx[05-08]: kernel.release\n"
        "conform.drift lx[05-08]: kernel.release (major)\n"
        "node.drained lx05\n");
    assert_false(world_held(x, 6, CLAIM_DRIFT));
    assert_true(watch_drift_alarm(x->w, 0));
    assert_int_equal(watch_may_reboot(x->w, world_now(x), world_node(x, 5), world_boot(x, 5, boot), &e),
                     -EAGAIN);
    assert_string_equal(e.msg, "too many of its class are drifted at once");
    run_verified(x, 1, 30, 3);
    world_says_nothing(x);
    world_says(x, 7, 7, A);
    world_run(x, 3);
    world_said(x, "alarm.over class gpu: 3 of 30 nodes of class \"gpu\" are drifted; they are judged again\n"
                  "conform.seen lx07: kernel.release\n"
                  "conform.restored lx07\n"
                  "conform.drift lx[06,08]: kernel.release (major)\n"
                  "conform.reboot lx05: \n"
                  "node.drained lx[06,08]\n");
    world_run(x, 3);
    world_said(x, "conform.reboot lx[06,08]: \n");
    world_says(x, 7, 7, B);
    run_verified(x, 1, 30, 30);
    assert_null(strstr(x->log.s, "conform.overdue"));
    text_clear(&x->log);
    world_says(x, 6, 6, A);
    world_run(x, 3);
    assert_non_null(strstr(x->log.s, "conform.overdue lx[05,07-08]"));
    world_destroy(x);
}

static void test_a_new_leader_does_not_release_the_brake(void **state)
{
    struct world *x = conformant(30, &reboots, "");
    world_says(x, 5, 8, B);
    world_run(x, 10);
    text_clear(&x->log);
    world_lead_anew(x);
    world_open(x, 1, 30);
    for (int i = 1; i <= 30; i++) { /* one after the other, the drifted ones first */
        int who = i <= 4 ? i + 4 : i <= 8 ? i - 4 : i;
        world_says(x, who, who, who >= 5 && who <= 8 ? B : A);
        world_run(x, 3);
    }
    world_said(
        x,
        "alarm.drift : 4 of 30 nodes of class \"gpu\" are drifted at once, more than 10 %: none is rebooted "
        "or counts as down for it until it is fewer\n");
    world_destroy(x);
}

static void test_a_node_held_without_a_record_is_released(void **state)
{
    struct world *x = conformant(3, &reboots, "");
    cluster_put(
        x->c, "claim/9.1",
        "{\"kind\":\"drift\",\"owner\":\"fettled\",\"reason\":\"drifted\",\"since\":\"1\",\"nodes\":\"lx02\","
        "\"drained\":\"\"}",
        NULL);
    world_run(x, 3);
    assert_non_null(strstr(x->log.s, "conform.restored lx02"));
    assert_false(world_held(x, 2, CLAIM_DRIFT));
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drift_and_its_end),
        cmocka_unit_test(test_a_node_in_maintenance_is_judged_afterwards),
        cmocka_unit_test(test_the_record_of_a_drift_is_kept_up_to_date),
        cmocka_unit_test(test_a_new_baseline_judges_everybody_anew),
        cmocka_unit_test(test_nobody_is_compared_where_there_is_no_baseline),
        cmocka_unit_test(test_a_critical_drift_tells_a_person_at_once),
        cmocka_unit_test(test_unknown_is_neither_drift_nor_its_end),
        cmocka_unit_test(test_silence_and_staleness_prove_nothing),
        cmocka_unit_test(test_a_new_leader_changes_nothing),
        cmocka_unit_test(test_a_drift_remedied_while_nobody_led_is_found),
        cmocka_unit_test(test_a_node_that_comes_back_drifted_stays_out_and_the_alarm_rises),
        cmocka_unit_test(test_a_drift_that_reboots_do_not_cure_calls_for_a_person),
        cmocka_unit_test(test_a_reboot_hurts_no_work),
        cmocka_unit_test(test_a_new_leader_reboots_nobody_before_it_knows_the_nodes),
        cmocka_unit_test(test_a_sensitive_node_waits_for_a_person),
        cmocka_unit_test(test_a_drift_that_is_not_remedied_in_time_counts_as_down),
        cmocka_unit_test(test_a_drifted_node_that_becomes_sensitive_is_held),
        cmocka_unit_test(test_a_class_that_excludes_drains_until_it_is_right_again),
        cmocka_unit_test(test_a_class_that_excludes_is_braked),
        cmocka_unit_test(test_a_drifted_node_whose_class_now_asks_for_a_reboot_is_held),
        cmocka_unit_test(test_mass_drift_reboots_nobody_and_takes_nobody_down),
        cmocka_unit_test(test_a_new_leader_does_not_release_the_brake),
        cmocka_unit_test(test_a_node_held_without_a_record_is_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
