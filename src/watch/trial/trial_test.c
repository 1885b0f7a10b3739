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

static void test_the_journal_says_which_node_was_held_for_which_check(void **state)
{
    struct ward *d = ward_create(2, BURN);
    d->hangs[1] = true;
    ward_run(d, 5);
    d->hangs[1] = false;
    ward_run(d, 5);
    world_said(d->x, "trial.begin lx[01-02]: burn\n"
                     "node.drained lx[01-02]\n"
                     "trial.end lx02: burn, lx02 ok (it ran)\n"
                     "trial.end lx01: burn, lx01 ok (it ran)\n");
    ward_destroy(d);
}

static void test_maintenance_ends_it_and_none_begins_in_it(void **state)
{
    struct ward *d = ward_create(1, BURN);
    ward_begin(d, 1);
    watch_window(d->x->w, world_node(d->x, 1), "reservation root_1");
    ward_run(d, 2);
    assert_false(ward_held(d, 1));
    assert_int_equal(d->stopped[1], 1);
    assert_null(ward_last(d, 1, "burn"));
    d->hangs[1] = false;
    ward_run(d, 2000);
    assert_int_equal(d->ran[1], 1);
    watch_window(d->x->w, world_node(d->x, 1), NULL);
    ward_run(d, 40);
    assert_int_equal(d->ran[1], 2);
    ward_destroy(d);
}

static void test_people_end_it(void **state)
{
    struct ward *d = ward_create(3, BURN);
    for (int i = 1; i <= 3; i++)
        d->hangs[i] = true;
    ward_run(d, 5);
    world_command_for(d->x, COMMAND_DRAIN, "lx01", "bad DIMM", NULL);
    world_command(d->x, COMMAND_UNDRAIN, "lx02", NULL);
    world_override(d->x, 3);
    ward_run(d, 3);
    assert_int_equal(ward_count_held(d), 0);
    assert_true(world_held(d->x, 1, CLAIM_DRAIN));
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(d->stopped[i], 1);
        assert_null(member_trial(world_node(d->x, i)));
    }
    ward_destroy(d);
}

static void test_the_switch_ends_all(void **state)
{
    struct ward *d = ward_create(2, BURN);
    ward_begin(d, 1);
    world_command_for(d->x, COMMAND_SWITCH, "", "smoke", "{\"name\":\"stop\",\"on\":true}");
    ward_run(d, 3);
    assert_int_equal(ward_count_held(d), 0);
    assert_int_equal(d->stopped[1], 1);
    ward_run(d, 700);
    assert_int_equal(d->ran[1], 1);
    ward_destroy(d);
}

static void test_nothing_is_held_where_health_is_only_observed(void **state)
{
    struct ward *d = ward_create(2, BURN);
    ward_begin(d, 1);
    d->x->policy.health.limits.act = false;
    watch_set_policy(d->x->w, &d->x->policy);
    ward_run(d, 3);
    assert_int_equal(ward_count_held(d), 0);
    ward_run(d, 700);
    assert_int_equal(d->ran[1], 1);
    ward_destroy(d);
}

static void test_a_check_that_is_taken_away_ends_it(void **state)
{
    struct ward *d = ward_create(2, BURN);
    ward_begin(d, 1);
    ward_take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n");
    ward_run(d, 3);
    assert_int_equal(ward_count_held(d), 0);
    ward_destroy(d);
}

static void test_one_that_never_answers_is_let_go(void **state)
{
    struct ward *d = ward_create(1, BURN);
    ward_begin(d, 1);
    ward_run(d, 240);
    assert_false(ward_held(d, 1));
    assert_int_equal(d->stopped[1], 1);
    ward_destroy(d);
}

static void test_another_controller_ends_trials_that_it_did_not_begin(void **state)
{
    struct ward *d = ward_create(2, BURN);
    ward_begin(d, 1);
    world_lead_anew(d->x);
    ward_run(d, 5);
    assert_true(ward_held(d, 1)); /* nobody can be told to end what runs */
    world_open(d->x, 1, 2);
    ward_all_well(d);
    d->hangs[1] = false;
    d->n_open = 0;
    ward_run(d, 3);
    assert_int_equal(d->stopped[1], 1);
    ward_run(d, 5);
    assert_false(ward_held(d, 1));
    assert_int_equal(d->ran[1], 2); /* due again */
    ward_destroy(d);
}

static void test_another_controller_ends_it_though_the_node_is_gone(void **state)
{
    struct ward *d = ward_create(2, BURN);
    ward_begin(d, 1);
    world_lead_anew(d->x);
    world_open(d->x, 2, 2);
    ward_all_well(d);
    ward_run(d, 240);
    assert_false(ward_held(d, 1));
    ward_destroy(d);
}

static void test_a_claim_without_a_record_is_let_go(void **state)
{
    struct ward *d = ward_create(2, "Check=space Probe=fs.space Path=/ Every=60s\n");
    const char *claim = "{\"kind\":\"trial\",\"owner\":\"fettled\",\"reason\":\"check x\",\"since\":\"1\","
                        "\"nodes\":\"lx01\",\"drained\":\"\"}";
    assert_int_equal(cluster_put(d->x->c, "claim/9.9", claim, NULL), 0);
    assert_true(ward_held(d, 1));
    ward_run(d, 3);
    assert_false(ward_held(d, 1));
    ward_destroy(d);
}

static void test_one_that_is_examined_runs_it_with_idle_partners(void **state)
{
    struct ward *d = ward_examine(8);
    d->hangs[1] = true;
    ward_run(d, 10);
    /* A pair, and two who can tell whose fault it is; no claim but its repair's is on who is examined. */
    assert_true(ward_held(d, 2) && ward_held(d, 3) && ward_held(d, 4) && !ward_held(d, 1));
    assert_int_equal(ward_count_held(d), 3);
    assert_int_equal(world_node(d->x, 1)->n_claims, 1);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_string_equal(d->with[2], "lx01,lx02 1");
    assert_string_equal(d->with[4], "lx03,lx04 1");
    assert_string_equal(world_node(d->x, 2)->claims[0].claim->reason, "check pair, to examine lx01");
    d->says[1] = NULL;
    ward_tell(d, 1, WELL);
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->step, STEP_EXAMINE);
    d->hangs[1] = false;
    ward_run(d, 10);
    assert_null(ward_repair(d, 1));
    assert_int_equal(ward_last(d, 1, "pair")->result, RESULT_OK);
    assert_int_equal(d->ran[1], 1);
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_without_partners_in_time_it_is_inconclusive(void **state)
{
    struct ward *d = ward_create(3, EXAM);
    d->x->work[2] = "[\"job.7\"]";
    world_command_for(d->x, COMMAND_DRAIN, "lx03", "bad DIMM", NULL);
    ward_run(d, 15);
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    ward_run(d, 3550);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_NOT);
    ward_run(d, 100);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_string_equal(ward_repair(d, 1)->why,
                        "it was not examined in time: nobody was free to run pair with it");
    assert_int_equal(d->ran[1] + d->ran[2] + d->ran[3], 0);
    /* With the next one that is idle it goes on. */
    d->x->work[2] = "[]";
    ward_run(d, 60);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_too_few_partners_can_tell_nothing_and_are_not_warned_of(void **state)
{
    struct ward *d = ward_examine(2);
    d->answer[1] = FATAL;
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->step, STEP_EXAMINE);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_int_equal(ward_repair(d, 1)->inconclusive, 1);
    assert_null(ward_incident(d, 2));
    ward_assert_free(d);
    ward_run(d, 500);
    assert_int_equal(d->ran[1], 1); /* not at once again */
    ward_run(d, 900);
    assert_int_equal(ward_repair(d, 1)->step, STEP_QUEUE);
    assert_string_equal(
        ward_repair(d, 1)->why,
        "pair came to no answer: failed with lx02, and too few others can tell whose fault it is");
    assert_int_equal(d->ran[1], 3);
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_a_group_that_is_broken_up_is_inconclusive(void **state)
{
    struct ward *d = ward_examine(2);
    d->hangs[1] = d->hangs[2] = true;
    ward_run(d, 10);
    assert_int_equal(d->ran[1], 1);
    world_command(d->x, COMMAND_UNDRAIN, "lx02", NULL);
    ward_run(d, 5);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_true(d->stopped[1] == 1 && d->stopped[2] == 1);
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_partners_are_let_go_when_the_stage_ends(void **state)
{
    static const struct {
        enum command_kind kind;
        const char *set;
    } ends[] = {{COMMAND_TRANSITION, "{\"transition\":\"maintenance\"}"},
                {COMMAND_TRANSITION, "{\"transition\":\"manual_drain\"}"},
                {COMMAND_TRANSITION, "{\"transition\":\"quarantine\"}"},
                {COMMAND_DRAIN, NULL}};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        struct ward *d = ward_examine(4);
        for (int i = 1; i <= 4; i++)
            d->hangs[i] = true;
        ward_run(d, 10);
        assert_int_equal(ward_count_held(d), 3);
        assert_int_equal(world_command_for(d->x, ends[k].kind, "lx01", "mine", ends[k].set), 0);
        ward_run(d, 5);
        ward_assert_free(d);
        for (int i = 1; i <= 4; i++)
            assert_int_equal(d->stopped[i], 1);
        assert_int_not_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
        ward_destroy(d);
    }
}

static void test_partners_are_let_go_at_the_stages_deadline_and_a_booted_node_runs_nothing(void **state)
{
    struct ward *d = ward_examine(4);
    d->x->policy.health.examine_deadline = span_s(60);
    watch_set_policy(d->x->w, &d->x->policy);
    d->hangs[1] = true;
    ward_run(d, 75);
    assert_int_equal(ward_repair(d, 1)->inconclusive, 1);
    ward_assert_free(d);
    d->hangs[1] = false;
    d->n_open = 0;
    ward_run(d, 5);
    world_reboot(d->x, 1);
    ward_all_well(d);
    ward_run(d, 5);
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_a_stopped_trial_is_no_answer_and_goes_on_afterwards(void **state)
{
    struct ward *d = ward_examine(4);
    d->hangs[1] = true;
    ward_run(d, 10);
    world_command_for(d->x, COMMAND_SWITCH, "", "smoke", "{\"name\":\"stop\",\"on\":true}");
    ward_run(d, 5);
    ward_assert_free(d);
    assert_int_equal(d->stopped[1], 1);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_NOT);
    d->hangs[1] = false;
    d->n_open = 0;
    world_command_for(d->x, COMMAND_SWITCH, "", NULL, "{\"name\":\"stop\",\"on\":false}");
    ward_run(d, 620);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    ward_destroy(d);
}

static void test_another_controller_ends_an_examination_with_partners_and_begins_anew(void **state)
{
    struct ward *d = ward_examine(5);
    for (int i = 1; i <= 5; i++)
        d->hangs[i] = true;
    ward_run(d, 10);
    assert_int_equal(ward_count_held(d), 3);
    world_lead_anew(d->x);
    world_open(d->x, 1, 5);
    ward_all_well(d);
    for (int i = 1; i <= 5; i++)
        d->hangs[i] = false;
    d->n_open = 0;
    ward_run(d, 2);
    for (int i = 1; i <= 4; i++)
        assert_int_equal(d->stopped[i], 1); /* also on who is examined: what it runs would be in the way */
    ward_run(d, 20);
    assert_int_equal(d->ran[1], 2);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_a_check_that_nobody_can_run_neither_fails_nor_passes(void **state)
{
    struct ward *d = ward_examine(4);
    for (int i = 1; i <= 4; i++)
        d->answer[i] = "{\"result\":\"unsupported\",\"text\":\"no such tool\"}";
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_a_node_that_a_scheduled_group_blamed_has_to_pass_with_partners(void **state)
{
    struct ward *d = ward_create(8, PAIR);
    d->answer[3] = FATAL;
    ward_wait_step(d, 3, STEP_EXAMINE);
    unsigned before = d->ran[3];
    d->answer[3] = NULL;
    ward_run(d, 60);
    assert_int_equal(d->ran[3], before + 1);
    assert_null(ward_repair(d, 3));
    assert_null(ward_incident(d, 3));
    ward_assert_free(d);
    ward_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_journal_says_which_node_was_held_for_which_check),
        cmocka_unit_test(test_maintenance_ends_it_and_none_begins_in_it),
        cmocka_unit_test(test_people_end_it),
        cmocka_unit_test(test_the_switch_ends_all),
        cmocka_unit_test(test_nothing_is_held_where_health_is_only_observed),
        cmocka_unit_test(test_a_check_that_is_taken_away_ends_it),
        cmocka_unit_test(test_one_that_never_answers_is_let_go),
        cmocka_unit_test(test_another_controller_ends_trials_that_it_did_not_begin),
        cmocka_unit_test(test_another_controller_ends_it_though_the_node_is_gone),
        cmocka_unit_test(test_a_claim_without_a_record_is_let_go),
        cmocka_unit_test(test_one_that_is_examined_runs_it_with_idle_partners),
        cmocka_unit_test(test_without_partners_in_time_it_is_inconclusive),
        cmocka_unit_test(test_too_few_partners_can_tell_nothing_and_are_not_warned_of),
        cmocka_unit_test(test_a_group_that_is_broken_up_is_inconclusive),
        cmocka_unit_test(test_partners_are_let_go_when_the_stage_ends),
        cmocka_unit_test(test_partners_are_let_go_at_the_stages_deadline_and_a_booted_node_runs_nothing),
        cmocka_unit_test(test_a_stopped_trial_is_no_answer_and_goes_on_afterwards),
        cmocka_unit_test(test_another_controller_ends_an_examination_with_partners_and_begins_anew),
        cmocka_unit_test(test_a_check_that_nobody_can_run_neither_fails_nor_passes),
        cmocka_unit_test(test_a_node_that_a_scheduled_group_blamed_has_to_pass_with_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
