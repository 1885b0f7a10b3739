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

static void test_one_cause_on_many_nodes_isolates_nobody(void **state)
{
    trace_walk("shared");
}

static void test_links_of_a_dead_switch_are_no_shared_cause(void **state)
{
    trace_walk("shared_links");
}

/* The nodes of one rack have the same fault, and the others of their class do not. Another controller knows
 * the cause by its record, and ends it. */
static void test_the_nodes_of_a_group_share_a_cause_under_each_leader(void **state)
{
    struct clinic *d = clinic_open(40);
    d->x->policy.health.shared = 4;
    d->x->policy.health.shared_window = span_s(180);
    watch_set_policy(d->x->w, &d->x->policy);
    assert_int_equal(world_command(d->x, COMMAND_SET, "lx[01-06]", "{\"Group\":\"7\"}"), 0);
    for (int i = 1; i <= 40; i++)
        clinic_tells(d, i, true, CLINIC_WELL);
    for (int i = 1; i <= 5; i++)
        clinic_tells(d, i, true, CLINIC_ILL);
    world_run(d->x, 2);
    const struct shared_cause *s = cluster_shared(d->x->c, "space group 7");
    assert_non_null(s);
    assert_non_null(strstr(s->why, "on nodes of group 7"));
    world_lead_anew(d->x);
    world_open(d->x, 1, 40);
    for (int i = 1; i <= 40; i++)
        clinic_tells(d, i, true, i <= 3 ? CLINIC_ILL : CLINIC_WELL); /* no cause would be found anew */
    world_run(d->x, 2);
    assert_non_null(cluster_shared(d->x->c, "space group 7"));
    for (int i = 1; i <= 3; i++)
        clinic_tells(d, i, true, CLINIC_WELL);
    world_run(d->x, 10);
    assert_null(cluster_shared(d->x->c, "space group 7"));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_cause_on_many_nodes_isolates_nobody),
        cmocka_unit_test(test_links_of_a_dead_switch_are_no_shared_cause),
        cmocka_unit_test(test_the_nodes_of_a_group_share_a_cause_under_each_leader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
