/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_avoid.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct slurm_avoid plan;

static bool plans(const char *available, const char *active, const char *weight, bool avoid)
{
    const struct slurm_line l = {.available = available, .active = active, .weight = weight};
    return slurm_avoid_plan(&l, avoid, &plan);
}

static void is(const char *available, const char *active, const char *weight)
{
    assert_string_equal(plan.available, available);
    assert_string_equal(plan.active, active);
    assert_string_equal(plan.weight, weight);
}

static void test_others_are_preferred_and_no_more(void **state)
{
    assert_false(plans("", "", "1", false));
    assert_true(plans("", "", "1", true));
    is("fettle_avoid_1", "fettle_avoid_1", "1001");
    assert_false(plans("fettle_avoid_1", "fettle_avoid_1", "1001", true));
    assert_true(plans("fettle_avoid_1", "fettle_avoid_1", "1001", false));
    is("", "", "1");
}

static void test_features_and_weights_of_others_stay(void **state)
{
    assert_true(plans("ib,a100", "ib", "20", true));
    is("ib,a100,fettle_avoid_20", "ib,fettle_avoid_20", "1020");
    assert_true(plans("ib,fettle_avoid_20,new", "fettle_avoid_20", "1020", false));
    is("ib,new", "", "20");
    assert_true(
        plans("fettle_avoid_20", "fettle_avoid_20", "7", false)); /* somebody set the weight meanwhile */
    is("", "", "");
    assert_false(plans("fettle_avoid_20", "", "7", true));
    assert_true(plans("my_fettle_avoid_20,fettle_avoid_x", "", "7",
                      true)); /* words of others; what is no mark goes */
    is("my_fettle_avoid_20,fettle_avoid_7", "fettle_avoid_7", "1007");
}

static void test_features_that_are_not_understood_are_left(void **state)
{
    char many[SLURM_FEATURES_BYTES] = "";
    assert_false(plans("", "", "", true));
    assert_false(plans("", "", "4294967295", true));
    memset(many, 'a', sizeof many - 1);
    assert_false(plans(many, "", "1", true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others_are_preferred_and_no_more),
        cmocka_unit_test(test_features_and_weights_of_others_stay),
        cmocka_unit_test(test_features_that_are_not_understood_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
