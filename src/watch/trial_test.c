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

static const char CHECKS[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                             "Check=burn Probe=plugin Run=/bin/true When=scheduled Every=1h Deadline=60s\n";
static const char PAIR[] =
    "Check=pair Probe=plugin Run=/bin/true When=scheduled Group=2 Every=1h Deadline=60s\n";

/* --- benchmarks ------------------------------------------------------------------------------- */

static const char FAST[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                           "Check=fast Probe=bench.memory.bandwidth When=scheduled Every=1h Deadline=60s\n";

/* All of them, and the i-th this. */
static struct ward *bench_create(size_t n, const char *checks)
{
    static const char equal[] = "{\"result\":\"ok\",\"text\":\"bandwidth 1000 MB/s\"}";
    struct ward *d = ward_create(n, checks);
    for (size_t i = 1; i <= n; i++)
        d->answer[i] = equal;
    return d;
}

static const char SLOW[] = "{\"result\":\"ok\",\"text\":\"bandwidth 800 MB/s\"}";

static size_t recorded(const struct ward *d)
{
    const struct floor *f = cluster_floor(d->x->c, "default", "fast");
    return f ? f->n : 0;
}

static void test_what_nodes_come_to_is_written_down_within_a_minute_together(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 30);
    assert_int_equal(d->ran[9], 1);
    assert_int_equal(recorded(d), 0);
    ward_run(d, 60);
    assert_int_equal(recorded(d), 9);
    const char *said = strstr(d->x->log.s, "bench.measured : fast of class default\n");
    assert_non_null(said);
    assert_null(strstr(said + 1, "bench.measured"));
    ward_destroy(d);
}

static void test_a_node_that_is_slower_than_others_of_its_class_fails(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 90);
    d->answer[9] = SLOW;
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_DEGRADED);
    assert_int_equal(ward_last(d, 8, "fast")->result, RESULT_OK);
    ward_destroy(d);
}

/* The results are agreed: a leader that knows nothing about the nodes judges like the one before. */
static void test_a_new_leader_judges_as_the_one_before(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 90);
    world_lead_anew(d->x);
    world_open(d->x, 1, 9);
    ward_all_well(d);
    d->answer[9] = SLOW;
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_DEGRADED);
    assert_int_equal(ward_last(d, 8, "fast")->result, RESULT_OK);
    ward_destroy(d);
}

static void test_what_another_benchmark_said_is_no_measure(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 90);
    ward_take_checks(
        d, "Check=space Probe=fs.space Path=/ Every=60s\n"
           "Check=fast Probe=bench.memory.bandwidth Size=8M When=scheduled Every=1h Deadline=60s\n");
    d->answer[9] = SLOW;
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_OK);
    assert_int_equal(recorded(d), 9);
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_DEGRADED);
    ward_destroy(d);
}

static void test_only_nodes_that_are_of_the_class_now_count(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 90);
    const struct class_lines gpu = {"gpu", {{"Nodes", "lx[01-02]"}}};
    world_configure(d->x, &gpu, 1, "");
    d->answer[9] = SLOW;
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_OK); /* six others are known */
    ward_destroy(d);
}

static void test_what_cannot_be_written_down_now_is_later(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 30);
    d->x->refuse = true;
    ward_run(d, 100);
    d->x->refuse = false;
    assert_int_equal(recorded(d), 0);
    ward_run(d, 10);
    assert_int_equal(recorded(d), 9);
    ward_destroy(d);
}

/* --- by themselves ---------------------------------------------------------------------------- */

static void test_each_idle_node_runs_it_when_it_is_due(void **state)
{
    struct ward *d = ward_create(3, CHECKS);
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

static void test_the_journal_says_what_was_held_for_what(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
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

static void test_no_more_than_allowed_at_once_the_longest_untried_first(void **state)
{
    struct ward *d = ward_create(20, CHECKS);
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
    struct ward *d = ward_create(20, CHECKS);
    d->x->policy.health.limits.percent[SCOPE_CLUSTER] = 10;
    watch_set_policy(d->x->w, &d->x->policy);
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = true;
    ward_run(d, 10);
    assert_int_equal(ward_count_held(d), 2);
    /* An ill node goes before them. */
    ward_tell(d, 20, ILL);
    ward_run(d, 5);
    assert_true(world_held(d->x, 20, CLAIM_REPAIR));
    assert_int_equal(ward_count_held(d), 0);
    assert_true(d->stopped[1] == 1 && d->stopped[2] == 1);
    ward_destroy(d);
}

static void test_only_what_is_idle_and_well_and_in_service(void **state)
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
    ward_take_checks(d, CHECKS);
    ward_run(d, 20);
    for (int i = 1; i <= 5; i++)
        assert_int_equal(d->ran[i], 0);
    assert_int_equal(d->ran[6], 1);
    ward_destroy(d);
}

static void test_a_scheduler_has_to_say_that_the_node_is_held_and_free(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
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
    struct ward *d = ward_create(2, CHECKS);
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

static void test_one_that_somebody_else_keeps_from_work_is_left_alone(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
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

static void test_one_that_is_not_free_in_time_is_let_go(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
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

static void begin_one(struct ward *d, int i)
{
    d->hangs[i] = true;
    ward_run(d, 5);
    assert_true(ward_held(d, i) && d->ran[i] == 1);
}

static void test_work_ends_it_and_the_node_has_rest(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
    begin_one(d, 1);
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

static void test_maintenance_ends_it_and_none_begins_in_it(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
    begin_one(d, 1);
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
    struct ward *d = ward_create(3, CHECKS);
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
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
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
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
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
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
    ward_take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n");
    ward_run(d, 3);
    assert_int_equal(ward_count_held(d), 0);
    ward_destroy(d);
}

static void test_one_that_never_answers_is_let_go(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
    begin_one(d, 1);
    ward_run(d, 240);
    assert_false(ward_held(d, 1));
    assert_int_equal(d->stopped[1], 1);
    ward_destroy(d);
}

static void test_another_controller_ends_what_it_did_not_begin(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
    world_lead_anew(d->x);
    ward_run(d, 5);
    assert_true(ward_held(d, 1)); /* its agent cannot be told to end the run */
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
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
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

static void test_what_fails_is_an_incident_and_isolates_before_it_is_let_go(void **state)
{
    struct ward *d = ward_create(20, CHECKS);
    d->answer[1] = FATAL;
    ward_run(d, 5);
    assert_true(world_held(d->x, 1, CLAIM_REPAIR));
    assert_false(ward_held(d, 1));
    assert_int_equal(ward_last(d, 1, "burn")->result, RESULT_FATAL);
    const char *isolated = strstr(d->x->log.s, "health.findings lx01"),
               *let = strstr(d->x->log.s, "trial.end");
    assert_true(isolated && let && isolated < let);
    assert_non_null(strstr(isolated, "isolate: burn: 3 GB/s"));
    ward_destroy(d);
}

static void test_what_cannot_be_said_counts_as_run(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
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

/* --- together --------------------------------------------------------------------------------- */

static void test_a_pair_runs_it_together_in_ranks(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    ward_run(d, 10);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_string_equal(d->with[2], "lx01,lx02 1");
    assert_string_equal(d->with[4], "lx03,lx04 1");
    assert_int_equal(ward_last(d, 4, "pair")->result, RESULT_OK);
    assert_int_equal(ward_count_held(d), 0);
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

static void test_a_bad_node_is_named_and_nobody_else(void **state)
{
    struct ward *d = ward_create(6, PAIR);
    d->answer[3] = FATAL;
    ward_run(d, 20);
    assert_non_null(ward_incident(d, 3));
    assert_string_equal(ward_incident(d, 3)->findings[0].f.text,
                        "failed with lx04 and lx01, which passed with others: 3 GB/s");
    assert_int_equal(ward_incident(d, 3)->severity, RESULT_FATAL);
    for (int i = 1; i <= 6; i++)
        if (i != 3) {
            assert_null(ward_incident(d, i));
            assert_int_equal(ward_last(d, i, "pair")->result, RESULT_OK);
        }
    assert_true(world_held(d->x, 3, CLAIM_REPAIR));
    assert_int_equal(ward_count_held(d), 0);
    assert_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    ward_destroy(d);
}

static void test_with_too_few_to_tell_there_is_a_warning(void **state)
{
    struct ward *d = ward_create(2, PAIR);
    d->answer[1] = FATAL;
    ward_run(d, 20);
    assert_int_equal(ward_incident(d, 1)->severity, RESULT_WARN);
    assert_int_equal(ward_incident(d, 2)->severity, RESULT_WARN);
    assert_false(world_held(d->x, 1, CLAIM_REPAIR));
    assert_int_equal(ward_count_held(d), 0);
    ward_destroy(d);
}

static void test_a_bad_link_is_shared_until_it_is_not_found_again(void **state)
{
    struct ward *d = ward_create(6, PAIR);
    d->bad_link[0] = 3;
    d->bad_link[1] = 4;
    ward_run(d, 20);
    const struct shared_cause *s = cluster_shared(d->x->c, "trial:pair lx[03-04]");
    assert_non_null(s);
    assert_string_equal(s->why, "pair fails between lx03 and lx04, and each of them passes with others");
    for (int i = 1; i <= 6; i++)
        assert_null(ward_incident(d, i));
    assert_int_equal(ward_count_held(d), 0);
    world_lead_anew(d->x);
    world_open(d->x, 1, 6);
    ward_all_well(d);
    ward_run(d, 60);
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    d->bad_link[0] = 0;
    ward_run(d, 3700);
    assert_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    ward_destroy(d);
}

static void test_what_a_node_says_of_a_groups_check_by_itself_is_not_believed(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    ward_tell(d, 1,
              "[{\"check\":\"pair\",\"result\":\"fatal\",\"age_ms\":0,\"findings\":[{\"result\":\"fatal\","
              "\"text\":\"3 GB/s\"}]}]");
    ward_run(d, 2);
    assert_null(ward_incident(d, 1));
    ward_destroy(d);
}

static void test_one_that_leaves_blames_nobody(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    for (int i = 1; i <= 4; i++)
        d->hangs[i] = true;
    ward_run(d, 5);
    assert_int_equal(ward_count_held(d), 4);
    world_command(d->x, COMMAND_UNDRAIN, "lx01", NULL);
    d->answer[2] = FATAL; /* because the other end is gone */
    for (int i = 1; i <= 4; i++)
        d->hangs[i] = false;
    ward_run(d, 20);
    assert_int_equal(ward_count_held(d), 0);
    assert_null(ward_incident(d, 1));
    for (int i = 2; i <= 4; i++)
        assert_true(!ward_incident(d, i) || ward_incident(d, i)->severity <= RESULT_FATAL);
    assert_null(ward_last(d, 1, "pair"));
    ward_destroy(d);
}

static void test_one_that_leaves_before_it_began_holds_nobody_up(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_IDLE, false);
    for (int i = 0; i < 50 && !ward_held(d, 1); i++)
        world_run(d->x, 1);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_UNKNOWN, false);
    ward_run(d, 3);
    assert_int_equal(d->ran[3], 0);
    world_command(d->x, COMMAND_UNDRAIN, "lx02", NULL);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_IDLE, false);
    ward_run(d, 10);
    assert_int_equal(ward_count_held(d), 0);
    assert_int_equal(ward_last(d, 3, "pair")->result, RESULT_OK);
    assert_int_equal(ward_last(d, 1, "pair")->result,
                     RESULT_UNKNOWN); /* nobody was left to run it with in time */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_nodes_come_to_is_written_down_within_a_minute_together),
        cmocka_unit_test(test_a_node_that_is_slower_than_others_of_its_class_fails),
        cmocka_unit_test(test_a_new_leader_judges_as_the_one_before),
        cmocka_unit_test(test_what_another_benchmark_said_is_no_measure),
        cmocka_unit_test(test_only_nodes_that_are_of_the_class_now_count),
        cmocka_unit_test(test_what_cannot_be_written_down_now_is_later),
        cmocka_unit_test(test_each_idle_node_runs_it_when_it_is_due),
        cmocka_unit_test(test_the_journal_says_what_was_held_for_what),
        cmocka_unit_test(test_no_more_than_allowed_at_once_the_longest_untried_first),
        cmocka_unit_test(test_the_budgets_hold_for_trials),
        cmocka_unit_test(test_only_what_is_idle_and_well_and_in_service),
        cmocka_unit_test(test_a_scheduler_has_to_say_that_the_node_is_held_and_free),
        cmocka_unit_test(test_one_that_somebody_drains_right_before_runs_nothing),
        cmocka_unit_test(test_one_that_somebody_else_keeps_from_work_is_left_alone),
        cmocka_unit_test(test_one_that_is_not_free_in_time_is_let_go),
        cmocka_unit_test(test_work_ends_it_and_the_node_has_rest),
        cmocka_unit_test(test_maintenance_ends_it_and_none_begins_in_it),
        cmocka_unit_test(test_people_end_it),
        cmocka_unit_test(test_the_switch_ends_all),
        cmocka_unit_test(test_nothing_is_held_where_health_is_only_observed),
        cmocka_unit_test(test_a_check_that_is_taken_away_ends_it),
        cmocka_unit_test(test_one_that_never_answers_is_let_go),
        cmocka_unit_test(test_another_controller_ends_what_it_did_not_begin),
        cmocka_unit_test(test_another_controller_ends_it_though_the_node_is_gone),
        cmocka_unit_test(test_a_claim_without_a_record_is_let_go),
        cmocka_unit_test(test_what_fails_is_an_incident_and_isolates_before_it_is_let_go),
        cmocka_unit_test(test_what_cannot_be_said_counts_as_run),
        cmocka_unit_test(test_a_pair_runs_it_together_in_ranks),
        cmocka_unit_test(test_one_alone_waits_for_company),
        cmocka_unit_test(test_a_bad_node_is_named_and_nobody_else),
        cmocka_unit_test(test_with_too_few_to_tell_there_is_a_warning),
        cmocka_unit_test(test_a_bad_link_is_shared_until_it_is_not_found_again),
        cmocka_unit_test(test_what_a_node_says_of_a_groups_check_by_itself_is_not_believed),
        cmocka_unit_test(test_one_that_leaves_blames_nobody),
        cmocka_unit_test(test_one_that_leaves_before_it_began_holds_nobody_up),
        cmocka_unit_test(test_one_group_and_its_witnesses_have_room_in_a_small_share),
        cmocka_unit_test(test_a_group_is_of_one_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
