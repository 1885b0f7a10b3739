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

#define ACCEPT(node) world_ask(w, COMMAND_BASELINE_ACCEPT, "root", node, NULL, NULL)
#define REVERT(set) world_ask(w, COMMAND_BASELINE_REVERT, "root", "", set, NULL)
#define START(nodes, set) world_ask(w, COMMAND_ROLLOUT_START, "root", nodes, set, NULL)

/* --- baselines ------------------------------------------------------------------------------- */

static void test_a_baseline_is_accepted_from_a_node(void **state)
{
    struct world *w = *state;
    world_seen(w, "lx[01-02]", "A");
    assert_string_equal(
        world_ask(w, COMMAND_BASELINE_ACCEPT, "root", "lx01", NULL, "new image"),
        "list/A = {\"components\":{\"kernel.release\":\"6.1\",\"nic.count\":\"2\"}}\n"
        "baseline/gpu = {\"version\":1,\"fingerprint\":\"A\",\"node\":\"lx01\",\"by\":\"root\",\"at\":"
        "\"1000\",\"note\":\"new image\",\"history\":[],\"rollout\":null}\n"
        "lx01: baseline gpu 1: list_A of lx01 (new image)\n");
    assert_string_equal(ACCEPT("lx02"), "nothing");
    const struct baseline *b = cluster_baseline(w->c, "gpu");
    assert_int_equal(b->version, 1);
    assert_true(b->listing->known);
    assert_null(cluster_baseline(w->c, "default"));
    world_seen(w, "lx02", "B");
    w->at = 2000;
    assert_string_equal(
        ACCEPT("lx02"),
        "list/B = {\"components\":{\"kernel.release\":\"6.2\",\"nic.count\":\"2\"}}\n"
        "baseline/gpu = {\"version\":2,\"fingerprint\":\"B\",\"node\":\"lx02\",\"by\":\"root\",\"at\":"
        "\"2000\",\"note\":\"\",\"history\":[{\"version\":1,\"fingerprint\":\"A\",\"node\":\"lx01\",\"by\":"
        "\"root\",\"at\":\"1000\",\"note\":\"new image\"}],\"rollout\":null}\n"
        "lx02: baseline gpu 2: list_B of lx02: kernel.release\n");
}

static void test_accept_refuses(void **state)
{
    struct world *w = *state;
    assert_string_equal(ACCEPT("lx01"), "node \"lx01\" has not sent its fingerprint yet");
    assert_int_equal(world_rc(), -EBUSY);
    world_seen(w, "lx01", "U");
    assert_string_equal(ACCEPT("lx01"),
                        "node \"lx01\" shows nothing: its component bmc.firmware is unknown (no such file)");
    assert_int_equal(world_rc(), -EBUSY);
    world_tell(w, COMMAND_SEEN, "lx02",
               "{\"fingerprint\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\","
               "\"named\":\"\",\"count\":0}",
               NULL);
    assert_string_equal(ACCEPT("lx02"),
                        "the components of node \"lx02\" (list_001122334455) are not known yet");
    assert_string_equal(ACCEPT("lx09"), "no node \"lx09\"");
    assert_string_equal(ACCEPT("lx[01-02]"), "name one node that shows the new state, not 2");
    cluster_meet(w->c, "stray");
    assert_string_equal(ACCEPT("stray"), "node \"stray\" is in no configuration file");
    assert_string_equal(world_ask(w, COMMAND_BASELINE_ACCEPT, "root", "lx01", NULL, "a\nb"),
                        "the reason: a control character at byte 1");
    assert_null(cluster_baseline(w->c, "gpu"));
}

static void test_unknown_that_does_not_count_is_no_hindrance(void **state)
{
    struct world *w = *state;
    world_configure(w, "lx01; class gpu Nodes=lx01 Ignore=bmc.*", NULL);
    world_seen(w, "lx01", "U");
    ACCEPT("lx01");
    assert_int_equal(world_rc(), 0);
    assert_int_equal(cluster_baseline(w->c, "gpu")->version, 1);
}

static void test_going_back_is_a_new_version(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    world_seen(w, "lx02", "B");
    ACCEPT("lx02");
    w->at = 3000;
    assert_string_equal(
        REVERT("{\"class\":\"gpu\",\"version\":1}"),
        "baseline/gpu = {\"version\":3,\"fingerprint\":\"A\",\"node\":\"lx01\",\"by\":\"root\",\"at\":"
        "\"3000\",\"note\":\"\",\"history\":[{\"version\":2,\"fingerprint\":\"B\",\"node\":\"lx02\",\"by\":"
        "\"root\",\"at\":\"1000\",\"note\":\"\"},{\"version\":1,\"fingerprint\":\"A\",\"node\":\"lx01\","
        "\"by\":\"root\",\"at\":\"1000\",\"note\":\"\"}],\"rollout\":null}\n"
        ": baseline gpu 3, version 1 again: list_A of lx01: kernel.release\n");
    assert_string_equal(REVERT("{\"class\":\"gpu\",\"version\":1}"), "nothing");
    assert_string_equal(REVERT("{\"class\":\"gpu\",\"version\":3}"), "nothing");
    assert_string_equal(REVERT("{\"class\":\"gpu\",\"version\":7}"),
                        "class gpu has no version 7; it has 1 to 3");
    assert_int_equal(world_rc(), -ENOENT);
    assert_string_equal(REVERT("{\"class\":\"gpus\",\"version\":1}"),
                        "no class \"gpus\"; the nearest is \"gpu\"");
}

static size_t count_keys(const struct world *w, const char *prefix)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += strncmp(w->records[i].key, prefix, strlen(prefix)) == 0;
    return n;
}

static void test_lists_go_with_the_last_version_that_names_them(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 40; i++) {
        char name[8], components[32];
        snprintf(name, sizeof name, "L%d", i);
        snprintf(components, sizeof components, "kernel.release=5.%d", i);
        world_list(w, name, components);
        world_seen(w, "lx01", name);
        ACCEPT("lx01");
        assert_int_equal(world_rc(), 0);
        if (i == 3) {
            world_seen(w, "lx06", name); /* another class has it, too */
            ACCEPT("lx06");
        }
    }
    assert_int_equal(cluster_baseline(w->c, "gpu")->version, 40);
    assert_int_equal(count_keys(w, "list/"), 33 + 1); /* the present one, 32 before it, and the other's */
    assert_string_equal(REVERT("{\"class\":\"gpu\",\"version\":7}"),
                        "class gpu has no version 7; it has 8 to 40");
    REVERT("{\"class\":\"gpu\",\"version\":8}"); /* is the new one, and falls out of the history */
    assert_int_equal(world_rc(), 0);
    assert_int_equal(count_keys(w, "list/"), 33 + 1);
    struct cluster *again = world_reload(w, CONFORM_ROSTER, 0, true);
    assert_true(cluster_digest(again) == cluster_digest(w->c));
    assert_true(cluster_baseline(again, "gpu")->listing->known);
    cluster_destroy(again);
}

/* --- rollouts -------------------------------------------------------------------------------- */

static void test_a_rollout_has_two_good_states(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    world_seen(w, "lx02", "B");
    assert_string_equal(
        START("lx[02-04]", "{\"class\":\"gpu\",\"node\":\"lx02\",\"deadline\":\"9000\"}"),
        "list/B = {\"components\":{\"kernel.release\":\"6.2\",\"nic.count\":\"2\"}}\n"
        "baseline/gpu = {\"version\":1,\"fingerprint\":\"A\",\"node\":\"lx01\",\"by\":\"root\",\"at\":"
        "\"1000\",\"note\":\"\",\"history\":[],\"rollout\":{\"fingerprint\":\"B\",\"node\":\"lx02\","
        "\"nodes\":\"lx[02-04]\",\"by\":\"root\",\"at\":\"1000\",\"deadline\":\"9000\",\"note\":\"\"}}\n"
        "lx[02-04]: rollout of gpu to list_B of lx02: kernel.release\n");
    const struct rollout *r = cluster_baseline(w->c, "gpu")->rollout;
    assert_true(rollout_has(r, "lx02"));
    assert_true(rollout_has(r, "lx04"));
    assert_false(rollout_has(r, "lx01"));
    assert_int_equal(r->deadline.ns, 9000);
    assert_true(r->to->known);
    assert_string_equal(ACCEPT("lx02"),
                        "a rollout of class gpu is under way, by root; accept or revert it first");
    assert_int_equal(world_rc(), -EBUSY);
    assert_string_equal(REVERT("{\"class\":\"gpu\",\"version\":1}"),
                        "a rollout of class gpu is under way, by root; accept or revert it first");
    assert_string_equal(START("lx04", "{\"class\":\"gpu\",\"node\":\"lx02\",\"deadline\":\"9000\"}"),
                        "a rollout of class gpu is under way, by root; accept or revert it first");
}

static void test_a_rollout_ends(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    world_seen(w, "lx02", "B");
    assert_string_equal(world_ask(w, COMMAND_ROLLOUT_REVERT, "ann", "", "{\"class\":\"gpu\"}", NULL),
                        "no rollout of class gpu is under way");
    assert_int_equal(world_rc(), -ENOENT);
    START("lx[02-04]", "{\"class\":\"gpu\",\"node\":\"lx02\",\"deadline\":\"9000\"}");
    CLEANUP_FREE char *reverted =
        mem_dup(world_ask(w, COMMAND_ROLLOUT_REVERT, "ann", "", "{\"class\":\"gpu\"}", "too early"));
    assert_non_null(strstr(reverted, "list/B = gone\n"));
    assert_non_null(strstr(
        reverted, "lx[02-04]: rollout of gpu to list_B reverted; baseline gpu 1 stands (too early)\n"));
    assert_null(cluster_baseline(w->c, "gpu")->rollout);
    START("lx[02-04]", "{\"class\":\"gpu\",\"node\":\"lx02\",\"deadline\":\"9000\"}");
    CLEANUP_FREE char *accepted =
        mem_dup(world_ask(w, COMMAND_ROLLOUT_ACCEPT, "ann", "", "{\"class\":\"gpu\"}", NULL));
    assert_non_null(
        strstr(accepted, "lx[02-04]: baseline gpu 2, rolled out: list_B of lx02: kernel.release\n"));
    assert_null(strstr(accepted, "gone"));
    assert_int_equal(cluster_baseline(w->c, "gpu")->version, 2);
    /* Back, as a rollout to a version. */
    START("lx[01-04]", "{\"class\":\"gpu\",\"version\":1,\"deadline\":\"9000\"}");
    assert_string_equal(cluster_baseline(w->c, "gpu")->rollout->node, "lx01");
    assert_null(strstr(world_ask(w, COMMAND_ROLLOUT_REVERT, "ann", "", "{\"class\":\"gpu\"}", NULL), "gone"));
}

static void test_start_refuses(void **state)
{
    struct world *w = *state;
    assert_string_equal(START("lx02", "{\"class\":\"gpu\",\"node\":\"lx02\",\"deadline\":\"9000\"}"),
                        "class gpu has no baseline; accept one first");
    assert_int_equal(world_rc(), -ENOENT);
    world_baselines(w);
    world_seen(w, "lx02", "B");
    assert_string_equal(START("lx02", "{\"class\":\"gpu\",\"node\":\"lx02\",\"deadline\":\"1000\"}"),
                        "the deadline of a rollout lies in the future");
    assert_string_equal(START("", "{\"class\":\"gpu\",\"node\":\"lx02\",\"deadline\":\"9000\"}"),
                        "a rollout needs nodes");
    assert_string_equal(START("lx[02,06]", "{\"class\":\"gpu\",\"node\":\"lx02\",\"deadline\":\"9000\"}"),
                        "node \"lx06\" is of class default, not gpu");
    assert_string_equal(START("lx02", "{\"class\":\"gpu\",\"node\":\"lx06\",\"deadline\":\"9000\"}"),
                        "node \"lx06\" is of class default, not gpu");
    assert_string_equal(START("lx02", "{\"class\":\"gpu\",\"node\":\"lx04\",\"deadline\":\"9000\"}"),
                        "node \"lx04\" has not sent its fingerprint yet");
    assert_string_equal(START("lx02", "{\"class\":\"gpu\",\"node\":\"lx01\",\"deadline\":\"9000\"}"),
                        "the rollout leads to the state that the baseline has already");
    assert_string_equal(START("lx02", "{\"class\":\"gpu\",\"version\":2,\"deadline\":\"9000\"}"),
                        "class gpu has no version 2; it has 1 to 1");
    assert_null(cluster_baseline(w->c, "gpu")->rollout);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_conform_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_baseline_is_accepted_from_a_node),
        TEST(test_accept_refuses),
        TEST(test_unknown_that_does_not_count_is_no_hindrance),
        TEST(test_going_back_is_a_new_version),
        TEST(test_lists_go_with_the_last_version_that_names_them),
        TEST(test_a_rollout_has_two_good_states),
        TEST(test_a_rollout_ends),
        TEST(test_start_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
