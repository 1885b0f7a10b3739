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

#define SHARED(nodes, severity) "{'nodes':'" nodes "','why':'x','since':'7','severity':'" severity "'}"
#define SWITCH(on, why) "{'on':" on ",'by':'root','at':'7','why':'" why "'}"

static void test_shared_causes_in_order_of_their_keys(void **state)
{
    struct world *w = *state;
    world_takes(w, "shared/b", quoted(SHARED("lx[01-02]", "warn")));
    assert_int_equal(cluster_put(w->c, "shared/b", quoted(SHARED("lx01", "warn")), NULL), 0);
    assert_int_equal(cluster_put(w->c, "shared/a c", quoted(SHARED("lx02", "fatal")), NULL), 0);
    assert_string_equal(cluster_shared(w->c, "a c")->nodes, "lx02");
    assert_int_equal(cluster_shared(w->c, "b")->since.ns, 7);
    assert_null(cluster_shared(w->c, "a"));
    world_refuses(w, "shared/b", quoted(SHARED("", "warn")), "a shared cause on no node");
    world_refuses(w, "shared/b", quoted(SHARED("lx[", "warn")), "a bracket is not closed");
    world_refuses(w, "shared/b", quoted(SHARED("lx01", "ok")), "nothing that a check finds");
    world_refuses(w, "shared/b", "{}", "\"nodes\" is missing");
    world_refuses(w, "shared/", quoted(SHARED("lx01", "warn")), "a key of 0 bytes; it has 1 to 200");
    assert_string_equal(cluster_shared(w->c, "b")->nodes, "lx01");
}

static void test_a_key_of_a_shared_cause_has_200_bytes_at_most(void **state)
{
    struct world *w = *state;
    char key[7 + SHARED_KEY_BYTES_MAX + 2] = "shared/";
    memset(key + 7, 'x', SHARED_KEY_BYTES_MAX);
    world_takes(w, key, quoted(SHARED("lx01", "warn")));
    key[7 + SHARED_KEY_BYTES_MAX] = 'x';
    world_refuses(w, key, quoted(SHARED("lx01", "warn")), "a key of 201 bytes");
}

static struct outcomes of(const struct world *w, const char *fault, const char *class)
{
    return cluster_outcomes(w->c, fault, "reboot", class);
}

static void test_outcomes_are_found_by_fault_and_class(void **state)
{
    struct world *w = *state;
    world_takes(w, "tally/reboot", "{\"counts\":{\"xid.79 gpu\":[1,2]}}");
    assert_int_equal(cluster_put(w->c, "tally/reboot",
                                 "{\"counts\":{\"xid.79 gpu\":[1,2],\"scratch fat\":[3,0],"
                                 "\"a default\":[0,4294967295]}}",
                                 NULL),
                     0);
    assert_int_equal(of(w, "xid.79", "gpu").helped, 1);
    assert_int_equal(of(w, "xid.79", "gpu").failed, 2);
    assert_int_equal(of(w, "scratch", "fat").helped, 3);
    assert_int_equal(of(w, "a", "default").failed, UINT32_MAX);
    assert_int_equal(of(w, "xid.79", "fat").helped + of(w, "xid.48", "gpu").failed, 0);
    assert_int_equal(cluster_outcomes(w->c, "xid.79", "swap", "gpu").failed, 0);
}

static void test_damaged_tallies_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {"{\"counts\":[]}", "\"counts\" is no object of at most 1024"},
        {"{\"counts\":{\"xid.79\":[1,2]}}", "\"xid.79\" is no fault and class"},
        {"{\"counts\":{\" gpu\":[1,2]}}", "\" gpu\" is no fault and class"},
        {"{\"counts\":{\"a b\":[1]}}", "a b: not two counts"},
        {"{\"counts\":{\"a b\":[1,2,3]}}", "a b: not two counts"},
        {"{\"counts\":{\"a b\":[1,-1]}}", "a b: not two counts"},
        {"{\"counts\":{\"a b\":[4294967296,1]}}", "a b: not two counts"},
        {"{\"counts\":{\"a b\":[1.5,1]}}", "a b: not two counts"},
        {"{\"counts\":{\"c d\":[1,1],\"a b\":7}}", "a b: not two counts"},
        {"{\"counts\":{},\"more\":1}", "more"},
        {"7", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, "tally/reboot", bad[i][0], bad[i][1]);
    world_refuses(w, "tally/", "{\"counts\":{}}", "the name of a remedy has 1 to ");
}

/* Counts `faults` (commas between) of remedy reboot on class gpu, and commits it. */
static void count(struct world *w, const char *faults, bool helped, bool back)
{
    struct tally_edit x = {0};
    struct decision d = {0};
    for (const char *p = faults; *p; p += strspn(p, ",")) {
        size_t len = strcspn(p, ",");
        CLEANUP_FREE char *fault = mem_dup_len(p, len);
        tally_count(w->c, &x, "reboot", "gpu", fault, helped, back);
        p += len;
    }
    assert_true(tally_edit_has(&x, "reboot"));
    assert_false(tally_edit_has(&x, "swap"));
    tally_edit_put(&x, &d);
    assert_false(tally_edit_has(&x, "reboot"));
    assert_int_equal(d.n_ops, 1);
    assert_int_equal(cluster_put(w->c, d.ops[0].key, d.ops[0].value, NULL), 0);
    decision_fini(&d);
}

static void test_outcomes_are_counted_and_taken_back(void **state)
{
    struct world *w = *state;
    count(w, "xid.79,scratch", true, false);
    count(w, "xid.79", false, false);
    count(w, "xid.79", false, false);
    assert_int_equal(of(w, "xid.79", "gpu").helped, 1);
    assert_int_equal(of(w, "xid.79", "gpu").failed, 2);
    assert_int_equal(of(w, "scratch", "gpu").helped, 1);
    count(w, "xid.79", false, true);
    count(w, "scratch,unheard", true, true);
    assert_int_equal(of(w, "xid.79", "gpu").failed, 1);
    assert_int_equal(of(w, "scratch", "gpu").helped, 0);
    count(w, "scratch", true, true); /* there is none left */
    assert_int_equal(of(w, "scratch", "gpu").helped, 0);
    assert_int_equal(of(w, "unheard", "gpu").helped, 0);
}

static void test_the_highest_count_stays(void **state)
{
    struct world *w = *state;
    assert_int_equal(cluster_put(w->c, "tally/reboot", "{\"counts\":{\"a gpu\":[4294967294,0]}}", NULL), 0);
    count(w, "a", true, false);
    assert_true(of(w, "a", "gpu").helped == UINT32_MAX);
    count(w, "a", true, false);
    assert_true(of(w, "a", "gpu").helped == UINT32_MAX);
}

static void test_a_full_tally_counts_its_own_rows(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "{\"counts\":{");
    for (int i = 0; i < TALLIES_A_REMEDY_MAX; i++)
        text_printf(&t, "%s\"f%04d gpu\":[1,0]", i ? "," : "", i);
    text_add(&t, "}}");
    world_takes(w, "tally/reboot", t.s);
    assert_int_equal(cluster_put(w->c, "tally/reboot", t.s, NULL), 0);
    count(w, "f0000,new", true, false);
    assert_int_equal(of(w, "f0000", "gpu").helped, 2);
    assert_int_equal(of(w, "new", "gpu").helped, 0);
    t.len -= 2;
    text_add(&t, ",\"one more\":[1,0]}}");
    world_refuses(w, "tally/reboot", t.s, "\"counts\" is no object of at most 1024");
}

static void test_a_switch_that_is_on_says_who_and_why(void **state)
{
    struct world *w = *state;
    assert_true(switch_known("stop") && switch_known("latch") && !switch_known("go") && !switch_known(""));
    world_takes(w, "switch/stop", quoted(SWITCH("true", "cooling")));
    assert_int_equal(cluster_put(w->c, "switch/stop", quoted(SWITCH("true", "cooling")), NULL), 0);
    assert_string_equal(cluster_switch(w->c, "stop"), "root: cooling");
    assert_null(cluster_switch(w->c, "latch"));
    assert_int_equal(cluster_put(w->c, "switch/latch", quoted(SWITCH("true", "")), NULL), 0);
    assert_string_equal(cluster_switch(w->c, "latch"), "root");
    world_refuses(w, "switch/stop", quoted(SWITCH("false", "x")), "a switch that is off has no record");
    world_refuses(w, "switch/go", quoted(SWITCH("true", "x")), "\"go\" is no switch that this version knows");
    world_refuses(w, "switch/stop", quoted(SWITCH("1", "x")), "on");
    world_refuses(w, "switch/stop", "{}", "\"on\" is missing");
    assert_string_equal(cluster_switch(w->c, "stop"), "root: cooling");
}

static void test_the_latest_isolations_are_kept(void **state)
{
    struct world *w = *state;
    const struct wall *at;
    world_takes(w, "surge/isolated", "{\"at\":[\"5\",\"7\"]}");
    assert_int_equal(cluster_isolations(w->c, &at), 0);
    assert_int_equal(cluster_put(w->c, "surge/isolated", "{\"at\":[\"5\",\"7\"]}", NULL), 0);
    assert_int_equal(cluster_isolations(w->c, &at), 2);
    assert_int_equal(at[1].ns, 7);
    static const struct {
        uint64_t keep;
        const char *record;
    } rows[] = {{1, "{\"at\":[\"9\"]}"},
                {2, "{\"at\":[\"7\",\"9\"]}"},
                {3, "{\"at\":[\"5\",\"7\",\"9\"]}"},
                {UINT64_MAX, "{\"at\":[\"5\",\"7\",\"9\"]}"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_FREE char *record = surge_record_with(w->c, (struct wall){9}, rows[i].keep);
        assert_string_equal(record, rows[i].record);
    }
}

static void test_no_more_isolations_than_the_limit(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "{\"at\":[\"1\"");
    for (int i = 1; i < ISOLATIONS_KEPT_MAX; i++)
        text_add(&t, ",\"2\"");
    text_add(&t, "]}");
    assert_int_equal(cluster_put(w->c, "surge/isolated", t.s, NULL), 0);
    CLEANUP_FREE char *next = surge_record_with(w->c, (struct wall){3}, 2 * ISOLATIONS_KEPT_MAX);
    assert_int_equal(cluster_put(w->c, "surge/isolated", next, NULL), 0);
    const struct wall *at;
    assert_int_equal(cluster_isolations(w->c, &at), ISOLATIONS_KEPT_MAX);
    assert_int_equal(at[0].ns, 2); /* the oldest went */
    assert_int_equal(at[ISOLATIONS_KEPT_MAX - 1].ns, 3);
    t.len -= 2;
    text_add(&t, ",\"2\"]}");
    world_refuses(w, "surge/isolated", t.s, "\"at\" is no array of 1 to 1000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_shared_causes_in_order_of_their_keys),
        TEST(test_a_key_of_a_shared_cause_has_200_bytes_at_most),
        TEST(test_outcomes_are_found_by_fault_and_class),
        TEST(test_damaged_tallies_are_refused),
        TEST(test_outcomes_are_counted_and_taken_back),
        TEST(test_the_highest_count_stays),
        TEST(test_a_full_tally_counts_its_own_rows),
        TEST(test_a_switch_that_is_on_says_who_and_why),
        TEST(test_the_latest_isolations_are_kept),
        TEST(test_no_more_isolations_than_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
