/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *class_of(const struct world *w, const char *node)
{
    return cluster_classes(w->c)->list[cluster_find(w->c, node)->class].name;
}

static void test_classes_follow_the_configuration_and_edits(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text changes = {0};
    assert_string_equal(class_of(w, "lx01"), "gpu");
    assert_string_equal(class_of(w, "lx06"), "default");
    world_configure(w, "lx[01-06] CPUs=2; class fat CPUs=64; class gpu Nodes=lx01", &changes);
    assert_string_equal(changes.s, "node lx05 Sensitive \"yes\" -> \"\"\n"
                                   "node lx[02-04] class \"gpu\" -> \"default\"\n");
    assert_string_equal(class_of(w, "lx01"), "gpu");
    assert_string_equal(class_of(w, "lx02"), "default");
    world_do(w, COMMAND_SET, "root", "lx02", "{\"CPUs\":\"64\"}", NULL);
    assert_string_equal(class_of(w, "lx02"), "fat");
    world_do(w, COMMAND_SET, "root", "lx02", "{\"CPUs\":null}", NULL);
    assert_string_equal(class_of(w, "lx02"), "default");
    assert_string_equal(cluster_classes(w->c)->list[cluster_meet(w->c, "stray")->class].name, "default");
}

static void test_without_a_roster_there_is_the_default_class(void **state)
{
    struct cluster *c = cluster_create();
    assert_int_equal(cluster_classes(c)->n, 1);
    assert_string_equal(cluster_classes(c)->list[0].name, "default");
    assert_int_equal(cluster_meet(c, "stray")->class, 0);
    assert_int_equal(cluster_put(c, "drift/lx01", NULL, NULL), 0);
    cluster_destroy(c);
}

#define DRAIN(actor, nodes, reason, id) world_do(w, COMMAND_DRAIN, actor, nodes, reason, id)
#define DOWN(actor, nodes, reason, id) world_do(w, COMMAND_DOWN, actor, nodes, reason, id)
#define UNDRAIN(actor, nodes, id) world_do(w, COMMAND_UNDRAIN, actor, nodes, NULL, id)
#define SET(actor, nodes, set) world_do(w, COMMAND_SET, actor, nodes, set, NULL)
#define TOLD(kind, nodes) world_do(w, kind, "fettled", nodes, NULL, NULL)

static void test_an_edit_over_a_lower_limit_waits(void **state)
{
    struct world *w = *state;
    struct roster r = {.partition_max = 3, .n = 1, .nodes = mem_alloc(sizeof *r.nodes)};
    SET("root", "lx01", "{\"Partition\":\"20\"}");
    r.nodes[0].name = mem_dup("lx01");
    spec_init(&r.nodes[0].spec);
    cluster_configure(w->c, &r, NULL);
    assert_string_equal(world_field(w, "lx01", FIELD_PARTITION), "");
    world_configure(w, "lx01", NULL);
    assert_string_equal(world_field(w, "lx01", FIELD_PARTITION), "20");
}

static void test_a_reload_says_what_changed(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    world_configure(w, "lx[01-06] CPUs=2", &t);
    assert_int_equal(t.len, 0);
    world_configure(w, "lx[07-08]; lx[01-02] CPUs=4; lx03 CPUs=2 Partition=1", &t);
    assert_string_equal(t.s, "node lx[07-08] added\nnode lx[01-02] CPUs \"2\" -> \"4\"\n"
                             "node lx03 Partition \"\" -> \"1\"\nnode lx[04-06] removed\n");
    static const char *const order[] = {"lx07", "lx08", "lx01", "lx02", "lx03", "lx04", "lx05", "lx06"};
    assert_int_equal(cluster_count(w->c), 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(cluster_at(w->c, i)->name, order[i]);
        assert_int_equal(cluster_at(w->c, i)->listed, i < 5);
    }
    cluster_meet(w->c, "aa");
    assert_string_equal(cluster_at(w->c, 5)->name, "aa"); /* the unlisted by name, behind the roster */
}

static void test_claims_survive_removal_and_return(void **state)
{
    struct world *w = *state;
    DRAIN("root", "lx[01-02]", "x", "1.1");
    SET("root", "lx01", "{\"CPUs\":\"4\"}");
    struct member *before = cluster_find(w->c, "lx01");
    world_configure(w, "lx[02-06] CPUs=2", NULL);
    assert_string_equal(world_state(w, "lx01"), "unlisted");
    assert_string_equal(world_claims(w, "lx01"), "1.1 drain by root: x");
    UNDRAIN("root", "lx02", NULL);
    world_configure(w, "lx[01-06] CPUs=2", NULL);
    assert_ptr_equal(cluster_find(w->c, "lx01"), before);
    assert_string_equal(world_state(w, "lx01"), "draining");
    assert_string_equal(world_field(w, "lx01", FIELD_CPUS), "4");
    assert_string_equal(UNDRAIN("root", "lx01", NULL), "claim/1.1 = gone\nlx01: released from claim 1.1\n");
}

static void test_a_claim_can_be_released_from_an_unlisted_node(void **state)
{
    struct world *w = *state;
    DRAIN("root", "lx01", "x", "1.1");
    world_configure(w, "lx[02-06] CPUs=2", NULL);
    assert_string_equal(UNDRAIN("root", "lx01", NULL), "claim/1.1 = gone\nlx01: released from claim 1.1\n");
}

/* Whatever was looked up before, and wherever the roster was when the place was kept. */
static void test_names_in_any_order_are_found(void **state)
{
    struct world *w = *state;
    const char *const names[] = {"lx01", "lx02", "lx05", "lx06",  "stray", "lx01", "none",
                                 "lx02", "lx02", "lx06", "stray", "lx03",  "lx04", "lx05"};
    size_t n = sizeof names / sizeof names[0], place = 0;
    cluster_meet(w->c, "stray");
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(cluster_find_next(w->c, &place, names[i]), cluster_find(w->c, names[i]));
    world_configure(w, "lx[04-06,01] CPUs=2", NULL);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(cluster_find_next(w->c, &place, names[i]), cluster_find(w->c, names[i]));
    place = 0;
    cluster_find_next(w->c, &place, cluster_at(w->c, 2)->name);
    assert_int_equal(place, 3);
}

static void test_same_records_same_state(void **state)
{
    struct world *w = *state;
    DRAIN("root", "lx[01-03]", "x", "1.1");
    DRAIN("ann", "lx[02-04]", "y", "1.2");
    DOWN("bob", "lx05", "z", "1.10");
    DRAIN("bob", "lx05", "z", "1.9");
    TOLD(COMMAND_DRAINED, "lx[02,04]");
    world_do(w, COMMAND_SILENT, "fettled", "lx06", "s", "1.4");
    SET("root", "lx[01-02]", "{\"CPUs\":\"4\"}");
    world_do(w, COMMAND_TOKEN_CREATE, "root", "lx01", "{\"hash\":\"{}\",\"expires\":\"2000\"}", NULL);
    UNDRAIN("root", "lx01", NULL);
    struct world again = {0};
    for (size_t rotation = 0; rotation < w->n; rotation++) {
        for (int backwards = 0; backwards < 2; backwards++) {
            again.c = world_reload(w, "lx[01-06] CPUs=2", rotation, backwards);
            assert_true(cluster_digest(again.c) == cluster_digest(w->c));
            for (int i = 1; i <= 6; i++) {
                char node[8];
                snprintf(node, sizeof node, "lx%02d", i);
                CLEANUP_FREE char *claims = mem_dup(world_claims(w, node));
                assert_string_equal(world_claims(&again, node), claims);
            }
            assert_string_equal(world_claims(&again, "lx05"), "1.9 drain by bob: z; 1.10 down by bob: z");
            cluster_destroy(again.c);
        }
    }
}

static void test_a_difference_is_another_digest(void **state)
{
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    DRAIN("root", "lx01", "x", "1.1");
    uint64_t drained = cluster_digest(w->c);
    assert_true(drained != before);
    TOLD(COMMAND_DRAINED, "lx01");
    assert_true(cluster_digest(w->c) != drained);
    UNDRAIN("root", "lx01", NULL);
    assert_true(cluster_digest(w->c) == before);
    SET("root", "lx01", "{\"CPUs\":\"2\"}");
    assert_true(cluster_digest(w->c) != before);
}

/* Before a reload, a person sees the sentences that it would say, and nothing is changed by that. */
static void test_a_comparison_says_what_a_reload_would(void **state)
{
    static const char *const rosters[] = {
        "lx[01-06] CPUs=2",                               /* nothing */
        "lx[01-04] CPUs=4; lx07 CPUs=2",                  /* changed, removed, added */
        "lx[01-06] CPUs=2; class gpu Nodes=lx[01-02]",    /* another class by name */
        "lx[01-06] CPUs=2; class fat CPUs=64",            /* another class by an edit that lies over it */
        "lx06 CPUs=2 Group=3 Sensitive=yes; lx05 CPUs=2", /* another order */
        "",
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof rosters / sizeof rosters[0]; i++) {
        CLEANUP_TEXT struct text would = {0}, does = {0};
        text_add(&would, "");
        text_add(&does, "");
        world_destroy(w);
        *state = w = world_create();
        SET("root", "lx03", "{\"CPUs\":\"64\"}");
        uint64_t before = cluster_digest(w->c);
        world_compare(w, rosters[i], &would);
        assert_true(cluster_digest(w->c) == before);
        assert_string_equal(world_field(w, "lx01", FIELD_CPUS), "2");
        world_configure(w, rosters[i], &does);
        assert_string_equal(would.s, does.s);
        assert_int_equal(*would.s == '\0', i == 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_classes_follow_the_configuration_and_edits, world_conform_setup,
                                        world_teardown),
        cmocka_unit_test(test_without_a_roster_there_is_the_default_class),
        TEST(test_an_edit_over_a_lower_limit_waits),
        TEST(test_a_reload_says_what_changed),
        TEST(test_claims_survive_removal_and_return),
        TEST(test_a_claim_can_be_released_from_an_unlisted_node),
        TEST(test_names_in_any_order_are_found),
        TEST(test_same_records_same_state),
        TEST(test_a_difference_is_another_digest),
        TEST(test_a_comparison_says_what_a_reload_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
