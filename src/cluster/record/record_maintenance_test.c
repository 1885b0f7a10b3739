/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct member *lx01(const struct world *w)
{
    return cluster_find(w->c, "lx01");
}

static const char *step(const struct world *w)
{
    const struct repair *r = member_repair(lx01(w));
    return step_name(r ? r->step : STEP_NONE);
}

static void test_maintenance_is_recorded_until_it_is_over(void **state)
{
    struct world *w = *state;
    w->at = 4000;
    assert_non_null(strstr(lx01_transition(w, "maintenance", "new power supply"),
                           "lx01: maintenance: new power supply\n"));
    assert_string_equal(world_record(w, "maintenance/lx01"),
                        quoted("{'by':'ann','at':'4000','why':'new power supply'}"));
    w->at = 5000;
    assert_string_equal(lx01_transition(w, "maintenance", "new power supply"), "nothing");
    lx01_transition(w, "maintenance", "and a new fan");
    assert_string_equal(member_maintenance(lx01(w))->why, "and a new fan");
    assert_non_null(
        strstr(lx01_transition(w, "maintenance_over", "done"), "lx01: maintenance is over: done\n"));
    assert_string_equal(world_record(w, "maintenance/lx01"), "none");
    assert_string_equal(lx01_transition(w, "maintenance_over", "done"), "nothing");
    assert_string_equal(step(w), "none"); /* what follows from it is for the watch to say */
}

static void test_a_maintenance_may_ask_for_a_restart_and_a_window_may_not(void **state)
{
    struct world *w = *state;
    const char *restart = quoted("{'by':'ann','at':'7','why':'x','restart':true}");
    world_takes(w, "maintenance/lx01", restart);
    world_takes(w, "window/lx01", quoted("{'by':'Slurm','at':'7','why':''}"));
    assert_null(lx01(w)->past); /* a node that remembers nothing costs nothing */
    assert_int_equal(cluster_put(w->c, "maintenance/lx01", restart, NULL), 0);
    assert_true(member_restarts(lx01(w)));
    assert_int_equal(cluster_put(w->c, "maintenance/lx01", quoted("{'by':'ann','at':'7','why':'x'}"), NULL),
                     0);
    assert_false(member_restarts(lx01(w)));
    world_refuses(w, "window/lx01", restart, "restart");
    world_refuses(w, "maintenance/lx01", quoted("{'by':'ann','at':'7','why':'x','restart':1}"), "restart");
}

/* Both kinds may have the same words, and are two records. */
static void test_a_maintenance_and_a_window_are_two_records(void **state)
{
    struct world *w = *state;
    const char *record = quoted("{'by':'ann','at':'7','why':'x'}");
    assert_int_equal(cluster_put(w->c, "maintenance/lx01", record, NULL), 0);
    uint64_t one = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "maintenance/lx01", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "window/lx01", record, NULL), 0);
    assert_true(cluster_digest(w->c) != one);
    assert_null(member_maintenance(lx01(w)));
    assert_string_equal(member_window(lx01(w))->why, "x");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_maintenance_is_recorded_until_it_is_over),
        TEST(test_a_maintenance_may_ask_for_a_restart_and_a_window_may_not),
        TEST(test_a_maintenance_and_a_window_are_two_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
