/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *tell(struct world *w, const char *nodes, const char *set)
{
    return world_tell(w, COMMAND_BMC, nodes, quoted(set), NULL);
}

static void test_components_of_a_bmc_are_written_when_they_changed(void **state)
{
    struct world *w = *state;
    static const char set[] =
        "{'bmcs':{'lx01':{'components':{'redfish.b':'2','redfish.a':'1'}},'lx02':null}}";
    assert_string_equal(tell(w, "lx[01-02]", set),
                        quoted("bmc/lx01 = {'components':{'redfish.a':'1','redfish.b':'2'}}\n"
                               "lx01: the firmware versions that the BMC reports\n"));
    assert_string_equal(tell(w, "lx[01-02]", set), "nothing");
    assert_non_null(strstr(tell(w, "lx01", "{'bmcs':{'lx01':{'components':{'redfish.a':'1'}}}}"),
                           quoted("bmc/lx01 = {'components':{'redfish.a':'1'}}\n")));
    assert_non_null(strstr(tell(w, "lx01", "{'bmcs':{'lx01':{'unknown':{'redfish.a':'1'}}}}"),
                           "unknown")); /* not a value */
    assert_non_null(strstr(tell(w, "lx01", "{'bmcs':{'lx01':null}}"), "bmc/lx01 = gone\n"));
    assert_string_equal(tell(w, "lx01", "{'bmcs':{'lx01':null}}"), "nothing");
}

static void test_nodes_that_are_not_listed_are_left_out(void **state)
{
    struct world *w = *state;
    world_configure(w, "lx01", NULL);
    assert_string_equal(tell(w, "lx02,nobody",
                             "{'bmcs':{'lx02':{'components':{'redfish.a':'1'}},'nobody':"
                             "{'components':{'redfish.a':'1'}}}}"),
                        "nothing");
}

static void test_a_component_that_no_bmc_tells_is_refused(void **state)
{
    struct world *w = *state;
    assert_string_equal(tell(w, "lx01", "{'bmcs':{'lx01':{'components':{'kernel.release':'6'}}}}"),
                        "node \"lx01\": component kernel.release is none that a BMC tells");
    assert_int_equal(world_rc(), -EINVAL);
    assert_non_null(
        strstr(tell(w, "lx01", "{'bmcs':{'lx01':{'components':{'redfish.a b':'6'}}}}"), "node \"lx01\": "));
    assert_int_equal(world_rc(), -EINVAL);
    assert_non_null(
        strstr(tell(w, "lx01", "{'bmcs':{'lx01':{'components':{'redfish.a':'6'},'absent':['redfish.a']}}}"),
               "redfish.a"));
    assert_int_equal(world_rc(), -EINVAL);
}

static void test_very_many_go_in_parts(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text set = {0};
    world_configure(w, "n[001-150]", NULL);
    text_add(&set, "{\"bmcs\":{");
    for (int i = 1; i <= 150; i++)
        text_printf(&set, "%s\"n%03d\":{\"components\":{\"redfish.a\":\"1\"}}", i > 1 ? "," : "", i);
    text_add(&set, "}}");
    world_tell(w, COMMAND_BMC, "n[001-150]", set.s, NULL);
    assert_int_equal(world_parts(), 2);
    assert_non_null(cluster_find(w->c, "n100")->bmc);
    assert_non_null(cluster_find(w->c, "n150")->bmc);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_components_of_a_bmc_are_written_when_they_changed),
        TEST(test_nodes_that_are_not_listed_are_left_out),
        TEST(test_a_component_that_no_bmc_tells_is_refused),
        TEST(test_very_many_go_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
