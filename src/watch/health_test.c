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

static void test_a_command_that_the_shell_refuses_is_proposed_again(void **state)
{
    struct clinic *d = clinic_open(4);
    d->x->refuse = true;
    clinic_tells(d, 1, true, CLINIC_ILL);
    assert_null(member_repair(world_node(d->x, 1)));
    d->x->refuse = false;
    world_run(d->x, 2);
    assert_non_null(member_repair(world_node(d->x, 1)));
    clinic_destroy(d);
}

static const struct health_state *state_of(const struct clinic *d, int i)
{
    return health_state_find(d->x->w, world_node(d->x, i));
}

/* What was said before, and what lay in buffers meanwhile, is no fresh evidence until the node was asked. */
static void test_after_a_stall_a_node_has_to_tell_everything_anew(void **state)
{
    for (int stall_s = 9; stall_s <= 10; stall_s++) {
        struct clinic *d = clinic_open(2);
        clinic_tells(d, 1, true, CLINIC_WELL);
        world_run(d->x, 1);
        assert_true(told_anew(state_of(d, 1)));
        d->x->now_ms += 1000 * stall_s - WATCH_TICK_MS;
        world_run(d->x, 1);
        assert_int_equal(told_anew(state_of(d, 1)), stall_s < 10);
        clinic_tells(d, 1, true, CLINIC_WELL); /* it was not asked for this */
        assert_int_equal(told_anew(state_of(d, 1)), stall_s < 10);
        watch_close(d->x->w, world_node(d->x, 1), world_node(d->x, 1));
        world_open(d->x, 1, 1); /* a new session begins with all of it */
        clinic_tells(d, 1, true, CLINIC_WELL);
        assert_true(told_anew(state_of(d, 1)));
        clinic_destroy(d);
    }
}

static void test_a_boot_ends_earlier_findings(void **state)
{
    struct clinic *d = clinic_open(2);
    clinic_tells(d, 1, true, CLINIC_ILL);
    assert_true(was_said(state_of(d, 1), check_place(d->x->w, "space")));
    world_reboot(d->x, 1);
    assert_false(was_said(state_of(d, 1), check_place(d->x->w, "space")));
    assert_null(saying_find(state_of(d, 1), check_place(d->x->w, "space")));
    assert_true(said_assigned(state_of(d, 1), check_place(d->x->w, "space"))); /* it runs it still */
    assert_false(state_of(d, 1)->told);
    clinic_destroy(d);
}

/* A node that is well and never was ill costs no look, and leaves nothing behind. */
static void test_nothing_is_kept_of_a_node_that_says_nothing(void **state)
{
    struct clinic *d = clinic_open(3);
    world_run(d->x, 5);
    assert_null(state_of(d, 2));
    d->x->policy.health.provision_new = true;
    watch_set_policy(d->x->w, &d->x->policy);
    world_run(d->x, 5);
    assert_null(state_of(d, 2));
    clinic_destroy(d);
}

/* What the records say is taken in before anything follows from what is said: its patients are out. */
static void test_a_new_controller_finds_nodes_out_of_service(void **state)
{
    struct clinic *d = clinic_open(20);
    clinic_tells(d, 1, true, CLINIC_ILL);
    clinic_tells(d, 2, true, CLINIC_ILL);
    assert_int_equal(clinic_out(d), 2);
    world_lead_anew(d->x);
    assert_int_equal(clinic_out(d), 0);
    world_open(d->x, 1, 20);
    clinic_tells(d, 3, true, CLINIC_ILL); /* 10 % are out already */
    assert_int_equal(clinic_out(d), 2);
    assert_null(member_repair(world_node(d->x, 3)));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_command_that_the_shell_refuses_is_proposed_again),
        cmocka_unit_test(test_after_a_stall_a_node_has_to_tell_everything_anew),
        cmocka_unit_test(test_a_boot_ends_earlier_findings),
        cmocka_unit_test(test_nothing_is_kept_of_a_node_that_says_nothing),
        cmocka_unit_test(test_a_new_controller_finds_nodes_out_of_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
