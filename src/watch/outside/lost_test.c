/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"
#include "watch/outside/outside.h"
#include "watch/trace_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_node_that_stays_silent_is_lost(void **state)
{
    trace_walk("lost");
}

static void test_something_else_may_explain_the_silence(void **state)
{
    trace_walk("lost_not");
}

static void test_a_lost_node_that_is_heard_again_returns(void **state)
{
    trace_walk("lost_returns");
}

/* A node that is silent for five minutes is lost; every BMC says that the power is on. */
static struct clinic *open_ward(size_t n)
{
    struct clinic *d = clinic_open(n);
    d->x->policy.health.lost_after = span_s(300);
    d->x->policy.health.shared_window = span_s(180);
    d->x->policy.silent_share_percent = 60;
    for (enum scope s = SCOPE_CLUSTER; s <= SCOPE_PARTITION; s++)
        d->x->policy.health.limits.percent[s] = 100;
    clinic_take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n");
    clinic_take_remedies(
        d, "Remedy=cycle Run=power.cycle Helps=node.lost Confidence=60% Because=\"a try\" Takes=5m "
           "Disturbs=10\n");
    for (int i = 1; i <= (int)n; i++)
        clinic_tells(d, i, true, "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0}]");
    world_run(d->x, 2);
    return d;
}

static void on_ask(void *arg, struct member *m)
{
    const struct clinic *d = arg;
    static const struct bmc_said on = {.answered = true, .on = true, .text = "", .watchdog = "timer expired"};
    watch_bmc(d->x->w, world_now(d->x), m, &on);
}

static void run(struct clinic *d, int seconds)
{
    for (int s = 0; s < seconds; s++) {
        world_run(d->x, 1);
        watch_bmcs_to_ask(d->x->w, world_now(d->x), on_ask, d);
    }
}

static void in_group(struct clinic *d, const char *nodes)
{
    assert_int_equal(world_command(d->x, COMMAND_SET, nodes, "{\"Group\":\"7\"}"), 0);
}

static enum step step_of(const struct clinic *d, int i)
{
    const struct repair *r = member_repair(world_node(d->x, i));
    return r ? r->step : STEP_NONE;
}

/* Half of a rack fell silent with it: its switch or its power is more likely than its own fault. */
static void test_a_node_whose_neighbours_fell_silent_with_it_is_not_repaired(void **state)
{
    struct clinic *d = open_ward(8);
    in_group(d, "lx[01-03]");
    d->x->off[1] = d->x->off[2] = true;
    run(d, 320);
    assert_non_null(strstr(d->x->log.s, "; 1 of 2 neighbours are silent"));
    assert_non_null(strstr(d->x->log.s, "; its watchdog: timer expired"));
    struct err e;
    assert_int_equal(lost_check(d->x->w, watch_awake(d->x->w, world_now(d->x)), world_node(d->x, 1), &e),
                     -EAGAIN);
    assert_string_equal(e.msg, "it is not heard, and neither are 1 of its 2 neighbours");
    assert_int_equal(step_of(d, 1), STEP_ISOLATE);
    run(d, 320);
    assert_int_equal(step_of(d, 1), STEP_QUEUE); /* in the end it is a person's */
    clinic_destroy(d);
}

/* A neighbour that fell silent long before says nothing of this one. */
static void test_a_neighbour_that_was_silent_before_does_not_count(void **state)
{
    struct clinic *d = open_ward(8);
    in_group(d, "lx[01-03]");
    d->x->off[2] = true;
    run(d, 200);
    d->x->off[1] = true;
    text_clear(&d->x->log);
    run(d, 320);
    assert_non_null(strstr(d->x->log.s, "node.lost lx01: not heard for "));
    assert_non_null(strstr(d->x->log.s, "; 0 of 1 neighbours are silent"));
    assert_int_equal(step_of(d, 1), STEP_REMEDY);
    clinic_destroy(d);
}

static void test_a_lost_node_has_the_worst_that_it_said_last(void **state)
{
    struct clinic *d = open_ward(8);
    clinic_tells(d, 1, false,
                 "[{\"check\":\"space\",\"result\":\"degraded\",\"age_ms\":0,\"findings\":["
                 "{\"result\":\"warn\",\"device\":\"sda\",\"text\":\"slow\"},"
                 "{\"result\":\"degraded\",\"device\":\"sdb\",\"text\":\"nearly full\"}]}]");
    d->x->off[1] = true;
    run(d, 320);
    assert_non_null(strstr(d->x->log.s, "; it said last: space: nearly full"));
    clinic_destroy(d);
}

/* Nothing could be tested, so a person's word does not take it out of the queue. */
static void test_a_silent_node_is_not_resolved(void **state)
{
    struct clinic *d = open_ward(8);
    struct err e = {0};
    struct member *m = world_node(d->x, 1);
    assert_int_equal(watch_may_resolve(d->x->w, world_now(d->x), m, &e), 0); /* it is in no queue */
    clinic_take_remedies(d,
                         "Remedy=else Run=\"node:x\" Helps=else Confidence=60% Because=\"a try\" Takes=1m\n");
    clinic_tells(d, 1, true, CLINIC_ILL);
    run(d, 3);
    assert_int_equal(step_of(d, 1), STEP_QUEUE);
    assert_int_equal(watch_may_resolve(d->x->w, world_now(d->x), m, &e), 0); /* it is heard */
    d->x->off[1] = true;
    run(d, 100);
    assert_int_equal(watch_may_resolve(d->x->w, world_now(d->x), m, &e), -EBUSY);
    assert_non_null(strstr(e.msg, "node \"lx01\" does not answer, and was not heard for 1m"));
    assert_non_null(strstr(e.msg, "; resolve it when it answers again"));
    clinic_destroy(d);
}

static void test_nodes_that_would_be_missed_are_counted(void **state)
{
    struct clinic *d = open_ward(6);
    in_group(d, "lx[01-03]");
    assert_int_equal(lost_runners(d->x->w, 0), 6);
    assert_int_equal(lost_runners(d->x->w, 7), 3);
    assert_int_equal(lost_runners(d->x->w, 8), 0);
    clinic_destroy(d);
}

/* The scheduler is asked once to end the work of a lost node, where the class says so, and only after it
 * drained the node. */
static void test_the_work_of_a_lost_node_is_ended_where_its_class_says_so(void **state)
{
    static const struct class_lines gpu = {"gpu", {{"Nodes", "lx[01-02]"}, {"LostWork", "requeue"}}};
    struct clinic *d = open_ward(8);
    CLEANUP_TEXT struct text set = {0};
    world_configure(d->x, &gpu, 1, "");
    for (int i = 1; i <= 3; i++)
        watch_scheduler(d->x->w, world_node(d->x, i), WORK_BUSY, false);
    d->x->off[1] = d->x->off[3] = true; /* the class of lx03 waits */
    run(d, 320);
    assert_int_equal(step_of(d, 1), STEP_ISOLATE);
    assert_null(strstr(d->x->log.s, "work:"));
    for (int i = 1; i <= 3; i += 2) {
        text_clear(&set);
        text_printf(&set,
                    "{\"key\":\"effect/"
                    "slurm.lx0%d\",\"done\":{\"claim\":\"%s\",\"state\":\"drained\",\"at\":\"%lld\","
                    "\"reservation\":false}}",
                    i, member_repair(world_node(d->x, i))->id, (long long)world_wall(d->x).ns);
        assert_int_equal(world_command(d->x, COMMAND_EFFECT, "", set.s), 0);
    }
    run(d, 3);
    assert_non_null(strstr(d->x->log.s, "repair.operate lx01: work:requeue"));
    assert_null(strstr(d->x->log.s, "repair.operate lx03"));
    text_clear(&d->x->log);
    run(d, 3);
    assert_null(d->x->log.s && *d->x->log.s ? strstr(d->x->log.s, "work:") : NULL); /* once */
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_that_stays_silent_is_lost),
        cmocka_unit_test(test_something_else_may_explain_the_silence),
        cmocka_unit_test(test_a_lost_node_that_is_heard_again_returns),
        cmocka_unit_test(test_a_node_whose_neighbours_fell_silent_with_it_is_not_repaired),
        cmocka_unit_test(test_a_neighbour_that_was_silent_before_does_not_count),
        cmocka_unit_test(test_a_lost_node_has_the_worst_that_it_said_last),
        cmocka_unit_test(test_a_silent_node_is_not_resolved),
        cmocka_unit_test(test_nodes_that_would_be_missed_are_counted),
        cmocka_unit_test(test_the_work_of_a_lost_node_is_ended_where_its_class_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
