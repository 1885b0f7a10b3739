/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_damaged_records_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[] = {
        "{}",
        "{'now':null}",
        "{'now':null,'last':[]}",
        "{'now':{},'last':{}}",
        "{'now':{'claim':'','check':'x','began':'1','deadline':'2'},'last':{}}",
        "{'now':{'claim':'1.1','check':'x','began':1,'deadline':'2'},'last':{}}",
        "{'now':null,'last':{'x':{'at':'1','result':'great'}}}",
        "{'now':null,'last':{'':{'at':'1','result':'ok'}}}",
        "{'now':null,'last':{'x':{'at':'-1','result':'ok'}}}",
        "{'now':null,'last':{'x':{'at':'1','result':'ok','more':1}}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        assert_int_equal(cluster_put(w->c, "trial/lx01", quoted(bad[i]), &e), -EILSEQ);
        assert_non_null(strstr(e.msg, "record trial/lx01"));
    }
    const char *good = "{'now':{'claim':'1.1','check':'x','began':'1','deadline':'2'},"
                       "'last':{'y':{'at':'9','result':'warn'},'x':{'at':'4','result':'unknown'}}}";
    assert_int_equal(cluster_put(w->c, "trial/lx01", quoted(good), NULL), 0);
    assert_int_equal(trial_last(world_trial(w, "lx01"), "x")->at.ns, 4);
}

static void test_held_nodes_are_there_after_a_restart(void **state)
{
    struct world *w = *state;
    world_trial_begin(w, "lx[01-02]", "7.1");
    world_trial_end(w, "lx02", "7.1", "{'lx02':'degraded'}");
    struct cluster *again = world_reload(w, "lx[01-06] CPUs=2", 3, true);
    assert_int_equal(cluster_digest(again), cluster_digest(w->c));
    assert_string_equal(member_trial(cluster_find(again, "lx01"))->claim, "7.1");
    cluster_destroy(again);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_damaged_records_are_refused),
        TEST(test_held_nodes_are_there_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
