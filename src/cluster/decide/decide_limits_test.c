/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/state/budget.h"

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
    return world_tell(w, COMMAND_CONFIGURE, "", quoted(limits), NULL);
}

static void test_limits_are_a_record(void **state)
{
    struct world *w = *state;
    assert_string_equal(
        agree(w, LIMITS("true", "20", "50", "25", "10", "4", "5")),
        quoted("config/limits = " LIMITS("true", "20", "50", "25", "10", "4",
                                         "5") "\n"
                                              ": the limits of the configuration are agreed on\n"));
    assert_string_equal(agree(w, LIMITS("true", "20", "50", "25", "10", "4", "5")), "nothing");
    assert_string_equal(agree(w, LIMITS("false", "20", "50", "25", "30", "4", "6")),
                        quoted("config/limits = " LIMITS(
                            "false", "20", "50", "25", "30", "4",
                            "6") "\n"
                                 ": Health observe, MaxOutPartition 10 % -> 30 %, RemediesAWeek 5 -> 6\n"));
    assert_string_equal(agree(w, LIMITS("true", "101", "50", "25", "10", "4", "5")),
                        "at most 101 % of a scope; 100 % is all of it");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_limits_are_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
