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

static void test_each_idle_node_runs_it_when_it_is_due(void **state)
{
    struct ward *d = ward_create(3, BURN);
    ward_run(d, 10);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(d->ran[i], 1);
        assert_string_equal(d->with[i], "- 0");
        assert_int_equal(ward_last(d, i, "burn")->result, RESULT_OK);
    }
    assert_int_equal(ward_count_held(d), 0);
    ward_run(d, 3500);
    assert_int_equal(d->ran[1], 1);
    ward_run(d, 200);
    assert_int_equal(d->ran[1], 2);
    ward_destroy(d);
}

static void test_no_more_than_allowed_at_once_the_longest_untried_first(void **state)
{
    struct ward *d = ward_create(20, BURN);
    d->x->policy.health.trials_percent = 10;
    watch_set_policy(d->x->w, &d->x->policy);
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = true;
    ward_run(d, 10);
    assert_int_equal(ward_count_held(d), 2);
    assert_true(ward_held(d, 1) && ward_held(d, 2));
    d->hangs[1] = d->hangs[2] = false;
    ward_run(d, 5);
    assert_true(ward_held(d, 3) && ward_held(d, 4));
    assert_int_equal(ward_count_held(d), 2);
    d->x->policy.health.trials_percent = 0;
    watch_set_policy(d->x->w, &d->x->policy);
    d->hangs[3] = d->hangs[4] = false;
    ward_run(d, 5);
    assert_int_equal(ward_count_held(d), 0);
    ward_destroy(d);
}

static void test_the_budgets_hold_for_trials(void **state)
{
    struct ward *d = ward_create(20, BURN);
    d->x->policy.health.limits.percent[SCOPE_CLUSTER] = 10;
    watch_set_policy(d->x->w, &d->x->policy);
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = true;
    ward_run(d, 10);
    assert_int_equal(ward_count_held(d), 2);
    /* Who is ill goes before them. */
    ward_tell(d, 20, ILL);
    ward_run(d, 5);
    assert_true(world_held(d->x, 20, CLAIM_REPAIR));
    assert_int_equal(ward_count_held(d), 0);
    assert_true(d->stopped[1] == 1 && d->stopped[2] == 1);
    ward_destroy(d);
}

static void test_only_nodes_that_are_idle_and_well_and_in_service(void **state)
{
    struct ward *d = ward_create(6, "Check=space Probe=fs.space Path=/ Every=60s\n");
    d->x->work[1] = "[\"job.7\"]";
    d->x->work[2] = NULL;
    ward_run(d, 11);
    world_command_for(d->x, COMMAND_DRAIN, "lx03", "bad DIMM", NULL);
    d->x->off[4] = true;
    ward_run(d, 40);
    d->says[5] = "[{\"check\":\"space\",\"result\":\"degraded\",\"age_ms\":0,\"findings\":[{\"result\":"
                 "\"degraded\",\"text\":\"full\"}]}]";
    ward_tell(d, 5, d->says[5]);
    ward_take_checks(d, BURN);
    ward_run(d, 20);
    for (int i = 1; i <= 5; i++)
        assert_int_equal(d->ran[i], 0);
    assert_int_equal(d->ran[6], 1);
    ward_destroy(d);
}

static void test_one_that_somebody_else_keeps_from_work_is_left_alone(void **state)
{
    struct ward *d = ward_create(1, BURN);
    struct member *m = world_node(d->x, 1);
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    watch_away(d->x->w, m, true);
    ward_run(d, 10);
    assert_int_equal(d->ran[1], 0);
    assert_false(ward_held(d, 1));
    watch_away(d->x->w, m, false);
    ward_run(d, 10);
    assert_int_equal(d->ran[1], 1);
    ward_destroy(d);
}

static void test_one_alone_waits_for_company(void **state)
{
    struct ward *d = ward_create(1, PAIR);
    ward_run(d, 60);
    assert_int_equal(d->ran[1], 0);
    assert_int_equal(ward_count_held(d), 0);
    ward_destroy(d);
}

static void test_one_group_and_its_witnesses_have_room_in_a_small_share(void **state)
{
    struct ward *d = ward_create(20, PAIR);
    d->x->policy.health.trials_percent = 1;
    watch_set_policy(d->x->w, &d->x->policy);
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = true;
    ward_run(d, 10);
    assert_int_equal(ward_count_held(d), 4);
    ward_destroy(d);
}

static void test_a_group_is_of_one_class(void **state)
{
    static const struct class_lines classes[] = {{"gpu", {{"Nodes", "lx[01,03]"}}}};
    struct ward *d = ward_create(4, PAIR);
    world_configure(d->x, classes, 1, "");
    ward_all_well(d);
    ward_run(d, 20);
    assert_string_equal(d->with[1], "lx01,lx03 0");
    assert_string_equal(d->with[2], "lx02,lx04 0");
    ward_destroy(d);
}

static void test_partners_are_no_more_than_trials_may_hold_and_come_before_scheduled_checks(void **state)
{
    struct ward *d = ward_create(20, EXAM);
    d->x->policy.health.trials_percent = 1;
    watch_set_policy(d->x->w, &d->x->policy);
    ward_take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n"
                        "Check=burn Probe=plugin Run=/bin/true When=scheduled Every=1h Deadline=60s\n"
                        "Check=pair Probe=plugin Run=/bin/true When=extensive Group=2 Deadline=60s\n");
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = true;
    d->says[19] = d->says[20] = ILL;
    ward_tell(d, 19, ILL);
    ward_tell(d, 20, ILL);
    ward_run(d, 15);
    assert_int_equal(ward_count_held(d), 3);
    assert_true(d->ran[19] == 1 && d->ran[20] == 0); /* for the other there is no room yet */
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = false;
    ward_run(d, 30);
    assert_int_equal(ward_repair(d, 19)->examined, EXAMINED_PASS);
    assert_int_equal(ward_repair(d, 20)->examined, EXAMINED_PASS);
    const char *both = strstr(d->x->log.s, "lx20 ok"), *scheduled = strstr(d->x->log.s, ": burn");
    assert_true(both && scheduled && both < scheduled);
    ward_destroy(d);
}

static void test_where_no_trials_may_be_nobody_is_held_for_one_that_is_examined(void **state)
{
    struct ward *d = ward_examine(8);
    d->x->policy.health.trials_percent = 0;
    watch_set_policy(d->x->w, &d->x->policy);
    ward_run(d, 60);
    assert_int_equal(d->ran[1] + d->ran[2], 0);
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_an_ill_node_is_no_partner(void **state)
{
    struct ward *d = ward_examine(3);
    d->says[2] = ILL;
    d->says[3] = "[{\"check\":\"space\",\"result\":\"degraded\",\"age_ms\":0,\"findings\":[{\"result\":"
                 "\"degraded\",\"text\":\"full\"}]}]";
    ward_tell(d, 2, ILL);
    ward_tell(d, 3, d->says[3]);
    ward_run(d, 120);
    assert_int_equal(d->ran[1] + d->ran[2] + d->ran[3], 0);
    assert_int_equal(ward_count_held(d), 0);
    ward_destroy(d);
}

static void test_a_group_of_another_class_or_with_another_check_is_no_partner(void **state)
{
    static const struct class_lines classes[] = {{"gpu", {{"Nodes", "lx[01,03-04]"}}}};
    struct ward *d =
        ward_create(5, "Check=space Probe=fs.space Path=/ Every=60s\n"
                       "Check=pair Probe=plugin Run=/bin/true When=extensive Group=2 Deadline=60s "
                       "Nodes=lx[01-03,05]\n");
    world_configure(d->x, classes, 1, "");
    ward_all_well(d);
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    ward_run(d, 20);
    assert_string_equal(d->with[1], "lx01,lx03 0");
    assert_int_equal(d->ran[2] + d->ran[4] + d->ran[5], 0);
    ward_destroy(d);
}

static const char JOB[] = "[\"job.7\"]";

/* Of four nodes lx01 is examined, and lx02 alone is idle. */
static struct ward *busy_create(void)
{
    struct ward *d = ward_create(4, EXAM);
    d->x->work[3] = d->x->work[4] = JOB;
    ward_run(d, 15);
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    return d;
}

static void test_it_waits_for_as_many_as_can_tell(void **state)
{
    struct ward *d = busy_create();
    ward_run(d, 600);
    d->x->work[3] = "[]";
    ward_run(d, 60);
    assert_int_equal(ward_repair(d, 1)->step, STEP_EXAMINE);
    assert_int_equal(d->ran[1] + d->ran[2] + d->ran[3], 0);
    ward_assert_free(d);
    d->x->work[4] = "[]";
    d->answer[1] = FATAL;
    ward_run(d, 30);
    assert_string_equal(ward_repair(d, 1)->problem, "hardware_problem");
    ward_destroy(d);
}

static void test_after_a_quarter_of_its_time_a_group_has_to_do(void **state)
{
    struct ward *d = busy_create();
    ward_run(d, 890);
    assert_int_equal(d->ran[1], 0);
    ward_run(d, 30);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    ward_destroy(d);
}

static void test_a_node_out_of_service_is_not_waited_for(void **state)
{
    struct ward *d = busy_create();
    world_command_for(d->x, COMMAND_DRAIN, "lx[03-04]", "bad DIMM", NULL);
    ward_run(d, 20);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    ward_destroy(d);
}

static void test_a_node_held_for_another_check_is_waited_for(void **state)
{
    CLEANUP_TEXT struct text checks = {0};
    text_printf(&checks, "%sCheck=burn Probe=plugin Run=/bin/true When=scheduled Every=1h Deadline=10m\n",
                EXAM);
    struct ward *d = ward_create(4, checks.s);
    d->hangs[3] = d->hangs[4] = true;
    ward_run(d, 10);
    assert_true(ward_held(d, 3) && ward_held(d, 4));
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    ward_run(d, 300);
    assert_string_equal(d->with[1], "- 0");
    d->hangs[3] = d->hangs[4] = false;
    ward_run(d, 30);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    ward_destroy(d);
}

/* Also without others: then the node runs the check first with another of the same partners. */
static void test_another_try_avoids_the_partners_that_spoiled_it(void **state)
{
    for (size_t n = 4; n <= 8; n += 4) {
        struct ward *d = ward_examine(n);
        d->hangs[2] = true;
        ward_run(d, 10);
        assert_string_equal(d->with[1], "lx01,lx02 0");
        world_reboot(d->x, 2);
        d->hangs[2] = false;
        d->n_open = 0;
        ward_all_well(d);
        ward_run(d, 10);
        assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
        ward_assert_free(d);
        ward_run(d, 620);
        assert_string_equal(d->with[1], n == 8 ? "lx01,lx05 0" : "lx01,lx03 0");
        assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
        ward_destroy(d);
    }
}

static void test_a_partner_that_failed_comes_after_those_that_did_not_run(void **state)
{
    struct ward *d = ward_examine(3);
    d->answer[2] = FATAL;
    ward_run(d, 20);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    ward_run(d, 620);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    assert_string_equal(ward_incident(d, 2)->findings[0].f.text,
                        "failed with lx01 and lx03, which passed with others: 3 GB/s");
    ward_destroy(d);
}

static void test_a_node_that_passed_is_no_suspect_and_each_has_its_turn(void **state)
{
    struct ward *d = ward_examine(8);
    ward_run(d, 20);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    ward_tell(d, 8, d->says[8] = ILL);
    ward_run(d, 20);
    assert_string_equal(d->with[8], "lx08,lx05 0");
    assert_int_equal(d->ran[6] + d->ran[7], 2);
    d->says[8] = NULL;
    ward_all_well(d);
    ward_run(d, 60);
    ward_tell(d, 7, d->says[7] = ILL);
    ward_run(d, 20);
    assert_string_equal(d->with[7], "lx07,lx02 0");
    ward_destroy(d);
}

/* More are idle than are noted. */
static void test_the_nodes_of_very_many_that_ran_longest_ago_are_found(void **state)
{
    struct ward *d = ward_create(NODES, EXAM);
    for (int i = 1; i <= NODES; i++) {
        CLEANUP_TEXT struct text key = {0}, value = {0};
        text_printf(&key, "trial/%s", world_node(d->x, i)->name);
        text_printf(&value, "{\"now\":null,\"last\":{\"pair\":{\"at\":\"%d\",\"result\":\"ok\"}}}", 1000 - i);
        assert_int_equal(cluster_put(d->x->c, key.s, value.s, NULL), 0);
    }
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    ward_run(d, 10);
    assert_string_equal(d->with[1], "lx01,lx200 0");
    assert_int_equal(d->ran[199] + d->ran[198], 2);
    ward_destroy(d);
}

static void test_where_budgets_have_room_for_few_it_waits_as_long(void **state)
{
    struct ward *d = ward_create(10, EXAM);
    d->x->policy.health.limits.percent[SCOPE_CLUSTER] = 20;
    watch_set_policy(d->x->w, &d->x->policy);
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    ward_run(d, 880);
    assert_int_equal(d->ran[1], 0);
    ward_assert_free(d);
    ward_run(d, 30);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    ward_destroy(d);
}

/* lx20 waits for room; no partners are there for the others that ask. */
static void test_a_node_that_waits_for_room_comes_before_scheduled_checks(void **state)
{
    static const struct class_lines classes[] = {{"gpu", {{"Nodes", "lx[22-24]"}}}};
    CLEANUP_TEXT struct text checks = {0};
    text_printf(&checks,
                "%sCheck=duo Probe=plugin Run=/bin/true When=scheduled Group=2 Every=1h Deadline=60s\n",
                EXAM);
    for (int late = 0; late < 4; late++) {
        struct ward *d = ward_create(24, checks.s);
        d->x->policy.health.trials_percent = 1;
        watch_set_policy(d->x->w, &d->x->policy);
        world_configure(d->x, classes, 1, "");
        ward_all_well(d);
        for (int i = 1; i <= 4; i++)
            d->hangs[i] = true;
        ward_run(d, 10);
        assert_int_equal(ward_count_held(d), 4);
        for (int i = 20; i <= 24; i++)
            if (i != 21)
                ward_tell(d, i, d->says[i] = ILL);
        ward_run(d, 10 + late);
        for (int i = 1; i <= 4; i++)
            d->hangs[i] = false;
        ward_run(d, 20);
        const char *first = strstr(d->x->log.s, "trial.begin"), *second = strstr(first + 1, "trial.begin");
        assert_true(second && strstr(second, ": pair") && strstr(second, ": pair") < strchr(second, '\n'));
        ward_destroy(d);
    }
}

/* Twenty of one class wait; one of another class has partners, and comes last in the order of the nodes. */
static void test_a_node_that_waits_for_partners_keeps_none_from_others(void **state)
{
    static const struct class_lines classes[] = {{"gpu", {{"Nodes", "lx[41-44]"}}}};
    struct ward *d = ward_create(44, EXAM);
    world_configure(d->x, classes, 1, "");
    ward_all_well(d);
    for (int i = 21; i <= 40; i++)
        d->x->work[i] = JOB;
    ward_run(d, 15);
    for (int i = 1; i <= 41; i++)
        if (i <= 20 || i == 41)
            ward_tell(d, i, d->says[i] = ILL);
    ward_run(d, 60);
    for (int i = 1; i <= 20; i++)
        assert_int_equal(ward_repair(d, i)->step, STEP_EXAMINE);
    assert_int_equal(ward_repair(d, 41)->examined, EXAMINED_PASS);
    assert_int_equal(d->ran[1], 0);
    ward_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_idle_node_runs_it_when_it_is_due),
        cmocka_unit_test(test_no_more_than_allowed_at_once_the_longest_untried_first),
        cmocka_unit_test(test_the_budgets_hold_for_trials),
        cmocka_unit_test(test_only_nodes_that_are_idle_and_well_and_in_service),
        cmocka_unit_test(test_one_that_somebody_else_keeps_from_work_is_left_alone),
        cmocka_unit_test(test_one_alone_waits_for_company),
        cmocka_unit_test(test_one_group_and_its_witnesses_have_room_in_a_small_share),
        cmocka_unit_test(test_a_group_is_of_one_class),
        cmocka_unit_test(test_partners_are_no_more_than_trials_may_hold_and_come_before_scheduled_checks),
        cmocka_unit_test(test_where_no_trials_may_be_nobody_is_held_for_one_that_is_examined),
        cmocka_unit_test(test_an_ill_node_is_no_partner),
        cmocka_unit_test(test_a_group_of_another_class_or_with_another_check_is_no_partner),
        cmocka_unit_test(test_it_waits_for_as_many_as_can_tell),
        cmocka_unit_test(test_after_a_quarter_of_its_time_a_group_has_to_do),
        cmocka_unit_test(test_a_node_out_of_service_is_not_waited_for),
        cmocka_unit_test(test_a_node_held_for_another_check_is_waited_for),
        cmocka_unit_test(test_another_try_avoids_the_partners_that_spoiled_it),
        cmocka_unit_test(test_a_partner_that_failed_comes_after_those_that_did_not_run),
        cmocka_unit_test(test_a_node_that_passed_is_no_suspect_and_each_has_its_turn),
        cmocka_unit_test(test_the_nodes_of_very_many_that_ran_longest_ago_are_found),
        cmocka_unit_test(test_where_budgets_have_room_for_few_it_waits_as_long),
        cmocka_unit_test(test_a_node_that_waits_for_room_comes_before_scheduled_checks),
        cmocka_unit_test(test_a_node_that_waits_for_partners_keeps_none_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
