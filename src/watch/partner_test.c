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

static const char EXAM[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                           "Check=pair Probe=plugin Run=/bin/true When=extensive Group=2 Deadline=60s\n";
static const char PAIR[] =
    "Check=pair Probe=plugin Run=/bin/true When=scheduled Group=2 Every=1h Deadline=60s\n";

/* lx01 is ill of something else, and in the extensive stage. */
static struct ward *exam_create(size_t n)
{
    struct ward *d = ward_create(n, EXAM);
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    return d;
}

static void wait_step(struct ward *d, int i, enum step step)
{
    for (int t = 0; t < 30 && (!ward_repair(d, i) || ward_repair(d, i)->step != step); t++)
        ward_run(d, 1);
    assert_int_equal(ward_repair(d, i)->step, step);
}

/* No node is held, and nothing is left of the trial. */
static void assert_free(struct ward *d)
{
    assert_int_equal(ward_count_held(d), 0);
    for (int i = 1; i <= (int)d->x->n; i++)
        assert_true(!member_trial(world_node(d->x, i)) || !*member_trial(world_node(d->x, i))->claim);
}

static void test_one_that_is_examined_runs_it_with_idle_partners(void **state)
{
    struct ward *d = exam_create(8);
    d->hangs[1] = true;
    ward_run(d, 10);
    /* A pair, and two nodes that can tell whose fault it is; the examined node only has its repair's claim.
     */
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
    assert_free(d);
    ward_destroy(d);
}

static void test_one_that_fails_with_all_its_partners_is_at_fault(void **state)
{
    struct ward *d = exam_create(8);
    d->answer[1] = FATAL;
    wait_step(d, 1, STEP_QUEUE);
    assert_string_equal(ward_repair(d, 1)->problem, "hardware_problem");
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_FAIL);
    assert_non_null(strstr(d->x->log.s, "lx01; more of fatal: pair fatal"));
    ward_run(d, 5);
    for (int i = 2; i <= 8; i++)
        assert_true(!ward_incident(d, i) && !ward_repair(d, i));
    assert_free(d);
    ward_destroy(d);
}

static void test_larger_groups_find_who_is_examined_or_clear_him(void **state)
{
    for (int group = 3; group <= 8; group++) {
        for (int bad = 1; bad <= 2; bad++) {
            CLEANUP_TEXT struct text checks = {0};
            text_printf(&checks,
                        "Check=space Probe=fs.space Path=/ Every=60s\n"
                        "Check=pair Probe=plugin Run=/bin/true When=extensive Group=%d Deadline=60s\n",
                        group);
            struct ward *d = ward_create(12, checks.s);
            d->says[1] = ILL;
            ward_tell(d, 1, ILL);
            d->answer[bad] = FATAL;
            ward_run(d, 40);
            assert_int_equal(ward_repair(d, 1)->examined, bad == 1 ? EXAMINED_FAIL : EXAMINED_PASS);
            assert_true(world_held(d->x, 2, CLAIM_REPAIR) == (bad == 2));
            for (int i = 3; i <= 12; i++)
                assert_null(ward_incident(d, i));
            ward_destroy(d);
        }
    }
}

static void test_a_partner_that_is_bad_is_named_and_who_is_examined_passes(void **state)
{
    struct ward *d = exam_create(8);
    d->answer[2] = FATAL;
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    assert_true(world_held(d->x, 2, CLAIM_REPAIR));
    assert_non_null(strstr(ward_incident(d, 2)->findings[0].f.text, "which passed with others"));
    ward_destroy(d);
}

static void test_a_bad_link_to_a_partner_is_nobodys_failure(void **state)
{
    struct ward *d = exam_create(8);
    d->bad_link[0] = 1;
    d->bad_link[1] = 2;
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
    assert_null(ward_incident(d, 2));
    assert_free(d);
    ward_destroy(d);
}

/* lx01 is ill, is well again, and is examined meanwhile. */
static void examine_again(struct ward *d)
{
    ward_tell(d, 1, d->says[1] = ILL);
    d->hangs[1] = true;
    ward_run(d, 10);
    d->says[1] = NULL;
    ward_tell(d, 1, WELL);
    d->hangs[1] = false;
    ward_run(d, 30);
    assert_null(ward_repair(d, 1));
    assert_free(d);
}

static void test_a_bad_link_is_over_when_its_ends_passed_together(void **state)
{
    struct ward *d = ward_create(6, EXAM);
    d->bad_link[0] = 1;
    d->bad_link[1] = 2;
    examine_again(d);
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
    examine_again(d); /* each of them passes with another one */
    assert_string_equal(d->with[1], "lx01,lx05 0");
    assert_string_equal(d->with[2], "lx06,lx02 1");
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
    d->bad_link[0] = 0;
    world_command_for(d->x, COMMAND_DRAIN, "lx[03-06]", "bad DIMM", NULL);
    examine_again(d);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
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
    assert_free(d);
    ward_destroy(d);
}

static void test_too_few_partners_can_tell_nothing_and_are_not_warned_of(void **state)
{
    struct ward *d = exam_create(2);
    d->answer[1] = FATAL;
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->step, STEP_EXAMINE);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_int_equal(ward_repair(d, 1)->inconclusive, 1);
    assert_null(ward_incident(d, 2));
    assert_free(d);
    ward_run(d, 500);
    assert_int_equal(d->ran[1], 1); /* not at once again */
    ward_run(d, 900);
    assert_int_equal(ward_repair(d, 1)->step, STEP_QUEUE);
    assert_string_equal(
        ward_repair(d, 1)->why,
        "pair came to no answer: failed with lx02, and too few others can tell whose fault it is");
    assert_int_equal(d->ran[1], 3);
    assert_free(d);
    ward_destroy(d);
}

static void test_a_group_that_is_broken_up_is_inconclusive(void **state)
{
    struct ward *d = exam_create(2);
    d->hangs[1] = d->hangs[2] = true;
    ward_run(d, 10);
    assert_int_equal(d->ran[1], 1);
    world_command(d->x, COMMAND_UNDRAIN, "lx02", NULL);
    ward_run(d, 5);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_true(d->stopped[1] == 1 && d->stopped[2] == 1);
    assert_free(d);
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
        struct ward *d = exam_create(4);
        for (int i = 1; i <= 4; i++)
            d->hangs[i] = true;
        ward_run(d, 10);
        assert_int_equal(ward_count_held(d), 3);
        assert_int_equal(world_command_for(d->x, ends[k].kind, "lx01", "mine", ends[k].set), 0);
        ward_run(d, 5);
        assert_free(d);
        for (int i = 1; i <= 4; i++)
            assert_int_equal(d->stopped[i], 1);
        assert_int_not_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
        ward_destroy(d);
    }
}

static void test_partners_are_let_go_at_the_stages_deadline_and_who_is_booted_runs_nothing(void **state)
{
    struct ward *d = exam_create(4);
    d->x->policy.health.examine_deadline = span_s(60);
    watch_set_policy(d->x->w, &d->x->policy);
    d->hangs[1] = true;
    ward_run(d, 75);
    assert_int_equal(ward_repair(d, 1)->inconclusive, 1);
    assert_free(d);
    d->hangs[1] = false;
    d->n_open = 0;
    ward_run(d, 5);
    world_reboot(d->x, 1);
    ward_all_well(d);
    ward_run(d, 5);
    assert_free(d);
    ward_destroy(d);
}

static void test_what_is_stopped_is_no_answer_and_goes_on_after(void **state)
{
    struct ward *d = exam_create(4);
    d->hangs[1] = true;
    ward_run(d, 10);
    world_command_for(d->x, COMMAND_SWITCH, "", "smoke", "{\"name\":\"stop\",\"on\":true}");
    ward_run(d, 5);
    assert_free(d);
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
    struct ward *d = exam_create(5);
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
        assert_int_equal(d->stopped[i], 1); /* also on the examined node: its run would be in the way */
    ward_run(d, 20);
    assert_int_equal(d->ran[1], 2);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    assert_free(d);
    ward_destroy(d);
}

static void test_partners_are_no_more_than_trials_may_hold_and_come_before_what_is_scheduled(void **state)
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
    struct ward *d = exam_create(8);
    d->x->policy.health.trials_percent = 0;
    watch_set_policy(d->x->w, &d->x->policy);
    ward_run(d, 60);
    assert_int_equal(d->ran[1] + d->ran[2], 0);
    assert_free(d);
    ward_destroy(d);
}

static void test_nobody_who_is_ill_himself_is_a_partner(void **state)
{
    struct ward *d = exam_create(3);
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

static void test_what_nobody_can_run_is_neither_a_failure_nor_a_pass(void **state)
{
    struct ward *d = exam_create(4);
    for (int i = 1; i <= 4; i++)
        d->answer[i] = "{\"result\":\"unsupported\",\"text\":\"no such tool\"}";
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_free(d);
    ward_destroy(d);
}

static void test_what_a_scheduled_group_found_has_to_pass_with_partners(void **state)
{
    struct ward *d = ward_create(8, PAIR);
    d->answer[3] = FATAL;
    wait_step(d, 3, STEP_EXAMINE);
    unsigned before = d->ran[3];
    d->answer[3] = NULL;
    ward_run(d, 60);
    assert_int_equal(d->ran[3], before + 1);
    assert_null(ward_repair(d, 3));
    assert_null(ward_incident(d, 3));
    assert_free(d);
    ward_destroy(d);
}

/* --- how many partners, and which -------------------------------------------------------------- */

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
    assert_free(d);
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

static void test_who_is_out_of_service_is_not_waited_for(void **state)
{
    struct ward *d = busy_create();
    world_command_for(d->x, COMMAND_DRAIN, "lx[03-04]", "bad DIMM", NULL);
    ward_run(d, 20);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    ward_destroy(d);
}

static void test_who_is_held_for_another_check_is_waited_for(void **state)
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
static void test_another_try_meets_others_than_who_spoiled_it(void **state)
{
    for (size_t n = 4; n <= 8; n += 4) {
        struct ward *d = exam_create(n);
        d->hangs[2] = true;
        ward_run(d, 10);
        assert_string_equal(d->with[1], "lx01,lx02 0");
        world_reboot(d->x, 2);
        d->hangs[2] = false;
        d->n_open = 0;
        ward_all_well(d);
        ward_run(d, 10);
        assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
        assert_free(d);
        ward_run(d, 620);
        assert_string_equal(d->with[1], n == 8 ? "lx01,lx05 0" : "lx01,lx03 0");
        assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
        ward_destroy(d);
    }
}

static void test_who_failed_with_it_alone_comes_after_who_did_not_run(void **state)
{
    struct ward *d = exam_create(3);
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

static void test_who_passed_is_in_doubt_no_more_and_each_has_his_turn(void **state)
{
    struct ward *d = exam_create(8);
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
static void test_of_very_many_those_who_ran_it_longest_ago_are_found(void **state)
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
    assert_free(d);
    ward_run(d, 30);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    ward_destroy(d);
}

/* lx20 waits for room; no partners are there for the others that ask. */
static void test_who_waits_for_room_has_it_before_what_is_scheduled_whoever_else_asks(void **state)
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
static void test_who_waits_for_partners_keeps_none_from_others(void **state)
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
        cmocka_unit_test(test_one_that_is_examined_runs_it_with_idle_partners),
        cmocka_unit_test(test_one_that_fails_with_all_its_partners_is_at_fault),
        cmocka_unit_test(test_larger_groups_find_who_is_examined_or_clear_him),
        cmocka_unit_test(test_a_partner_that_is_bad_is_named_and_who_is_examined_passes),
        cmocka_unit_test(test_a_bad_link_to_a_partner_is_nobodys_failure),
        cmocka_unit_test(test_a_bad_link_is_over_when_its_ends_passed_together),
        cmocka_unit_test(test_without_partners_in_time_it_is_inconclusive),
        cmocka_unit_test(test_too_few_partners_can_tell_nothing_and_are_not_warned_of),
        cmocka_unit_test(test_a_group_that_is_broken_up_is_inconclusive),
        cmocka_unit_test(test_partners_are_let_go_when_the_stage_ends),
        cmocka_unit_test(test_partners_are_let_go_at_the_stages_deadline_and_who_is_booted_runs_nothing),
        cmocka_unit_test(test_what_is_stopped_is_no_answer_and_goes_on_after),
        cmocka_unit_test(test_another_controller_ends_an_examination_with_partners_and_begins_anew),
        cmocka_unit_test(test_partners_are_no_more_than_trials_may_hold_and_come_before_what_is_scheduled),
        cmocka_unit_test(test_where_no_trials_may_be_nobody_is_held_for_one_that_is_examined),
        cmocka_unit_test(test_nobody_who_is_ill_himself_is_a_partner),
        cmocka_unit_test(test_a_group_of_another_class_or_with_another_check_is_no_partner),
        cmocka_unit_test(test_what_nobody_can_run_is_neither_a_failure_nor_a_pass),
        cmocka_unit_test(test_what_a_scheduled_group_found_has_to_pass_with_partners),
        cmocka_unit_test(test_it_waits_for_as_many_as_can_tell),
        cmocka_unit_test(test_after_a_quarter_of_its_time_a_group_has_to_do),
        cmocka_unit_test(test_who_is_out_of_service_is_not_waited_for),
        cmocka_unit_test(test_who_is_held_for_another_check_is_waited_for),
        cmocka_unit_test(test_another_try_meets_others_than_who_spoiled_it),
        cmocka_unit_test(test_who_failed_with_it_alone_comes_after_who_did_not_run),
        cmocka_unit_test(test_who_passed_is_in_doubt_no_more_and_each_has_his_turn),
        cmocka_unit_test(test_of_very_many_those_who_ran_it_longest_ago_are_found),
        cmocka_unit_test(test_where_budgets_have_room_for_few_it_waits_as_long),
        cmocka_unit_test(test_who_waits_for_room_has_it_before_what_is_scheduled_whoever_else_asks),
        cmocka_unit_test(test_who_waits_for_partners_keeps_none_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
