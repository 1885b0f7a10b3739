/* SPDX-License-Identifier: Apache-2.0 */
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

static void test_an_override_keeps_its_time_when_the_clock_is_set(void **state)
{
    trace_walk("clock");
}

/* Nodes that are heard, of which ann keeps lx01 in service. */
static struct clinic *overridden(struct span override)
{
    struct clinic *d = clinic_open(4);
    d->x->policy.health.override = override;
    watch_set_policy(d->x->w, &d->x->policy);
    world_run(d->x, 2);
    assert_int_equal(world_command_for(d->x, COMMAND_OVERRIDE, "lx01", "it is fine", "{}"), 0);
    text_clear(&d->x->log);
    return d;
}

static int64_t left_s(const struct clinic *d, int i)
{
    return watch_override_left(d->x->w, world_now(d->x), world_node(d->x, i)).ns / span_s(1).ns;
}

static void test_an_override_stands_for_its_time_and_its_age_is_written_down(void **state)
{
    struct clinic *d = overridden(span_s(800));
    assert_int_equal(left_s(d, 1), 800);
    assert_int_equal(left_s(d, 2), 0); /* it has none */
    world_run(d->x, 99);
    world_says_nothing(d->x);
    world_run(d->x, 2);
    world_said(d->x, "override.age lx01: 100 s\n");
    assert_in_range(left_s(d, 1), 698, 700);
    world_run(d->x, 698);
    assert_non_null(member_override(world_node(d->x, 1)));
    assert_in_range(left_s(d, 1), 0, 2);
    text_clear(&d->x->log);
    world_run(d->x, 3);
    world_said(d->x, "override.end lx01: its time is over\n");
    assert_null(member_override(world_node(d->x, 1)));
    assert_int_equal(left_s(d, 1), 0);
    clinic_destroy(d);
}

/* Time in which no controller ran does not count; it counts from what was written down. */
static void test_another_controller_goes_on_from_the_age_that_is_written_down(void **state)
{
    struct clinic *d = overridden(span_s(800));
    world_run(d->x, 150);
    world_said(d->x, "override.age lx01: 100 s\n");
    world_lead_anew(d->x);
    d->x->clock.ns += span_s(86400).ns;
    assert_int_equal(left_s(d, 1), 700);
    world_open(d->x, 1, 4);
    world_run(d->x, 102);
    world_said(d->x, "override.age lx01: 200 s\n");
    clinic_destroy(d);
}

static void test_a_second_override_has_its_whole_time(void **state)
{
    struct clinic *d = overridden(span_s(800));
    world_run(d->x, 500);
    assert_in_range(left_s(d, 1), 298, 302);
    world_command_for(d->x, COMMAND_OVERRIDE, "lx01", "still fine", "{}");
    assert_int_equal(left_s(d, 1), 800);
    world_run(d->x, 2);
    assert_in_range(left_s(d, 1), 797, 800);
    clinic_destroy(d);
}

static void test_a_setting_that_is_shorter_by_now_ends_it(void **state)
{
    struct clinic *d = overridden(span_s(800));
    world_run(d->x, 50);
    d->x->policy.health.override = span_s(40);
    watch_set_policy(d->x->w, &d->x->policy);
    assert_int_equal(left_s(d, 1), 0);
    world_run(d->x, 2);
    assert_null(member_override(world_node(d->x, 1)));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_override_keeps_its_time_when_the_clock_is_set),
        cmocka_unit_test(test_an_override_stands_for_its_time_and_its_age_is_written_down),
        cmocka_unit_test(test_another_controller_goes_on_from_the_age_that_is_written_down),
        cmocka_unit_test(test_a_second_override_has_its_whole_time),
        cmocka_unit_test(test_a_setting_that_is_shorter_by_now_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
