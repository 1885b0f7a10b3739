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

static void test_an_incident_whose_check_is_taken_away_is_over(void **state)
{
    static const char other[] = "Check=mounts Probe=fs.mounted Path=/scratch Every=60s\n";
    struct clinic *d = clinic_open(4);
    clinic_tells(d, 1, true, CLINIC_ILL);
    assert_int_equal(member_ailment(world_node(d->x, 1))->n_open, 1);
    clinic_take_checks(d, other);
    world_run(d->x, 2);
    assert_int_equal(member_ailment(world_node(d->x, 1))->n_open, 0);
    clinic_destroy(d);
}

/* A check that flips ten times a second for a minute, and one whose findings are others each time. */
static void test_a_fault_that_comes_and_goes_is_written_down_now_and_then(void **state)
{
    static const char warns[] =
        "[{\"check\":\"space\",\"result\":\"warn\",\"age_ms\":0,"
        "\"findings\":[{\"result\":\"warn\",\"device\":\"disk %d\",\"text\":\"full\"}]}]";
    struct clinic *d = clinic_open(40);
    for (int device = 0; device < 2; device++) {
        unsigned before = d->x->claims;
        for (int i = 0; i < 600; i++) {
            char said[256];
            snprintf(said, sizeof said, warns, device * i);
            clinic_tells(d, 1 + device, true, i % 2 ? CLINIC_WELL : said);
            d->x->now_ms += 100;
        }
        assert_in_range(d->x->claims - before, 10, 31);
    }
    unsigned before = d->x->claims; /* the other nodes pay for nothing, */
    clinic_tells(d, 3, true, CLINIC_ILL);
    assert_true(d->x->claims > before);
    assert_non_null(member_repair(world_node(d->x, 3)));
    clinic_tells(d, 1, true, CLINIC_ILL); /* and what isolates waits for nothing */
    assert_non_null(member_repair(world_node(d->x, 1)));
    clinic_tells(d, 2, true, CLINIC_WELL);
    world_run(d->x, 10); /* what was left out follows */
    assert_int_equal(member_ailment(world_node(d->x, 2))->n_open, 0);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_incident_whose_check_is_taken_away_is_over),
        cmocka_unit_test(test_a_fault_that_comes_and_goes_is_written_down_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
