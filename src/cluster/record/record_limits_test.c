/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/state/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LIMITS(act, out, surge, window, week)                                                         \
    "{\"act\":" act ",\"out\":" out                                                                   \
    ",\"out_class\":50,\"out_group\":25,\"out_partition\":10,\"surge\":" surge ",\"surge_s\":" window \
    ",\"remedies_a_week\":" week "}"

static void test_limits_are_read_and_written(void **state)
{
    struct world *w = *state;
    static const char record[] = LIMITS("true", "20", "4", "600", "5");
    CLEANUP_TEXT struct text t = {0};
    assert_false(cluster_limits(w->c)->given);
    world_takes(w, "config/limits", record);
    assert_false(cluster_limits(w->c)->given);
    assert_int_equal(cluster_put(w->c, "config/limits", record, NULL), 0);
    const struct limits *l = cluster_limits(w->c);
    assert_true(l->given && l->act);
    assert_int_equal(l->percent[SCOPE_CLUSTER], 20);
    assert_int_equal(l->percent[SCOPE_CLASS], 50);
    assert_int_equal(l->percent[SCOPE_GROUP], 25);
    assert_int_equal(l->percent[SCOPE_PARTITION], 10);
    assert_int_equal(l->surge, 4);
    assert_int_equal(l->surge_window.ns, span_s(600).ns);
    assert_int_equal(l->remedies_a_week, 5);
    limits_write(l, &t);
    assert_string_equal(t.s, record);
}

static void test_limits_are_equal_when_they_say_the_same(void **state)
{
    struct limits a = {.given = true, .surge_window = span_s(600)}, b = a;
    assert_true(limits_equal(&a, &b));
    b.given = false;
    assert_false(limits_equal(&a, &b));
    b = a;
    b.percent[SCOPE_GROUP] = 1;
    assert_false(limits_equal(&a, &b));
    b = a;
    b.surge_window = span_s(601);
    assert_false(limits_equal(&a, &b));
    a.given = b.given = false; /* nothing is agreed */
    assert_true(limits_equal(&a, &b));
}

static void test_damaged_records_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {LIMITS("true", "101", "4", "600", "5"), "out"},
        {LIMITS("1", "20", "4", "600", "5"), "act"},
        {LIMITS("true", "-1", "4", "600", "5"), "out"},
        {LIMITS("true", "20", "4294967296", "600", "5"), "surge"},
        {LIMITS("true", "20", "4", "\"600\"", "5"), "surge_s"},
        {LIMITS("true", "20", "4", "600", "5.5"), "remedies_a_week"},
        {"{\"act\":true}", "\"out\" is missing"},
        {"[]", "no object"},
        {"{\"more\":1}", "more"},
    };
    assert_int_equal(cluster_put(w->c, "config/limits", LIMITS("true", "100", "4294967295", "0", "0"), NULL),
                     0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, "config/limits", bad[i][0], bad[i][1]);
    assert_int_equal(cluster_limits(w->c)->percent[SCOPE_CLUSTER], 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_limits_are_read_and_written),
        TEST(test_limits_are_equal_when_they_say_the_same),
        TEST(test_damaged_records_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
