/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEX2 "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define VERSION(version, hex, node) \
    "'version':" version ",'fingerprint':'" hex "','node':'" node "','by':'root','at':'7','note':''"
#define BASELINE(version, history, rollout) \
    "{" VERSION(version, HEX, "lx01") ",'history':[" history "],'rollout':" rollout "}"
#define ROLLOUT(nodes)                                        \
    "{'fingerprint':'" HEX2 "','node':'lx02','nodes':'" nodes \
    "','by':'ann','at':'8','deadline':'9','note':'new'}"

static void test_a_baseline_and_its_rollout_are_read(void **state)
{
    struct world *w = *state;
    const char *record = quoted(BASELINE("2", "{" VERSION("1", HEX2, "lx03") "}", ROLLOUT("lx[02-04,10]")));
    world_takes(w, "baseline/gpu", record);
    assert_null(cluster_baseline(w->c, "gpu"));
    assert_int_equal(cluster_put(w->c, "baseline/gpu", record, NULL), 0);
    const struct baseline *b = cluster_baseline(w->c, "gpu");
    assert_int_equal(b->version, 2);
    assert_string_equal(b->node, "lx01");
    assert_int_equal(b->at.ns, 7);
    assert_non_null(strstr(b->history, "lx03"));
    assert_string_equal(b->rollout->note, "new");
    assert_int_equal(b->rollout->deadline.ns, 9);
    assert_true(rollout_has(b->rollout, "lx02") && rollout_has(b->rollout, "lx10"));
    assert_false(rollout_has(b->rollout, "lx01") || rollout_has(b->rollout, ""));
    assert_null(cluster_baseline(w->c, "fat"));
}

static void test_another_version_takes_its_place(void **state)
{
    struct world *w = *state;
    assert_int_equal(cluster_put(w->c, "baseline/gpu", quoted(BASELINE("1", "", ROLLOUT("lx01"))), NULL), 0);
    assert_int_equal(cluster_put(w->c, "baseline/gpu", quoted(BASELINE("4294967295", "", "null")), NULL), 0);
    assert_int_equal(cluster_baseline(w->c, "gpu")->version, UINT32_MAX);
    assert_null(cluster_baseline(w->c, "gpu")->rollout);
}

static void test_damaged_records_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {BASELINE("0", "", "null"), "version 0; they count from 1"},
        {BASELINE("4294967296", "", "null"), "version"},
        {BASELINE("1", "7", "null"), "history 1: no object"},
        {BASELINE("2", "{" VERSION("2", HEX, "lx01") "}", "null"),
         "history 1: version 2 is not older than the one before it"},
        {BASELINE("3", "{" VERSION("2", HEX, "lx01") "},{" VERSION("2", HEX, "lx01") "}", "null"),
         "history 2: version 2 is not older"},
        {BASELINE("2", "{'version':1}", "null"), "history 1: \"fingerprint\" is missing"},
        {BASELINE("2", "{" VERSION("1", HEX, "lx01") ",'more':1}", "null"), "history 1: "},
        {BASELINE("1", "", "7"), "\"rollout\" is neither null nor an object"},
        {BASELINE("1", "", "{}"), "rollout: \"fingerprint\" is missing"},
        {BASELINE("1", "", ROLLOUT("")), "rollout: a rollout on no node"},
        {BASELINE("1", "", ROLLOUT("lx[")), "rollout: "},
        {BASELINE("1", "", ROLLOUT("a/b")), "rollout: \"a/b\" is not the name of a node"},
        {"{" VERSION("1", HEX, "") ",'history':[],'rollout':null}", "\"\" is not the name of a node"},
        {"{" VERSION("1", "x", "lx01") ",'history':[],'rollout':null}", "\"x\" is no fingerprint"},
        {"{" VERSION("1", HEX, "lx01") ",'history':{},'rollout':null}", "\"history\" is no array"},
        {"[]", "no object"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, "baseline/gpu", quoted(bad[i][0]), bad[i][1]);
    world_refuses(w, "baseline/", quoted(BASELINE("1", "", "null")), "the name of a class has 1 to ");
}

static void test_so_many_versions_are_kept_at_most(void **state)
{
    struct world *w = *state;
    for (int n = BASELINE_KEPT_MAX; n <= BASELINE_KEPT_MAX + 1; n++) {
        CLEANUP_TEXT struct text record = {0};
        text_add(&record, "{" VERSION("99", HEX, "lx01") ",'rollout':null,'history':[");
        for (int i = 0; i < n; i++)
            text_printf(&record, "%s{" VERSION("%d", HEX, "lx01") "}", i ? "," : "", 90 - i);
        text_add(&record, "]}");
        if (n == BASELINE_KEPT_MAX)
            world_takes(w, "baseline/gpu", quoted(record.s));
        else
            world_refuses(w, "baseline/gpu", quoted(record.s), "a history of 33; it has 32 at most");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_baseline_and_its_rollout_are_read),
        TEST(test_another_version_takes_its_place),
        TEST(test_damaged_records_are_refused),
        TEST(test_so_many_versions_are_kept_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
