/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *state_of(const struct world *w, const char *node)
{
    struct agreed a = member_agreed(cluster_find(w->c, node));
    return lifecycle_name(lifecycle_of(&a));
}

#define DRAIN(actor, nodes, reason, id) world_do(w, COMMAND_DRAIN, actor, nodes, reason, id)
#define DOWN(actor, nodes, reason, id) world_do(w, COMMAND_DOWN, actor, nodes, reason, id)
#define UNDRAIN(actor, nodes, id) world_do(w, COMMAND_UNDRAIN, actor, nodes, NULL, id)
#define UP(actor, nodes, id) world_do(w, COMMAND_UP, actor, nodes, NULL, id)
#define SET(actor, nodes, set) world_do(w, COMMAND_SET, actor, nodes, set, NULL)
#define TOLD(kind, nodes) world_do(w, kind, "fettled", nodes, NULL, NULL)

/* --- claims ---------------------------------------------------------------------------------- */

static void test_drain_is_one_claim(void **state)
{
    struct world *w = *state;
    assert_string_equal(DRAIN("root", "lx[01-03]", "bad \"DIMM\"", "1.1"),
                        "claim/1.1 = {\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"bad \\\"DIMM\\\"\","
                        "\"since\":\"1000\",\"nodes\":\"lx[01-03]\",\"drained\":\"\"}\n"
                        "lx[01-03]: bad \"DIMM\" (claim 1.1)\n");
    assert_string_equal(world_claims(w, "lx02"), "1.1 drain by root: bad \"DIMM\"");
    assert_string_equal(world_claims(w, "lx04"), "");
    assert_string_equal(state_of(w, "lx02"), "draining");
    assert_string_equal(state_of(w, "lx04"), "available");
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

static void test_what_drain_refuses(void **state)
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
    assert_string_equal(state_of(w, "lx01"), "down");
    UNDRAIN("root", "lx01", NULL);
    assert_string_equal(world_claims(w, "lx01"), "1.100 silent by fettled: silent past its grace");
}

static void test_undrain_takes_only_what_is_one_s_own(void **state)
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
    assert_string_equal(state_of(w, "lx01"), "down");
    UP("root", "lx[01-02]", NULL);
    assert_string_equal(state_of(w, "lx01"), "down");
    assert_string_equal(state_of(w, "lx02"), "available");
    assert_string_equal(UP("root", "lx02", NULL), "nothing");
    DRAIN("root", "lx02", "x", "1.3");
    assert_string_equal(UP("root", "lx02", NULL), "nothing");
    assert_string_equal(state_of(w, "lx02"), "draining");
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
    assert_string_equal(state_of(w, "lx02"), "down");
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
    assert_string_equal(state_of(w, "lx01"), "drained");
    assert_string_equal(state_of(w, "lx02"), "draining");
    DRAIN("ann", "lx[01-02]", "y", "1.2"); /* lx01 is drained already */
    assert_string_equal(world_claims(w, "lx01"),
                        "1.1 drain by root: x (drained); 1.2 drain by ann: y (drained)");
    assert_string_equal(world_claims(w, "lx02"), "1.1 drain by root: x; 1.2 drain by ann: y");
    TOLD(COMMAND_DRAINING, "lx01");
    assert_string_equal(state_of(w, "lx01"), "draining");
    assert_string_equal(world_claims(w, "lx01"), "1.1 drain by root: x; 1.2 drain by ann: y");
}

/* --- many ------------------------------------------------------------------------------------ */

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
    assert_string_equal(state_of(w, "n001"), "available");
    assert_string_equal(state_of(w, "n300"), "available");
    assert_string_equal(TOLD(COMMAND_ADMIT, "n[001-300]"), "nothing");
}

/* --- edits ----------------------------------------------------------------------------------- */

static const char *field_of(const struct world *w, const char *node, enum field f)
{
    static char shown[256];
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    spec_format(&cluster_find(w->c, node)->spec, f, &t);
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
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
    assert_string_equal(field_of(w, "lx01", FIELD_CPUS), "4");
    world_configure(w, "lx[01-06] CPUs=8 RealMemory=64", NULL);
    assert_string_equal(field_of(w, "lx01", FIELD_CPUS), "4");
    assert_string_equal(field_of(w, "lx01", FIELD_REAL_MEMORY), "64");
    assert_string_equal(
        SET("root", "lx01", "{\"CPUs\":null,\"Partition\":null}"),
        "edit/lx01 = {\"set\":{\"Speed\":\"1.5\"},\"by\":\"root\",\"at\":\"1000\"}\nlx01: CPUs= "
        "Partition=\n");
    assert_string_equal(field_of(w, "lx01", FIELD_CPUS), "8");
    assert_string_equal(SET("root", "lx01", "{\"Speed\":null}"), "edit/lx01 = gone\nlx01: Speed=\n");
    assert_string_equal(field_of(w, "lx01", FIELD_SPEED), "");
    assert_string_equal(SET("root", "lx01", "{\"Speed\":null}"), "nothing");
}

static void test_what_set_refuses(void **state)
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

static void test_an_edit_over_a_lower_limit_waits(void **state)
{
    struct world *w = *state;
    struct roster r = {.partition_max = 3, .n = 1, .nodes = mem_alloc(sizeof *r.nodes)};
    SET("root", "lx01", "{\"Partition\":\"20\"}");
    r.nodes[0].name = mem_dup("lx01");
    spec_init(&r.nodes[0].spec);
    cluster_configure(w->c, &r, NULL);
    assert_string_equal(field_of(w, "lx01", FIELD_PARTITION), "");
    world_configure(w, "lx01", NULL);
    assert_string_equal(field_of(w, "lx01", FIELD_PARTITION), "20");
}

/* --- the roster ------------------------------------------------------------------------------ */

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
    assert_string_equal(state_of(w, "lx01"), "unlisted");
    assert_string_equal(world_claims(w, "lx01"), "1.1 drain by root: x");
    UNDRAIN("root", "lx02", NULL);
    world_configure(w, "lx[01-06] CPUs=2", NULL);
    assert_ptr_equal(cluster_find(w->c, "lx01"), before);
    assert_string_equal(state_of(w, "lx01"), "draining");
    assert_string_equal(field_of(w, "lx01", FIELD_CPUS), "4");
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

/* --- records --------------------------------------------------------------------------------- */

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

static const char *unknown_words(const struct cluster *c, struct text *t)
{
    text_fini(t);
    cluster_unknown_say(c, t);
    return t->len ? t->s : "";
}

static void test_an_unknown_kind_of_record_is_kept(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    uint64_t before = cluster_digest(w->c);
    assert_string_equal(unknown_words(w->c, &t), "");
    assert_int_equal(cluster_put(w->c, "pony/lx01", "{\"mane\":1}", NULL), 0);
    uint64_t one = cluster_digest(w->c);
    assert_true(one != before);
    assert_string_equal(unknown_words(w->c, &t),
                        "1 record of a kind that this version does not know is kept as it stands: pony");
    assert_int_equal(cluster_put(w->c, "pony/lx02", "not even JSON", NULL), 0);
    assert_int_equal(cluster_put(w->c, "lease/a b", "{}", NULL), 0);
    assert_int_equal(cluster_unknown(w->c), 3);
    assert_string_equal(unknown_words(w->c, &t),
                        "3 records of kinds that this version does not know are kept as "
                        "they stand: pony, lease");
    assert_int_equal(cluster_put(w->c, "pony/lx01", "{\"mane\":2}", NULL), 0);
    assert_true(cluster_digest(w->c) != one);
    assert_int_equal(cluster_put(w->c, "pony/lx01", "{\"mane\":1}", NULL), 0);
    assert_int_equal(cluster_put(w->c, "pony/lx02", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "lease/a b", NULL, NULL), 0);
    assert_true(cluster_digest(w->c) == one);
    assert_int_equal(cluster_put(w->c, "pony/lx01", NULL, NULL), 0);
    assert_true(cluster_digest(w->c) == before);
}

static void test_unknown_records_have_a_limit(void **state)
{
    struct world *w = *state;
    CLEANUP_FREE char *half = mem_alloc(UNKNOWN_BYTES_MAX / 2);
    memset(half, 'x', UNKNOWN_BYTES_MAX / 2 - 1);
    struct err e = {0};
    assert_int_equal(cluster_put(w->c, "pony/1", half, NULL), 0);
    uint64_t before = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "pony/2", half, &e), -EILSEQ);
    assert_string_equal(e.msg,
                        "record pony/2: more than 67108864 bytes of records of kinds that this version "
                        "does not know");
    assert_true(cluster_digest(w->c) == before);
    assert_int_equal(cluster_put(w->c, "pony/1", half, NULL), 0);
    assert_int_equal(cluster_put(w->c, "pony/1", "{}", NULL), 0);
    for (int i = 2; i <= UNKNOWN_RECORDS_MAX; i++) {
        char key[32];
        snprintf(key, sizeof key, "pony/%d", i);
        assert_int_equal(cluster_put(w->c, key, "{}", NULL), 0);
    }
    assert_int_equal(cluster_put(w->c, "pony/0", "{}", &e), -EILSEQ);
    assert_string_equal(e.msg,
                        "record pony/0: more than 200000 records of kinds that this version does not know");
    assert_int_equal(cluster_put(w->c, "pony/1", "{\"a\":1}", NULL), 0);
}

static void test_removing_what_is_not_there(void **state)
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
        TEST(test_drain_is_one_claim),
        TEST(test_a_repeated_drain_changes_nothing),
        TEST(test_a_standing_claim_is_named),
        TEST(test_what_drain_refuses),
        TEST(test_a_node_has_so_many_claims),
        TEST(test_undrain_takes_only_what_is_one_s_own),
        TEST(test_a_named_claim),
        TEST(test_down_and_up),
        TEST(test_a_silent_node_is_up_when_it_is_heard),
        TEST(test_silence_holds_only_nodes_in_service),
        TEST(test_work_ends_under_a_claim),
        TEST(test_ten_thousand_nodes_are_one_record),
        TEST(test_three_hundred_claims_go_in_parts),
        TEST(test_three_hundred_are_admitted_in_parts),
        TEST(test_edits_lie_over_the_file),
        TEST(test_what_set_refuses),
        TEST(test_an_edit_over_a_lower_limit_waits),
        TEST(test_a_reload_says_what_changed),
        TEST(test_claims_survive_removal_and_return),
        TEST(test_a_claim_can_be_released_from_an_unlisted_node),
        TEST(test_names_in_any_order_are_found),
        TEST(test_a_claim_is_rewritten_in_place),
        TEST(test_same_records_same_state),
        TEST(test_a_difference_is_another_digest),
        TEST(test_damaged_records_are_refused_with_words),
        TEST(test_an_unknown_kind_of_record_is_kept),
        TEST(test_unknown_records_have_a_limit),
        TEST(test_removing_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
