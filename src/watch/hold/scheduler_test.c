/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct observed *observed(const struct clinic *d)
{
    return watch_observed(d->x->w, world_node(d->x, 1));
}

static void test_a_node_that_completes_its_work_is_busy(void **state)
{
    static const struct {
        enum work says;
        bool completing;
        enum work is;
    } cases[] = {{WORK_IDLE, false, WORK_IDLE}, {WORK_BUSY, false, WORK_BUSY},
                 {WORK_IDLE, true, WORK_BUSY},  {WORK_UNKNOWN, false, WORK_UNKNOWN},
                 {WORK_BUSY, true, WORK_BUSY},  {WORK_UNKNOWN, true, WORK_UNKNOWN}};
    struct clinic *d = clinic_open(1);
    assert_false(observed(d)->scheduler);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        watch_scheduler(d->x->w, world_node(d->x, 1), cases[i].says, cases[i].completing);
        assert_true(observed(d)->scheduler);
        assert_int_equal(observed(d)->scheduled, cases[i].is);
    }
    clinic_destroy(d);
}

/* The row for placing is made anew with what the scheduler says. */
static void test_no_work_is_placed_where_the_scheduler_has_work(void **state)
{
    struct clinic *d = clinic_open(1);
    world_run(d->x, 2);
    enum place_pass before = world_row(d->x, 1).pass;
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_BUSY, false);
    assert_int_equal(world_row(d->x, 1).pass, PASS_BUSY);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_IDLE, false);
    assert_int_equal(world_row(d->x, 1).pass, before);
    assert_int_not_equal(before, PASS_BUSY);
    clinic_destroy(d);
}

static void test_the_schedulers_words_are_kept_until_it_cannot_be_read(void **state)
{
    struct clinic *d = clinic_open(1);
    struct member *m = world_node(d->x, 1);
    const struct scheduler_word says = {
        .state = "IDLE+DRAIN", .reason = "bad DIMM", .by = "ann", .read = {5}};
    watch_scheduler_word(d->x->w, m, &says);
    assert_string_equal(observed(d)->word.state, "IDLE+DRAIN");
    assert_string_equal(observed(d)->word.reason, "bad DIMM");
    watch_scheduler_word(d->x->w, m, &(struct scheduler_word){0});
    assert_null(observed(d)->word.state);
    assert_int_equal(observed(d)->word.read.ns, 5);
    watch_slurmd(d->x->w, m, SLURMD_SILENT);
    assert_int_equal(observed(d)->slurmd, SLURMD_SILENT);
    watch_away(d->x->w, m, true);
    assert_true(observed(d)->away);
    clinic_destroy(d);
}

static void test_nothing_is_left_of_a_scheduler_that_does_not_have_the_node(void **state)
{
    struct clinic *d = clinic_open(1);
    struct member *m = world_node(d->x, 1);
    const struct elsewhere held = {
        .where = ELSEWHERE_SLURM, .state = ELSEWHERE_HELD, .out = true, .how = "drained"};
    watch_unscheduled(d->x->w, m); /* it never was in it */
    watch_scheduler(d->x->w, m, WORK_BUSY, false);
    watch_slurmd(d->x->w, m, SLURMD_ANSWERS);
    watch_away(d->x->w, m, true);
    watch_scheduler_word(d->x->w, m, &(struct scheduler_word){.state = "DOWN"});
    watch_elsewhere(d->x->w, world_now(d->x), m, &held);
    assert_int_equal(watch_work(d->x->w, m), WORK_BUSY);
    watch_unscheduled(d->x->w, m);
    assert_false(observed(d)->scheduler || observed(d)->away);
    assert_int_equal(observed(d)->slurmd, SLURMD_UNKNOWN);
    assert_null(observed(d)->word.state);
    assert_int_equal(observed(d)->elsewhere[ELSEWHERE_SLURM].is.state, ELSEWHERE_NOBODY);
    assert_int_equal(watch_work(d->x->w, m), WORK_IDLE); /* the agent's word alone */
    clinic_destroy(d);
}

/* A repair that waits for the end of work goes on in the next tick, and not with the next sweep. */
static void test_a_repair_follows_the_schedulers_state(void **state)
{
    struct clinic *d = clinic_open(20);
    struct member *m = world_node(d->x, 15); /* whose turn in the sweep comes later */
    watch_scheduler(d->x->w, m, WORK_BUSY, false);
    clinic_tells(d, 15, true, CLINIC_ILL);
    world_run(d->x, 10);
    assert_int_equal(member_repair(m)->step, STEP_ISOLATE);
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    for (int tick = 0; tick < 2; tick++) {
        d->x->now_ms += WATCH_TICK_MS;
        watch_tick(d->x->w, world_now(d->x), world_wall(d->x));
        watch_step(d->x->w, 1);
    }
    assert_int_not_equal(member_repair(m)->step, STEP_ISOLATE);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_that_completes_its_work_is_busy),
        cmocka_unit_test(test_no_work_is_placed_where_the_scheduler_has_work),
        cmocka_unit_test(test_the_schedulers_words_are_kept_until_it_cannot_be_read),
        cmocka_unit_test(test_nothing_is_left_of_a_scheduler_that_does_not_have_the_node),
        cmocka_unit_test(test_a_repair_follows_the_schedulers_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
