/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DRAIN(actor, nodes, reason, id) world_do(w, COMMAND_DRAIN, actor, nodes, reason, id)
#define DOWN(actor, nodes, reason, id) world_do(w, COMMAND_DOWN, actor, nodes, reason, id)
#define UNDRAIN(actor, nodes, id) world_do(w, COMMAND_UNDRAIN, actor, nodes, NULL, id)
#define UP(actor, nodes, id) world_do(w, COMMAND_UP, actor, nodes, NULL, id)
#define SET(actor, nodes, set) world_do(w, COMMAND_SET, actor, nodes, set, NULL)
#define TOLD(kind, nodes) world_do(w, kind, "fettled", nodes, NULL, NULL)

static void test_drain_is_one_claim(void **state)
{
    struct world *w = *state;
    assert_string_equal(DRAIN("root", "lx[01-03]", "bad \"DIMM\"", "1.1"),
                        "claim/1.1 = {\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"bad \\\"DIMM\\\"\","
                        "\"since\":\"1000\",\"nodes\":\"lx[01-03]\",\"drained\":\"\"}\n"
                        "lx[01-03]: bad \"DIMM\" (claim 1.1)\n");
    assert_string_equal(world_claims(w, "lx02"), "1.1 drain by root: bad \"DIMM\"");
    assert_string_equal(world_claims(w, "lx04"), "");
    assert_string_equal(world_state(w, "lx02"), "draining");
    assert_string_equal(world_state(w, "lx04"), "available");
}

static void test_a_repeated_drain_changes_nothing(void **state)
{
    struct world *w = *state;
    DRAIN("root", "lx01", "x", "1.1");
    assert_string_equal(DRAIN("root", "lx01", "x", "1.2"), "nothing");
    assert_string_equal(
        DRAIN("root", "lx[01-02]", "x", "1.3"),
        "claim/1.3 = {\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"x\",\"since\":\"1000\","
        "\"nodes\":\"lx02\",\"drained\":\"\"}\nlx02: x (claim 1.3)\n");
    DRAIN("ann", "lx01", "x", "1.4");
    DRAIN("root", "lx01", "y", "1.5");
    assert_string_equal(world_claims(w, "lx01"),
                        "1.1 drain by root: x; 1.4 drain by ann: x; 1.5 drain by root: y");
}

static void test_a_standing_claim_is_named(void **state)
{
    struct world *w = *state;
    CLEANUP_HOSTLIST struct hostlist names = {0};
    struct decision d = {0};
    DRAIN("root", "lx01", "x", "1.1");
    hostlist_add(&names, "lx01");
    const struct command cmd = {
        .kind = COMMAND_DRAIN, .actor = "root", .nodes = &names, .claim = "1.2", .reason = "x"};
    assert_int_equal(cluster_decide(w->c, &cmd, 0, &d, NULL), 0);
    assert_string_equal(d.claim, "1.1");
    assert_int_equal(d.n_ops, 0);
    decision_fini(&d);
}

static void test_drain_refuses(void **state)
{
    struct world *w = *state;
    cluster_meet(w->c, "stray");
    assert_string_equal(DRAIN("root", "lx[01,09]", "x", "1"), "no node \"lx09\"");
    assert_int_equal(world_rc(), -ENOENT);
    assert_string_equal(DRAIN("root", "stray", "x", "1"), "node \"stray\" is in no configuration file");
    assert_string_equal(DRAIN("root", "lx01", "", "1"), "a reason has 1 to 1024 bytes; this one has 0");
    assert_string_equal(DRAIN("root", "lx01", "a\nb", "1"), "the reason: a control character at byte 1");
    char reason[REASON_BYTES_MAX + 2];
    memset(reason, 'x', sizeof reason - 1);
    reason[REASON_BYTES_MAX + 1] = '\0';
    assert_string_equal(DRAIN("root", "lx01", reason, "1"),
                        "a reason has 1 to 1024 bytes; this one has 1025");
    assert_int_equal(world_rc(), -EINVAL);
    reason[REASON_BYTES_MAX] = '\0';
    DRAIN("root", "lx01", reason, "1");
    assert_int_equal(world_rc(), 0);
}

static void test_a_node_has_so_many_claims(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < CLAIMS_A_NODE_MAX; i++) {
        char id[16];
        snprintf(id, sizeof id, "1.%d", i + 1);
        DRAIN("root", "lx01", id, id);
        assert_int_equal(world_rc(), 0);
    }
    assert_string_equal(DRAIN("root", "lx[01-02]", "one more", "1.99"),
                        "node \"lx01\" has 64 claims already");
    assert_int_equal(world_rc(), -EBUSY);
    world_do(w, COMMAND_SILENT, "fettled", "lx01", "silent past its grace", "1.100");
    assert_string_equal(world_state(w, "lx01"), "down");
    UNDRAIN("root", "lx01", NULL);
    assert_string_equal(world_claims(w, "lx01"), "1.100 silent by fettled: silent past its grace");
}

static void test_undrain_takes_only_one_s_own_claims(void **state)
{
    struct world *w = *state;
    DRAIN("root", "lx[01-03]", "x", "1.1");
    DRAIN("ann", "lx[01-02]", "y", "1.2");
    assert_string_equal(UNDRAIN("bob", "lx[01-03]", NULL), "nothing");
    assert_string_equal(
        UNDRAIN("root", "lx[01-02]", NULL),
        "claim/1.1 = {\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"x\",\"since\":\"1000\","
        "\"nodes\":\"lx03\",\"drained\":\"\"}\nlx[01-02]: released from claim 1.1\n");
    assert_string_equal(UNDRAIN("root", "lx[01-02]", NULL), "nothing");
    assert_string_equal(world_claims(w, "lx01"), "1.2 drain by ann: y");
    assert_string_equal(UNDRAIN("root", "lx03", NULL), "claim/1.1 = gone\nlx03: released from claim 1.1\n");
    assert_null(cluster_claim(w->c, "1.1"));
}

static void test_a_named_claim(void **state)
{
    struct world *w = *state;
    DRAIN("root", "lx[01-02]", "x", "1.1");
    DRAIN("root", "lx01", "y", "1.2");
    DOWN("root", "lx01", "z", "1.3");
    world_do(w, COMMAND_SILENT, "fettled", "lx02", "s", "1.4");
    assert_string_equal(UNDRAIN("ann", "lx01", "9.9"), "no claim \"9.9\"");
    assert_int_equal(world_rc(), -ENOENT);
    assert_string_equal(UNDRAIN("ann", "lx01", "1.3"), "claim 1.3 is a down claim");
    assert_int_equal(world_rc(), -EINVAL);
    assert_string_equal(UP("ann", "lx01", "1.1"), "claim 1.1 is a drain claim");
    assert_string_equal(UNDRAIN("ann", "lx02", "1.4"),
                        "claim 1.4 is for a node that fell silent; it goes when the node is heard");
    assert_int_equal(world_rc(), -EACCES);
    UNDRAIN("ann", "lx01", "1.1"); /* somebody else's, but named */
    assert_string_equal(world_claims(w, "lx01"), "1.2 drain by root: y; 1.3 down by root: z");
    assert_string_equal(world_claims(w, "lx02"), "1.1 drain by root: x; 1.4 silent by fettled: s");
    assert_string_equal(UNDRAIN("ann", "lx03", "1.1"), "nothing");
}

static void test_down_and_up(void **state)
{
    struct world *w = *state;
    DOWN("root", "lx[01-02]", "fire", "1.1");
    DOWN("ann", "lx01", "smoke", "1.2");
    assert_string_equal(world_state(w, "lx01"), "down");
    UP("root", "lx[01-02]", NULL);
    assert_string_equal(world_state(w, "lx01"), "down");
    assert_string_equal(world_state(w, "lx02"), "available");
    assert_string_equal(UP("root", "lx02", NULL), "nothing");
    DRAIN("root", "lx02", "x", "1.3");
    assert_string_equal(UP("root", "lx02", NULL), "nothing");
    assert_string_equal(world_state(w, "lx02"), "draining");
}

static void test_a_silent_node_is_up_when_it_is_heard(void **state)
{
    struct world *w = *state;
    world_do(w, COMMAND_SILENT, "fettled", "lx[01-02]", "silent past its grace", "1.1");
    assert_string_equal(UP("root", "lx01", NULL),
                        "node \"lx01\" is down because it is silent; it is up when it is heard");
    assert_int_equal(world_rc(), -EBUSY);
    assert_string_equal(world_do(w, COMMAND_SILENT, "fettled", "lx[01-02]", "again", "1.2"), "nothing");
    TOLD(COMMAND_HEARD, "lx01");
    assert_string_equal(world_claims(w, "lx01"), "");
    assert_string_equal(world_state(w, "lx02"), "down");
    assert_string_equal(TOLD(COMMAND_HEARD, "lx01"), "nothing");
    DOWN("root", "lx02", "fire", "1.3");
    UP("root", "lx02", NULL); /* what a person set may be taken back, silent or not */
    assert_string_equal(world_claims(w, "lx02"), "1.1 silent by fettled: silent past its grace");
}

static void test_silence_holds_only_nodes_in_service(void **state)
{
    struct world *w = *state;
    world_configure(w, "lx[01-07] CPUs=2", NULL);
    cluster_meet(w->c, "stray");
    assert_string_equal(world_do(w, COMMAND_SILENT, "fettled", "lx07 stray nobody", "s", "1.1"), "nothing");
}

static void test_work_ends_under_a_claim(void **state)
{
    struct world *w = *state;
    DRAIN("root", "lx[01-02]", "x", "1.1");
    assert_string_equal(
        TOLD(COMMAND_DRAINED, "lx[01,03]"),
        "claim/1.1 = {\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"x\",\"since\":\"1000\","
        "\"nodes\":\"lx[01-02]\",\"drained\":\"lx01\"}\nlx01: under claim 1.1\n");
    assert_string_equal(TOLD(COMMAND_DRAINED, "lx01"), "nothing");
    assert_string_equal(world_state(w, "lx01"), "drained");
    assert_string_equal(world_state(w, "lx02"), "draining");
    DRAIN("ann", "lx[01-02]", "y", "1.2"); /* lx01 is drained already */
    assert_string_equal(world_claims(w, "lx01"),
                        "1.1 drain by root: x (drained); 1.2 drain by ann: y (drained)");
    assert_string_equal(world_claims(w, "lx02"), "1.1 drain by root: x; 1.2 drain by ann: y");
    TOLD(COMMAND_DRAINING, "lx01");
    assert_string_equal(world_state(w, "lx01"), "draining");
    assert_string_equal(world_claims(w, "lx01"), "1.1 drain by root: x; 1.2 drain by ann: y");
}

static void test_ten_thousand_nodes_are_one_record(void **state)
{
    struct world *w = *state;
    world_configure(w, "n[00001-10000] CPUs=2", NULL);
    assert_string_equal(
        DRAIN("root", "n[00001-10000]", "power", "1.1"),
        "claim/1.1 = {\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"power\",\"since\":\"1000\","
        "\"nodes\":\"n[00001-10000]\",\"drained\":\"\"}\nn[00001-10000]: power (claim 1.1)\n");
    assert_int_equal(world_parts(), 1);
    UNDRAIN("root", "n[00001-10000]", NULL);
    assert_int_equal(world_parts(), 1);
    assert_string_equal(world_claims(w, "n05000"), "");
}

static void test_three_hundred_claims_go_in_parts(void **state)
{
    struct world *w = *state;
    world_configure(w, "n[001-300] CPUs=2", NULL);
    for (int i = 1; i <= 300; i++) {
        char node[16], id[16];
        snprintf(node, sizeof node, "n%03d", i);
        snprintf(id, sizeof id, "1.%d", i);
        DRAIN("root", node, "x", id);
    }
    DRAIN("ann", "n[001-300]", "not mine", "2.1");
    DRAIN("root", "n[001,300]", "spans parts", "2.2");
    UNDRAIN("root", "n[001-300]", NULL);
    assert_int_equal(world_rc(), 0);
    assert_true(world_parts() >= 4);
    for (int i = 1; i <= 300; i++) {
        char node[16];
        snprintf(node, sizeof node, "n%03d", i);
        assert_string_equal(world_claims(w, node), "2.1 drain by ann: not mine");
    }
    assert_null(cluster_claim(w->c, "2.2"));
}

static void test_three_hundred_are_admitted_in_parts(void **state)
{
    struct world *w = *state;
    world_configure(w, "n[001-300]", NULL);
    TOLD(COMMAND_ADMIT, "n[001-300]");
    assert_int_equal(world_parts(), 3);
    assert_string_equal(world_state(w, "n001"), "available");
    assert_string_equal(world_state(w, "n300"), "available");
    assert_string_equal(TOLD(COMMAND_ADMIT, "n[001-300]"), "nothing");
}

static void test_edits_lie_over_the_file(void **state)
{
    struct world *w = *state;
    assert_string_equal(
        SET("root", "lx01", "{\"cpus\":\"4\"}"),
        "edit/lx01 = {\"set\":{\"CPUs\":\"4\"},\"by\":\"root\",\"at\":\"1000\"}\nlx01: CPUs=4\n");
    assert_string_equal(SET("ann", "lx01", "{\"CPUs\":\"4\"}"), "nothing");
    assert_string_equal(
        SET("ann", "lx01", "{\"Speed\":\"1.5\",\"Partition\":\"1,3\"}"),
        "edit/lx01 = {\"set\":{\"CPUs\":\"4\",\"Speed\":\"1.5\",\"Partition\":\"1,3\"},\"by\":\"ann\","
        "\"at\":\"1000\"}\nlx01: Speed=1.5 Partition=1,3\n");
    assert_string_equal(world_field(w, "lx01", FIELD_CPUS), "4");
    world_configure(w, "lx[01-06] CPUs=8 RealMemory=64", NULL);
    assert_string_equal(world_field(w, "lx01", FIELD_CPUS), "4");
    assert_string_equal(world_field(w, "lx01", FIELD_REAL_MEMORY), "64");
    assert_string_equal(
        SET("root", "lx01", "{\"CPUs\":null,\"Partition\":null}"),
        "edit/lx01 = {\"set\":{\"Speed\":\"1.5\"},\"by\":\"root\",\"at\":\"1000\"}\nlx01: CPUs= "
        "Partition=\n");
    assert_string_equal(world_field(w, "lx01", FIELD_CPUS), "8");
    assert_string_equal(SET("root", "lx01", "{\"Speed\":null}"), "edit/lx01 = gone\nlx01: Speed=\n");
    assert_string_equal(world_field(w, "lx01", FIELD_SPEED), "");
    assert_string_equal(SET("root", "lx01", "{\"Speed\":null}"), "nothing");
}

static void test_set_refuses(void **state)
{
    struct world *w = *state;
    assert_string_equal(SET("root", "lx01", "{}"), "nothing to set");
    assert_string_equal(SET("root", "lx09", "{\"CPUs\":\"4\"}"), "no node \"lx09\"");
    assert_string_equal(SET("root", "lx01", "{\"CPUs\":\"many\"}"),
                        "CPUs: \"many\" is not a number from 0 to 1000000000000");
    assert_string_equal(SET("root", "lx01", "{\"Partition\":\"32\"}"),
                        "Partition: \"32\" is not a number from 0 to 31");
    SET("root", "lx01", "{\"Liveness\":\"live\"}");
    assert_int_equal(world_rc(), -EINVAL);
    assert_null(cluster_find(w->c, "lx01")->edit);
}

/* A repair is not ended by what ends a drain. */
static void test_a_repair_claim_is_not_released(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    assert_non_null(strstr(world_do(w, COMMAND_UNDRAIN, "root", "lx01", NULL, "1.5"), "human_intervention"));
    assert_int_equal(world_rc(), -EACCES);
    assert_non_null(strstr(world_do(w, COMMAND_UP, "root", "lx01", NULL, "1.5"), "`fettle repair`"));
    assert_string_equal(world_do(w, COMMAND_UNDRAIN, "fettled", "lx01", NULL, NULL), "nothing");
    lx01_move(w, MOVE("isolate", "provision", ""));
    assert_non_null(strstr(world_do(w, COMMAND_UP, "root", "lx01", NULL, NULL), "is provisioning"));
    assert_int_equal(world_rc(), -EBUSY);
}

/* A person drains, and takes the drain back, in the middle: nothing changes for the repair. */
static void test_a_drain_beside_a_repair(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    world_do(w, COMMAND_DRAINED, "fettled", "lx01", NULL, NULL);
    world_do(w, COMMAND_DRAIN, "ann", "lx01", "mine", "1.6");
    assert_string_equal(world_state(w, "lx01"), "drained");
    CLEANUP_FREE char *before = mem_dup(world_record(w, "repair/lx01"));
    world_do(w, COMMAND_UNDRAIN, "ann", "lx01", NULL, NULL);
    assert_string_equal(world_record(w, "repair/lx01"), before);
    assert_string_equal(world_claims(w, "lx01"), "1.5 repair by fettled: [node_problem] xid.79 (drained)");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_drain_is_one_claim),
        TEST(test_a_repeated_drain_changes_nothing),
        TEST(test_a_standing_claim_is_named),
        TEST(test_drain_refuses),
        TEST(test_a_node_has_so_many_claims),
        TEST(test_undrain_takes_only_one_s_own_claims),
        TEST(test_a_named_claim),
        TEST(test_down_and_up),
        TEST(test_a_silent_node_is_up_when_it_is_heard),
        TEST(test_silence_holds_only_nodes_in_service),
        TEST(test_work_ends_under_a_claim),
        TEST(test_ten_thousand_nodes_are_one_record),
        TEST(test_three_hundred_claims_go_in_parts),
        TEST(test_three_hundred_are_admitted_in_parts),
        TEST(test_edits_lie_over_the_file),
        TEST(test_set_refuses),
        TEST(test_a_repair_claim_is_not_released),
        TEST(test_a_drain_beside_a_repair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
