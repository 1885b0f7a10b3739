/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OWNS(nodes) "{'by':'root','since':'7','reason':'a run','nodes':'" nodes "'}"

static const char *owner_of(const struct world *w, const char *node)
{
    const struct member *m = cluster_find(w->c, node);
    return m->owner ? m->owner->name : "nobody";
}

static int put(struct world *w, const char *key, const char *record)
{
    return cluster_put(w->c, key, record ? quoted(record) : NULL, NULL);
}

static void test_an_owner_is_read_and_written(void **state)
{
    struct world *w = *state;
    world_takes(w, "owner/physics/batch:12", quoted(OWNS("lx[01-02]")));
    assert_int_equal(put(w, "owner/physics/batch:12", OWNS("lx[01-02]")), 0);
    const struct ownership *o = cluster_owner(w->c, "physics/batch:12");
    assert_string_equal(o->owner.vcluster, "batch");
    assert_string_equal(o->by, "root");
    assert_string_equal(o->reason, "a run");
    assert_int_equal(o->since.ns, 7);
    assert_int_equal(o->n, 2);
    assert_string_equal(owner_of(w, "lx02"), "physics/batch:12");
    CLEANUP_FREE char *written = owner_record(o->by, o->since, o->reason, o->nodes, o->n);
    assert_string_equal(written, quoted(OWNS("lx[01-02]")));
}

/* A commit has no order among its records. */
static void test_the_records_of_a_transfer_come_in_any_order(void **state)
{
    struct world *w = *state;
    for (int order = 0; order < 2; order++) {
        put(w, "owner/a:1", OWNS("lx[01-03]"));
        put(w, order ? "owner/a:1" : "owner/b", order ? OWNS("lx01") : OWNS("lx[02-03]"));
        put(w, order ? "owner/b" : "owner/a:1", order ? OWNS("lx[02-03]") : OWNS("lx01"));
        assert_string_equal(owner_of(w, "lx01"), "a:1");
        assert_string_equal(owner_of(w, "lx02"), "b");
        assert_int_equal(cluster_tenant_use(w->c, "a").nodes, 1);
        assert_int_equal(cluster_tenant_use(w->c, "b").nodes, 2);
        put(w, "owner/b", NULL);
        put(w, "owner/a:1", NULL);
        assert_string_equal(owner_of(w, "lx02"), "nobody");
        assert_int_equal(cluster_tenant_use(w->c, "a").allocations, 0);
    }
}

static void test_an_owner_keeps_a_node_that_no_file_names(void **state)
{
    struct world *w = *state;
    put(w, "owner/a", OWNS("gone1"));
    struct member *m = cluster_find(w->c, "gone1");
    assert_false(cluster_let_go(w->c, m));
    put(w, "owner/a", NULL);
    assert_true(cluster_let_go(w->c, m));
}

static void test_damaged_records_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {"{'by':'ann'}", "\"reason\" is missing"},
        {"[]", "no object"},
        {OWNS(""), "an owner of no node"},
        {OWNS("lx["), "lx["},
        {"{'by':'a','since':'x','reason':'','nodes':'lx01'}", "since"},
        {"{'by':'a','since':'7','reason':'','nodes':'lx01','x':1}", "\"x\""}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, "owner/physics", quoted(bad[i][0]), bad[i][1]);
    world_refuses(w, "owner/a b", quoted(OWNS("lx01")), "is no name of a tenant");
    world_refuses(w, "owner/@", quoted(OWNS("lx01")), "the name of a person");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_owner_is_read_and_written, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_the_records_of_a_transfer_come_in_any_order, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_an_owner_keeps_a_node_that_no_file_names, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_records_are_refused, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
