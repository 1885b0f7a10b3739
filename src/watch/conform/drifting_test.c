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

/* Its clock is a day ahead: there is time to see it. */
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
    world_lead_anew(x);
    world_open(x, 1, 2);
    world_says(x, 1, 2, A);
    world_run(x, 29 * 60);
    assert_non_null(world_drift(x, 2));
    world_run(x, 120);
    assert_null(world_drift(x, 2));
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clock_that_is_set_ages_no_drift),
        cmocka_unit_test(test_a_new_leader_with_another_clock_takes_nobody_down_at_once),
        cmocka_unit_test(test_a_new_leader_counts_the_time_before),
        cmocka_unit_test(test_drift_that_comes_and_goes_is_damped),
        cmocka_unit_test(test_three_times_in_a_day_is_no_flapping),
        cmocka_unit_test(test_a_new_leader_does_not_end_drift_that_flaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
