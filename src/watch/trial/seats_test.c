/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/ward_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_scheduler_has_to_say_that_the_node_is_held_and_free(void **state)
{
    struct ward *d = ward_create(2, BURN);
    struct member *m = world_node(d->x, 1);
    watch_scheduler(d->x->w, m, WORK_UNKNOWN, false);
    ward_run(d, 5);
    assert_int_equal(d->ran[1], 0);
    assert_false(ward_held(d, 1));
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    for (int i = 0; i < 50 && !ward_held(d, 1); i++)
        world_run(d->x, 1);
    assert_true(ward_held(d, 1));
    watch_scheduler(d->x->w, m, WORK_UNKNOWN, false); /* not read since it is to be drained */
    ward_run(d, 5);
    assert_int_equal(d->ran[1], 0);
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    ward_run(d, 3);
    assert_int_equal(d->ran[1], 1);
    assert_false(ward_held(d, 1));
    ward_destroy(d);
}

/* Since the last regular reading, while it was held already. */
static void test_one_that_somebody_drains_right_before_runs_nothing(void **state)
{
    struct ward *d = ward_create(2, BURN);
    for (int i = 1; i <= 2; i++)
        watch_scheduler(d->x->w, world_node(d->x, i), WORK_IDLE, false);
    for (int i = 0; i < 50 && ward_count_held(d) < 2; i++)
        world_run(d->x, 1);
    d->drained[1] = true;
    ward_run(d, 10);
    assert_int_equal(d->ran[1], 0);
    assert_int_equal(d->ran[2], 1);
    assert_false(ward_held(d, 1)); /* and is let go */
    d->drained[1] = false;
    watch_elsewhere(d->x->w, world_now(d->x), world_node(d->x, 1), &(struct elsewhere){0});
    ward_run(d, 900);
    assert_int_equal(d->ran[1], 1);
    ward_destroy(d);
}

static void test_one_that_is_not_free_in_time_is_let_go(void **state)
{
    struct ward *d = ward_create(1, BURN);
    for (int i = 0; i < 50 && !ward_held(d, 1); i++)
        world_run(d->x, 1);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_UNKNOWN, false);
    ward_run(d, 110);
    assert_true(ward_held(d, 1));
    ward_run(d, 20);
    assert_false(ward_held(d, 1));
    assert_null(member_trial(world_node(d->x, 1)));
    ward_destroy(d);
}

static void test_work_ends_it_and_the_node_has_rest(void **state)
{
    struct ward *d = ward_create(1, BURN);
    ward_begin(d, 1);
    d->x->work[1] = "[\"job.7\"]";
    ward_run(d, 15);
    assert_false(ward_held(d, 1));
    assert_int_equal(d->stopped[1], 1);
    assert_null(ward_last(d, 1, "burn")); /* it did not run */
    d->x->work[1] = "[]";
    ward_run(d, 500);
    assert_int_equal(d->ran[1], 1);
    ward_run(d, 200);
    assert_int_equal(d->ran[1], 2);
    ward_destroy(d);
}

static void test_a_failure_is_an_incident_and_isolates_before_the_node_is_let_go(void **state)
{
    struct ward *d = ward_create(20, BURN);
    d->answer[1] = FATAL;
    ward_run(d, 5);
    assert_true(world_held(d->x, 1, CLAIM_REPAIR));
    assert_false(ward_held(d, 1));
    assert_int_equal(ward_last(d, 1, "burn")->result, RESULT_FATAL);
    const char *isolated = strstr(d->x->log.s, "health.findings lx01"),
               *let = strstr(d->x->log.s, "trial.end");
    assert_true(isolated && let && isolated < let);
    assert_non_null(strstr(isolated, "isolate (fatal): burn: 3 GB/s"));
    ward_destroy(d);
}

static void test_a_run_without_an_answer_counts_as_run(void **state)
{
    struct ward *d = ward_create(2, BURN);
    d->answer[1] = "{\"result\":\"unsupported\",\"text\":\"no such tool\"}";
    d->answer[2] = "{\"result\":\"unknown\",\"text\":\"no idea\"}";
    ward_run(d, 1200);
    assert_int_equal(d->ran[1], 1);
    assert_int_equal(d->ran[2], 1);
    assert_int_equal(ward_last(d, 1, "burn")->result, RESULT_UNSUPPORTED);
    assert_null(member_ailment(world_node(d->x, 1)));
    assert_null(member_ailment(world_node(d->x, 2)));
    ward_destroy(d);
}

static void test_a_node_alone_is_not_believed_about_a_groups_check(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    ward_tell(d, 1,
              "[{\"check\":\"pair\",\"result\":\"fatal\",\"age_ms\":0,\"findings\":[{\"result\":\"fatal\","
              "\"text\":\"3 GB/s\"}]}]");
    ward_run(d, 2);
    assert_null(ward_incident(d, 1));
    ward_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_scheduler_has_to_say_that_the_node_is_held_and_free),
        cmocka_unit_test(test_one_that_somebody_drains_right_before_runs_nothing),
        cmocka_unit_test(test_one_that_is_not_free_in_time_is_let_go),
        cmocka_unit_test(test_work_ends_it_and_the_node_has_rest),
        cmocka_unit_test(test_a_failure_is_an_incident_and_isolates_before_the_node_is_let_go),
        cmocka_unit_test(test_a_run_without_an_answer_counts_as_run),
        cmocka_unit_test(test_a_node_alone_is_not_believed_about_a_groups_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
