/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/state/state.h"

#include "cluster/fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct member *lx01(const struct world *w)
{
    return cluster_find(w->c, "lx01");
}

static void test_kinds_of_claims_have_names(void **state)
{
    static const struct {
        enum claim_kind kind;
        const char *name;
        bool drains;
    } rows[] = {{CLAIM_DRAIN, "drain", true},    {CLAIM_DOWN, "down", false},
                {CLAIM_SILENT, "silent", false}, {CLAIM_DRIFT, "drift", true},
                {CLAIM_REPAIR, "repair", true},  {CLAIM_TRIAL, "trial", true},
                {CLAIM_WIPE, "wipe", true},      {CLAIM_OVERDUE, "overdue", false}};
    assert_int_equal(sizeof rows / sizeof rows[0], CLAIM_KINDS);
    for (size_t i = 0; i < CLAIM_KINDS; i++) {
        assert_string_equal(claim_kind_name(rows[i].kind), rows[i].name);
        assert_int_equal(kind_drains(rows[i].kind), rows[i].drains);
    }
}

/* A node is drained when it is under all claims that drain it. */
static void test_drained_means_by_every_claim(void **state)
{
    struct world *w = *state;
    struct agreed a = member_agreed(lx01(w));
    assert_true(a.listed && a.admitted);
    assert_false(a.drain || a.drained || a.down || a.silent || a.overdue);
    world_do(w, COMMAND_DRAIN, "root", "lx01", "x", "7.1");
    a = member_agreed(lx01(w));
    assert_true(a.drain && !a.drained);
    world_do(w, COMMAND_DRAINED, "fettled", "lx01", NULL, NULL);
    assert_true(member_agreed(lx01(w)).drained);
    world_do(w, COMMAND_DOWN, "root", "lx01", "y", "7.2");
    a = member_agreed(lx01(w));
    assert_true(a.drained && a.down); /* one that does not drain changes nothing */
    world_do(w, COMMAND_DRAINING, "fettled", "lx01", NULL, NULL);
    assert_false(member_agreed(lx01(w)).drained);
    assert_true(member_held_by(lx01(w), CLAIM_DOWN));
    assert_false(member_held_by(lx01(w), CLAIM_SILENT));
}

static void test_a_node_comes_up_when_its_boot_is_another(void **state)
{
    struct world *w = *state;
    struct member m = {0};
    assert_true(member_came_up(&m, "b1")); /* it never was in service */
    m.admitted = true;
    assert_false(member_came_up(&m, "b1")); /* an older record does not say on which boot */
    memcpy(m.boot, "b1", 3);
    assert_false(member_came_up(&m, "b1"));
    assert_true(member_came_up(&m, "b2"));
    assert_false(member_came_up(lx01(w), ""));
}

#define REPAIR(step, problem, began)                                                                         \
    "{'id':'1.5','step':'" step "','began':'" began "','since':'1','deadline':'0','boot':'','instance':'0'," \
    "'problem':'" problem "','why':'','remedy':'','operation':'','approval':'none','approver':null,"         \
    "'examined':'not','inconclusive':0,'manual':false,'taken_by':null,'attempts':[],'notes':[]}"

static void test_a_repair_counts_by_its_step(void **state)
{
    static const struct {
        const char *record;
        bool remembered, treated, out;
    } rows[] = {{NULL, false, false, false},
                {REPAIR("none", "", "1"), true, false, false},
                {REPAIR("tend", "", "1"), true, true, false},
                {REPAIR("isolate", "", "1"), true, true, true}};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            cluster_put(w->c, "repair/lx01", rows[i].record ? quoted(rows[i].record) : NULL, NULL), 0);
        assert_int_equal(member_repairs(lx01(w)) != NULL, rows[i].remembered);
        assert_int_equal(member_treated(lx01(w)) != NULL, rows[i].treated);
        assert_int_equal(member_repair(lx01(w)) != NULL, rows[i].out);
        assert_int_equal(member_agreed(lx01(w)).step, rows[i].out ? STEP_ISOLATE : STEP_NONE);
    }
}

/* A node is new until it is in service for the first time; lx01 was, at 1000 ns. */
static void test_a_node_is_new_until_it_was_in_service(void **state)
{
    static const struct {
        const char *record;
        bool is_new;
    } rows[] = {{REPAIR("isolate", "node_problem", "1001"), false},
                {REPAIR("isolate", "node_problem", "1000"), true}, /* before it was in service */
                {REPAIR("provision", "provision", "1001"), true},
                {REPAIR("tend", "provision", "1"), false}}; /* in service */
    struct world *w = *state;
    assert_false(member_is_new(lx01(w)));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(cluster_put(w->c, "repair/lx01", quoted(rows[i].record), NULL), 0);
        assert_int_equal(member_is_new(lx01(w)), rows[i].is_new);
    }
    assert_int_equal(cluster_put(w->c, "repair/lx01", quoted(rows[0].record), NULL), 0);
    assert_int_equal(cluster_put(w->c, "node/lx01", NULL, NULL), 0);
    assert_true(member_is_new(lx01(w)));
}

/* What Fettle holds silent ends by itself, and is nobody's claim. */
static void test_claims_of_people_in_words(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    member_claims(lx01(w), &t);
    assert_string_equal(t.s, "");
    world_do(w, COMMAND_SILENT, "fettled", "lx01", "silent", "7.1");
    world_do(w, COMMAND_DRAIN, "root", "lx01", "bad DIMM", "7.2");
    world_do(w, COMMAND_DOWN, "ann", "lx01", "cable", "7.3");
    member_claims(lx01(w), &t);
    assert_string_equal(t.s, "drain by root: bad DIMM; down by ann: cable");
}

/* Slurm still holds it by Fettle's note, when no claim but that it is silent rests on it. */
static void test_a_node_that_slurm_holds_is_returning(void **state)
{
    struct world *w = *state;
    assert_false(member_agreed(lx01(w)).returning);
    assert_int_equal(
        cluster_put(w->c, "effect/slurm.lx01",
                    quoted("{'id':'1','claim':'9','state':'drained','at':'1','reservation':false}"), NULL),
        0);
    assert_true(member_agreed(lx01(w)).returning);
    world_do(w, COMMAND_SILENT, "fettled", "lx01", "silent", "7.1");
    assert_true(member_agreed(lx01(w)).returning);
    world_do(w, COMMAND_DRAIN, "root", "lx01", "x", "7.2");
    assert_false(member_agreed(lx01(w)).returning);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kinds_of_claims_have_names),
        TEST(test_drained_means_by_every_claim),
        TEST(test_a_node_comes_up_when_its_boot_is_another),
        TEST(test_a_repair_counts_by_its_step),
        TEST(test_a_node_is_new_until_it_was_in_service),
        TEST(test_claims_of_people_in_words),
        TEST(test_a_node_that_slurm_holds_is_returning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
