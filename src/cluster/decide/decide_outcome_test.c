/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_outcomes_are_counted_once(void **state)
{
    struct world *w = *state;
    assert_string_equal(lx01_judge(w, "true"), "nothing"); /* nothing was tried */
    lx01_tried(w, "5", "?");
    const char *said = lx01_judge(w, "true");
    assert_non_null(strstr(
        said, quoted("tally/reboot = {'counts':{'scratch gpu':[1,0],'xid.79 gpu':[1,0]}}\nrepair/lx01 = ")));
    assert_non_null(strstr(said, "lx01: reboot helped against xid.79, scratch\n"));
    assert_string_equal(lx01_judge(w, "true"), "nothing");
    assert_string_equal(lx01_judge(w, "false"), "nothing");
    lx01_tried(w, "5", "?");
    assert_non_null(strstr(lx01_judge(w, "false"), "did not help"));
    struct outcomes o = cluster_outcomes(w->c, "xid.79", "reboot", "gpu");
    assert_int_equal(o.helped, 1);
    assert_int_equal(o.failed, 1);
    assert_int_equal(cluster_outcomes(w->c, "xid.79", "reboot", "cpu").helped, 0);
    assert_int_equal(cluster_outcomes(w->c, "xid.79", "cycle", "gpu").helped, 0);
    lx01_tried(w, "4", "?"); /* another one than was judged */
    assert_string_equal(lx01_judge(w, "true"), "nothing");
}

static void test_what_counts_for_nobody(void **state)
{
    struct world *w = *state;
    lx01_tried(w, "5", "?");
    const char *said = lx01_judge(w, "null");
    assert_null(strstr(said, "tally/"));
    assert_int_equal(member_repairs(cluster_find(w->c, "lx01"))->attempts[0].verdict, '0');
    assert_null(member_repair(cluster_find(w->c, "lx01")));
    world_tell(w, COMMAND_OUTCOME, "lx01",
               quoted("{'remedy':'re boot','at':'5','faults':[],'class':'','helped':true}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_tell(w, COMMAND_OUTCOME, "lx01",
               quoted("{'remedy':'reboot','at':'5','faults':['a b'],'class':'','helped':true}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_outcomes_are_counted_once),
        TEST(test_what_counts_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
