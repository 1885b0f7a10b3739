/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/state/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void count_scope(void *arg, enum scope s, unsigned number)
{
    struct text *t = arg;
    text_printf(t, "%d.%u ", (int)s, number);
}

static void test_scopes_without_nodes_are_none(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    world_configure(w, "lx01 Group=3; lx02 Partition=1,4", NULL);
    cluster_each_scope(w->c, count_scope, &t);
    assert_string_equal(t.s, "0.0 1.0 2.3 3.0 3.1 3.4 ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_scopes_without_nodes_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
