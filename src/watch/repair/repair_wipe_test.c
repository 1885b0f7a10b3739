/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char
    WIPE[] =
        "Remedy=wipe Run=\"node:wipe all\" Helps=nothing Confidence=50% Because=\"a person released it\" "
        "Takes=10m Deadline=20m\n",
    SLOW[] =
        "Remedy=wipe Run=\"node:wipe all\" Helps=nothing Confidence=50% Because=\"a person released it\" "
        "Takes=1h\n",
    CHAIN[] =
        "Remedy=wipe Run=\"node:wipe all\" Helps=nothing Confidence=50% Because=\"a person released it\" "
        "Takes=10m Deadline=20m After=clean\n"
        "Remedy=clean Run=reboot Helps=nothing Confidence=50% Because=\"memory is cleared\" Takes=5m\n";

/* lx01 was released by ann a moment ago, and does this work. */
static struct clinic *released(const char *remedies, const char *work)
{
    struct clinic *d = clinic_open(20);
    d->x->policy.health.wipe_deadline = span_s(1800);
    clinic_take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n");
    if (remedies)
        clinic_take_remedies(d, remedies);
    d->x->work[1] = work;
    world_run(d->x, 20);
    assert_int_equal(
        cluster_put(d->x->c, "claim/90.1",
                    "{\"kind\":\"wipe\",\"owner\":\"ann\",\"reason\":\"released by @ann\",\"since\":"
                    "\"7\",\"nodes\":\"lx01\",\"drained\":\"\"}",
                    NULL),
        0);
    return d;
}

static const char LX01_WELL[] = "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0}]";

static void pass(struct clinic *d, int seconds)
{
    for (int i = 0; i < seconds; i += 10) {
        clinic_tells(d, 1, true, LX01_WELL);
        world_run(d->x, 10);
    }
}

static enum step step_of(const struct clinic *d)
{
    const struct repair *r = member_repair(world_node(d->x, 1));
    return r ? r->step : STEP_NONE;
}

static bool said(const struct clinic *d, const char *what)
{
    return d->x->log.s && strstr(d->x->log.s, what);
}

/* The carrier says this of the operation; text NULL: it has begun. */
static void carried(struct clinic *d, const char *state, const char *text)
{
    CLEANUP_OPERATION struct operation o = {0};
    CLEANUP_TEXT struct text set = {0};
    cluster_operation(d->x->c, world_node(d->x, 1), &o);
    assert_non_null(o.id);
    text_printf(&set, "{\"key\":\"effect/operate.lx01\",\"done\":{\"state\":\"%s\",\"id\":\"%s\",", state,
                o.id);
    if (text)
        text_printf(&set, "\"text\":\"%s\"}}", text);
    else
        text_printf(&set, "\"at\":\"%lld\"}}", (long long)world_wall(d->x).ns);
    assert_int_equal(world_command(d->x, COMMAND_EFFECT, "", set.s), 0);
}

/* It runs the checks again, and is held until a person approves. */
static void test_a_released_node_is_wiped(void **state)
{
    struct clinic *d = released(WIPE, "[]");
    pass(d, 20);
    assert_int_equal(step_of(d), STEP_WIPE);
    assert_true(said(d, "repair.operate lx01: node:wipe all"));
    assert_int_equal(clinic_out(d), 0); /* it is not out by a decision of Fettle's */
    carried(d, "begun", NULL);
    carried(d, "done", "4 drives, 8 GPUs");
    pass(d, 60);
    assert_true(said(d, "repair.step lx01: wipe -> provision (remedied: wiped: 4 drives, 8 GPUs)"));
    pass(d, 120);
    assert_int_equal(step_of(d), STEP_NONE);
    assert_non_null(world_node(d->x, 1)->wiped);
    assert_true(world_held(d->x, 1, CLAIM_WIPE));
    pass(d, 60);
    assert_int_equal(step_of(d), STEP_NONE); /* once is enough */
    assert_int_equal(world_command(d->x, COMMAND_APPROVE, "lx01", "{}"), 0);
    assert_false(world_held(d->x, 1, CLAIM_WIPE));
    assert_null(world_node(d->x, 1)->wiped);
    clinic_destroy(d);
}

static void test_work_ends_first(void **state)
{
    struct clinic *d = released(WIPE, "[\"job 7\"]");
    pass(d, 60);
    assert_int_equal(step_of(d), STEP_WIPE);
    assert_false(said(d, "repair.operate"));
    d->x->work[1] = "[]";
    pass(d, 30);
    assert_true(said(d, "repair.operate lx01: node:wipe all"));
    clinic_destroy(d);
}

static void test_the_remedy_after_a_wipe_is_part_of_the_wipe(void **state)
{
    struct clinic *d = released(CHAIN, "[]");
    pass(d, 20);
    carried(d, "begun", NULL);
    carried(d, "done", "");
    pass(d, 20);
    assert_int_equal(step_of(d), STEP_WIPE);
    assert_true(said(d, "repair.operate lx01: reboot"));
    assert_null(world_node(d->x, 1)->wiped);
    /* The rest of the half hour is left for it. */
    assert_true(member_repair(world_node(d->x, 1))->deadline.ns - world_wall(d->x).ns < span_s(1790).ns);
    carried(d, "begun", NULL);
    world_reboot(d->x, 1);
    pass(d, 60);
    assert_non_null(world_node(d->x, 1)->wiped);
    clinic_destroy(d);
}

static void test_a_wipe_that_fails_is_quarantined(void **state)
{
    struct clinic *d = released(WIPE, "[]");
    pass(d, 20);
    carried(d, "begun", NULL);
    carried(d, "failed", "a drive is locked");
    pass(d, 20);
    assert_true(
        said(d, "repair.step lx01: wipe -> quarantine (not_remedied: it was not wiped: a drive is locked)"));
    world_lead_anew(d->x);
    world_open(d->x, 1, 20);
    pass(d, 300);
    assert_int_equal(step_of(d), STEP_QUARANTINE);
    assert_null(world_node(d->x, 1)->wiped);
    /* A person who thinks that it works now has it tried again, and nobody gets the node before. */
    assert_int_equal(world_command_for(d->x, COMMAND_TRANSITION, "lx01", "unlocked",
                                       "{\"transition\":\"human_intervention\",\"deadline_s\":1800}"),
                     0);
    pass(d, 200);
    assert_int_equal(step_of(d), STEP_WIPE);
    clinic_destroy(d);
}

static void test_a_wipe_that_is_not_confirmed_in_time_is_quarantined(void **state)
{
    struct clinic *d = released(SLOW, "[]");
    pass(d, 20);
    carried(d, "begun", NULL);
    pass(d, 1750);
    assert_int_equal(step_of(d), STEP_WIPE);
    pass(d, 60);
    assert_int_equal(step_of(d), STEP_QUARANTINE);
    assert_true(said(d, "its outcome was not reported in time"));
    clinic_destroy(d);
}

static void test_a_node_that_cannot_be_wiped_is_quarantined(void **state)
{
    struct clinic *d = released(WIPE, "[\"job 7\"]");
    pass(d, 1830);
    assert_int_equal(step_of(d), STEP_QUARANTINE);
    assert_true(said(d, "job 7"));
    clinic_destroy(d);
    d = released(NULL, "[]");
    pass(d, 20);
    assert_true(
        said(d, "wipe -> quarantine (not_remedied: it was not wiped: there is no remedy for that any more)"));
    clinic_destroy(d);
}

/* Also where Fettle decides nothing by itself: a person released it. */
static void test_a_switch_stops_it_and_observing_does_not(void **state)
{
    struct clinic *d = released(WIPE, "[]");
    d->x->policy.health.limits.act = false;
    assert_int_equal(world_command_for(d->x, COMMAND_SWITCH, "", "a leak", "{\"name\":\"stop\",\"on\":true}"),
                     0);
    pass(d, 60);
    assert_int_equal(step_of(d), STEP_WIPE);
    assert_false(said(d, "repair.operate"));
    assert_int_equal(world_command_for(d->x, COMMAND_SWITCH, "", "dry", "{\"name\":\"stop\",\"on\":false}"),
                     0);
    pass(d, 30);
    assert_true(said(d, "repair.operate lx01: node:wipe all"));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_released_node_is_wiped),
        cmocka_unit_test(test_work_ends_first),
        cmocka_unit_test(test_the_remedy_after_a_wipe_is_part_of_the_wipe),
        cmocka_unit_test(test_a_wipe_that_fails_is_quarantined),
        cmocka_unit_test(test_a_wipe_that_is_not_confirmed_in_time_is_quarantined),
        cmocka_unit_test(test_a_node_that_cannot_be_wiped_is_quarantined),
        cmocka_unit_test(test_a_switch_stops_it_and_observing_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
