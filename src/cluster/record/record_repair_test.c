/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A record of before says only that somebody answered. */
static void test_an_answer_of_an_older_record(void **state)
{
    struct world *w = *state;
    assert_int_equal(
        cluster_put(
            w->c, "repair/lx01",
            quoted("{'id':'1.5','step':'provision','began':'1','since':'7','deadline':'0','boot':'',"
                   "'instance':'0','problem':'manual','why':'','remedy':'','operation':'','approval':'none',"
                   "'approver':null,'examined':'not','inconclusive':0,'manual':false,'taken_by':null,"
                   "'attempts':[],'notes':[],'answered':true}"),
            NULL),
        0);
    assert_int_equal(lx01_repair(w)->answer.at.ns, 7);
    assert_int_equal(lx01_repair(w)->answer.n, 0);
}

#define REPAIR(from, to)                                                                                     \
    "{'id':'1.5','step':'isolate','began':'1','since':'1','deadline':'0','boot':'','instance':'0','problem'" \
    ":'',"                                                                                                   \
    "'why':'','remedy':'','operation':'','approval':'none','approver':null,'examined':'not','inconclusive':" \
    "0,"                                                                                                     \
    "'manual':false,'taken_by':null,'attempts':[],'notes':[]}",                                              \
        from, to

static void test_damaged_records_are_refused(void **state)
{
    static const struct {
        const char *record, *from, *to, *why;
    } bad[] = {
        {REPAIR("'isolate'", "'asleep'"),
         "record repair/lx01: \"asleep\" is no step that this version knows"},
        {REPAIR("'id':'1.5'", "'id':''"), "a repair without id"},
        {REPAIR("'none'", "'maybe'"), "approval: \"maybe\" is none that this version knows"},
        {REPAIR("'not'", "'half'"), "examined: \"half\" is nothing that this version knows"},
        {REPAIR("'instance':'0'", "'instance':'0x1'"), "instance: \"0x1\" is no number in hex"},
        {REPAIR("'attempts':[]", "'attempts':[7]"), "attempt 1: no object"},
        {REPAIR("'notes':[]", "'notes':[{'at':'1','by':'a'}]"), "note 1: \"text\" is missing"},
        {REPAIR("'notes':[]", "'notes':{}"), "\"notes\" is no array of at most 16"},
        {REPAIR("'manual':false", "'manual':0"), "manual"},
        {REPAIR("'why':''", "'why':7"), "why"},
        {REPAIR("'boot':''", "'boot':'a b'"), "\"a b\" is no boot id"},
        {REPAIR("'deadline':'0'", "'deadline':'-1'"), "deadline"},
        {REPAIR("'notes':[]", "'ran':7,'notes':[]"), "\"ran\" is no array of at most 256"},
        {REPAIR("'notes':[]", "'ran':['disk'],'notes':[]"), "ran 1: no object"},
        {REPAIR("'notes':[]", "'ran':[{'check':'disk','result':'nice'}],'notes':[]"),
         "ran 1: a check comes to nothing called \"nice\""},
        {REPAIR("{'id'", "{'more':1,'id'"), "more"},
    };
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        struct err e = {0};
        const char *at = strstr(bad[i].record, bad[i].from);
        text_add_bytes(&t, bad[i].record, (size_t)(at - bad[i].record));
        text_printf(&t, "%s%s", bad[i].to, at + strlen(bad[i].from));
        assert_int_equal(cluster_put(w->c, "repair/lx01", quoted(t.s), &e), -EILSEQ);
        if (!strstr(e.msg, bad[i].why))
            fail_msg("%s", e.msg);
        assert_true(cluster_digest(w->c) == before);
    }
    assert_int_equal(cluster_put(w->c, "repair/lx01", quoted(bad[0].record), NULL), 0);
    assert_int_equal(cluster_put(w->c, "effect/operate.lx01", "{\"id\":\"1\"}", NULL), -EILSEQ);
    assert_int_equal(cluster_put(w->c, "effect/slurm.lx01", "{\"id\":\"1\"}", NULL), -EILSEQ);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_answer_of_an_older_record),
        TEST(test_damaged_records_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
