/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char * override(struct world *w, enum command_kind kind, const char *set)
{
    return world_ask(w, kind, "ann", "lx01", quoted(set), "a demo");
}

/* That it was proposed before the person spoke makes no difference. */
static void test_an_isolation_comes_after_the_override_that_covers_it(void **state)
{
    struct world *w = *state;
    override(w, COMMAND_OVERRIDE, "{}");
    world_tell(
        w, COMMAND_FINDINGS, "lx01",
        quoted("{'boot':'b1','open':[{'id':null,'group':'','severity':'warn','act':'watch','recurs':0,"
               "'observe':false,'findings':[{'check':'home','result':'warn','device':'','code':'','text':"
               "''}]}],'isolate':{'problem':'node_problem','why':'xid.79','deadline_s':60}}"),
        "1.6");
    assert_null(member_repair(cluster_find(w->c, "lx01")));
    assert_non_null(member_override(cluster_find(w->c, "lx01")));
}

static void test_an_override_ends(void **state)
{
    struct world *w = *state;
    override(w, COMMAND_OVERRIDE_END, "{}");
    assert_int_equal(world_rc(), -EBUSY);
    override(w, COMMAND_OVERRIDE, "{}");
    assert_string_equal(override(w, COMMAND_OVERRIDE_AGE, "{'at':'1000','spent_s':9}"),
                        quoted("override/lx01 = {'by':'ann','source':'command','why':'a demo','at':'1000',"
                               "'spent_s':9,'of':[]}\nlx01: the override by ann has stood for 9s\n"));
    assert_string_equal(override(w, COMMAND_OVERRIDE_AGE, "{'at':'1000','spent_s':8}"), "nothing");
    assert_string_equal(override(w, COMMAND_OVERRIDE_END, "{'at':'999'}"), "nothing");
    assert_string_equal(override(w, COMMAND_OVERRIDE_END, "{'at':'1000'}"),
                        "override/lx01 = gone\nlx01: the override by ann ends: a demo\n");
    override(w, COMMAND_OVERRIDE, "{}");
    lx01_isolate(w);
    assert_null(member_override(cluster_find(w->c, "lx01")));
    override(w, COMMAND_OVERRIDE, "{}");
    assert_non_null(
        strstr(lx01_hand(w, "manual_drain"), "; the override by ann ends: it is drained by hand\n"));
    override(w, COMMAND_OVERRIDE, "{}"); /* a person wants it out by now */
    assert_int_equal(world_rc(), -EBUSY);
    assert_int_equal(cluster_put(w->c, "override/lx01", "{\"by\":\"ann\"}", NULL), -EILSEQ);
}

static void test_a_person_keeps_a_faulty_node_in_service(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    assert_non_null(
        strstr(override(w, COMMAND_OVERRIDE, "{}"),
               "lx01: it is in service by a person's word, in spite of xid.79 gpu 0 (fatal): a demo\n"));
    const struct override *o = member_override(cluster_find(w->c, "lx01"));
    assert_int_equal(o->n, 1); /* a warning takes no node out */
    assert_string_equal(o->of[0].fault, "xid.79");
    assert_string_equal(o->by, "ann");
    assert_string_equal(o->source, "command");
    assert_int_equal(o->spent_s, 0);
}

static void test_an_override_refuses(void **state)
{
    struct world *w = *state;
    assert_non_null(strstr(world_ask(w, COMMAND_OVERRIDE, "ann", "lx01", "{}", NULL), "a reason has 1 to"));
    assert_int_equal(world_rc(), -EINVAL);
    world_ask(w, COMMAND_OVERRIDE, "ann", "nobody", "{}", "x");
    assert_int_equal(world_rc(), -ENOENT);
    lx01_isolate(w);
    lx01_hand(w, "quarantine");
    assert_string_equal(override(w, COMMAND_OVERRIDE, "{}"),
                        "a person set node \"lx01\" aside; `fettle queue resolve` takes it back");
    world_ask(w, COMMAND_OVERRIDE_END, "ann", "lx02", "{}", NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_configure(w, "lx[02-06]", NULL);
    assert_string_equal(override(w, COMMAND_OVERRIDE, "{}"), "node \"lx01\" is in no configuration file");
    assert_int_equal(world_rc(), -ENOENT);
}

#define IN_SLURM(by, key, done) "{'by':'" by "','source':'Slurm','effect':{'key':'" key "','done':" done "}}"

static void test_a_word_of_the_scheduler_is_about_this_node(void **state)
{
    static const struct {
        const char *set, *why;
    } bad[] = {
        {IN_SLURM("ann", "effect/slurm.lx02", "{}"), "\"effect/slurm.lx02\" is no effect on node \"lx01\""},
        {IN_SLURM("ann", "effect/pony", "{}"), "is no effect on node \"lx01\""},
        {IN_SLURM("a\\nb", "effect/slurm.lx01", "{}"), "by: a control character"},
        {IN_SLURM("ann", "effect/slurm.lx01", "{'state':'asleep'}"), ""},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *said = world_tell(w, COMMAND_OVERRIDE, "lx01", quoted(bad[i].set), NULL);
        if (world_rc() != -EINVAL || !strstr(said, bad[i].why))
            fail_msg("%d \"%s\"", world_rc(), said);
        assert_null(member_override(cluster_find(w->c, "lx01")));
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_isolation_comes_after_the_override_that_covers_it),
        TEST(test_an_override_ends),
        TEST(test_a_person_keeps_a_faulty_node_in_service),
        TEST(test_an_override_refuses),
        TEST(test_a_word_of_the_scheduler_is_about_this_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
