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

static void test_a_new_node_is_provisioned_before_it_is_admitted(void **state)
{
    struct clinic *d = clinic_open(2);
    struct world *x = d->x;
    x->policy.health.provision_new = true;
    x->n = 3;
    x->boot[3] = 1;
    x->work[3] = "[]";
    world_configure(x, NULL, 0, "");
    world_open(x, 3, 3);
    world_run(x, 3);
    assert_int_equal(member_repair(world_node(x, 3))->step, STEP_PROVISION);
    assert_int_equal(clinic_out(d), 0); /* it never was in service */
    assert_false(clinic_health(d, 3) == HEALTH_OK);
    clinic_tells(d, 3, true, CLINIC_WELL);
    world_run(x, 3);
    assert_null(member_repair(world_node(x, 3)));
    assert_true(world_node(x, 3)->admitted);
    clinic_destroy(d);
}

static void test_a_node_that_comes_up_passes_its_checks(void **state)
{
    trace_walk("comes_up");
}

static void test_a_node_that_comes_up_degraded(void **state)
{
    trace_walk("comes_degraded");
}

static void test_a_node_returns_when_every_check_was_looked_at(void **state)
{
    trace_walk("returned");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_node_is_provisioned_before_it_is_admitted),
        cmocka_unit_test(test_a_node_that_comes_up_passes_its_checks),
        cmocka_unit_test(test_a_node_that_comes_up_degraded),
        cmocka_unit_test(test_a_node_returns_when_every_check_was_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
