/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char A[] = "kernel.release=6.1 nic.count=2 package.bash=5.1",
                  B[] = "kernel.release=6.6 nic.count=2 package.bash=5.1",
                  C[] = "kernel.release=6.7 nic.count=2 package.bash=5.2",
                  MINOR[] = "kernel.release=6.1 nic.count=2 package.bash=5.2",
                  UNREAD[] = "kernel.release=6.1 nic.count=?denied package.bash=5.1";

enum { HOUR = 3600 };

static const struct class_lines reboots = {
    "gpu", {{"Nodes", "lx[01-40]"}, {"Reboot", "yes"}, {"Critical", "nic.*"}}};

/* n nodes that match the baseline of their class: "default", or the given one. */
static struct world *conformant(size_t n, const struct class_lines *class, const char *sensitive)
{
    struct world *x = world_create(n);
    world_configure(x, class, class != NULL, sensitive);
    world_says(x, 1, (int)n, A);
    world_run(x, 2);
    assert_int_equal(world_command(x, COMMAND_BASELINE_ACCEPT, "lx01", NULL), 0);
    world_run(x, 2);
    text_clear(&x->log);
    return x;
}

static void rollout_start(struct world *x, const char *class, const char *node, const char *nodes, int hours)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"class\":\"%s\",\"node\":\"%s\",\"deadline\":\"%lld\"}", class, node,
                (long long)(world_wall(x).ns + hours * INT64_C(3600000000000)));
    if (world_command(x, COMMAND_ROLLOUT_START, nodes, set.s) < 0)
        fail_msg("%s", x->log.s);
}

/* --- seen and drift --------------------------------------------------------------------------- */

static void test_what_a_node_is_is_written_down_once(void **state)
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
static void test_who_is_in_maintenance_is_judged_when_it_is_over(void **state)
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

static void test_what_drifted_is_kept_up_to_date(void **state)
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

/* --- what proves nothing ----------------------------------------------------------------------- */

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

static void test_what_was_remedied_while_nobody_led_is_found(void **state)
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

/* --- boots ------------------------------------------------------------------------------------- */

static void test_who_comes_back_drifted_stays_out_and_the_alarm_rises(void **state)
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

static void test_what_reboots_do_not_cure_calls_for_a_person(void **state)
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

static void test_a_new_leader_does_not_know_yet_who_may_be_rebooted(void **state)
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

/* --- sensitive nodes, and drift that is not remedied in time -------------------------------------- */

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

/* Verified each hour, as agents do more often than fingerprints grow stale. */
static void run_verified(struct world *x, int first, int last, int hours)
{
    for (int h = 0; h < hours; h++) {
        world_run(x, HOUR);
        world_verifies(x, first, last);
    }
}

static void test_what_is_not_remedied_in_time_counts_as_down(void **state)
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

static void test_a_clock_that_is_set_ages_no_drift(void **state)
{
    struct world *x = conformant(2, NULL, "");
    x->refuse = true;
    world_says(x, 2, 2, B);
    world_run(x, 2);
    x->refuse = false;
    world_run(x, 1);
    assert_non_null(world_drift(x, 2));
    x->clock.ns += INT64_C(1000) * 3600 * 1000000000; /* before the record is looked at */
    world_run(x, 5);
    text_clear(&x->log);
    x->clock.ns += INT64_C(1000) * 3600 * 1000000000;
    run_verified(x, 1, 2, 23);
    world_says_nothing(x);
    run_verified(x, 1, 2, 2);
    assert_non_null(strstr(x->log.s, "conform.overdue lx02"));
    world_destroy(x);
}

/* The leader's clock is a day ahead: it first takes its own time. */
static void test_a_new_leader_with_another_clock_takes_nobody_down_at_once(void **state)
{
    struct world *x = conformant(2, NULL, "");
    world_says(x, 2, 2, B);
    world_run(x, 60);
    world_lead_anew(x);
    x->clock.ns += INT64_C(30) * 3600 * 1000000000;
    world_open(x, 1, 2);
    world_says(x, 2, 2, B);
    text_clear(&x->log);
    world_run(x, 590);
    world_says_nothing(x);
    world_run(x, 15);
    assert_non_null(strstr(x->log.s, "conform.overdue lx02"));
    world_destroy(x);
}

static void test_a_new_leader_counts_the_time_before(void **state)
{
    struct world *x = conformant(2, NULL, "");
    world_says(x, 2, 2, B);
    run_verified(x, 1, 2, 20);
    world_lead_anew(x);
    world_open(x, 1, 2);
    world_says(x, 1, 1, A);
    world_says(x, 2, 2, B);
    text_clear(&x->log);
    run_verified(x, 1, 2, 3);
    assert_null(strstr(x->log.s, "conform."));
    run_verified(x, 1, 2, 2);
    assert_non_null(strstr(x->log.s, "conform.overdue lx02"));
    world_destroy(x);
}

/* --- rollouts ----------------------------------------------------------------------------------- */

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
    world_says(x, 5, 5, C); /* and this node matches neither listing */
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

static void test_what_may_be_the_one_or_the_other_is_unknown(void **state)
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

/* --- claims that are due later ------------------------------------------------------------------- */

static void test_who_becomes_sensitive_while_drifted_is_held(void **state)
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

static const struct class_lines excludes = {"gpu", {{"Nodes", "lx[01-40]"}, {"Drifted", "exclude"}}};

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

static int excludes_work(const struct world *x, int i, const char *list, char why[static 200])
{
    CLEANUP_TEXT struct text words = {0};
    struct fingerprint id = world_fingerprint(list);
    int r = watch_excludes(x->w, world_now(x), world_node(x, i), &id, &words);
    snprintf(why, 200, "%s", words.s ? words.s : "");
    return r;
}

static void test_a_job_that_waits_is_told_when_it_is_decided(void **state)
{
    char why[200];
    struct world *x = conformant(30, &excludes, "");
    assert_int_equal(excludes_work(x, 2, A, why), 0);
    assert_int_equal(excludes_work(x, 2, MINOR, why), -EAGAIN); /* it has not come yet */
    world_claims(x, 4, B);
    assert_int_equal(excludes_work(x, 4, B, why), -EAGAIN); /* its list is not known */
    world_says(x, 2, 2, MINOR);
    assert_int_equal(excludes_work(x, 2, MINOR, why), -EAGAIN); /* it is about to be claimed */
    world_run(x, 12);
    assert_int_equal(excludes_work(x, 2, MINOR, why), 1);
    assert_non_null(strstr(why, "it is not as version 1 of its baseline says: "));
    world_says(x, 3, 30, MINOR);
    world_run(x, 12);
    int kept = 0;
    for (int i = 3; i <= 30; i++)
        kept += excludes_work(x, i, MINOR, why);
    assert_int_equal(kept, 0); /* the brake holds for jobs that wait, too */
    world_destroy(x);
    x = conformant(3, NULL, "");
    world_says(x, 2, 2, MINOR);
    world_run(x, 12);
    assert_int_equal(excludes_work(x, 2, MINOR, why), 0); /* its class keeps no work away */
    world_destroy(x);
}

/* A package that is pushed to all nodes does not take the cluster out of service. */
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

static void test_whose_class_asks_for_a_reboot_now_is_held(void **state)
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

/* --- the brake and damping ----------------------------------------------------------------------- */

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

static void test_drift_that_comes_and_goes_is_damped(void **state)
{
    struct world *x = conformant(2, NULL, "");
    for (int i = 0; i < 3; i++) {
        world_says(x, 2, 2, MINOR);
        world_run(x, 60);
        world_says(x, 2, 2, A);
        world_run(x, 60);
    }
    world_said(x, "conform.seen lx02: package.bash\nconform.drift lx02: package.bash (minor)\n"
                  "conform.seen lx02: package.bash\nconform.restored lx02\n"
                  "conform.seen lx02: package.bash\nconform.drift lx02: package.bash (minor)\n"
                  "conform.seen lx02: package.bash\nconform.restored lx02\n"
                  "conform.seen lx02: package.bash\nconform.drift lx02: package.bash (minor)\n"
                  "conform.seen lx02: package.bash\n");
    struct standing s;
    watch_standing(x->w, world_now(x), world_node(x, 2), &s, NULL);
    assert_true(s.flaps);
    world_stands(x, 2, "drifted",
                 "its drift comes and goes; it is the same again, and has to be so for a while: "
                 "package.bash");
    world_run(x, 20 * 60);
    world_says(x, 2, 2, MINOR); /* the half hour begins anew */
    world_run(x, 60);
    world_says(x, 2, 2, A);
    world_run(x, 29 * 60);
    world_said(x, "conform.seen lx02: package.bash\nconform.seen lx02: package.bash\n");
    world_run(x, 120);
    world_said(x, "conform.restored lx02\n");
    world_destroy(x);
}

/* A new leader knows that it flaps, and has seen the node right for no time at all. */
static void test_a_new_leader_does_not_end_drift_that_flaps(void **state)
{
    struct world *x = conformant(2, NULL, "");
    for (int i = 0; i < 3; i++) {
        world_says(x, 2, 2, MINOR);
        world_run(x, 60);
        world_says(x, 2, 2, A);
        world_run(x, 60);
    }
    world_run(x, 25 * 60);
    text_clear(&x->log);
    world_lead_anew(x);
    world_open(x, 1, 2);
    world_says(x, 1, 2, A);
    world_run(x, 29 * 60);
    assert_non_null(world_drift(x, 2));
    world_run(x, 120);
    assert_null(world_drift(x, 2));
    world_destroy(x);
}

static size_t times_said(const struct world *x, const char *what)
{
    size_t n = 0;
    for (const char *p = x->log.s; p && (p = strstr(p, what)); p++)
        n++;
    return n;
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
    text_clear(&x->log); /* after a rest the counting begins anew */
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

static void test_what_a_class_ignores_is_written_down_once_an_hour(void **state)
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

static void test_a_person_who_wants_it_as_a_baseline_waits_for_no_pause(void **state)
{
    struct world *x = conformant(2, NULL, "");
    struct err e;
    for (int i = 0; i < 100; i++) {
        world_says(x, 2, 2, i % 2 ? C : B);
        world_run(x, 5);
    }
    world_says(x, 2, 2, MINOR);
    world_run(x, 2);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), world_node(x, 2), &e), -EBUSY);
    world_run(x, 2);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), world_node(x, 2), &e), 0);
    world_destroy(x);
}

static void test_three_times_in_a_day_is_no_flapping(void **state)
{
    struct world *x = conformant(2, NULL, "");
    for (int i = 0; i < 4; i++) {
        world_says(x, 2, 2, MINOR);
        world_run(x, HOUR / 2);
        world_says(x, 2, 2, A);
        world_run(x, HOUR / 2);
        assert_null(world_drift(x, 2));
    }
    world_destroy(x);
}

/* --- many who change ---------------------------------------------------------------------------- */

/* So many components that the names in one command are the work of a tick. */
static void says_much(struct world *x, int i, int what)
{
    CLEANUP_TEXT struct text list = {0};
    for (int c = 0; c < 1500; c++)
        text_printf(&list, "package.p%04d=1 ", c);
    text_printf(&list, "z=%d", what);
    world_says(x, i, i, list.s);
}

static void test_who_changes_all_the_time_holds_up_no_drift(void **state)
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

static void test_those_who_change_have_their_turns(void **state)
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

/* --- remains of a command that was cut off ------------------------------------------------------- */

static void test_who_is_held_without_a_record_is_released(void **state)
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
        cmocka_unit_test(test_what_a_node_is_is_written_down_once),
        cmocka_unit_test(test_a_fingerprint_whose_components_nobody_knows_is_not_written_down),
        cmocka_unit_test(test_changes_of_the_same_moment_are_written_down_now_and_then),
        cmocka_unit_test(test_drift_and_its_end),
        cmocka_unit_test(test_who_is_in_maintenance_is_judged_when_it_is_over),
        cmocka_unit_test(test_what_drifted_is_kept_up_to_date),
        cmocka_unit_test(test_a_new_baseline_judges_everybody_anew),
        cmocka_unit_test(test_nobody_is_compared_where_there_is_no_baseline),
        cmocka_unit_test(test_a_critical_drift_tells_a_person_at_once),
        cmocka_unit_test(test_a_shell_without_room_is_asked_again),
        cmocka_unit_test(test_unknown_is_neither_drift_nor_its_end),
        cmocka_unit_test(test_silence_and_staleness_prove_nothing),
        cmocka_unit_test(test_a_new_leader_changes_nothing),
        cmocka_unit_test(test_what_was_remedied_while_nobody_led_is_found),
        cmocka_unit_test(test_who_comes_back_drifted_stays_out_and_the_alarm_rises),
        cmocka_unit_test(test_what_reboots_do_not_cure_calls_for_a_person),
        cmocka_unit_test(test_a_reboot_hurts_no_work),
        cmocka_unit_test(test_a_new_leader_does_not_know_yet_who_may_be_rebooted),
        cmocka_unit_test(test_a_sensitive_node_waits_for_a_person),
        cmocka_unit_test(test_what_is_not_remedied_in_time_counts_as_down),
        cmocka_unit_test(test_a_clock_that_is_set_ages_no_drift),
        cmocka_unit_test(test_a_new_leader_counts_the_time_before),
        cmocka_unit_test(test_a_rollout_has_two_good_states_and_no_hurry),
        cmocka_unit_test(test_a_rollout_that_is_reverted_leaves_one_good_state),
        cmocka_unit_test(test_what_may_be_the_one_or_the_other_is_unknown),
        cmocka_unit_test(test_mass_drift_reboots_nobody_and_takes_nobody_down),
        cmocka_unit_test(test_a_new_leader_does_not_release_the_brake),
        cmocka_unit_test(test_drift_that_comes_and_goes_is_damped),
        cmocka_unit_test(test_three_times_in_a_day_is_no_flapping),
        cmocka_unit_test(test_a_new_leader_does_not_end_drift_that_flaps),
        cmocka_unit_test(test_who_changes_all_the_time_holds_up_no_drift),
        cmocka_unit_test(test_a_new_leader_with_another_clock_takes_nobody_down_at_once),
        cmocka_unit_test(test_an_update_has_ten_minutes_to_go_through),
        cmocka_unit_test(test_who_becomes_sensitive_while_drifted_is_held),
        cmocka_unit_test(test_a_class_that_excludes_drains_until_it_is_right_again),
        cmocka_unit_test(test_a_job_that_waits_is_told_when_it_is_decided),
        cmocka_unit_test(test_a_class_that_excludes_is_braked),
        cmocka_unit_test(test_whose_class_asks_for_a_reboot_now_is_held),
        cmocka_unit_test(test_drift_that_changes_all_the_time_is_written_down_ever_less_often),
        cmocka_unit_test(test_drift_that_becomes_worse_does_not_wait),
        cmocka_unit_test(test_what_a_class_ignores_is_written_down_once_an_hour),
        cmocka_unit_test(test_a_person_who_wants_it_as_a_baseline_waits_for_no_pause),
        cmocka_unit_test(test_those_who_change_have_their_turns),
        cmocka_unit_test(test_sensitive_nodes_are_judged_before_others),
        cmocka_unit_test(test_who_is_held_without_a_record_is_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
