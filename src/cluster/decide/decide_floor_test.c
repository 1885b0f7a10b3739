/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "lx02 5, lx01 1000": the nodes with their bandwidth, as they are recorded. */
static const char *known(const struct world *w, const char *check)
{
    static char said[256];
    const struct floor *f = cluster_floor(w->c, "gpu", check);
    size_t len = 0;
    said[0] = '\0';
    for (size_t i = 0; f && i < f->n; i++)
        len += (size_t)snprintf(said + len, sizeof said - len, "%s%s %lld", i ? ", " : "", f->nodes[i].name,
                                (long long)floor_value(&f->nodes[i], "bandwidth MB/s")->value);
    return said;
}

static void test_each_node_counts_with_its_last_value_the_latest_first(void **state)
{
    struct world *w = *state;
    const char *said = world_measured(w, "ram", "1f", "'lx01':{'bandwidth MB/s':1000,'latency ns':80}");
    assert_non_null(strstr(said, "ram of class gpu: the results of 1 node"));
    assert_string_equal(known(w, "ram"), "lx01 1000");
    world_measured(w, "ram", "1f", "'lx02':{'bandwidth MB/s':5},'lx03':{'bandwidth MB/s':6}");
    world_measured(w, "ram", "1f", "'lx01':{'bandwidth MB/s':2000}");
    assert_string_equal(known(w, "ram"), "lx01 2000, lx02 5, lx03 6");
    const struct floor *f = cluster_floor(w->c, "gpu", "ram");
    assert_null(floor_value(&f->nodes[0], "latency ns"));
    assert_null(cluster_floor(w->c, "other", "ram"));
    assert_null(cluster_floor(w->c, "gpu", "disk"));
}

static void test_values_of_another_benchmark_are_forgotten(void **state)
{
    struct world *w = *state;
    world_measured(w, "ram", "1f", "'lx01':{'bandwidth MB/s':1000}");
    world_measured(w, "ram", "2f", "'lx02':{'bandwidth MB/s':10}");
    assert_string_equal(known(w, "ram"), "lx02 10");
    assert_int_equal(cluster_floor(w->c, "gpu", "ram")->sum, 0x2f);
}

static void test_the_latest_of_too_many_nodes_are_kept(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text nodes = {0};
    char roster[64];
    snprintf(roster, sizeof roster, "n[1-%d] CPUs=2", FLOOR_NODES_MAX + 2);
    world_configure(w, roster, NULL);
    for (int i = 1; i <= FLOOR_NODES_MAX; i++)
        text_printf(&nodes, "%s'n%d':{'bandwidth MB/s':%d}", i > 1 ? "," : "", i, i);
    world_measured(w, "ram", "1f", nodes.s);
    world_measured(w, "ram", "1f", "'n257':{'bandwidth MB/s':257},'n258':{'bandwidth MB/s':258}");
    const struct floor *f = cluster_floor(w->c, "gpu", "ram");
    assert_int_equal(f->n, FLOOR_NODES_MAX);
    assert_string_equal(f->nodes[0].name, "n257");
    assert_string_equal(f->nodes[2].name, "n1");
    assert_string_equal(f->nodes[f->n - 1].name, "n254");
}

static void test_the_oldest_of_too_many_records_goes(void **state)
{
    struct world *w = *state;
    char check[16];
    for (int i = 0; i < FLOORS_MAX; i++) {
        w->at++;
        snprintf(check, sizeof check, "c%d", i);
        world_measured(w, check, "1", "'lx01':{'bandwidth MB/s':7}");
    }
    w->at++;
    world_measured(w, "c0", "1", "'lx01':{'bandwidth MB/s':8}"); /* there already: nothing goes */
    assert_non_null(cluster_floor(w->c, "gpu", "c1"));
    world_measured(w, "one.more", "1", "'lx01':{'bandwidth MB/s':7}");
    assert_null(cluster_floor(w->c, "gpu", "c1"));
    assert_string_equal(known(w, "c0"), "lx01 8");
    assert_string_equal(known(w, "one.more"), "lx01 7");
}

static void test_nodes_that_nobody_knows_are_left_out(void **state)
{
    struct world *w = *state;
    assert_string_equal(world_measured(w, "ram", "1", "'lx99':{'bandwidth MB/s':7}"), "nothing");
    world_measured(w, "ram", "1", "'lx99':{'bandwidth MB/s':7},'lx01':{'bandwidth MB/s':8}");
    assert_string_equal(known(w, "ram"), "lx01 8");
    assert_null(cluster_find(w->c, "lx99"));
}

static void test_wrong_measurements_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const nodes[] = {"",
                                        "'lx01':{}",
                                        "'lx01':{'bandwidth MB/s':-1}",
                                        "'lx01':{'bandwidth MB/s':1000000000000001}",
                                        "'lx01':{'':1}",
                                        "'lx01':{'a\\u0001':1}",
                                        "'lx01':{'a':1,'b':1,'c':1,'d':1,'e':1,'f':1,'g':1,'h':1,'i':1}"};
    world_measured(w, "ram", "1", "'lx01':{'bandwidth MB/s':7}");
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        world_measured(w, "ram", "1", nodes[i]);
        assert_int_equal(world_rc(), -EINVAL);
    }
    world_measured(w, "a ram", "1", "'lx01':{'bandwidth MB/s':7}");
    assert_int_equal(world_rc(), -EINVAL);
    assert_string_equal(known(w, "ram"), "lx01 7");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_node_counts_with_its_last_value_the_latest_first),
        TEST(test_values_of_another_benchmark_are_forgotten),
        TEST(test_the_latest_of_too_many_nodes_are_kept),
        TEST(test_the_oldest_of_too_many_records_goes),
        TEST(test_nodes_that_nobody_knows_are_left_out),
        TEST(test_wrong_measurements_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
