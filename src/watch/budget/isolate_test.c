/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/budget/budget.h"
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

/* Whoever is isolated meanwhile finds that it is out, also before the record says so. */
static void test_a_swapped_machine_has_its_room_at_once(void **state)
{
    struct clinic *d = clinic_open(2);
    clinic_tells(d, 1, true, CLINIC_WELL);
    d->x->policy.health.limits.act = true;
    watch_set_policy(d->x->w, &d->x->policy);
    clinic_becomes(d, 1, "SN-1");
    d->x->refuse = true;
    clinic_becomes(d, 1, "SN-2");
    assert_null(member_repair(world_node(d->x, 1)));
    assert_int_equal(clinic_out(d), 1);
    clinic_destroy(d);
}

static void test_a_surge_trips_the_latch_of_each_leader(void **state)
{
    trace_walk("surge");
}

static void test_budgets_and_switches_keep_nodes_in_service(void **state)
{
    trace_walk("brakes");
}

static void test_a_node_that_is_excepted_stays_in_service(void **state)
{
    static const struct class_lines admin = {"admin", {{"Nodes", "lx[03-04]"}, {"Remediate", "no"}}};
    struct clinic *d = clinic_open(20);
    world_configure(d->x, &admin, 1, "");
    assert_int_equal(world_command(d->x, COMMAND_SET, "lx01", "{\"Remediate\":\"no\"}"), 0);
    for (int i = 1; i <= 3; i++)
        clinic_tells(d, i, true, CLINIC_ILL);
    world_run(d->x, 3);
    assert_null(member_repair(world_node(d->x, 1)));
    assert_non_null(member_repair(world_node(d->x, 2)));
    assert_null(member_repair(world_node(d->x, 3)));
    for (int i = 1; i <= 3; i++)
        assert_int_equal(member_ailment(world_node(d->x, i))->n_open,
                         1); /* it is written down all the same */
    assert_int_equal(clinic_out(d), 1);
    clinic_destroy(d);
}

/* What the switch and the latch stop, and in which words. */
static void test_a_switch_says_why_nothing_is_done(void **state)
{
    struct clinic *d = clinic_open(20);
    struct err e = {0};
    assert_int_equal(brake_stopped(d->x->w, &e), 0);
    world_command_for(d->x, COMMAND_SWITCH, "", "smoke", "{\"name\":\"latch\",\"on\":true}");
    assert_int_equal(brake_stopped(d->x->w, &e), -EAGAIN);
    assert_string_equal(e.msg, "the latch is on: root: smoke");
    assert_true(watch_latched(d->x->w));
    world_command_for(d->x, COMMAND_SWITCH, "", "fire", "{\"name\":\"stop\",\"on\":true}");
    assert_int_equal(brake_stopped(d->x->w, &e), -EAGAIN);
    assert_string_equal(e.msg, "everything is stopped: root: fire");
    d->x->policy.health.limits.act = false;
    watch_set_policy(d->x->w, &d->x->policy);
    assert_int_equal(brake_stopped(d->x->w, &e), -EAGAIN);
    assert_string_equal(e.msg, "health is only observed");
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_swapped_machine_has_its_room_at_once),
        cmocka_unit_test(test_a_surge_trips_the_latch_of_each_leader),
        cmocka_unit_test(test_budgets_and_switches_keep_nodes_in_service),
        cmocka_unit_test(test_a_node_that_is_excepted_stays_in_service),
        cmocka_unit_test(test_a_switch_says_why_nothing_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
