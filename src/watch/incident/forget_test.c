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

static const char CHECKS[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                             "Check=kernel Probe=kernel.log\n";
static const char XID[] =
    "{\"check\":\"kernel\",\"result\":\"fatal\",\"age_ms\":0,\"findings\":["
    "{\"result\":\"fatal\",\"code\":\"xid.79\",\"device\":\"gpu 0\",\"text\":\"off the bus\"}]}",
                  FULL[] = "{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,\"findings\":["
                           "{\"result\":\"fatal\",\"text\":\"full\"}]}",
                  KERNEL_OK[] = "{\"check\":\"kernel\",\"result\":\"ok\",\"age_ms\":0}",
                  SPACE_OK[] = "{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0}";

/* All that lx01 says, with the line of its kernel's log up to which it told. */
static void says(struct clinic *d, unsigned log_next, const char *kernel, const char *space)
{
    char boot[37];
    bool want;
    struct err e;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"boot\":\"%s\",\"list\":\"00\",\"full\":true,\"log_next\":%u,\"checks\":[%s,%s]}",
                world_boot(d->x, 1, boot), log_next, space, kernel);
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    if (watch_checks(d->x->w, world_now(d->x), world_wall(d->x), world_node(d->x, 1), body, &want, &e) < 0)
        fail_msg("%s", e.msg);
}

/* lx01 says this, and is in the work queue for it. */
static struct clinic *queued(const char *kernel, const char *space)
{
    struct clinic *d = clinic_open(20);
    clinic_take_checks(d, CHECKS);
    says(d, 42, kernel, space);
    world_run(d->x, 3);
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_QUEUE);
    return d;
}

static void answers(struct clinic *d)
{
    text_clear(&d->x->log);
    assert_int_equal(world_command_for(d->x, COMMAND_TRANSITION, "lx01", "new cable",
                                       "{\"transition\":\"human_intervention\",\"answers\":true}"),
                     0);
}

/* What the agent came to with what it was told. */
static void ends(struct clinic *d, const char *state)
{
    CLEANUP_OPERATION struct operation o = {0};
    CLEANUP_TEXT struct text set = {0};
    cluster_operation(d->x->c, world_node(d->x, 1), &o);
    assert_non_null(o.id);
    text_printf(&set,
                "{\"key\":\"effect/operate.lx01\",\"done\":{\"state\":\"%s\",\"id\":\"%s\",\"%s\":\"%lld\"}}",
                state, o.id, strcmp(state, "begun") == 0 ? "at" : "text", (long long)world_wall(d->x).ns);
    assert_int_equal(world_command(d->x, COMMAND_EFFECT, "", set.s), 0);
}

static size_t count_open(const struct clinic *d)
{
    const struct ailment *a = member_ailment(world_node(d->x, 1));
    return a ? a->n_open : 0;
}

static void test_an_agent_forgets_findings_that_a_person_answered_for(void **state)
{
    struct clinic *d = queued(XID, SPACE_OK);
    answers(d);
    world_run(d->x, 2);
    assert_non_null(strstr(d->x->log.s, "repair.operate lx01: forget:42:xid.79"));
    /* Until that is done, what it says of it again is not believed. */
    says(d, 43, XID, SPACE_OK);
    world_run(d->x, 2);
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_PROVISION);
    ends(d, "begun");
    ends(d, "done");
    world_run(d->x, 2);
    says(d, 44, KERNEL_OK, SPACE_OK);
    world_run(d->x, 5);
    assert_null(member_repair(world_node(d->x, 1)));
    assert_int_equal(count_open(d), 0);
    clinic_destroy(d);
}

/* What was there in spite of the answer is found anew. */
static void test_a_line_of_the_log_after_the_answer_counts(void **state)
{
    struct clinic *d = queued(XID, SPACE_OK);
    answers(d);
    world_run(d->x, 2);
    ends(d, "begun");
    ends(d, "done");
    world_run(d->x, 2);
    text_clear(&d->x->log);
    says(d, 50, XID, SPACE_OK);
    world_run(d->x, 5);
    world_said(d->x, "health.findings lx01; open fatal of gpu 0: kernel fatal xid.79\n"
                     "repair.step lx01: provision -> isolate (fatal: kernel fails)\n"
                     "repair.step lx01: isolate -> queue (drained: it is the hardware: xid.79 gpu 0)\n");
    assert_int_equal(count_open(d), 1);
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_QUEUE);
    clinic_destroy(d);
}

/* A disk that was emptied has to be looked at once more; what it said before the answer says nothing. */
static void test_a_check_of_the_machine_is_judged_anew_after_the_answer(void **state)
{
    struct clinic *d = queued(KERNEL_OK, FULL);
    answers(d);
    world_run(d->x, 2);
    assert_non_null(strstr(d->x->log.s, "repair.operate lx01: forget:42:"));
    assert_null(strstr(d->x->log.s, "forget:42:x"));
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_PROVISION);
    ends(d, "begun");
    ends(d, "done");
    world_run(d->x, 2);
    text_clear(&d->x->log);
    says(d, 43, KERNEL_OK, FULL);
    world_run(d->x, 2);
    world_said(d->x, "health.findings lx01; open fatal: space fatal\n"
                     "repair.step lx01: provision -> isolate (fatal: space fails)\n"
                     "repair.step lx01: isolate -> queue (drained: no remedy helps space)\n");
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_QUEUE);
    clinic_destroy(d);
}

static void test_nothing_is_to_be_forgotten_of_a_node_that_is_well_by_then(void **state)
{
    struct clinic *d = queued(XID, SPACE_OK);
    says(d, 43, KERNEL_OK, SPACE_OK);
    answers(d);
    world_run(d->x, 5);
    assert_null(strstr(d->x->log.s, "forget:"));
    assert_null(member_repair(world_node(d->x, 1)));
    clinic_destroy(d);
}

/* An agent that never says what came of it holds nothing up for ever. */
static void test_an_order_that_nobody_carries_out_is_given_up(void **state)
{
    struct clinic *d = queued(XID, SPACE_OK);
    answers(d);
    world_run(d->x, 2);
    assert_non_null(strstr(d->x->log.s, "forget:42:xid.79"));
    for (int minute = 0; minute < 3; minute++) {
        world_run(d->x, 60);
        says(d, 60, KERNEL_OK, SPACE_OK);
    }
    world_run(d->x, 3);
    assert_null(member_repair(world_node(d->x, 1)));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_agent_forgets_findings_that_a_person_answered_for),
        cmocka_unit_test(test_a_line_of_the_log_after_the_answer_counts),
        cmocka_unit_test(test_a_check_of_the_machine_is_judged_anew_after_the_answer),
        cmocka_unit_test(test_nothing_is_to_be_forgotten_of_a_node_that_is_well_by_then),
        cmocka_unit_test(test_an_order_that_nobody_carries_out_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
