/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct level_told told(uint64_t level, int64_t age_s)
{
    return (struct level_told){level, span_s(age_s)};
}

static void test_the_lowest_level_of_those_that_count(void **state)
{
    const struct level_told all[] = {told(2, 0), told(3, 1), told(2, 3599)},
                            old[] = {told(2, 0), told(1, 3599)}, gone[] = {told(2, 0), told(1, 3600)},
                            silent[] = {told(0, 5), told(2, 0)};
    assert_int_equal(level_common(NULL, 0), LEVEL_KNOWN);
    assert_int_equal(level_common(all, 3), 2); /* this version knows no more */
    assert_int_equal(level_common(old, 2), 1);
    assert_int_equal(level_common(gone, 2), 2);
    assert_int_equal(level_common(silent, 2), LEVEL_FIRST); /* a version of before levels */
}

static void test_who_does_not_know_the_level_does_not_lead(void **state)
{
    struct world *w = *state;
    struct err e = {0};
    assert_int_equal(cluster_level(w->c), LEVEL_FIRST);
    assert_int_equal(cluster_level_check(w->c, &e), 0);
    assert_int_equal(cluster_put(w->c, "feature/level", "{\"level\":2}", NULL), 0);
    assert_int_equal(cluster_level_check(w->c, &e), 0);
    assert_int_equal(cluster_put(w->c, "feature/level", "{\"level\":3}", NULL), 0);
    assert_int_equal(cluster_level(w->c), 3);
    assert_int_equal(cluster_level_check(w->c, &e), -EACCES);
    assert_string_equal(e.msg,
                        "the controllers of this state agreed feature level 3, and this version knows 2: it "
                        "does not lead; upgrade it");
}

static void test_features_have_a_level_and_a_meaning(void **state)
{
    for (int f = 0; f < FEATURES; f++) {
        assert_in_range(feature_level((enum feature)f), LEVEL_FIRST + 1, LEVEL_KNOWN);
        assert_true(*feature_meaning((enum feature)f));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lowest_level_of_those_that_count),
        cmocka_unit_test_setup_teardown(test_who_does_not_know_the_level_does_not_lead, world_setup,
                                        world_teardown),
        cmocka_unit_test(test_features_have_a_level_and_a_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
