/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift that comes and goes: what is remembered of it, when it flaps, and that the decision does not end it
 * before the node has rested, whatever is proposed.
 */
#include "cluster/fixture_test.h"

#include "cluster/state/drift.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const int64_t MINUTE = 60 * INT64_C(1000000000);

static const struct drift *drift_on(const struct world *w)
{
    const struct member *m = cluster_find(w->c, "lx01");
    return m->past ? m->past->drift : NULL;
}

static void drifts(struct world *w, int64_t at)
{
    w->at = at;
    world_found(w, COMMAND_DRIFT, "lx01", &FOUND_MINOR, NULL);
    assert_non_null(drift_on(w));
}

static const char *restored(struct world *w, int64_t at, bool rested)
{
    w->at = at;
    return world_tell(w, COMMAND_RESTORED, "lx01", rested ? "{\"rested\":true}" : NULL, NULL);
}

static bool flaps(const struct world *w)
{
    return member_flaps(cluster_find(w->c, "lx01"));
}

static void test_the_third_drift_within_an_hour_flaps(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    drifts(w, 1);
    assert_string_equal(restored(w, 10 * MINUTE, false),
                        "flap/lx01 = {\"since\":[\"1\"]}\ndrift/lx01 = gone\n"
                        "lx01: verified to be right again\n");
    drifts(w, 20 * MINUTE);
    assert_false(flaps(w));
    restored(w, 30 * MINUTE, false);
    drifts(w, 60 * MINUTE + 1); /* an hour to the nanosecond after the first one began */
    assert_true(flaps(w));
    assert_string_equal(restored(w, 61 * MINUTE, false), "nothing");
    assert_non_null(drift_on(w));
    assert_string_equal(restored(w, 62 * MINUTE, true),
                        "flap/lx01 = {\"since\":[\"1200000000000\",\"3600000000001\"]}\ndrift/lx01 = gone\n"
                        "lx01: verified to be right again\n");
    drifts(w, 70 * MINUTE); /* 50 minutes after the second one began */
    assert_true(flaps(w));
}

static void test_a_third_drift_after_more_than_an_hour_does_not_flap(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    drifts(w, 1);
    restored(w, 10 * MINUTE, false);
    drifts(w, 20 * MINUTE);
    restored(w, 30 * MINUTE, false);
    drifts(w, 60 * MINUTE + 2);
    assert_false(flaps(w));
    restored(w, 61 * MINUTE, false);
    assert_null(drift_on(w));
}

static void test_a_drift_that_lasted_more_than_an_hour_leaves_nothing(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    drifts(w, 1);
    restored(w, 10 * MINUTE, false);
    drifts(w, 20 * MINUTE);
    restored(w, 81 * MINUTE, false);
    assert_null(cluster_find(w->c, "lx01")->past);
}

static void test_a_successor_knows_the_flaps(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    for (int i = 0; i < 3; i++) {
        drifts(w, 1 + i * 10 * MINUTE);
        restored(w, (5 + i * 10) * MINUTE, false);
    }
    assert_true(flaps(w));
    struct cluster *again = world_reload(w, CONFORM_ROSTER, 3, true);
    assert_true(member_flaps(cluster_find(again, "lx01")));
    assert_true(cluster_digest(again) == cluster_digest(w->c));
    cluster_destroy(again);
}

static void test_it_is_forgotten_with_its_node(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    drifts(w, 1);
    restored(w, MINUTE, false);
    world_configure(w, "lx02 CPUs=2", NULL);
    assert_non_null(strstr(world_do(w, COMMAND_FORGET, "ann", "lx01", NULL, NULL), "flap/lx01 = gone\n"));
}

static void test_damaged_records_are_refused_with_words(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *value, *says;
    } damaged[] = {
        {"{'since':[]}", "record flap/lx01: \"since\" is no array of 1 to 2 times"},
        {"{'since':['1','2','3']}", "record flap/lx01: \"since\" is no array of 1 to 2 times"},
        {"{'since':'1'}", "record flap/lx01: \"since\" is no array of 1 to 2 times"},
        {"{'since':['1','x']}", "record flap/lx01: since: 2 is no time"},
        {"{'since':[1]}", "record flap/lx01: since: 1 is no time"},
        {"{'since':['1'],'until':'2'}", "record flap/lx01: unknown key \"until\""},
    };
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        struct err e;
        assert_int_equal(cluster_put(w->c, "flap/lx01", quoted(damaged[i].value), &e), -EILSEQ);
        assert_string_equal(e.msg, damaged[i].says);
        assert_null(cluster_find(w->c, "lx01")->past);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

static int setup(void **state)
{
    *state = world_conform();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_third_drift_within_an_hour_flaps),
        TEST(test_a_third_drift_after_more_than_an_hour_does_not_flap),
        TEST(test_a_drift_that_lasted_more_than_an_hour_leaves_nothing),
        TEST(test_a_successor_knows_the_flaps),
        TEST(test_it_is_forgotten_with_its_node),
        TEST(test_damaged_records_are_refused_with_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
