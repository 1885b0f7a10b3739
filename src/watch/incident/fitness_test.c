/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/beats_test.h"
#include "watch/conform/baseline_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_fitness(void **state)
{
    struct beats *x = beats_create(2);
    CLEANUP_TEXT struct text claims = {0}, shortfall = {0}, why = {0};
    struct fitness f;
    beats_start(x, 1, 2);
    beats_run(x, 2);
    watch_fitness(x->w, beats_now(x), beats_node(x, 1), &claims, &shortfall, &f);
    assert_false(lifecycle_schedulable(&f, &why));
    assert_string_equal(why.s, "has not reported its inventory yet");
    CLEANUP_JSON json_t *report = json_pack("{s:b,s:s,s:{s:i}}", "full", 1, "hash", "a", "set", "CPUs", 2);
    assert_int_equal(watch_inventory(x->w, beats_node(x, 1), report, NULL), 0);
    watch_fitness(x->w, beats_now(x), beats_node(x, 1), &claims, &shortfall, &f);
    assert_true(lifecycle_schedulable(&f, &why));
    assert_int_equal(cluster_put(x->c, "edit/lx01", "{\"set\":{\"CPUs\":\"4\"}}", NULL), 0);
    beats_drain(x, 1);
    watch_fitness(x->w, beats_now(x), beats_node(x, 1), &claims, &shortfall, &f);
    assert_false(lifecycle_schedulable(&f, &why));
    assert_string_equal(why.s, "drain by root: x; less than specified: CPUs 2 < 4");
    beats_destroy(x);
}

static void test_rows_say_which_node_takes_work(void **state)
{
    struct world *x = world_create(4);
    const struct class_lines strict = {"strict", {{"Nodes", "lx[01-04]"}, {"Drifted", "exclude"}}};
    world_configure(x, &strict, 1, "");
    world_says(x, 1, 4, A);
    world_accept(x, "lx01");
    assert_int_equal(world_row(x, 1).pass, PASS_NONE);
    assert_false(world_row(x, 1).unproven || world_row(x, 1).drifted);
    world_says(x, 2, 2, B);
    world_run(x, 2);
    assert_true(world_row(x, 2).drifted);
    assert_int_equal(world_row(x, 2).pass, PASS_DRIFT);
    x->work[3] = "[\"job\"]";
    x->work[4] = NULL;
    world_run(x, 11);
    assert_int_equal(world_row(x, 3).pass, PASS_BUSY);
    assert_int_equal(world_row(x, 4).pass, PASS_WORK_UNKNOWN);
    assert_int_equal(world_command(x, COMMAND_SET, "lx01", "{\"CPUs\":\"64\"}"), 0);
    assert_int_equal(world_row(x, 1).pass, PASS_SHORTFALL); /* it has 4 */
    assert_int_equal(world_command(x, COMMAND_SET, "lx01", "{\"CPUs\":null,\"Group\":\"7\"}"), 0);
    assert_int_equal(world_row(x, 1).pass, PASS_NONE);
    assert_int_equal(world_row(x, 1).group, 7);
    x->off[1] = true;
    world_run(x, 40);
    assert_int_equal(world_row(x, 1).pass, PASS_NOT_HEARD);
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fitness),
        cmocka_unit_test(test_rows_say_which_node_takes_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
