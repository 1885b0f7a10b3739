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

/* Whoever is isolated meanwhile finds that it is out, also before the record says so. */
static void test_a_swapped_machine_has_its_room_at_once(void **state)
{
    struct clinic *d = clinic_open(2);
    clinic_tells(d, 1, true, CLINIC_WELL);
    d->x->policy.health.limits.act = true;
    watch_set_policy(d->x->w, &d->x->policy);
    clinic_becomes(d, 1, "SN-1");
    d->x->refuse = true;
    clinic_becomes(d, 1, "SN-2");
    assert_null(member_repair(world_node(d->x, 1)));
    assert_int_equal(clinic_out(d), 1);
    clinic_destroy(d);
}

static void test_a_surge_trips_the_latch_whoever_leads(void **state)
{
    trace_walk("surge");
}

static void test_budgets_and_switches_keep_nodes_in_service(void **state)
{
    trace_walk("brakes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_swapped_machine_has_its_room_at_once),
        cmocka_unit_test(test_a_surge_trips_the_latch_whoever_leads),
        cmocka_unit_test(test_budgets_and_switches_keep_nodes_in_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
