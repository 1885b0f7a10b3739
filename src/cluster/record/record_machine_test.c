/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *known(struct world *w, const char *nodes, const char *set)
{
    return world_tell(w, COMMAND_MACHINE, nodes, quoted(set), NULL);
}

static const char *transition(struct world *w, const char *name, const char *why)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"transition\":\"%s\"}", name);
    return world_say(w, COMMAND_TRANSITION, "ann", "lx01", set.s, why);
}

static const char *window(struct world *w, const char *nodes, const char *set)
{
    return world_tell(w, COMMAND_WINDOW, nodes, quoted(set), NULL);
}

static void test_damaged_records_are_refused(void **state)
{
    static const struct {
        const char *key, *value, *why;
    } bad[] = {
        {"machine/lx01", "{'machine':'AAA','since':'1','before':[]}",
         "\"AAA\" tells no machine from another"},
        {"machine/lx01", "{'machine':'serial AAA','since':1,'before':[]}", "since"},
        {"machine/lx01", "{'machine':'serial AAA','since':'1'}", "\"before\" is no array of at most 4"},
        {"machine/lx01", "{'machine':'serial AAA','since':'1','before':[7]}", "before 1: no object"},
        {"machine/lx01", "{'machine':'serial AAA','since':'1','before':[{'machine':'x','until':'1'}]}",
         "before 1: \"x\" tells"},
        {"machine/lx01", "{'machine':'serial AAA','since':'1','before':[],'more':1}", "more"},
        {"machine/", "{'machine':'serial AAA','since':'1','before':[]}", ""},
        {"maintenance/lx01", "{'by':'ann','at':'1'}", "why"},
        {"maintenance/lx01", "{'by':'ann','at':'1','why':'a\\u0007b'}", "why"},
        {"maintenance/lx01", "{'by':7,'at':'1','why':'w'}", "by"},
        {"maintenance/lx01", "[]", ""},
        {"window/lx01", "{'by':'Slurm','at':'1'}", "why"},
        {"window/", "{'by':'Slurm','at':'1','why':'x'}", ""},
    };
    struct world *w = *state;
    known(w, "lx01", "{'machines':{'lx01':{'machine':'serial AAA'}}}");
    transition(w, "maintenance", "host retires");
    window(w, "lx01", "{'by':'Slurm','why':'host retires'}");
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        assert_int_equal(cluster_put(w->c, bad[i].key, quoted(bad[i].value), &e), -EILSEQ);
        if (!strstr(e.msg, bad[i].why))
            fail_msg("%s", e.msg);
        assert_true(cluster_digest(w->c) == before);
    }
    struct cluster *again = world_reload(w, "lx[01-06] CPUs=2", 0, true);
    assert_true(cluster_digest(again) == before);
    cluster_destroy(again);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_damaged_records_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
