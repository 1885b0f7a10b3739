/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WIPED "{'at':'7','remedy':'wipe','operation':'3.1'}"
#define HELD "{'kind':'wipe','owner':'ann','reason':'x','since':'7','nodes':'lx01','drained':''}"

static void test_a_wipe_is_read_and_written(void **state)
{
    struct world *w = *state;
    const struct member *m = cluster_find(w->c, "lx01");
    world_takes(w, "wiped/lx01", quoted(WIPED));
    CLEANUP_FREE char *written = wiped_record((struct wall){7}, "wipe", "3.1");
    assert_string_equal(written, quoted(WIPED));
    assert_false(member_unwiped(m));
    assert_int_equal(cluster_put(w->c, "claim/1.1", quoted(HELD), NULL), 0);
    assert_true(member_unwiped(m));
    assert_int_equal(cluster_sensitive_use(w->c), 1);
    assert_int_equal(cluster_put(w->c, "wiped/lx01", written, NULL), 0);
    assert_false(member_unwiped(m));
    assert_int_equal(cluster_put(w->c, "wiped/lx01", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "claim/1.1", NULL, NULL), 0);
    assert_false(member_unwiped(m));
    assert_int_equal(cluster_sensitive_use(w->c), 0);
}

static void test_damaged_records_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {{"{'at':'7'}", "\"remedy\" is missing"},
                                         {"[]", "no object"},
                                         {"{'at':'7','remedy':'wipe','operation':''}", "is empty"},
                                         {"{'at':7,'remedy':'wipe','operation':'3.1'}", "at"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, "wiped/lx01", quoted(bad[i][0]), bad[i][1]);
    world_refuses(w, "wiped/a b", quoted(WIPED), "is not the name of a node");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_wipe_is_read_and_written, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_records_are_refused, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
