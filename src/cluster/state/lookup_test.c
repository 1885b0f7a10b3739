/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void test_the_roster_comes_first_and_then_the_others_by_name(void **state)
{
    struct world *w = *state;
    world_configure(w, "lx03; lx01", NULL);
    cluster_meet(w->c, "zz");
    cluster_meet(w->c, "aa");
    static const char *const order[] = {"lx03", "lx01", "aa", "lx02", "lx04", "lx05", "lx06", "zz"};
    assert_int_equal(cluster_count(w->c), 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(cluster_at(w->c, i)->name, order[i]);
    cluster_meet(w->c, "bb"); /* it is sorted anew */
    assert_string_equal(cluster_at(w->c, 3)->name, "bb");
}

static void test_a_node_keeps_its_id(void **state)
{
    struct world *w = *state;
    const struct member *stray = cluster_meet(w->c, "stray");
    assert_int_equal(stray->id, 6);
    world_configure(w, "lx06; stray", NULL);
    assert_ptr_equal(cluster_find(w->c, "stray"), stray);
    assert_ptr_equal(cluster_by_id(w->c, 6), stray);
    assert_ptr_equal(cluster_meet(w->c, "stray"), stray);
    assert_null(cluster_find(w->c, "STRAY"));
    assert_null(cluster_find(w->c, ""));
}

/* The place is a hint: a name is found from wherever it points. */
static void test_names_are_found_from_any_place(void **state)
{
    struct world *w = *state;
    static const char *const asked[] = {"lx01", "lx02", "lx06", "lx03", "lx03", "nobody", "lx04"};
    size_t place = 0;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        assert_ptr_equal(cluster_find_next(w->c, &place, asked[i]), cluster_find(w->c, asked[i]));
    place = 1000; /* behind the last */
    assert_string_equal(cluster_find_next(w->c, &place, "lx01")->name, "lx01");
    assert_int_equal(place, 1);
}

static void test_more_nodes_than_there_was_room_for(void **state)
{
    struct world *w = *state;
    for (unsigned i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%03u", i);
        assert_int_equal(cluster_meet(w->c, name)->id, 6 + i);
    }
    for (uint32_t id = 0; id < 206; id++)
        assert_int_equal(cluster_by_id(w->c, id)->id, id);
    assert_string_equal(cluster_at(w->c, 205)->name, "n199");
}

/* Only a node of which nothing is known any more is let go, and it is there again when it is met. */
static void test_a_node_of_which_something_is_recorded_stays(void **state)
{
    struct world *w = *state;
    static const char *const records[][2] = {
        {"node/xx", "{\"admitted\":\"1\",\"boot\":\"b1\"}"},
        {"edit/xx", "{\"set\":{\"CPUs\":\"4\"},\"by\":\"root\",\"at\":\"1\"}"},
        {"machine/xx", "{\"machine\":\"serial AAA\",\"since\":\"1\",\"before\":[]}"},
        {"bmc/xx", "{\"components\":{\"redfish.bmc\":\"2\"}}"},
        {"window/xx", "{\"by\":\"Slurm\",\"at\":\"1\",\"why\":\"x\"}"},
        {"claim/9",
         "{\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"x\",\"since\":\"1\",\"nodes\":\"xx\","
         "\"drained\":\"\"}"},
        {"effect/slurm.xx",
         "{\"id\":\"1\",\"claim\":\"9\",\"state\":\"drained\",\"at\":\"1\",\"reservation\":"
         "false}"},
    };
    assert_false(cluster_let_go(w->c, cluster_find(w->c, "lx01"))); /* it is listed */
    struct member *m = cluster_meet(w->c, "xx");
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        struct err e = {0};
        if (cluster_put(w->c, records[i][0], records[i][1], &e) < 0)
            fail_msg("%s: %s", records[i][0], e.msg);
        if (cluster_let_go(w->c, m))
            fail_msg("let go in spite of %s", records[i][0]);
        assert_int_equal(cluster_put(w->c, records[i][0], NULL, NULL), 0);
    }
    assert_true(cluster_let_go(w->c, m));
    assert_true(m->gone);
    assert_ptr_equal(cluster_meet(w->c, "xx"), m);
    assert_false(m->gone);
}

static void name_token(void *arg, const char *hash)
{
    text_printf(arg, "%s ", hash);
}

static void test_absent_records_are_not_found(void **state)
{
    struct world *w = *state;
    static const char record[] = "{\"nodes\":\"\",\"by\":\"root\",\"expires\":\"1\"}";
    CLEANUP_TEXT struct text t = {0};
    assert_null(cluster_claim(w->c, "7.1"));
    assert_false(cluster_token_known(w->c, "ab"));
    assert_null(cluster_token_record(w->c, "ab"));
    assert_int_equal(cluster_put(w->c, "token/ab", record, NULL), 0);
    assert_true(cluster_token_known(w->c, "ab"));
    assert_string_equal(cluster_token_record(w->c, "ab"), record);
    cluster_each_token(w->c, name_token, &t);
    assert_string_equal(t.s, "ab ");
}

static void test_a_node_is_excepted_by_its_class_or_by_itself(void **state)
{
    struct world *w = *state;
    world_configure(w, "lx01 Remediate=no; lx02; lx03; class gpu Nodes=lx02 Remediate=no", NULL);
    assert_true(cluster_excepts(w->c, cluster_find(w->c, "lx01")));
    assert_true(cluster_excepts(w->c, cluster_find(w->c, "lx02")));
    assert_false(cluster_excepts(w->c, cluster_find(w->c, "lx03")));
}

static void test_a_value_is_found_by_its_measure(void **state)
{
    struct floor_value values[2] = {{.what = "bandwidth MB/s", .value = 5},
                                    {.what = "latency ns", .value = 7}};
    const struct floor_node n = {.n = 2, .values = values};
    assert_int_equal(floor_value(&n, "latency ns")->value, 7);
    assert_null(floor_value(&n, "latency"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_roster_comes_first_and_then_the_others_by_name),
        TEST(test_a_node_keeps_its_id),
        TEST(test_names_are_found_from_any_place),
        TEST(test_more_nodes_than_there_was_room_for),
        TEST(test_a_node_of_which_something_is_recorded_stays),
        TEST(test_absent_records_are_not_found),
        TEST(test_a_node_is_excepted_by_its_class_or_by_itself),
        TEST(test_a_value_is_found_by_its_measure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
