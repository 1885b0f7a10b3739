/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step examine: which check comes next, what was answered counts once, and a successor of the controller
 * runs no check again that came to an answer. Partners are tested in trial/partner_test.c.
 */
#include "watch/trace_test.h"
#include "watch/ward_test.h"

#include "node/operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char CHECKS[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                             "Check=memory Probe=plugin Run=/bin/true When=extensive\n"
                             "Check=disk Probe=plugin Run=/bin/true When=extensive\n"
                             "Check=noise Probe=plugin Run=/bin/true When=extensive Observe=yes\n"
                             "Check=pair Probe=plugin Run=/bin/true When=extensive Group=2 Deadline=60s\n"
                             "Check=mesh Probe=plugin Run=/bin/true When=extensive Group=2 Deadline=60s\n";
static const char IS_OK[] = "{\"result\":\"ok\"}", IS_FATAL[] =
                                                       "{\"result\":\"fatal\",\"findings\":[{\"result\":"
                                                       "\"fatal\",\"text\":\"broken\"}]}";

/* lx01 is ill, and examined. */
static struct ward *exam_create(void)
{
    struct ward *d = ward_create(6, CHECKS);
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    ward_run(d, 5);
    assert_int_equal(ward_repair(d, 1)->step, STEP_EXAMINE);
    return d;
}

/* The check that its agent is told to run; "" for none. Valid until the next call. */
static const char *check_wanted(const struct ward *d)
{
    static char of[128];
    struct operation o;
    cluster_operation(d->x->c, world_node(d->x, 1), &o);
    snprintf(of, sizeof of, "%s", o.state == OPERATION_WAITS ? o.of : "");
    operation_fini(&o);
    return of;
}

static void gives(struct ward *d, const char *state, const char *text)
{
    CLEANUP_TEXT struct text t = {0};
    struct operation o;
    cluster_operation(d->x->c, world_node(d->x, 1), &o);
    text_printf(&t, "{\"key\":\"effect/operate.lx01\",\"done\":{\"id\":\"%s\",\"state\":\"%s\"", o.id, state);
    if (text) {
        text_add(&t, ",\"text\":");
        text_add_json(&t, text);
    } else {
        text_printf(&t, ",\"at\":\"%lld\"", (long long)world_wall(d->x).ns);
    }
    text_add(&t, "}}");
    operation_fini(&o);
    assert_int_equal(world_command(d->x, COMMAND_EFFECT, "", t.s), 0);
}

/* Its agent runs the check, which is the one that is wanted, and says what it came to. */
static void answers(struct ward *d, const char *check, const char *verdict)
{
    assert_string_equal(check_wanted(d), check);
    gives(d, "begun", NULL);
    gives(d, "done", verdict);
}

static void check_runs(struct ward *d, const char *check, const char *verdict)
{
    answers(d, check, verdict);
    ward_run(d, 2);
}

static void succeed(struct ward *d)
{
    world_lead_anew(d->x);
    world_open(d->x, 1, 6);
    ward_all_well(d);
    d->n_open = 0;
    ward_run(d, 5);
}

static void becomes_well(struct ward *d)
{
    d->says[1] = NULL;
    ward_tell(d, 1, WELL);
}

static void test_checks_run_one_after_another_and_partners_are_asked_last(void **state)
{
    struct ward *d = exam_create();
    becomes_well(d);
    check_runs(d, "memory", IS_OK);
    check_runs(d, "disk", IS_OK);
    assert_int_equal(d->ran[1], 0);
    check_runs(d, "noise", IS_OK);
    ward_run(d, 20);
    assert_int_equal(d->ran[1], 2);
    assert_null(ward_repair(d, 1));
    ward_destroy(d);
}

static void test_a_failure_ends_the_examination(void **state)
{
    struct ward *d = exam_create();
    check_runs(d, "memory", IS_FATAL);
    assert_int_equal(ward_repair(d, 1)->step, STEP_QUEUE);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_FAIL);
    assert_string_equal(ward_repair(d, 1)->problem, "hardware_problem");
    ward_destroy(d);
}

static void test_a_failure_of_a_check_that_is_only_observed_ends_nothing(void **state)
{
    struct ward *d = exam_create();
    becomes_well(d);
    check_runs(d, "memory", IS_OK);
    check_runs(d, "disk", IS_OK);
    check_runs(d, "noise", IS_FATAL);
    ward_run(d, 20);
    assert_null(ward_repair(d, 1));
    ward_destroy(d);
}

static void test_a_check_without_an_answer_is_no_pass(void **state)
{
    struct ward *d = exam_create();
    becomes_well(d);
    d->x->policy.health.inconclusive = 1;
    check_runs(d, "memory", "{\"result\":\"unknown\",\"text\":\"no such file\"}");
    check_runs(d, "disk", IS_OK);
    check_runs(d, "noise", IS_OK);
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->step, STEP_EXAMINE);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_INCONCLUSIVE);
    assert_string_equal(ward_repair(d, 1)->why, "memory came to no answer: no such file");
    ward_destroy(d);
}

static void test_a_successor_does_not_repeat_answered_checks(void **state)
{
    struct ward *d = exam_create();
    becomes_well(d);
    check_runs(d, "memory", IS_OK);
    check_runs(d, "disk", IS_OK);
    assert_int_equal(ward_repair(d, 1)->n_ran, 2);
    succeed(d);
    assert_string_equal(check_wanted(d), "noise");
    check_runs(d, "noise", IS_OK);
    ward_run(d, 20);
    assert_int_equal(d->ran[1], 2);
    assert_null(ward_repair(d, 1));
    ward_destroy(d);
}

/* The answer of the last one is in its operation's record alone. */
static void test_a_successor_knows_the_answer_that_came_last(void **state)
{
    struct ward *d = exam_create();
    becomes_well(d);
    check_runs(d, "memory", IS_OK);
    answers(d, "disk", IS_OK);
    succeed(d);
    assert_string_equal(check_wanted(d), "noise");
    assert_int_equal(ward_repair(d, 1)->n_ran, 2);
    ward_destroy(d);
}

static void test_a_run_with_partners_is_remembered_too(void **state)
{
    struct ward *d = exam_create();
    check_runs(d, "memory", IS_OK);
    check_runs(d, "disk", IS_OK);
    check_runs(d, "noise", IS_OK);
    for (int t = 0; t < 20 && ward_repair(d, 1)->n_ran < 3; t++)
        ward_run(d, 1);
    assert_int_equal(ward_repair(d, 1)->n_ran, 3); /* memory, disk and one with partners; noise ran last */
    unsigned ran = d->ran[1];
    succeed(d);
    ward_run(d, 20);
    assert_in_range(ran, 1, 2); /* the other one may have begun */
    assert_int_equal(d->ran[1], ran + 1);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    ward_destroy(d);
}

static void test_the_next_examination_begins_with_nothing(void **state)
{
    struct ward *d = exam_create();
    becomes_well(d);
    check_runs(d, "memory", IS_OK);
    check_runs(d, "disk", IS_OK);
    world_reboot(d->x, 1);
    gives(d, "refused", "it was booted");
    ward_run(d, 10);
    assert_int_equal(ward_repair(d, 1)->step, STEP_EXAMINE);
    assert_int_equal(ward_repair(d, 1)->n_ran, 0);
    assert_string_equal(check_wanted(d), "memory");
    ward_destroy(d);
}

static void test_an_examination_has_its_deadline(void **state)
{
    trace_walk("examined");
}

static void test_a_node_that_does_not_bear_its_examination(void **state)
{
    trace_walk("booted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_examination_has_its_deadline),
        cmocka_unit_test(test_a_node_that_does_not_bear_its_examination),
        cmocka_unit_test(test_checks_run_one_after_another_and_partners_are_asked_last),
        cmocka_unit_test(test_a_failure_ends_the_examination),
        cmocka_unit_test(test_a_failure_of_a_check_that_is_only_observed_ends_nothing),
        cmocka_unit_test(test_a_check_without_an_answer_is_no_pass),
        cmocka_unit_test(test_a_successor_does_not_repeat_answered_checks),
        cmocka_unit_test(test_a_successor_knows_the_answer_that_came_last),
        cmocka_unit_test(test_a_run_with_partners_is_remembered_too),
        cmocka_unit_test(test_the_next_examination_begins_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
