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

static void test_an_outcome_that_counts_for_nobody(void **state)
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

static void test_wrong_outcomes_are_refused(void **state)
{
    static const struct {
        const char *set, *why;
    } bad[] = {
        {"{'remedy':'','at':'5','faults':[],'class':'gpu','helped':true}",
         "\"\" is not the name of a remedy"},
        {"{'remedy':'a b','at':'5','faults':[],'class':'gpu','helped':true}",
         "\"a b\" is not the name of a remedy"},
        {"{'remedy':'reboot','at':'5','faults':['xid.79',''],'class':'gpu','helped':true}",
         "fault 2 is none"},
        {"{'remedy':'reboot','at':'5','faults':['x y'],'class':'gpu','helped':true}", "fault 1 is none"},
    };
    struct world *w = *state;
    lx01_tried(w, "5", "?");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_string_equal(world_tell(w, COMMAND_OUTCOME, "lx01", quoted(bad[i].set), NULL), bad[i].why);
        assert_int_equal(world_rc(), -EINVAL);
    }
    world_tell(w, COMMAND_OUTCOME, "nobody", quoted(bad[0].set), NULL);
    assert_int_equal(world_rc(), -ENOENT);
}

/* The journal names eight faults; what is counted is noted at the attempt as far as there is room. */
static void test_an_outcome_for_many_faults(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text set = {0};
    text_add(&set, "{'remedy':'reboot','at':'5','class':'gpu','helped':true,'faults':[");
    for (int i = 0; i < 40; i++)
        text_printf(&set, "%s'fault.%02d'", i ? "," : "", i);
    text_add(&set, "]}");
    lx01_tried(w, "5", "?");
    const char *said = world_tell(w, COMMAND_OUTCOME, "lx01", quoted(set.s), NULL);
    assert_non_null(strstr(said, "fault.06, fault.07\n"));
    const struct attempt_record *a = lx01_attempt(w);
    size_t n = strlen(a->counted);
    assert_true(n <= FAULT_BYTES_MAX && n + strlen(",fault.40") > FAULT_BYTES_MAX);
    assert_string_equal(a->class, "gpu");
    assert_int_equal(cluster_outcomes(w->c, "fault.00", "reboot", "gpu").helped, 1);
    assert_int_equal(cluster_outcomes(w->c, "fault.39", "reboot", "gpu").helped, 0);
}

/* Of two attempts with one remedy, the one of this time. */
static void test_only_the_attempt_that_is_meant_gets_the_verdict(void **state)
{
    struct world *w = *state;
    lx01_tried(w, "6", "?");
    assert_string_equal(lx01_judge(w, "true"), "nothing");
    lx01_tried(w, "5", "+");
    assert_string_equal(lx01_judge(w, "false"), "nothing");
    assert_int_equal(lx01_attempt(w)->verdict, '+');
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_outcomes_are_counted_once),
        TEST(test_an_outcome_that_counts_for_nobody),
        TEST(test_wrong_outcomes_are_refused),
        TEST(test_an_outcome_for_many_faults),
        TEST(test_only_the_attempt_that_is_meant_gets_the_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
