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

static void test_a_gentle_remedy_leaves_the_node_in_service(void **state)
{
    trace_walk("tended");
}

static const char
    REMOUNT[] = "Remedy=remount Run=node:mount Helps=mount Needs=nothing Confidence=70% "
                "Because=\"it often does\" Takes=1m Deadline=60s Disturbs=0\n",
    ELSE[] = "Remedy=else Run=node:x Helps=else Needs=nothing Confidence=70% Because=\"a try\" Takes=1m\n";

/* lx01 is degraded, and is about to be tended in service; `holds`: somebody holds it in Slurm from then on.
 */
static struct clinic *tended(bool holds)
{
    struct clinic *d = clinic_open(20);
    d->x->policy.health.degraded_for = span_s(0);
    clinic_take_checks(d, "Check=mount Probe=plugin Run=/bin/m Every=30s Severity=degraded\n");
    clinic_take_remedies(d, REMOUNT);
    clinic_tells(d, 1, true,
                 "[{\"check\":\"mount\",\"result\":\"degraded\",\"age_ms\":0,\"findings\":[{\"result\":"
                 "\"degraded\",\"text\":\"stale\"}]}]");
    for (int tick = 0; tick < 100 && !member_treated(world_node(d->x, 1)); tick++) {
        d->x->now_ms += WATCH_TICK_MS;
        watch_tick(d->x->w, world_now(d->x), world_wall(d->x));
        while (!member_treated(world_node(d->x, 1)) && watch_step(d->x->w, 1))
            ;
    }
    assert_int_equal(member_treated(world_node(d->x, 1))->step, STEP_TEND);
    if (holds)
        watch_elsewhere(
            d->x->w, world_now(d->x), world_node(d->x, 1),
            &(struct elsewhere){.state = ELSEWHERE_HELD, .out = true, .how = "drained", .by = "ann"});
    return d;
}

static bool said(const struct clinic *d, const char *what)
{
    return d->x->log.s && strstr(d->x->log.s, what);
}

static void test_a_tended_node_is_begun_at_once_and_never_drained(void **state)
{
    struct clinic *d = tended(false);
    world_run(d->x, 2);
    assert_true(said(d, "repair.operate lx01: node:mount"));
    assert_false(world_held(d->x, 1, CLAIM_REPAIR));
    assert_int_equal(clinic_out(d), 0);
    clinic_destroy(d);
}

static void test_a_remedy_that_leaves_the_configuration_ends_it(void **state)
{
    struct clinic *d = tended(true);
    clinic_take_remedies(d, ELSE);
    world_run(d->x, 2);
    assert_true(
        said(d, "repair.step lx01: tend -> none (not_remedied: its remedy is not configured any more)"));
    clinic_destroy(d);
}

/* Whoever began it would have said so within five minutes of its deadline. */
static void test_an_operation_without_an_answer_is_given_up(void **state)
{
    struct clinic *d = tended(false);
    world_run(d->x, 2);
    CLEANUP_OPERATION struct operation o = {0};
    CLEANUP_TEXT struct text set = {0};
    cluster_operation(d->x->c, world_node(d->x, 1), &o);
    text_printf(
        &set,
        "{\"key\":\"effect/operate.lx01\",\"done\":{\"state\":\"begun\",\"id\":\"%s\",\"at\":\"%lld\"}}",
        o.id, (long long)world_wall(d->x).ns);
    assert_int_equal(world_command(d->x, COMMAND_EFFECT, "", set.s), 0);
    world_run(d->x, 355);
    assert_false(said(d, "its outcome was not reported"));
    world_run(d->x, 10);
    assert_true(said(d, "its outcome was not reported"));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_gentle_remedy_leaves_the_node_in_service),
        cmocka_unit_test(test_a_tended_node_is_begun_at_once_and_never_drained),
        cmocka_unit_test(test_a_remedy_that_leaves_the_configuration_ends_it),
        cmocka_unit_test(test_an_operation_without_an_answer_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
