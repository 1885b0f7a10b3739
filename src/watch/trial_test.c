/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/fixture_test.h"

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

static const char EXAM[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                           "Check=pair Probe=plugin Run=/bin/true When=extensive Group=2 Deadline=60s\n";

/* Nodes that run what they are told to, and what came of it. */
struct ward {
    struct world *x;
    struct checks checks;
    const char *answer[NODES + 1]; /* verdict as JSON; NULL: ok */
    bool hangs[NODES + 1];         /* it does not answer */
    const char *says[NODES + 1];   /* of its other checks; NULL: ok */
    int bad_link[2];               /* both fail when they run it together */
    unsigned ran[NODES + 1], stopped[NODES + 1];
    char with[NODES + 1][256]; /* whom it ran it with last */
    size_t n_open;
    struct {
        uint64_t run;
        int node;
        bool fails;
    } open[NODES + 1];
};

static const char FATAL[] = "{\"result\":\"fatal\",\"text\":\"slow\",\"findings\":[{\"result\":\"fatal\","
                            "\"text\":\"3 GB/s\"}]}",
                  WELL[] = "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0}]",
                  ILL[] = "[{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,"
                          "\"findings\":[{\"result\":\"fatal\",\"text\":\"full\"}]}]";

static void take_checks(struct ward *d, const char *checks)
{
    struct checks fresh, old = d->checks;
    assert_int_equal(checks_parse("checks", checks, strlen(checks), &fresh, NULL), 0);
    d->checks = fresh;
    watch_set_policy(d->x->w, &d->x->policy);
    checks_fini(&old);
}

static void tell(struct ward *d, int i, const char *checks)
{
    char boot[37];
    bool want;
    struct err e;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"boot\":\"%s\",\"list\":\"00\",\"full\":true,\"checks\":%s}",
                world_boot(d->x, i, boot), checks);
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    if (watch_checks(d->x->w, world_now(d->x), world_wall(d->x), world_node(d->x, i), body, &want, &e) < 0)
        fail_msg("%s", e.msg);
}

static void all_well(struct ward *d)
{
    for (int i = 1; i <= (int)d->x->n; i++)
        tell(d, i, d->says[i] ? d->says[i] : WELL);
}

static struct ward *ward_create(size_t n, const char *checks)
{
    struct ward *d = mem_alloc(sizeof *d);
    d->x = world_create(n);
    d->x->policy.health = (struct health_policy){.act = true,
                                                 .out_percent = 100,
                                                 .out_class_percent = 100,
                                                 .out_group_percent = 100,
                                                 .out_partition_percent = 100,
                                                 .trials_percent = 100,
                                                 .group = span_s(180),
                                                 .fresh = span_s(120),
                                                 .examine_deadline = span_s(3600),
                                                 .provision_deadline = span_s(1800),
                                                 .inconclusive = 3,
                                                 .override = span_s(4 * 3600),
                                                 .remedies_a_week = 5,
                                                 .checks = &d->checks};
    take_checks(d, checks);
    all_well(d);
    return d;
}

static void ward_destroy(struct ward *d)
{
    world_destroy(d->x);
    checks_fini(&d->checks);
    free(d);
}

static int number_of(const struct member *m)
{
    uint64_t n = 0;
    assert_int_equal(text_parse_u64(m->name + 2, 1, NODES, &n, NULL), 0);
    return (int)n;
}

static void on_run(void *arg, struct member *m, const struct trial_run *r)
{
    struct ward *d = arg;
    int i = number_of(m);
    if (r->stop) {
        d->stopped[i]++;
        return;
    }
    d->ran[i]++;
    snprintf(d->with[i], sizeof d->with[i], "%s %u", r->nodes ? r->nodes : "-", r->rank);
    char a[32], b[32];
    snprintf(a, sizeof a, "lx%02d", d->bad_link[0]);
    snprintf(b, sizeof b, "lx%02d", d->bad_link[1]);
    bool fails = r->nodes && strstr(r->nodes, a) && strstr(r->nodes, b);
    for (int k = 1; r->nodes && k <= (int)d->x->n; k++) {
        snprintf(a, sizeof a, "lx%02d", k);
        fails |= strstr(r->nodes, a) && d->answer[k];
    }
    assert_true(d->n_open < NODES);
    d->open[d->n_open].run = r->run;
    d->open[d->n_open].node = i;
    d->open[d->n_open++].fails = fails;
}

/* Answers what does not hang. */
static void answer(struct ward *d)
{
    size_t kept = 0;
    for (size_t k = 0; k < d->n_open; k++) {
        int i = d->open[k].node;
        if (d->hangs[i]) {
            d->open[kept++] = d->open[k];
            continue;
        }
        const char *text = d->answer[i] ? d->answer[i] : d->open[k].fails ? FATAL : "{\"result\":\"ok\"}";
        CLEANUP_JSON json_t *o = json_read(text, strlen(text), NULL);
        struct verdict v;
        assert_int_equal(verdict_read(o, &v, NULL), 0);
        watch_tried(d->x->w, d->open[k].run, &v, "");
    }
    d->n_open = kept;
}

static void run(struct ward *d, int seconds)
{
    for (int t = 0; t < seconds; t++) {
        world_run(d->x, 1);
        watch_trials(d->x->w, world_now(d->x), on_run, d);
        answer(d);
        if (d->x->now_ms % 30000 < 1000)
            all_well(d);
    }
}

static bool held(struct ward *d, int i)
{
    return world_held(d->x, i, CLAIM_TRIAL);
}

static const struct tried *last(struct ward *d, int i, const char *check)
{
    return trial_last(member_trial(world_node(d->x, i)), check);
}

static unsigned count_held(struct ward *d)
{
    unsigned n = 0;
    for (int i = 1; i <= (int)d->x->n; i++)
        n += held(d, i);
    return n;
}

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
    run(d, 30);
    assert_int_equal(d->ran[9], 1);
    assert_int_equal(recorded(d), 0);
    run(d, 60);
    assert_int_equal(recorded(d), 9);
    const char *said = strstr(d->x->log.s, "bench.measured : fast of class default\n");
    assert_non_null(said);
    assert_null(strstr(said + 1, "bench.measured"));
    ward_destroy(d);
}

static void test_a_node_that_is_slower_than_others_of_its_class_fails(void **state)
{
    struct ward *d = bench_create(9, FAST);
    run(d, 90);
    d->answer[9] = SLOW;
    run(d, 3700);
    assert_int_equal(last(d, 9, "fast")->result, RESULT_DEGRADED);
    assert_int_equal(last(d, 8, "fast")->result, RESULT_OK);
    ward_destroy(d);
}

/* What was learned is agreed: a leader that knows nothing of the nodes judges as the one before it. */
static void test_a_new_leader_judges_as_the_one_before(void **state)
{
    struct ward *d = bench_create(9, FAST);
    run(d, 90);
    world_lead_anew(d->x);
    world_open(d->x, 1, 9);
    all_well(d);
    d->answer[9] = SLOW;
    run(d, 3700);
    assert_int_equal(last(d, 9, "fast")->result, RESULT_DEGRADED);
    assert_int_equal(last(d, 8, "fast")->result, RESULT_OK);
    ward_destroy(d);
}

static void test_what_another_benchmark_said_is_no_measure(void **state)
{
    struct ward *d = bench_create(9, FAST);
    run(d, 90);
    take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n"
                   "Check=fast Probe=bench.memory.bandwidth Size=8M When=scheduled Every=1h Deadline=60s\n");
    d->answer[9] = SLOW;
    run(d, 3700);
    assert_int_equal(last(d, 9, "fast")->result, RESULT_OK);
    assert_int_equal(recorded(d), 9);
    run(d, 3700);
    assert_int_equal(last(d, 9, "fast")->result, RESULT_DEGRADED);
    ward_destroy(d);
}

static void test_only_nodes_that_are_of_the_class_now_count(void **state)
{
    struct ward *d = bench_create(9, FAST);
    run(d, 90);
    const struct class_lines gpu = {"gpu", {{"Nodes", "lx[01-02]"}}};
    world_configure(d->x, &gpu, 1, "");
    d->answer[9] = SLOW;
    run(d, 3700);
    assert_int_equal(last(d, 9, "fast")->result, RESULT_OK); /* six others are known */
    ward_destroy(d);
}

static void test_what_cannot_be_written_down_now_is_later(void **state)
{
    struct ward *d = bench_create(9, FAST);
    run(d, 30);
    d->x->refuse = true;
    run(d, 100);
    d->x->refuse = false;
    assert_int_equal(recorded(d), 0);
    run(d, 10);
    assert_int_equal(recorded(d), 9);
    ward_destroy(d);
}

/* --- by themselves ---------------------------------------------------------------------------- */

static void test_each_idle_node_runs_it_when_it_is_due(void **state)
{
    struct ward *d = ward_create(3, CHECKS);
    run(d, 10);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(d->ran[i], 1);
        assert_string_equal(d->with[i], "- 0");
        assert_int_equal(last(d, i, "burn")->result, RESULT_OK);
    }
    assert_int_equal(count_held(d), 0);
    run(d, 3500);
    assert_int_equal(d->ran[1], 1);
    run(d, 200);
    assert_int_equal(d->ran[1], 2);
    ward_destroy(d);
}

static void test_the_journal_says_what_was_held_for_what(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
    d->hangs[1] = true;
    run(d, 5);
    d->hangs[1] = false;
    run(d, 5);
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
    run(d, 10);
    assert_int_equal(count_held(d), 2);
    assert_true(held(d, 1) && held(d, 2));
    d->hangs[1] = d->hangs[2] = false;
    run(d, 5);
    assert_true(held(d, 3) && held(d, 4));
    assert_int_equal(count_held(d), 2);
    d->x->policy.health.trials_percent = 0;
    watch_set_policy(d->x->w, &d->x->policy);
    d->hangs[3] = d->hangs[4] = false;
    run(d, 5);
    assert_int_equal(count_held(d), 0);
    ward_destroy(d);
}

static void test_the_budgets_hold_for_trials(void **state)
{
    struct ward *d = ward_create(20, CHECKS);
    d->x->policy.health.out_percent = 10;
    watch_set_policy(d->x->w, &d->x->policy);
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = true;
    run(d, 10);
    assert_int_equal(count_held(d), 2);
    /* Who is ill goes before them. */
    tell(d, 20, ILL);
    run(d, 5);
    assert_true(world_held(d->x, 20, CLAIM_REPAIR));
    assert_int_equal(count_held(d), 0);
    assert_true(d->stopped[1] == 1 && d->stopped[2] == 1);
    ward_destroy(d);
}

static void test_only_what_is_idle_and_well_and_in_service(void **state)
{
    struct ward *d = ward_create(6, "Check=space Probe=fs.space Path=/ Every=60s\n");
    d->x->work[1] = "[\"job.7\"]";
    d->x->work[2] = NULL;
    run(d, 11);
    world_command_for(d->x, COMMAND_DRAIN, "lx03", "bad DIMM", NULL);
    d->x->off[4] = true;
    run(d, 40);
    d->says[5] = "[{\"check\":\"space\",\"result\":\"degraded\",\"age_ms\":0,\"findings\":[{\"result\":"
                 "\"degraded\",\"text\":\"full\"}]}]";
    tell(d, 5, d->says[5]);
    take_checks(d, CHECKS);
    run(d, 20);
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
    run(d, 5);
    assert_int_equal(d->ran[1], 0);
    assert_false(held(d, 1));
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    for (int i = 0; i < 50 && !held(d, 1); i++)
        world_run(d->x, 1);
    assert_true(held(d, 1));
    watch_scheduler(d->x->w, m, WORK_UNKNOWN, false); /* not read since it is to be drained */
    run(d, 5);
    assert_int_equal(d->ran[1], 0);
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    run(d, 3);
    assert_int_equal(d->ran[1], 1);
    assert_false(held(d, 1));
    ward_destroy(d);
}

static void test_one_that_somebody_else_keeps_from_work_is_left_alone(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
    struct member *m = world_node(d->x, 1);
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    watch_away(d->x->w, m, true);
    run(d, 10);
    assert_int_equal(d->ran[1], 0);
    assert_false(held(d, 1));
    watch_away(d->x->w, m, false);
    run(d, 10);
    assert_int_equal(d->ran[1], 1);
    ward_destroy(d);
}

static void test_one_that_is_not_free_in_time_is_let_go(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
    for (int i = 0; i < 50 && !held(d, 1); i++)
        world_run(d->x, 1);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_UNKNOWN, false);
    run(d, 110);
    assert_true(held(d, 1));
    run(d, 20);
    assert_false(held(d, 1));
    assert_null(member_trial(world_node(d->x, 1)));
    ward_destroy(d);
}

static void begin_one(struct ward *d, int i)
{
    d->hangs[i] = true;
    run(d, 5);
    assert_true(held(d, i) && d->ran[i] == 1);
}

static void test_work_ends_it_and_the_node_has_rest(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
    begin_one(d, 1);
    d->x->work[1] = "[\"job.7\"]";
    run(d, 15);
    assert_false(held(d, 1));
    assert_int_equal(d->stopped[1], 1);
    assert_null(last(d, 1, "burn")); /* it did not run */
    d->x->work[1] = "[]";
    run(d, 500);
    assert_int_equal(d->ran[1], 1);
    run(d, 200);
    assert_int_equal(d->ran[1], 2);
    ward_destroy(d);
}

static void test_maintenance_ends_it_and_none_begins_in_it(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
    begin_one(d, 1);
    watch_window(d->x->w, world_node(d->x, 1), "reservation root_1");
    run(d, 2);
    assert_false(held(d, 1));
    assert_int_equal(d->stopped[1], 1);
    assert_null(last(d, 1, "burn"));
    d->hangs[1] = false;
    run(d, 2000);
    assert_int_equal(d->ran[1], 1);
    watch_window(d->x->w, world_node(d->x, 1), NULL);
    run(d, 40);
    assert_int_equal(d->ran[1], 2);
    ward_destroy(d);
}

static void test_people_end_it(void **state)
{
    struct ward *d = ward_create(3, CHECKS);
    for (int i = 1; i <= 3; i++)
        d->hangs[i] = true;
    run(d, 5);
    world_command_for(d->x, COMMAND_DRAIN, "lx01", "bad DIMM", NULL);
    world_command(d->x, COMMAND_UNDRAIN, "lx02", NULL);
    watch_overridden(d->x->w, world_wall(d->x), world_node(d->x, 3), "ann");
    run(d, 3);
    assert_int_equal(count_held(d), 0);
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
    run(d, 3);
    assert_int_equal(count_held(d), 0);
    assert_int_equal(d->stopped[1], 1);
    run(d, 700);
    assert_int_equal(d->ran[1], 1);
    ward_destroy(d);
}

static void test_nothing_is_held_where_health_is_only_observed(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
    d->x->policy.health.act = false;
    watch_set_policy(d->x->w, &d->x->policy);
    run(d, 3);
    assert_int_equal(count_held(d), 0);
    run(d, 700);
    assert_int_equal(d->ran[1], 1);
    ward_destroy(d);
}

static void test_a_check_that_is_taken_away_ends_it(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
    take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n");
    run(d, 3);
    assert_int_equal(count_held(d), 0);
    ward_destroy(d);
}

static void test_one_that_never_answers_is_let_go(void **state)
{
    struct ward *d = ward_create(1, CHECKS);
    begin_one(d, 1);
    run(d, 240);
    assert_false(held(d, 1));
    assert_int_equal(d->stopped[1], 1);
    ward_destroy(d);
}

static void test_another_controller_ends_what_it_did_not_begin(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
    world_lead_anew(d->x);
    run(d, 5);
    assert_true(held(d, 1)); /* nobody can be told to end what runs */
    world_open(d->x, 1, 2);
    all_well(d);
    d->hangs[1] = false;
    d->n_open = 0;
    run(d, 3);
    assert_int_equal(d->stopped[1], 1);
    run(d, 5);
    assert_false(held(d, 1));
    assert_int_equal(d->ran[1], 2); /* due again */
    ward_destroy(d);
}

static void test_another_controller_ends_it_though_the_node_is_gone(void **state)
{
    struct ward *d = ward_create(2, CHECKS);
    begin_one(d, 1);
    world_lead_anew(d->x);
    world_open(d->x, 2, 2);
    all_well(d);
    run(d, 240);
    assert_false(held(d, 1));
    ward_destroy(d);
}

static void test_a_claim_without_a_record_is_let_go(void **state)
{
    struct ward *d = ward_create(2, "Check=space Probe=fs.space Path=/ Every=60s\n");
    const char *claim = "{\"kind\":\"trial\",\"owner\":\"fettled\",\"reason\":\"check x\",\"since\":\"1\","
                        "\"nodes\":\"lx01\",\"drained\":\"\"}";
    assert_int_equal(cluster_put(d->x->c, "claim/9.9", claim, NULL), 0);
    assert_true(held(d, 1));
    run(d, 3);
    assert_false(held(d, 1));
    ward_destroy(d);
}

static void test_what_fails_is_an_incident_and_isolates_before_it_is_let_go(void **state)
{
    struct ward *d = ward_create(20, CHECKS);
    d->answer[1] = FATAL;
    run(d, 5);
    assert_true(world_held(d->x, 1, CLAIM_REPAIR));
    assert_false(held(d, 1));
    assert_int_equal(last(d, 1, "burn")->result, RESULT_FATAL);
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
    run(d, 1200);
    assert_int_equal(d->ran[1], 1);
    assert_int_equal(d->ran[2], 1);
    assert_int_equal(last(d, 1, "burn")->result, RESULT_UNSUPPORTED);
    assert_null(member_ailment(world_node(d->x, 1)));
    assert_null(member_ailment(world_node(d->x, 2)));
    ward_destroy(d);
}

/* --- together --------------------------------------------------------------------------------- */

static void test_a_pair_runs_it_together_in_ranks(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    run(d, 10);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_string_equal(d->with[2], "lx01,lx02 1");
    assert_string_equal(d->with[4], "lx03,lx04 1");
    assert_int_equal(last(d, 4, "pair")->result, RESULT_OK);
    assert_int_equal(count_held(d), 0);
    ward_destroy(d);
}

static void test_one_alone_waits_for_company(void **state)
{
    struct ward *d = ward_create(1, PAIR);
    run(d, 60);
    assert_int_equal(d->ran[1], 0);
    assert_int_equal(count_held(d), 0);
    ward_destroy(d);
}

static const struct incident *incident_of(struct ward *d, int i)
{
    const struct ailment *a = member_ailment(world_node(d->x, i));
    return a && a->n_open ? &a->open[0] : NULL;
}

static void test_a_bad_node_is_named_and_nobody_else(void **state)
{
    struct ward *d = ward_create(6, PAIR);
    d->answer[3] = FATAL;
    run(d, 20);
    assert_non_null(incident_of(d, 3));
    assert_string_equal(incident_of(d, 3)->findings[0].f.text,
                        "failed with lx04 and lx01, which passed with others: 3 GB/s");
    assert_int_equal(incident_of(d, 3)->severity, RESULT_FATAL);
    for (int i = 1; i <= 6; i++)
        if (i != 3) {
            assert_null(incident_of(d, i));
            assert_int_equal(last(d, i, "pair")->result, RESULT_OK);
        }
    assert_true(world_held(d->x, 3, CLAIM_REPAIR));
    assert_int_equal(count_held(d), 0);
    assert_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    ward_destroy(d);
}

static void test_with_too_few_to_tell_there_is_a_warning(void **state)
{
    struct ward *d = ward_create(2, PAIR);
    d->answer[1] = FATAL;
    run(d, 20);
    assert_int_equal(incident_of(d, 1)->severity, RESULT_WARN);
    assert_int_equal(incident_of(d, 2)->severity, RESULT_WARN);
    assert_false(world_held(d->x, 1, CLAIM_REPAIR));
    assert_int_equal(count_held(d), 0);
    ward_destroy(d);
}

static void test_a_bad_link_is_shared_until_it_is_not_found_again(void **state)
{
    struct ward *d = ward_create(6, PAIR);
    d->bad_link[0] = 3;
    d->bad_link[1] = 4;
    run(d, 20);
    const struct shared_cause *s = cluster_shared(d->x->c, "trial:pair lx[03-04]");
    assert_non_null(s);
    assert_string_equal(s->why, "pair fails between lx03 and lx04, and each of them passes with others");
    for (int i = 1; i <= 6; i++)
        assert_null(incident_of(d, i));
    assert_int_equal(count_held(d), 0);
    world_lead_anew(d->x);
    world_open(d->x, 1, 6);
    all_well(d);
    run(d, 60);
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    d->bad_link[0] = 0;
    run(d, 3700);
    assert_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    ward_destroy(d);
}

static void test_what_a_node_says_of_a_groups_check_by_itself_is_not_believed(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    tell(d, 1,
         "[{\"check\":\"pair\",\"result\":\"fatal\",\"age_ms\":0,\"findings\":[{\"result\":\"fatal\","
         "\"text\":\"3 GB/s\"}]}]");
    run(d, 2);
    assert_null(incident_of(d, 1));
    ward_destroy(d);
}

static void test_one_that_leaves_blames_nobody(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    for (int i = 1; i <= 4; i++)
        d->hangs[i] = true;
    run(d, 5);
    assert_int_equal(count_held(d), 4);
    world_command(d->x, COMMAND_UNDRAIN, "lx01", NULL);
    d->answer[2] = FATAL; /* because the other end is gone */
    for (int i = 1; i <= 4; i++)
        d->hangs[i] = false;
    run(d, 20);
    assert_int_equal(count_held(d), 0);
    assert_null(incident_of(d, 1));
    for (int i = 2; i <= 4; i++)
        assert_true(!incident_of(d, i) || incident_of(d, i)->severity <= RESULT_FATAL);
    assert_null(last(d, 1, "pair"));
    ward_destroy(d);
}

static void test_one_that_leaves_before_it_began_holds_nobody_up(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_IDLE, false);
    for (int i = 0; i < 50 && !held(d, 1); i++)
        world_run(d->x, 1);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_UNKNOWN, false);
    run(d, 3);
    assert_int_equal(d->ran[3], 0);
    world_command(d->x, COMMAND_UNDRAIN, "lx02", NULL);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_IDLE, false);
    run(d, 10);
    assert_int_equal(count_held(d), 0);
    assert_int_equal(last(d, 3, "pair")->result, RESULT_OK);
    assert_int_equal(last(d, 1, "pair")->result, RESULT_UNKNOWN); /* nobody was left to run it with in time */
    ward_destroy(d);
}

static void test_one_group_and_its_witnesses_have_room_in_a_small_share(void **state)
{
    struct ward *d = ward_create(20, PAIR);
    d->x->policy.health.trials_percent = 1;
    watch_set_policy(d->x->w, &d->x->policy);
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = true;
    run(d, 10);
    assert_int_equal(count_held(d), 4);
    ward_destroy(d);
}

static void test_a_group_is_of_one_class(void **state)
{
    static const struct class_lines classes[] = {{"gpu", {{"Nodes", "lx[01,03]"}}}};
    struct ward *d = ward_create(4, PAIR);
    world_configure(d->x, classes, 1, "");
    all_well(d);
    run(d, 20);
    assert_string_equal(d->with[1], "lx01,lx03 0");
    assert_string_equal(d->with[2], "lx02,lx04 0");
    ward_destroy(d);
}

/* --- with one that is examined ---------------------------------------------------------------- */

/* lx01 is ill of something else, and in the extensive stage. */
static struct ward *exam_create(size_t n)
{
    struct ward *d = ward_create(n, EXAM);
    d->says[1] = ILL;
    tell(d, 1, ILL);
    return d;
}

static const struct repair *repair_of(struct ward *d, int i)
{
    return member_repair(world_node(d->x, i));
}

static void wait_step(struct ward *d, int i, enum step step)
{
    for (int t = 0; t < 30 && (!repair_of(d, i) || repair_of(d, i)->step != step); t++)
        run(d, 1);
    assert_int_equal(repair_of(d, i)->step, step);
}

/* Nobody is held for anything, and nothing is left of it. */
static void assert_free(struct ward *d)
{
    assert_int_equal(count_held(d), 0);
    for (int i = 1; i <= (int)d->x->n; i++)
        assert_true(!member_trial(world_node(d->x, i)) || !*member_trial(world_node(d->x, i))->claim);
}

static void test_one_that_is_examined_runs_it_with_idle_partners(void **state)
{
    struct ward *d = exam_create(8);
    d->hangs[1] = true;
    run(d, 10);
    /* A pair, and two who can tell whose fault it is; no claim but its repair's is on who is examined. */
    assert_true(held(d, 2) && held(d, 3) && held(d, 4) && !held(d, 1));
    assert_int_equal(count_held(d), 3);
    assert_int_equal(world_node(d->x, 1)->n_claims, 1);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_string_equal(d->with[2], "lx01,lx02 1");
    assert_string_equal(d->with[4], "lx03,lx04 1");
    assert_string_equal(world_node(d->x, 2)->claims[0].claim->reason, "check pair, to examine lx01");
    d->says[1] = NULL;
    tell(d, 1, WELL);
    run(d, 20);
    assert_int_equal(repair_of(d, 1)->step, STEP_EXAMINE);
    d->hangs[1] = false;
    run(d, 10);
    assert_null(repair_of(d, 1));
    assert_int_equal(last(d, 1, "pair")->result, RESULT_OK);
    assert_int_equal(d->ran[1], 1);
    assert_free(d);
    ward_destroy(d);
}

static void test_one_that_fails_with_all_its_partners_is_at_fault(void **state)
{
    struct ward *d = exam_create(8);
    d->answer[1] = FATAL;
    wait_step(d, 1, STEP_QUEUE);
    assert_string_equal(repair_of(d, 1)->problem, "hardware_problem");
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_FAIL);
    assert_non_null(strstr(d->x->log.s, "lx01; more of fatal: pair fatal"));
    run(d, 5);
    for (int i = 2; i <= 8; i++)
        assert_true(!incident_of(d, i) && !repair_of(d, i));
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
            tell(d, 1, ILL);
            d->answer[bad] = FATAL;
            run(d, 40);
            assert_int_equal(repair_of(d, 1)->examined, bad == 1 ? EXAMINED_FAIL : EXAMINED_PASS);
            assert_true(world_held(d->x, 2, CLAIM_REPAIR) == (bad == 2));
            for (int i = 3; i <= 12; i++)
                assert_null(incident_of(d, i));
            ward_destroy(d);
        }
    }
}

static void test_a_partner_that_is_bad_is_named_and_who_is_examined_passes(void **state)
{
    struct ward *d = exam_create(8);
    d->answer[2] = FATAL;
    run(d, 20);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_PASS);
    assert_true(world_held(d->x, 2, CLAIM_REPAIR));
    assert_non_null(strstr(incident_of(d, 2)->findings[0].f.text, "which passed with others"));
    ward_destroy(d);
}

static void test_a_bad_link_to_a_partner_is_nobodys_failure(void **state)
{
    struct ward *d = exam_create(8);
    d->bad_link[0] = 1;
    d->bad_link[1] = 2;
    run(d, 20);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_PASS);
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
    assert_null(incident_of(d, 2));
    assert_free(d);
    ward_destroy(d);
}

static void test_without_partners_in_time_it_is_inconclusive(void **state)
{
    struct ward *d = ward_create(3, EXAM);
    d->x->work[2] = "[\"job.7\"]";
    world_command_for(d->x, COMMAND_DRAIN, "lx03", "bad DIMM", NULL);
    run(d, 15);
    d->says[1] = ILL;
    tell(d, 1, ILL);
    run(d, 3550);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_NOT);
    run(d, 100);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_string_equal(repair_of(d, 1)->why,
                        "it was not examined in time: nobody was free to run pair with it");
    assert_int_equal(d->ran[1] + d->ran[2] + d->ran[3], 0);
    /* With the next one that is idle it goes on. */
    d->x->work[2] = "[]";
    run(d, 60);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_PASS);
    assert_free(d);
    ward_destroy(d);
}

static void test_too_few_partners_can_tell_nothing_and_are_not_warned_of(void **state)
{
    struct ward *d = exam_create(2);
    d->answer[1] = FATAL;
    run(d, 20);
    assert_int_equal(repair_of(d, 1)->step, STEP_EXAMINE);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_int_equal(repair_of(d, 1)->inconclusive, 1);
    assert_null(incident_of(d, 2));
    assert_free(d);
    run(d, 500);
    assert_int_equal(d->ran[1], 1); /* not at once again */
    run(d, 900);
    assert_int_equal(repair_of(d, 1)->step, STEP_QUEUE);
    assert_string_equal(repair_of(d, 1)->why, "pair came to no answer");
    assert_int_equal(d->ran[1], 3);
    assert_free(d);
    ward_destroy(d);
}

static void test_a_group_that_is_broken_up_is_inconclusive(void **state)
{
    struct ward *d = exam_create(2);
    d->hangs[1] = d->hangs[2] = true;
    run(d, 10);
    assert_int_equal(d->ran[1], 1);
    world_command(d->x, COMMAND_UNDRAIN, "lx02", NULL);
    run(d, 5);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_INCONCLUSIVE);
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
        run(d, 10);
        assert_int_equal(count_held(d), 3);
        assert_int_equal(world_command_for(d->x, ends[k].kind, "lx01", "mine", ends[k].set), 0);
        run(d, 5);
        assert_free(d);
        for (int i = 1; i <= 4; i++)
            assert_int_equal(d->stopped[i], 1);
        assert_int_not_equal(repair_of(d, 1)->examined, EXAMINED_PASS);
        ward_destroy(d);
    }
}

static void test_partners_are_let_go_at_the_stages_deadline_and_who_is_booted_runs_nothing(void **state)
{
    struct ward *d = exam_create(4);
    d->x->policy.health.examine_deadline = span_s(60);
    watch_set_policy(d->x->w, &d->x->policy);
    d->hangs[1] = true;
    run(d, 75);
    assert_int_equal(repair_of(d, 1)->inconclusive, 1);
    assert_free(d);
    d->hangs[1] = false;
    d->n_open = 0;
    run(d, 5);
    world_reboot(d->x, 1);
    all_well(d);
    run(d, 5);
    assert_free(d);
    ward_destroy(d);
}

static void test_what_is_stopped_is_no_answer_and_goes_on_after(void **state)
{
    struct ward *d = exam_create(4);
    d->hangs[1] = true;
    run(d, 10);
    world_command_for(d->x, COMMAND_SWITCH, "", "smoke", "{\"name\":\"stop\",\"on\":true}");
    run(d, 5);
    assert_free(d);
    assert_int_equal(d->stopped[1], 1);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_NOT);
    d->hangs[1] = false;
    d->n_open = 0;
    world_command_for(d->x, COMMAND_SWITCH, "", NULL, "{\"name\":\"stop\",\"on\":false}");
    run(d, 620);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_PASS);
    ward_destroy(d);
}

static void test_another_controller_ends_an_examination_with_partners_and_begins_anew(void **state)
{
    struct ward *d = exam_create(5);
    for (int i = 1; i <= 5; i++)
        d->hangs[i] = true;
    run(d, 10);
    assert_int_equal(count_held(d), 3);
    world_lead_anew(d->x);
    world_open(d->x, 1, 5);
    all_well(d);
    for (int i = 1; i <= 5; i++)
        d->hangs[i] = false;
    d->n_open = 0;
    run(d, 2);
    for (int i = 1; i <= 4; i++)
        assert_int_equal(d->stopped[i], 1); /* also on who is examined: what it runs would be in the way */
    run(d, 20);
    assert_int_equal(d->ran[1], 2);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_PASS);
    assert_free(d);
    ward_destroy(d);
}

static void test_partners_are_no_more_than_trials_may_hold_and_come_before_what_is_scheduled(void **state)
{
    struct ward *d = ward_create(20, EXAM);
    d->x->policy.health.trials_percent = 1;
    watch_set_policy(d->x->w, &d->x->policy);
    take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n"
                   "Check=burn Probe=plugin Run=/bin/true When=scheduled Every=1h Deadline=60s\n"
                   "Check=pair Probe=plugin Run=/bin/true When=extensive Group=2 Deadline=60s\n");
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = true;
    d->says[19] = d->says[20] = ILL;
    tell(d, 19, ILL);
    tell(d, 20, ILL);
    run(d, 15);
    assert_int_equal(count_held(d), 3);
    assert_true(d->ran[19] == 1 && d->ran[20] == 0); /* for the other there is no room yet */
    for (int i = 1; i <= 20; i++)
        d->hangs[i] = false;
    run(d, 30);
    assert_int_equal(repair_of(d, 19)->examined, EXAMINED_PASS);
    assert_int_equal(repair_of(d, 20)->examined, EXAMINED_PASS);
    const char *both = strstr(d->x->log.s, "lx20 ok"), *scheduled = strstr(d->x->log.s, ": burn");
    assert_true(both && scheduled && both < scheduled);
    ward_destroy(d);
}

static void test_where_no_trials_may_be_nobody_is_held_for_one_that_is_examined(void **state)
{
    struct ward *d = exam_create(8);
    d->x->policy.health.trials_percent = 0;
    watch_set_policy(d->x->w, &d->x->policy);
    run(d, 60);
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
    tell(d, 2, ILL);
    tell(d, 3, d->says[3]);
    run(d, 120);
    assert_int_equal(d->ran[1] + d->ran[2] + d->ran[3], 0);
    assert_int_equal(count_held(d), 0);
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
    all_well(d);
    d->says[1] = ILL;
    tell(d, 1, ILL);
    run(d, 20);
    assert_string_equal(d->with[1], "lx01,lx03 0");
    assert_int_equal(d->ran[2] + d->ran[4] + d->ran[5], 0);
    ward_destroy(d);
}

static void test_what_nobody_can_run_is_no_failure_of_who_is_examined(void **state)
{
    struct ward *d = exam_create(4);
    for (int i = 1; i <= 4; i++)
        d->answer[i] = "{\"result\":\"unsupported\",\"text\":\"no such tool\"}";
    run(d, 20);
    assert_int_equal(repair_of(d, 1)->examined, EXAMINED_PASS);
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
    run(d, 60);
    assert_int_equal(d->ran[3], before + 1);
    assert_null(repair_of(d, 3));
    assert_null(incident_of(d, 3));
    assert_free(d);
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
        cmocka_unit_test(test_one_that_is_examined_runs_it_with_idle_partners),
        cmocka_unit_test(test_one_that_fails_with_all_its_partners_is_at_fault),
        cmocka_unit_test(test_larger_groups_find_who_is_examined_or_clear_him),
        cmocka_unit_test(test_a_partner_that_is_bad_is_named_and_who_is_examined_passes),
        cmocka_unit_test(test_a_bad_link_to_a_partner_is_nobodys_failure),
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
        cmocka_unit_test(test_what_nobody_can_run_is_no_failure_of_who_is_examined),
        cmocka_unit_test(test_what_a_scheduled_group_found_has_to_pass_with_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
