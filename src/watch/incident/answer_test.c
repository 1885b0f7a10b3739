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

static void test_health_that_is_out_of_date_or_not_heard_is_unknown(void **state)
{
    struct clinic *d = clinic_open(2);
    CLEANUP_TEXT struct text why = {0};
    clinic_tells(d, 1, true, CLINIC_WELL);
    assert_true(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    world_run(d->x, 200);
    assert_int_equal(clinic_health(d, 1), HEALTH_UNKNOWN);
    assert_false(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    assert_string_equal(why.s, "space unknown, mounts unknown");
    clinic_tells(d, 1, true, "[{\"check\":\"space\",\"result\":\"unsupported\",\"age_ms\":0}]");
    assert_false(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    assert_string_equal(why.s, "mounts has said nothing");
    d->x->off[1] = true;
    world_run(d->x, 60);
    assert_false(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    assert_string_equal(why.s, "it is not heard");
    clinic_destroy(d);
}

static void put_space(void *arg, const struct said *s)
{
    if (strcmp(s->check->name, "space") == 0)
        text_printf(arg, "%s %s", result_name(s->verdict.result), s->verdict.text);
}

static void space_is(struct clinic *d, const char *text)
{
    CLEANUP_TEXT struct text t = {0};
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), put_space, &t);
    assert_string_equal(t.s, text);
}

/* An older answer counts as long as any does; why there is no other one is said all the time. */
static void test_a_look_without_an_answer_says_why(void **state)
{
    struct clinic *d = clinic_open(2);
    clinic_tells(d, 1, true, CLINIC_WELL);
    clinic_tells(d, 1, false,
                 "[{\"check\":\"space\",\"result\":\"ok\",\"blind\":\"probe.stuck: / hangs\",\"age_ms\":0}]");
    assert_int_equal(clinic_health(d, 1), HEALTH_OK);
    space_is(d, "ok probe.stuck: / hangs");
    world_run(d->x, 200);
    space_is(d, "unknown probe.stuck: / hangs");
    world_says_nothing(d->x);
    clinic_tells(d, 1, true, CLINIC_WELL);
    space_is(d, "ok ");
    clinic_destroy(d);
}

static void count(void *arg, struct member *m)
{
    ++*(unsigned *)arg;
}

static void test_a_node_that_is_out_of_date_is_asked_again_now_and_then(void **state)
{
    struct clinic *d = clinic_open(2);
    unsigned n = 0;
    clinic_tells(d, 1, true, CLINIC_WELL);
    watch_untold(d->x->w, world_now(d->x), count, &n);
    assert_int_equal(n, 0);
    world_run(d->x, 200);
    watch_untold(d->x->w, world_now(d->x), count, &n);
    watch_untold(d->x->w, world_now(d->x), count, &n);
    assert_int_equal(n, 1);
    clinic_destroy(d);
}

static void mark(void *arg, struct member *m)
{
    bool *asked = arg;
    asked[m->id] = true;
}

static void test_well_nodes_are_asked_in_turn_and_an_ill_one_at_once(void **state)
{
    struct clinic *d = clinic_open(NODES);
    bool asked[NODES] = {0};
    unsigned n = 0;
    for (int i = 1; i <= NODES; i++)
        clinic_tells(d, i, true, CLINIC_WELL);
    clinic_tells(d, NODES, false, CLINIC_ILL);
    world_run(d->x, 200);
    watch_untold(d->x->w, world_now(d->x), mark, asked);
    assert_true(asked[world_node(d->x, NODES)->id]);
    for (int i = 0; i < NODES; i++)
        n += asked[i];
    assert_int_equal(n, 101);
    watch_untold(d->x->w, world_now(d->x), mark, asked);
    for (int i = 0; i < NODES; i++)
        assert_true(asked[i]);
    clinic_destroy(d);
}

static void say_check(void *arg, const struct said *s)
{
    text_printf(arg, "%s %s: %s\n", s->check->name, result_name(s->verdict.result), s->verdict.text);
}

static void test_each_check_is_told_with_why_nothing_is_known(void **state)
{
    struct clinic *d = clinic_open(2);
    CLEANUP_TEXT struct text t = {0};
    clinic_tells(d, 1, true, CLINIC_WELL);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), say_check, &t);
    world_run(d->x, 200);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), say_check, &t);
    assert_string_equal(
        t.s, "space ok: \nmounts ok: \nstress unknown: it has not reported on this boot\n"
             "space unknown: its result is out of date\nmounts unknown: its result is out of date\n"
             "stress unknown: it has not reported on this boot\n");
    clinic_destroy(d);
}

static void test_severity_and_age_of_an_incident_drain_a_node(void **state)
{
    struct clinic *d = clinic_open(2);
    const struct member *m = world_node(d->x, 1);
    const struct wall now = {span_s(10000).ns};
    d->x->policy.health.degraded_for = span_s(3600);
    watch_set_policy(d->x->w, &d->x->policy);
    const struct {
        enum result severity;
        int64_t since_s, closed_s;
        bool observe, drains;
    } cases[] = {{RESULT_WARN, 0, 0, false, false},        {RESULT_FATAL, 10000, 0, false, true},
                 {RESULT_FATAL, 10000, 0, true, false},    {RESULT_LOST, 10000, 0, false, true},
                 {RESULT_DEGRADED, 6400, 0, false, true},  {RESULT_DEGRADED, 6401, 0, false, false},
                 {RESULT_DEGRADED, 0, 3599, false, false}, {RESULT_DEGRADED, 1, 3601, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct incident one = {.severity = cases[i].severity,
                                     .since = {span_s(cases[i].since_s).ns},
                                     .closed = {span_s(cases[i].closed_s).ns},
                                     .observe = cases[i].observe};
        if (watch_incident_drains(d->x->w, m, &one, now) != cases[i].drains)
            fail_msg("case %zu", i);
    }
    const struct incident fatal = {.severity = RESULT_FATAL};
    assert_int_equal(world_command(d->x, COMMAND_SET, "lx01", "{\"Remediate\":\"no\"}"), 0);
    assert_false(watch_incident_drains(d->x->w, m, &fatal, now));
    assert_true(watch_incident_drains(d->x->w, world_node(d->x, 2), &fatal, now));
    d->x->policy.health.degraded_for = span_s(0);
    watch_set_policy(d->x->w, &d->x->policy);
    const struct incident degraded = {.severity = RESULT_DEGRADED};
    assert_false(watch_incident_drains(d->x->w, world_node(d->x, 2), &degraded, now));
    clinic_destroy(d);
}

static void note_result(void *arg, const struct check *k, enum result r)
{
    text_printf(arg, "%s %s; ", k->name, result_name(r));
}

static void test_results_are_those_of_the_checks_that_the_node_runs(void **state)
{
    struct clinic *d = clinic_open(2);
    CLEANUP_TEXT struct text t = {0};
    clinic_take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n"
                          "Check=mounts Probe=fs.mounted Path=/scratch Every=60s Nodes=lx02\n");
    clinic_tells(d, 1, true, CLINIC_ILL);
    watch_each_result(d->x->w, world_now(d->x), world_node(d->x, 1), note_result, &t);
    watch_each_result(d->x->w, world_now(d->x), world_node(d->x, 2), note_result, &t);
    assert_string_equal(t.s, "space fatal; space unknown; mounts unknown; ");
    clinic_destroy(d);
}

static void test_eight_of_many_missing_checks_are_named(void **state)
{
    struct clinic *d = clinic_open(1);
    CLEANUP_TEXT struct text checks = {0}, why = {0};
    for (int i = 1; i <= 10; i++)
        text_printf(&checks, "Check=c%d Probe=fs.space Path=/%d Every=60s\n", i, i);
    clinic_take_checks(d, checks.s);
    assert_false(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    assert_non_null(strstr(why.s, "c8 has said nothing, 2 more"));
    clinic_destroy(d);
}

/* One that a node runs alone waits for nobody. */
static void test_a_check_of_an_examination_says_whether_it_waits_for_partners(void **state)
{
    struct clinic *d = clinic_open(20);
    CLEANUP_TEXT struct text t = {0};
    clinic_take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n"
                          "Check=stress Probe=plugin Run=/bin/true When=extensive\n"
                          "Check=pair Probe=plugin Run=/bin/true When=extensive Group=2\n");
    clinic_tells(d, 1, true, CLINIC_ILL);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), say_check, &t);
    assert_null(strstr(t.s, "idle nodes")); /* it is not examined yet */
    world_run(d->x, 2);
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_EXAMINE);
    text_clear(&t);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), say_check, &t);
    assert_non_null(strstr(t.s, "stress unknown: it has not reported on this boot\n"
                                "pair unknown: it waits for idle nodes to run it with\n"));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_health_that_is_out_of_date_or_not_heard_is_unknown),
        cmocka_unit_test(test_a_look_without_an_answer_says_why),
        cmocka_unit_test(test_a_node_that_is_out_of_date_is_asked_again_now_and_then),
        cmocka_unit_test(test_well_nodes_are_asked_in_turn_and_an_ill_one_at_once),
        cmocka_unit_test(test_each_check_is_told_with_why_nothing_is_known),
        cmocka_unit_test(test_severity_and_age_of_an_incident_drain_a_node),
        cmocka_unit_test(test_results_are_those_of_the_checks_that_the_node_runs),
        cmocka_unit_test(test_eight_of_many_missing_checks_are_named),
        cmocka_unit_test(test_a_check_of_an_examination_says_whether_it_waits_for_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
