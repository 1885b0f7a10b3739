/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/beats_test.h"
#include "watch/clinic_test.h"
#include "watch/trace_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *power(const struct beats *x, int i, const char *run, bool force, int rc)
{
    static struct err e;
    e = (struct err){0};
    assert_int_equal(watch_may_power(x->w, beats_node(x, i), run, force, &e), rc);
    return e.msg;
}

/* A person's power command asks what runs, whoever can say so; and the switch alone stops what is forced. */
static void test_a_power_command_asks_for_work(void **state)
{
    struct beats *x = beats_create(2);
    beats_start(x, 1, 1);
    beats_run(x, 1);
    power(x, 1, "power.off", false, 0);
    beats_beat(x, 1, 1, ++x->seq[1], BOOT, "[\"slurm.4711\"]");
    assert_string_equal(power(x, 1, "power.off", false, -EBUSY),
                        "work runs on it: slurm.4711; only a command with force goes through");
    power(x, 1, "power.off", true, 0);
    power(x, 1, "power.on", false, 0);
    beats_beat(x, 1, 1, ++x->seq[1], BOOT, "[]");
    watch_scheduler(x->w, beats_node(x, 1), WORK_BUSY, false);
    assert_string_equal(power(x, 1, "power.cycle", false, -EBUSY),
                        "work runs on it, as the scheduler says; only a command with force goes through");
    watch_scheduler(x->w, beats_node(x, 1), WORK_UNKNOWN, false);
    power(x, 1, "power.cycle", false, -EAGAIN);
    watch_scheduler(x->w, beats_node(x, 1), WORK_IDLE, false);
    power(x, 1, "power.cycle", false, 0);
    assert_string_equal(power(x, 2, "power.reset", false, -EAGAIN),
                        "it is not known whether work runs on it; only a command with force goes through");
    cluster_put(x->c, "switch/stop", "{\"on\":true,\"by\":\"root\",\"at\":\"1\",\"why\":\"cooling\"}", NULL);
    assert_string_equal(power(x, 1, "power.on", true, -EBUSY), "everything is stopped: root: cooling");
    beats_destroy(x);
}

/* What was said last of a node that is silent by now is no proof. */
static void test_a_silent_node_may_have_work(void **state)
{
    struct beats *x = beats_create(1);
    beats_start(x, 1, 1);
    beats_run(x, 1);
    x->sends[1] = false;
    beats_run(x, 100);
    power(x, 1, "power.off", false, -EAGAIN);
    power(x, 1, "power.off", true, 0);
    beats_destroy(x);
}

static void test_a_change_between_decision_and_call_stops_it(void **state)
{
    trace_walk("changed");
}

static void test_after_a_stall_nothing_is_done_until_nodes_were_asked(void **state)
{
    trace_walk("stalled");
}

/* --- right before an operation is carried out --- */

static const char CLEAN[] =
    "Remedy=clean Run=\"node:clean\" Helps=space Confidence=60% Because=\"a try\" Takes=1m "
    "Needs=nothing\n";
static const char SPACE[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                            "Check=other Probe=fs.space Path=/x Every=60s\n";
static const char FULL[] = "[{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,"
                           "\"findings\":[{\"result\":\"fatal\",\"text\":\"full\"}]},"
                           "{\"check\":\"other\",\"result\":\"ok\",\"age_ms\":0}]",
                  WELL[] = "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0},"
                           "{\"check\":\"other\",\"result\":\"ok\",\"age_ms\":0}]";

/* lx01 is ill, and the remedy clean is about to be carried out. */
static struct clinic *about_to_clean(const char *remedies)
{
    struct clinic *d = clinic_open(20);
    clinic_take_checks(d, SPACE);
    clinic_take_remedies(d, remedies);
    clinic_tells(d, 1, true, FULL);
    world_run(d->x, 3);
    clinic_tells(d, 1, true, FULL);
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_REMEDY);
    return d;
}

static int may(struct clinic *d, struct err *e)
{
    const struct repair *r = member_treated(world_node(d->x, 1));
    *e = (struct err){0};
    return watch_may_operate(d->x->w, world_now(d->x), world_node(d->x, 1), r ? r->operation : "", e);
}

static void assert_may(struct clinic *d, int rc, const char *why)
{
    struct err e;
    assert_int_equal(may(d, &e), rc);
    assert_string_equal(e.msg, why);
}

static void test_an_operation_may_be_carried_out_while_nothing_changed(void **state)
{
    struct clinic *d = about_to_clean(CLEAN);
    struct err e = {0};
    assert_may(d, 0, "");
    assert_int_equal(watch_may_operate(d->x->w, world_now(d->x), world_node(d->x, 1), "1.1", &e), -EBUSY);
    assert_string_equal(e.msg, "it is not wanted any more");
    assert_int_equal(watch_may_operate(d->x->w, world_now(d->x), world_node(d->x, 2), "", &e), -EBUSY);
    clinic_destroy(d);
}

static void test_the_records_of_remedies_are_asked_again(void **state)
{
    static const struct {
        const char *record, *why;
    } cases[] = {{"Remedy=else Run=\"node:x\" Helps=space Confidence=60% Because=\"a try\" Takes=1m\n",
                  "there is no remedy \"clean\" any more"},
                 {"Remedy=clean Run=\"node:other\" Helps=space Confidence=60% Because=\"a try\" Takes=1m "
                  "Needs=nothing\n",
                  "remedy \"clean\" is another one by now"},
                 {"Remedy=clean Run=\"node:clean\" Helps=space Confidence=60% Because=\"a try\" Takes=1m "
                  "Needs=nothing "
                  "Approval=yes\n",
                  "remedy \"clean\" needs a person's approval by now"},
                 {"Remedy=clean Run=\"node:clean\" Helps=space Confidence=60% Because=\"a try\" Takes=1m "
                  "Needs=nothing "
                  "Dry=yes\n",
                  "the remedy is a dry run"},
                 {"Remedy=clean Run=\"node:clean\" Helps=else Confidence=60% Because=\"a try\" Takes=1m "
                  "Needs=nothing\n",
                  "its fault is over"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clinic *d = about_to_clean(CLEAN);
        clinic_take_remedies(d, cases[i].record);
        assert_may(d, -EBUSY, cases[i].why);
        clinic_destroy(d);
    }
}

static void test_a_fault_has_to_be_seen_a_moment_ago(void **state)
{
    struct clinic *d = about_to_clean(CLEAN);
    world_run(d->x, 119);
    assert_may(d, 0, "");
    world_run(d->x, 2);
    assert_may(d, -EAGAIN, "its fault was not seen a moment ago");
    clinic_tells(d, 1, true, FULL);
    assert_may(d, 0, "");
    clinic_tells(d, 1, true, WELL);
    assert_may(d, -EBUSY, "its fault is over");
    clinic_destroy(d);
}

static void test_switches_people_and_settings_stop_an_operation(void **state)
{
    struct clinic *d = about_to_clean(CLEAN);
    world_command_for(d->x, COMMAND_SWITCH, "", "smoke", "{\"name\":\"stop\",\"on\":true}");
    assert_may(d, -EAGAIN, "everything is stopped: root: smoke");
    world_command_for(d->x, COMMAND_SWITCH, "", NULL, "{\"name\":\"stop\",\"on\":false}");
    world_command_for(d->x, COMMAND_DRAIN, "lx01", "bad DIMM", NULL);
    assert_may(d, -EAGAIN, "a person holds it: drain by root: bad DIMM");
    world_command(d->x, COMMAND_UNDRAIN, "lx01", NULL);
    if (member_repair(world_node(d->x, 1))) { /* and what the repair was, it is still */
        struct err e;
        may(d, &e);
        assert_null(strstr(e.msg, "a person holds it"));
    }
    clinic_destroy(d);
    d = about_to_clean(CLEAN);
    assert_int_equal(world_command(d->x, COMMAND_SET, "lx01", "{\"Remediate\":\"no\"}"), 0);
    assert_may(d, -EBUSY, "it is only observed: Remediate=no");
    clinic_destroy(d);
}

static void test_a_node_that_was_booted_or_left_the_files_is_another_matter(void **state)
{
    struct clinic *d = about_to_clean(CLEAN);
    world_reboot(d->x, 1);
    assert_may(d, -EBUSY, "it was booted since");
    clinic_destroy(d);
    d = about_to_clean(CLEAN);
    world_lead_anew(d->x);
    assert_may(d, -EAGAIN, "it is not heard"); /* the record has its boot */
    clinic_destroy(d);
    d = about_to_clean(CLEAN);
    d->x->n = 0;
    struct roster none = {.partition_max = 31};
    cluster_configure(d->x->c, &none, NULL);
    watch_set_policy(d->x->w, &d->x->policy);
    assert_may(d, -EBUSY, "no configuration file names it any more");
    clinic_destroy(d);
}

static void test_budgets_and_shared_causes_hold_up_an_operation(void **state)
{
    struct clinic *d = about_to_clean(CLEAN);
    clinic_tells(d, 2, true, FULL);
    assert_may(d, 0, "");
    d->x->policy.health.limits.percent[SCOPE_CLUSTER] = 5;
    watch_set_policy(d->x->w, &d->x->policy);
    assert_may(d, -EAGAIN, "cluster: 2 of 20 nodes are out, at most 1 may be");
    d->x->policy.health.limits.percent[SCOPE_CLUSTER] = 10;
    d->x->policy.health.shared = 4;
    d->x->policy.health.shared_window = span_s(600);
    watch_set_policy(d->x->w, &d->x->policy);
    assert_may(d, 0, "");
    for (int i = 2; i <= 12; i++)
        clinic_tells(d, i, true, FULL);
    d->x->refuse = true; /* its repair stays as it is */
    clinic_tells(d, 1, true, FULL);
    assert_may(d, -EAGAIN, "its fault has a cause that it shares with others");
    clinic_destroy(d);
}

static void test_work_holds_up_a_remedy_that_needs_an_idle_node(void **state)
{
    struct clinic *d =
        about_to_clean("Remedy=clean Run=\"node:clean\" Helps=space Confidence=60% Because=\"a try\" "
                       "Takes=1m Needs=idle\n");
    assert_may(d, 0, "");
    d->x->work[1] = "[\"slurm.7\"]";
    world_run(d->x, 10);
    assert_may(d, -EAGAIN, "work runs on it: slurm.7");
    d->x->work[1] = NULL;
    world_run(d->x, 10);
    assert_may(d, -EAGAIN, "it is not known whether work runs on it");
    clinic_destroy(d);
}

/* Approval is asked for when the remedy is chosen, and has to stand. */
static void test_a_remedy_with_approval_waits_for_it(void **state)
{
    struct clinic *d =
        about_to_clean("Remedy=clean Run=\"node:clean\" Helps=space Confidence=60% Because=\"a try\" "
                       "Takes=1m Needs=nothing Approval=yes\n");
    const struct repair *r = member_repair(world_node(d->x, 1));
    assert_int_equal(r->approval, APPROVAL_WANTED);
    assert_string_equal(r->operation, "");
    assert_may(d, -EBUSY, "it is not wanted any more");
    world_command_for(d->x, COMMAND_REPAIR_APPROVE, "lx01", "go ahead", NULL);
    world_run(d->x, 1);
    clinic_tells(d, 1, true, FULL);
    assert_may(d, 0, "");
    clinic_destroy(d);
}

/* A person's power command is asked as it was when it was given. */
static void test_a_power_command_is_asked_again_right_before_it_is_carried_out(void **state)
{
    struct clinic *d = clinic_open(2);
    struct member *m = world_node(d->x, 1);
    struct err e = {0};
    world_run(d->x, 2);
    assert_int_equal(world_command_for(d->x, COMMAND_POWER, "lx01", "upgrade", "{\"do\":\"off\"}"), 0);
    CLEANUP_OPERATION struct operation o = {0};
    cluster_power(d->x->c, m, &o);
    assert_non_null(o.id);
    assert_int_equal(watch_may_operate(d->x->w, world_now(d->x), m, o.id, &e), 0);
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    assert_int_equal(watch_may_operate(d->x->w, world_now(d->x), m, o.id, &e),
                     -ESTALE); /* Slurm is read first */
    watch_elsewhere(d->x->w, world_now(d->x), m, &(struct elsewhere){0});
    assert_int_equal(watch_may_operate(d->x->w, world_now(d->x), m, o.id, &e), 0);
    watch_scheduler(d->x->w, m, WORK_BUSY, false);
    assert_int_equal(watch_may_operate(d->x->w, world_now(d->x), m, o.id, &e), -EBUSY);
    assert_string_equal(e.msg,
                        "work runs on it, as the scheduler says; only a command with force goes through");
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_power_command_asks_for_work),
        cmocka_unit_test(test_a_silent_node_may_have_work),
        cmocka_unit_test(test_a_change_between_decision_and_call_stops_it),
        cmocka_unit_test(test_after_a_stall_nothing_is_done_until_nodes_were_asked),
        cmocka_unit_test(test_an_operation_may_be_carried_out_while_nothing_changed),
        cmocka_unit_test(test_the_records_of_remedies_are_asked_again),
        cmocka_unit_test(test_a_fault_has_to_be_seen_a_moment_ago),
        cmocka_unit_test(test_switches_people_and_settings_stop_an_operation),
        cmocka_unit_test(test_a_node_that_was_booted_or_left_the_files_is_another_matter),
        cmocka_unit_test(test_budgets_and_shared_causes_hold_up_an_operation),
        cmocka_unit_test(test_work_holds_up_a_remedy_that_needs_an_idle_node),
        cmocka_unit_test(test_a_remedy_with_approval_waits_for_it),
        cmocka_unit_test(test_a_power_command_is_asked_again_right_before_it_is_carried_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
