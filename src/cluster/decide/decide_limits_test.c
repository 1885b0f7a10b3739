/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/state/budget.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LIMITS(act, out, class, group, partition, surge, week)                                            \
    "{'act':" act ",'out':" out ",'out_class':" class ",'out_group':" group ",'out_partition':" partition \
                                                      ",'surge':" surge                                   \
                                                      ",'surge_s':600,'remedies_a_week':" week "}"

static const char *agree(struct world *w, const char *limits)
{
    return world_tell(w, COMMAND_REVISE, "", quoted(limits), NULL);
}

static void test_limits_are_a_record(void **state)
{
    struct world *w = *state;
    const char *said = agree(w, LIMITS("true", "20", "50", "25", "10", "4", "5"));
    assert_memory_equal(said, "config/head = ", strlen("config/head = ")); /* in the same commit */
    assert_string_equal(strchr(said, '\n') + 1,
                        quoted("config/limits = " LIMITS("true", "20", "50", "25", "10", "4",
                                                         "5") "\n"
                                                              ": revision 1 of the configuration: \n"));
    assert_string_equal(agree(w, LIMITS("true", "20", "50", "25", "10", "4", "5")), "nothing");
    assert_string_equal(agree(w, LIMITS("false", "20", "50", "25", "30", "4", "6")),
                        quoted("config/limits = " LIMITS(
                            "false", "20", "50", "25", "30", "4",
                            "6") "\n"
                                 ": Health observe, MaxOutPartition 10 % -> 30 %, RemediesAWeek 5 -> 6\n"));
    assert_string_equal(agree(w, LIMITS("true", "101", "50", "25", "10", "4", "5")),
                        "at most 101 % of a scope; 100 % is all of it");
}

/* A store whose configuration was agreed before its limits were. */
static void test_limits_are_agreed_where_they_are_missing(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "20", "50", "25", "10", "4", "5"));
    assert_int_equal(cluster_put(w->c, "config/limits", NULL, NULL), 0);
    assert_string_equal(
        agree(w, LIMITS("true", "20", "50", "25", "10", "4", "5")),
        quoted("config/limits = " LIMITS("true", "20", "50", "25", "10", "4",
                                         "5") "\n"
                                              ": the limits of the configuration are agreed on\n"));
}

static void test_each_change_is_said(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "20", "50", "25", "10", "4", "5"));
    assert_non_null(
        strstr(agree(w, LIMITS("true", "21", "51", "26", "10", "0", "5")),
               "\n: MaxOut 20 % -> 21 %, MaxOutClass 50 % -> 51 %, MaxOutGroup 25 % -> 26 %, SurgeNodes "
               "4 -> 0\n"));
    assert_non_null(
        strstr(agree(w, LIMITS("false", "21", "51", "26", "10", "0", "5")), "\n: Health observe\n"));
    assert_non_null(strstr(agree(w, LIMITS("true", "21", "51", "26", "10", "0", "5")), "\n: Health act\n"));
    assert_non_null(
        strstr(agree(w, "{'act':true,'out':21,'out_class':51,'out_group':26,'out_partition':10,'surge':0,"
                        "'surge_s':60,'remedies_a_week':5}"),
               "\n: SurgeWindow 600 s -> 60 s\n"));
}

static void test_a_share_is_at_most_all(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "100", "100", "100", "100", "0", "0"));
    assert_int_equal(world_rc(), 0);
    assert_string_equal(agree(w, LIMITS("true", "100", "100", "100", "101", "0", "0")),
                        "at most 101 % of a scope; 100 % is all of it");
    assert_int_equal(world_rc(), -EINVAL);
    assert_int_equal(cluster_limits(w->c)->percent[SCOPE_PARTITION], 100);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_limits_are_a_record),
        TEST(test_limits_are_agreed_where_they_are_missing),
        TEST(test_each_change_is_said),
        TEST(test_a_share_is_at_most_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
