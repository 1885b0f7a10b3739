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

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_isolation_comes_after_the_override_that_covers_it),
        TEST(test_an_override_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
