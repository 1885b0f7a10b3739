/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DRAIN(actor, nodes, reason, id) world_do(w, COMMAND_DRAIN, actor, nodes, reason, id)
#define SET(actor, nodes, set) world_do(w, COMMAND_SET, actor, nodes, set, NULL)
#define TOLD(kind, nodes) world_do(w, kind, "fettled", nodes, NULL, NULL)

/* A claim's record is written anew when something of it changes: nodes leave, others stay or come, and each
 * is drained as the record says. */
static void test_a_claim_is_rewritten_in_place(void **state)
{
    struct world *w = *state;
    DRAIN("root", "lx[01-04]", "x", "1.2");
    DRAIN("ann", "lx[02-03]", "y", "1.1");
    static const struct {
        const char *nodes, *drained, *shown[4]; /* lx01 to lx04 */
    } records[] = {
        {"lx[01-04]", "lx[01-04]", {"x (drained)", "x (drained)", "x (drained)", "x (drained)"}},
        {"lx[02-04]", "lx[03-04]", {"", "x", "x (drained)", "x (drained)"}},
        {"lx[01-02]", "lx01", {"x (drained)", "x", "", ""}},
        {"lx04", "", {"", "", "", "x"}},
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        text_printf(&t,
                    "{\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"x\",\"since\":\"7\",\"nodes\":\"%"
                    "s\",\"drained\":\"%s\"}",
                    records[i].nodes, records[i].drained);
        assert_int_equal(cluster_put(w->c, "claim/1.2", t.s, NULL), 0);
        for (int k = 0; k < 4; k++) {
            CLEANUP_TEXT struct text is = {0};
            char node[8];
            snprintf(node, sizeof node, "lx%02d", k + 1);
            if (k == 1 || k == 2)
                text_printf(&is, "1.1 drain by ann: y%s", *records[i].shown[k] ? "; " : "");
            if (*records[i].shown[k])
                text_printf(&is, "1.2 drain by root: %s", records[i].shown[k]);
            assert_string_equal(world_claims(w, node), is.len ? is.s : "");
        }
    }
    assert_int_equal(cluster_claim(w->c, "1.2")->since.ns, 7);
    assert_int_equal(cluster_put(w->c, "claim/1.2", NULL, NULL), 0);
    assert_string_equal(world_claims(w, "lx04"), "");
}

static void test_damaged_records_are_refused_with_words(void **state)
{
    static const struct {
        const char *key, *value, *why;
    } damaged[] = {
        {"pony", "{}", "record pony: its key is not KIND/NAME"},
        {"pony/", "{}", "record pony/: its key is not KIND/NAME"},
        {"Pony/1", "{}", "record Pony/1: its key is not KIND/NAME"},
        {"pony/\n", "{}", "record pony/\n: its key is not KIND/NAME"},
        {"pony/1\x7f", "{}", "record pony/1\x7f: its key is not KIND/NAME"},
        {"", "{}", "record : its key is not KIND/NAME"},
        {"node/lx01", "yes", "record node/lx01: not JSON: '[' or '{' expected near 'yes' at byte 3"},
        {"node/lx01", "{}", "record node/lx01: admitted: \"admitted\" is missing"},
        {"node/lx01", "{\"admitted\":\"soon\"}",
         "record node/lx01: admitted: \"soon\" is not a number from 0 to 9223372036854775807"},
        {"node/", "{\"admitted\":\"1\"}", "record node/: \"\" is not the name of a node"},
        {"node/lx 1", NULL, "record node/lx 1: \"lx 1\" is not the name of a node"},
        {"claim/1", "{\"kind\":\"drain\"}", "record claim/1: \"owner\" is missing"},
        {"claim/1", "{\"kind\":7}", "record claim/1: \"kind\" is not a string"},
        {"claim/1",
         "{\"kind\":\"wish\",\"owner\":\"\",\"reason\":\"\",\"since\":\"1\",\"nodes\":\"lx01\",\"drained\":"
         "\"\"}",
         "record claim/1: \"wish\" is no kind of claim that this version knows"},
        {"claim/1",
         "{\"kind\":\"drain\",\"owner\":\"\",\"reason\":\"\",\"since\":\"-1\",\"nodes\":\"lx01\",\"drained\":"
         "\"\"}",
         "record claim/1: since: \"-1\" is not a number from 0 to 9223372036854775807"},
        {"claim/1",
         "{\"kind\":\"drain\",\"owner\":\"\",\"reason\":\"\",\"since\":\"1\",\"nodes\":\"\",\"drained\":"
         "\"\"}",
         "record claim/1: a claim on no node"},
        {"claim/1",
         "{\"kind\":\"drain\",\"owner\":\"\",\"reason\":\"\",\"since\":\"1\",\"nodes\":\"a/"
         "b\",\"drained\":\"\"}",
         "record claim/1: \"a/b\" is not the name of a node"},
        {"claim/",
         "{\"kind\":\"drain\",\"owner\":\"\",\"reason\":\"\",\"since\":\"1\",\"nodes\":\"lx01\",\"drained\":"
         "\"\"}",
         "record claim/: an id of 0 bytes; it has 1 to 47"},
        {"edit/lx01", "{}", "record edit/lx01: no \"set\" object"},
        {"edit/lx01", "{\"set\":{\"CPUs\":4}}", "record edit/lx01: CPUs: the value is not a string"},
        {"edit/lx01", "{\"set\":{\"CPU\":\"4\"}}",
         "record edit/lx01: unknown field \"CPU\"; the nearest known is \"CPUs\""},
        {"edit/a b", "{\"set\":{\"CPUs\":\"4\"}}", "record edit/a b: \"a b\" is not the name of a node"},
        {"token/ab", "{\"by\":\"root\",\"expires\":\"1\"}", "record token/ab: \"nodes\" is missing"},
        {"token/ab", "{\"nodes\":\"\",\"by\":\"root\",\"expires\":1}",
         "record token/ab: expires: \"expires\" is not a string"},
    };
    struct world *w = *state;
    DRAIN("root", "lx01", "x", "1");
    uint64_t before = cluster_digest(w->c);
    size_t members = cluster_count(w->c);
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        struct err e = {0};
        assert_int_equal(cluster_put(w->c, damaged[i].key, damaged[i].value, &e), -EILSEQ);
        assert_string_equal(e.msg, damaged[i].why);
        assert_true(cluster_digest(w->c) == before);
        assert_int_equal(cluster_count(w->c), members);
    }
    struct err e = {0};
    assert_int_equal(cluster_put(w->c, "claim/1", "{\"kind\":\"drain\",\"owner\":", &e), -EILSEQ);
    assert_string_equal(world_claims(w, "lx01"), "1 drain by root: x");
}

static void test_removing_an_absent_record(void **state)
{
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "claim/7", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "token/ab", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "edit/lx01", NULL, NULL), 0);
    assert_true(cluster_digest(w->c) == before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_claim_is_rewritten_in_place),
        TEST(test_damaged_records_are_refused_with_words),
        TEST(test_removing_an_absent_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
