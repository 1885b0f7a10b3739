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

/* Its name was in service; that of one that is new was not. */
static void test_a_swapped_machine_counts_as_out(void **state)
{
    struct clinic *d = clinic_open(2);
    clinic_tells(d, 1, true, CLINIC_WELL);
    d->x->policy.health.limits.act = true;
    watch_set_policy(d->x->w, &d->x->policy);
    clinic_becomes(d, 1, "SN-1");
    assert_int_equal(clinic_out(d), 0);
    clinic_becomes(d, 1, "SN-2");
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_PROVISION);
    assert_int_equal(clinic_out(d), 1);
    clinic_destroy(d);
}

/* A sweep begins with it in the configuration, and ends without. */
static void test_nothing_is_written_about_a_node_taken_out_of_the_files(void **state)
{
    struct clinic *d = clinic_open(3);
    struct world *x = d->x;
    snprintf(x->serial[2], sizeof x->serial[2], "SN-2");
    world_reboot(x, 2);
    for (int tick = 0; tick < WATCH_SLICES - 1; tick++) {
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, world_now(x), world_wall(x));
        while (watch_step(x->w, 1))
            ;
    }
    text_clear(&x->log);
    x->n = 1;
    world_configure(x, NULL, 0, "");
    world_run(x, 3);
    assert_null(x->log.s && *x->log.s ? strstr(x->log.s, "lx02") : NULL);
    x->n = 3;
    clinic_destroy(d);
}

static void test_another_machine_under_the_name_inherits_nothing(void **state)
{
    trace_walk("instance");
}

static void test_a_machine_that_goes_during_its_repair(void **state)
{
    trace_walk("swapped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_swapped_machine_counts_as_out),
        cmocka_unit_test(test_nothing_is_written_about_a_node_taken_out_of_the_files),
        cmocka_unit_test(test_another_machine_under_the_name_inherits_nothing),
        cmocka_unit_test(test_a_machine_that_goes_during_its_repair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
