/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *forget(struct world *w, const char *nodes, bool force)
{
    return world_ask(w, COMMAND_FORGET, "root", nodes, force ? "{}" : NULL, NULL);
}

static bool is_gone(const struct world *w, const char *node)
{
    const struct member *m = cluster_find(w->c, node);
    return m->gone;
}

/* Out of the file, with what lies over it still there. */
static void unlist(struct world *w)
{
    world_configure(w, "lx01 CPUs=2", NULL);
}

static void an_owned_node_is_not_forgotten(void **state)
{
    struct world *w = *state;
    assert_int_equal(cluster_put(w->c, "owner/physics",
                                 quoted("{'by':'root','since':'7','reason':'','nodes':'gone1'}"), NULL),
                     0);
    assert_string_equal(forget(w, "gone1", true), "node \"gone1\" is owned by physics");
}

static void a_node_in_a_file_is_not_forgotten(void **state)
{
    struct world *w = *state;
    assert_string_equal(forget(w, "lx[01-02]", true),
                        "node \"lx01\" is in a configuration file; take it out of "
                        "there and reload, and then forget it");
    assert_int_equal(world_rc(), -EBUSY);
}

static void all_that_is_recorded_goes(void **state)
{
    struct world *w = *state;
    world_do(w, COMMAND_SET, "root", "lx02", "{\"CPUs\":\"4\"}", NULL);
    unlist(w);
    assert_string_equal(forget(w, "lx[02-03]", false),
                        "edit/lx02 = gone\nnode/lx02 = gone\nnode/lx03 = gone\n"
                        "lx[02-03]: forgotten: no configuration file names it\n");
    assert_true(is_gone(w, "lx02") && is_gone(w, "lx03") && !is_gone(w, "lx04"));
    for (size_t i = 0; i < w->n; i++)
        assert_null(strstr(w->records[i].key, "lx02"));
    assert_string_equal(forget(w, "lx02", false), "no node \"lx02\"");
    assert_int_equal(world_rc(), -ENOENT);
}

static void claims_and_incidents_need_force(void **state)
{
    struct world *w = *state;
    world_do(w, COMMAND_DRAIN, "root", "lx[02-03]", "x", "7.1");
    world_tell(
        w, COMMAND_FINDINGS, "lx04",
        quoted("{'boot':'b1','open':[{'id':null,'group':'gpu 0','severity':'fatal','act':'reset','recurs':0,"
               "'observe':false,'findings':[{'check':'kernel.gpu','result':'fatal','device':'gpu 0','code':"
               "'xid.79','text':'off the bus'}]}]}"),
        "1.5");
    unlist(w);
    assert_string_equal(forget(w, "lx[02,05]", false),
                        "1 claims rest on node \"lx02\"; with force they are forgotten, too");
    assert_false(is_gone(w, "lx05")); /* all or none */
    assert_string_equal(forget(w, "lx04", false),
                        "1 incidents of node \"lx04\" are open; with force they are forgotten, too");
    forget(w, "lx[02,04]", true);
    assert_true(is_gone(w, "lx02") && is_gone(w, "lx04"));
    assert_null(member_ailment(cluster_find(w->c, "lx04")));
    assert_string_equal(world_claims(w, "lx03"), "7.1 drain by root: x");
    forget(w, "lx03", true);
    assert_null(cluster_claim(w->c, "7.1"));
}

static void a_node_that_comes_again_is_there_again(void **state)
{
    struct world *w = *state;
    unlist(w);
    forget(w, "lx02", false);
    assert_ptr_equal(cluster_meet(w->c, "lx02"), cluster_find(w->c, "lx02"));
    assert_false(is_gone(w, "lx02"));
    forget(w, "lx02", false);
    world_configure(w, "lx[01-02]", NULL);
    assert_false(is_gone(w, "lx02"));
    assert_true(cluster_find(w->c, "lx02")->listed);
}

/* What a typo left: of these nothing is recorded. */
static void only_nodes_without_records_are_let_go(void **state)
{
    struct world *w = *state;
    world_configure(w, "lx01; ghost[1-3]", NULL);
    world_do(w, COMMAND_DRAIN, "root", "ghost3", "x", "7.1");
    struct member *listed = cluster_find(w->c, "ghost1");
    assert_false(cluster_let_go(w->c, listed));
    unlist(w);
    assert_true(cluster_let_go(w->c, cluster_find(w->c, "ghost1")));
    assert_false(cluster_let_go(w->c, cluster_find(w->c, "ghost3")));
    assert_false(cluster_let_go(w->c, cluster_find(w->c, "lx02"))); /* it was in service */
}

static void very_many_go_in_parts(void **state)
{
    struct world *w = *state;
    world_configure(w, "lx01; ghost[1-500]", NULL);
    unlist(w);
    forget(w, "ghost[1-500]", false);
    assert_int_equal(world_rc(), 0);
    assert_true(world_parts() > 3);
    for (int i = 1; i <= 500; i++) {
        char name[16];
        snprintf(name, sizeof name, "ghost%d", i);
        assert_true(is_gone(w, name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node_in_a_file_is_not_forgotten, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(an_owned_node_is_not_forgotten, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(all_that_is_recorded_goes, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(claims_and_incidents_need_force, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_node_that_comes_again_is_there_again, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(only_nodes_without_records_are_let_go, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(very_many_go_in_parts, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
