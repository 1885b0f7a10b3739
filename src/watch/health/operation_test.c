/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"
#include "watch/health/health.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct mono awake(const struct clinic *d)
{
    return watch_awake(d->x->w, world_now(d->x));
}

static bool asked(const struct clinic *d)
{
    return health_asked(health_state_find(d->x->w, world_node(d->x, 1)), awake(d));
}

static void propose_note(struct clinic *d)
{
    struct command cmd = {.kind = COMMAND_FINDINGS};
    world_boot(d->x, 1, cmd.findings.boot);
    health_propose(d->x->w, awake(d), world_node(d->x, 1), &cmd);
}

static void test_a_command_without_an_answer_is_given_up_after_ten_seconds(void **state)
{
    struct clinic *d = clinic_open(2);
    (void)health_state_of(d->x->w, world_node(d->x, 1));
    assert_false(asked(d));
    propose_note(d);
    assert_true(asked(d));
    d->x->now_ms += 9999;
    assert_true(asked(d));
    d->x->now_ms += 1;
    assert_false(asked(d));
    clinic_destroy(d);
}

static void test_a_command_that_the_shell_does_not_take_is_not_under_way(void **state)
{
    struct clinic *d = clinic_open(2);
    d->x->refuse = true;
    propose_note(d);
    assert_false(asked(d));
    clinic_destroy(d);
}

/* Its node waits in its repair for an operation with a deadline of 60 s. */
static struct clinic *operated(void)
{
    struct clinic *d = clinic_open(20);
    clinic_take_remedies(d,
                         "Remedy=clean Run=\"node:clean\" Helps=* Confidence=60% Because=\"a try\" Takes=1m "
                         "Deadline=60s Needs=nothing Disturbs=0\n");
    clinic_take_checks(d, "Check=space Probe=fs.space Path=/ Every=60s\n");
    clinic_tells(d, 1, true, CLINIC_ILL);
    world_run(d->x, 3);
    assert_non_null(strstr(d->x->log.s, "repair.operate lx01: node:clean"));
    return d;
}

static bool is_overdue(struct clinic *d, enum operation_state state)
{
    CLEANUP_OPERATION struct operation o = {0};
    cluster_operation(d->x->c, world_node(d->x, 1), &o);
    assert_int_equal(o.state, OPERATION_WAITS);
    o.state = state;
    return operation_overdue(d->x->w, awake(d), world_node(d->x, 1), &o);
}

/* One that is begun has five minutes more: whoever carries it out says so by then. */
static void test_an_operation_is_overdue_by_the_watch_s_own_time(void **state)
{
    struct clinic *d = operated();
    CLEANUP_OPERATION struct operation o = {0};
    cluster_operation(d->x->c, world_node(d->x, 1), &o);
    assert_false(is_overdue(d, OPERATION_WAITS));
    d->x->clock.ns += span_s(86400).ns; /* a clock that is set ends none */
    assert_false(is_overdue(d, OPERATION_WAITS));
    int64_t left_ms = (o.deadline.ns + span_s(86400).ns - world_wall(d->x).ns) / 1000000;
    d->x->now_ms += left_ms - 1;
    assert_false(is_overdue(d, OPERATION_WAITS));
    d->x->now_ms += 1;
    assert_true(is_overdue(d, OPERATION_WAITS));
    assert_false(is_overdue(d, OPERATION_BEGUN));
    d->x->now_ms += 299999;
    assert_false(is_overdue(d, OPERATION_BEGUN));
    d->x->now_ms += 1;
    assert_true(is_overdue(d, OPERATION_BEGUN));
    clinic_destroy(d);
}

static void test_an_end_that_the_watch_saw_ends_an_operation(void **state)
{
    struct clinic *d = operated();
    CLEANUP_OPERATION struct operation o = {0}, ended = {0};
    cluster_operation(d->x->c, world_node(d->x, 1), &o);
    d->x->now_ms += 20000; /* the command before is given up */
    operation_end(d->x->w, awake(d), world_node(d->x, 1), &o, OPERATION_REFUSED, "it went");
    cluster_operation(d->x->c, world_node(d->x, 1), &ended);
    assert_int_equal(ended.state, OPERATION_REFUSED);
    assert_string_equal(ended.text, "it went");
    assert_string_equal(ended.id, o.id);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_command_without_an_answer_is_given_up_after_ten_seconds),
        cmocka_unit_test(test_a_command_that_the_shell_does_not_take_is_not_under_way),
        cmocka_unit_test(test_an_operation_is_overdue_by_the_watch_s_own_time),
        cmocka_unit_test(test_an_end_that_the_watch_saw_ends_an_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
