/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define OVERRIDE(of) "{'by':'ann','source':'Slurm','why':'a demo','at':'7','spent_s':9,'of':[" of "]}"
#define OF(group, fault, severity) "{'group':'" group "','fault':'" fault "','severity':'" severity "'}"

static const struct override *lx01(const struct world *w)
{
    return member_override(cluster_find(w->c, "lx01"));
}

static void test_an_override_is_read_and_written(void **state)
{
    struct world *w = *state;
    const char *record = quoted(OVERRIDE(OF("gpu 0", "xid.79", "fatal") "," OF("", "scratch", "warn")));
    CLEANUP_TEXT struct text t = {0};
    world_takes(w, "override/lx01", record);
    assert_null(lx01(w));
    assert_int_equal(cluster_put(w->c, "override/lx01", record, NULL), 0);
    assert_string_equal(lx01(w)->by, "ann");
    assert_string_equal(lx01(w)->source, "Slurm");
    assert_int_equal(lx01(w)->at.ns, 7);
    assert_int_equal(lx01(w)->spent_s, 9);
    CLEANUP_FREE char *written = override_record(lx01(w));
    assert_string_equal(written, record);
    override_say(lx01(w), &t);
    assert_string_equal(t.s, "xid.79 gpu 0 (fatal), scratch (warn)");
}

static void test_it_covers_findings_no_worse_on_the_same_device(void **state)
{
    struct world *w = *state;
    assert_int_equal(
        cluster_put(w->c, "override/lx01", quoted(OVERRIDE(OF("gpu 0", "xid.79", "fatal"))), NULL), 0);
    assert_true(override_covers(lx01(w), "gpu 0", RESULT_DEGRADED));
    assert_true(override_covers(lx01(w), "gpu 0", RESULT_FATAL));
    assert_false(override_covers(lx01(w), "gpu 0", RESULT_LOST));
    assert_false(override_covers(lx01(w), "gpu 1", RESULT_WARN));
    assert_false(override_covers(lx01(w), "", RESULT_WARN));
    assert_int_equal(cluster_put(w->c, "override/lx01", quoted(OVERRIDE("")), NULL), 0);
    assert_false(override_covers(lx01(w), "gpu 0", RESULT_WARN));
}

static void test_damaged_records_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {"{'by':'ann'}", "\"source\" is missing"},
        {"[]", "no object"},
        {OVERRIDE("7"), "fault 1 is no object"},
        {OVERRIDE(OF("gpu 0", "xid.79", "ok")), "of 1: severity: \"ok\" is nothing that a check finds"},
        {OVERRIDE(OF("gpu 0", "xid.79", "fatal") ",{'group':''}"), "of 2: \"fault\" is missing"},
        {"{'by':'ann','source':'Slurm','why':'','at':'7','spent_s':9,'of':{}}", "\"of\" is no array"},
        {"{'by':'ann','source':'Slurm','why':'','at':'7','spent_s':4294967296,'of':[]}", "spent_s"},
        {"{'by':'ann','source':'Slurm','why':'','at':7,'spent_s':9,'of':[]}", "at"},
        {"{'by':'ann','source':'Slurm','why':'a\\nb','at':'7','spent_s':9,'of':[]}",
         "why: a control character"},
        {"{'by':'ann','source':'Slurm','why':'','at':'7','spent_s':9,'of':[],'more':1}", "more"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, "override/lx01", quoted(bad[i][0]), bad[i][1]);
    world_refuses(w, "override/a b", quoted(OVERRIDE("")), "\"a b\" is not the name of a node");
}

static void test_it_covers_so_many_incidents_at_most(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text all = {0};
    for (int i = 0; i < INCIDENTS_OPEN_MAX; i++)
        text_printf(&all, "%s" OF("gpu %d", "xid.79", "fatal"), i ? "," : "", i);
    for (int over = 0; over < 2; over++) {
        CLEANUP_TEXT struct text record = {0};
        text_printf(&record, OVERRIDE("%s%s"), all.s, over ? "," OF("", "x", "warn") : "");
        if (over)
            world_refuses(w, "override/lx01", quoted(record.s), "\"of\" is no array of at most 32");
        else
            world_takes(w, "override/lx01", quoted(record.s));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_override_is_read_and_written),
        TEST(test_it_covers_findings_no_worse_on_the_same_device),
        TEST(test_damaged_records_are_refused),
        TEST(test_it_covers_so_many_incidents_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
