/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"
#include "watch/repair/choose_inside.h"
#include "watch/trace_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_way_that_is_refused_is_not_tried_again(void **state)
{
    trace_walk("ways");
}

static void test_the_same_part_twice_is_the_hardware(void **state)
{
    trace_walk("replaced");
}

static void test_the_remedy_after_a_remedy_follows(void **state)
{
    trace_walk("followed");
}

static const char MOUNT[] = "Check=mount Probe=plugin Run=/bin/m Every=30s Severity=degraded\n"
                            "Check=space Probe=fs.space Path=/ Every=60s\n"
                            "Check=kernel Probe=kernel.log\n";
static const char REMOUNT[] = "Remedy=remount Run=node:mount Helps=mount Needs=nothing Confidence=70% "
                              "Because=\"it often does\" Takes=1m Disturbs=0\n",
                  REBOOT[] =
                      "Remedy=reboot Run=reboot Helps=* Confidence=80% Because=\"it often does\" Takes=10m\n";

/* lx01 is degraded, and these remedies are known; Fettle acts. */
static struct clinic *degraded(const char *remedies, struct span degraded_for)
{
    struct clinic *d = clinic_open(20);
    d->x->policy.health.degraded_for = degraded_for;
    d->x->policy.health.limits.remedies_a_week = 0; /* so that none is begun */
    clinic_take_checks(d, MOUNT);
    clinic_take_remedies(d, remedies);
    clinic_tells(d, 1, true,
                 "[{\"check\":\"mount\",\"result\":\"fatal\",\"age_ms\":0,\"findings\":[{\"result\":"
                 "\"fatal\",\"text\":\"stale\"}]}]");
    return d;
}

static struct choice *choose(struct clinic *d, int i)
{
    struct choice *c = mem_alloc(sizeof *c);
    watch_choice(d->x->w, world_now(d->x), world_node(d->x, i), c);
    return c;
}

static void assert_chosen(struct clinic *d, int i, const char *remedy, const char *why)
{
    CLEANUP_FREE struct choice *c = choose(d, i);
    assert_string_equal(c->chosen ? c->chosen->name : "-", remedy);
    if (!strstr(c->why, why))
        fail_msg("\"%s\" is not in \"%s\"", why, c->why);
}

/* A node in service is asked about as it stands: what would drain it, and when. */
static void test_a_degraded_node_waits_for_its_drain_unless_the_remedy_disturbs_nobody(void **state)
{
    struct clinic *d = degraded(REBOOT, span_s(3600));
    world_run(d->x, 2);
    assert_chosen(d, 1, "reboot", "; when it is drained, as this lasts 1h00m");
    d->x->policy.health.degraded_for = span_s(0);
    watch_set_policy(d->x->w, &d->x->policy);
    assert_chosen(d, 1, "reboot", "; not while it is in service: DegradedFor=0");
    d->x->policy.health.limits.act = false;
    watch_set_policy(d->x->w, &d->x->policy);
    CLEANUP_FREE struct choice *c = choose(d, 1);
    assert_null(strstr(c->why, "DegradedFor"));
    clinic_destroy(d);
}

static void test_a_gentle_remedy_waits_for_nothing(void **state)
{
    CLEANUP_TEXT struct text both = {0};
    text_printf(&both, "%s%s", REMOUNT, REBOOT);
    struct clinic *d = degraded(both.s, span_s(3600));
    world_run(d->x, 2);
    struct choice c;
    assert_null(strstr(d->x->log.s, "repair.step"));
    assert_null(repair_gentle(d->x->w, watch_awake(d->x->w, world_now(d->x)), world_node(d->x, 1), &c));
    d->x->policy.health.limits.remedies_a_week = 1;
    watch_set_policy(d->x->w, &d->x->policy);
    const struct remedy *r =
        repair_gentle(d->x->w, watch_awake(d->x->w, world_now(d->x)), world_node(d->x, 1), &c);
    assert_non_null(r);
    assert_string_equal(r->name, "remount");
    assert_chosen(d, 1, "remount", "it helps against 1 of 1 faults");
    assert_null(repair_gentle(d->x->w, watch_awake(d->x->w, world_now(d->x)), world_node(d->x, 2), &c));
    clinic_destroy(d);
}

static void test_nothing_is_chosen_for_a_node_that_somebody_holds_or_excepts(void **state)
{
    struct clinic *d = degraded(REBOOT, span_s(3600));
    world_run(d->x, 2);
    world_command_for(d->x, COMMAND_DRAIN, "lx01", "bad DIMM", NULL);
    assert_chosen(d, 1, "-", "a person holds it: drain by root: bad DIMM");
    CLEANUP_FREE struct choice *c = choose(d, 1);
    assert_true(c->waits && !c->explored);
    world_command(d->x, COMMAND_UNDRAIN, "lx01", NULL);
    watch_window(d->x->w, world_node(d->x, 1), "reservation root_1");
    assert_chosen(d, 1, "-", "it is in maintenance: Slurm's reservation root_1");
    watch_window(d->x->w, world_node(d->x, 1), NULL);
    assert_chosen(d, 1, "reboot", "");
    assert_int_equal(world_command(d->x, COMMAND_SET, "lx01", "{\"Remediate\":\"no\"}"), 0);
    assert_chosen(d, 1, "-", "it is only observed: Remediate=no");
    clinic_destroy(d);
}

static void test_a_choice_has_the_expected_cost_of_its_remedy(void **state)
{
    const struct remedy one = {.name = NULL}, other = {.name = NULL};
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    c->n = 2;
    c->candidates[0] = (struct candidate){.remedy = &one, .expected = 5};
    c->candidates[1] = (struct candidate){.remedy = &other, .expected = 7};
    assert_int_equal(choice_cost(c), 0); /* none is chosen */
    c->chosen = &other;
    assert_int_equal(choice_cost(c), 7);
}

/* The same code on two devices has two causes; twice on the node itself it is one, and as bad as its worst.
 */
static void test_faults_count_once_for_each_cause(void **state)
{
    static const char two[] =
        "[{\"check\":\"kernel\",\"result\":\"fatal\",\"age_ms\":0,\"findings\":["
        "{\"result\":\"fatal\",\"code\":\"xid.119\",\"device\":\"gpu 0\",\"text\":\"a\"},"
        "{\"result\":\"fatal\",\"code\":\"xid.119\",\"device\":\"gpu 1\",\"text\":\"b\"}]}]",
                      one[] = "[{\"check\":\"kernel\",\"result\":\"fatal\",\"age_ms\":0,\"findings\":["
                              "{\"result\":\"warn\",\"code\":\"xid.119\",\"text\":\"a\"},"
                              "{\"result\":\"fatal\",\"code\":\"xid.120\",\"text\":\"b\"}]}]";
    struct clinic *d = clinic_open(20);
    clinic_take_checks(d, MOUNT);
    clinic_take_remedies(d, REBOOT);
    d->x->policy.health.limits.act = false;
    watch_set_policy(d->x->w, &d->x->policy);
    clinic_tells(d, 1, true, two);
    clinic_tells(d, 2, true, one);
    world_run(d->x, 2);
    assert_chosen(d, 1, "reboot", "it helps against 2 of 2 faults");
    assert_chosen(d, 2, "reboot", "it helps against 1 of 1 faults");
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_way_that_is_refused_is_not_tried_again),
        cmocka_unit_test(test_the_same_part_twice_is_the_hardware),
        cmocka_unit_test(test_the_remedy_after_a_remedy_follows),
        cmocka_unit_test(test_a_degraded_node_waits_for_its_drain_unless_the_remedy_disturbs_nobody),
        cmocka_unit_test(test_a_gentle_remedy_waits_for_nothing),
        cmocka_unit_test(test_nothing_is_chosen_for_a_node_that_somebody_holds_or_excepts),
        cmocka_unit_test(test_a_choice_has_the_expected_cost_of_its_remedy),
        cmocka_unit_test(test_faults_count_once_for_each_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
