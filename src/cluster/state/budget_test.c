/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/state/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

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

static void test_a_share_is_one_node_at_least(void **state)
{
    struct world *w = *state;
    static const struct {
        unsigned percent, limit;
    } rows[] = {{0, 1}, {1, 1}, {33, 1}, {34, 2}, {50, 3}, {99, 5}, {100, 6}};
    struct budget b;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        budget_of_scope(w->c, SCOPE_CLUSTER, 0, rows[i].percent, 2, &b);
        assert_int_equal(b.limit, rows[i].limit);
        assert_int_equal(b.nodes, 6);
        assert_int_equal(b.out, 2);
    }
}

static void test_scopes_have_names_and_nodes(void **state)
{
    struct world *w = *state;
    struct budget b;
    static const struct {
        enum scope scope;
        unsigned number, nodes;
        const char *name;
    } rows[] = {{SCOPE_CLUSTER, 0, 3, "cluster"},     {SCOPE_CLASS, 0, 2, "class gpu"},
                {SCOPE_CLASS, 1, 1, "class default"}, {SCOPE_GROUP, 3, 1, "group 3"},
                {SCOPE_GROUP, 4, 0, "group 4"},       {SCOPE_PARTITION, 4, 1, "partition 4"}};
    world_configure(w, "lx01 Group=3; lx02 Partition=1,4; lx03; class gpu Nodes=lx[01-02]", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        budget_of_scope(w->c, rows[i].scope, rows[i].number, 100, 0, &b);
        assert_string_equal(b.scope, rows[i].name);
        assert_int_equal(b.nodes, rows[i].nodes);
    }
    assert_int_equal(scope_nodes(w->c, SCOPE_CLASS, 2), 0);
    assert_int_equal(scope_nodes(w->c, SCOPE_GROUP, GROUP_MAX + 1), 0);
    assert_int_equal(scope_nodes(w->c, SCOPE_PARTITION, PARTITION_MAX + 1), 0);
    const struct member *m = cluster_find(w->c, "lx02");
    assert_true(member_in_scope(m, SCOPE_CLUSTER, 9) && member_in_scope(m, SCOPE_CLASS, 0));
    assert_true(member_in_scope(m, SCOPE_PARTITION, 4) && !member_in_scope(m, SCOPE_PARTITION, 0));
    assert_true(!member_in_scope(m, SCOPE_GROUP, 3) && !member_in_scope(m, SCOPE_CLASS, 1));
}

/* The list of nodes that are out follows what is recorded of them, in whatever order they go. */
static void test_the_list_of_nodes_that_are_out(void **state)
{
    struct world *w = *state;
    static const char *const leaves[] = {"lx02", "lx01", "lx04", "lx03"};
    char set[256];
    w->at += 1000; /* later than the nodes were put into service */
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[01-04]", quoted("{'check':'pair','deadline_s':600}"), "7.1");
    for (size_t n = 4; n > 0; n--) {
        size_t count = 0;
        for (; cluster_out(w->c, count); count++)
            assert_int_equal(cluster_out(w->c, count)->out_place, count + 1);
        assert_int_equal(count, n);
        assert_true(member_is_out(cluster_find(w->c, leaves[4 - n])));
        snprintf(set, sizeof set, "{'claim':'7.1','check':'pair','why':'x','results':{'%s':'ok'}}",
                 leaves[4 - n]);
        world_tell(w, COMMAND_TRIAL_END, leaves[4 - n], quoted(set), NULL);
        assert_int_equal(world_rc(), 0);
        assert_int_equal(cluster_find(w->c, leaves[4 - n])->out_place, 0);
    }
    assert_null(cluster_out(w->c, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_scopes_without_nodes_are_none),
        TEST(test_a_share_is_one_node_at_least),
        TEST(test_scopes_have_names_and_nodes),
        TEST(test_the_list_of_nodes_that_are_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
