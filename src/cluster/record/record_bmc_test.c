/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char GOOD[] =
    "{\"components\":{\"redfish.bmc\":\"2.1\"},\"unknown\":{\"redfish.bios\":\"no such "
    "file\"}}";

static void test_components_of_the_bmc_are_kept(void **state)
{
    struct world *w = *state;
    world_takes(w, "bmc/lx01", GOOD);
    assert_null(cluster_find(w->c, "lx01")->bmc);
    assert_int_equal(cluster_put(w->c, "bmc/lx01", GOOD, NULL), 0);
    const struct listing *g = cluster_find(w->c, "lx01")->bmc;
    assert_int_equal(g->n, 2);
    assert_string_equal(listing_find(g, "redfish.bmc")->value, "2.1");
    assert_int_equal(listing_find(g, "redfish.bios")->state, COMPONENT_UNKNOWN);
}

/* Two nodes may tell the same: each counts in the digest. */
static void test_two_nodes_that_tell_the_same_are_two_records(void **state)
{
    struct world *w = *state;
    uint64_t none = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "bmc/lx01", GOOD, NULL), 0);
    uint64_t one = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "bmc/lx02", GOOD, NULL), 0);
    assert_ptr_equal(cluster_find(w->c, "lx01")->bmc, cluster_find(w->c, "lx02")->bmc);
    uint64_t both = cluster_digest(w->c);
    assert_true(one != none && both != one && both - one != one - none);
}

static void test_a_node_that_is_not_listed_is_met(void **state)
{
    struct world *w = *state;
    assert_int_equal(cluster_put(w->c, "bmc/stray", NULL, NULL), 0);
    assert_null(cluster_find(w->c, "stray"));
    assert_int_equal(cluster_put(w->c, "bmc/stray", GOOD, NULL), 0);
    assert_non_null(cluster_find(w->c, "stray")->bmc);
}

static void test_damaged_records_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {"{}", "0 components; a BMC tells 1 to 16"},
        {"[]", "no object"},
        {"{\"components\":{\"kernel.release\":\"6\"}}", "component kernel.release is none that a BMC tells"},
        {"{\"components\":{\"redfish.a\":\"1\"},\"absent\":[\"redfish.a\"]}", "redfish.a"},
        {"{\"components\":{\"redfish.a\":1}}", ""},
        {"{\"components\":{\"redfish.a\":\"1\"},\"more\":1}", "more"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, "bmc/lx01", bad[i][0], bad[i][1]);
    world_refuses(w, "bmc/a b", GOOD, "\"a b\" is not the name of a node");
    world_refuses(w, "bmc/a b", NULL, "\"a b\" is not the name of a node");
}

static void test_a_bmc_tells_16_components_at_most(void **state)
{
    struct world *w = *state;
    for (unsigned n = 16; n <= 17; n++) {
        CLEANUP_TEXT struct text t = {0};
        text_add(&t, "{\"absent\":[");
        for (unsigned i = 0; i < n; i++)
            text_printf(&t, "%s\"redfish.%02u\"", i ? "," : "", i);
        text_add(&t, "]}");
        if (n == 16)
            world_takes(w, "bmc/lx01", t.s);
        else
            world_refuses(w, "bmc/lx01", t.s, "17 components; a BMC tells 1 to 16");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_components_of_the_bmc_are_kept),    TEST(test_two_nodes_that_tell_the_same_are_two_records),
        TEST(test_a_node_that_is_not_listed_is_met),  TEST(test_damaged_records_are_refused),
        TEST(test_a_bmc_tells_16_components_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
