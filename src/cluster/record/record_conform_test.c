/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DRIFT(nodes, f, id) world_found(w, COMMAND_DRIFT, nodes, f, id)
/* After more than an hour: the drift leaves no record of itself (record/record_flap_test.c). */
#define RESTORED(nodes) \
    (w->at += 3601 * INT64_C(1000000000), world_tell(w, COMMAND_RESTORED, nodes, NULL, NULL))
#define OVERDUE(nodes, id) world_tell(w, COMMAND_OVERDUE, nodes, NULL, id)
#define REBOOT(nodes, boots) world_tell(w, COMMAND_REBOOT, nodes, "{\"boots\":[" boots "]}", NULL)
#define APPROVE(nodes) world_ask(w, COMMAND_APPROVE, "ann", nodes, NULL, NULL)
#define ACCEPT(node) world_ask(w, COMMAND_BASELINE_ACCEPT, "root", node, NULL, NULL)
#define START(nodes, set) world_ask(w, COMMAND_ROLLOUT_START, "root", nodes, set, NULL)

static void everything(struct world *w)
{
    world_ochami(w);
    world_seen(w, "lx02", "B");
    world_seen(w, "x1000c0s0b0n0", "A");
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    DRIFT("lx02", &FOUND_DEFAULT, "1.2");
    world_tell(w, COMMAND_DRAINED, "lx01", NULL, NULL);
    REBOOT("lx01", "\"b1\"");
    OVERDUE("lx02", "1.3");
    world_seen(w, "lx01", "C");
    ACCEPT("lx01");
    START("lx01", "{\"class\":\"gpu\",\"version\":1,\"deadline\":\"9000\"}");
    assert_int_equal(world_rc(), 0);
}

static void test_same_records_same_digest(void **state)
{
    struct world *w = *state;
    everything(w);
    for (size_t rotation = 0; rotation < w->n; rotation++) {
        for (int backwards = 0; backwards < 2; backwards++) {
            struct cluster *again = world_reload(w, OCHAMI_ROSTER, rotation, backwards);
            assert_true(cluster_digest(again) == cluster_digest(w->c));
            assert_true(cluster_baseline(again, "gpu")->listing->known);
            assert_int_equal(cluster_find(again, "lx01")->past->drift->severity, SEVERITY_MAJOR);
            cluster_destroy(again);
        }
    }
}

static void test_each_record_is_in_the_digest(void **state)
{
    struct world *w = *state;
    everything(w);
    uint64_t all = cluster_digest(w->c);
    for (size_t i = 0; i < w->n; i++) {
        struct cluster *again = world_reload(w, OCHAMI_ROSTER, 0, false);
        assert_int_equal(cluster_put(again, w->records[i].key, NULL, NULL), 0);
        if (cluster_digest(again) == all)
            fail_msg("%s is not in the digest", w->records[i].key);
        assert_int_equal(cluster_put(again, w->records[i].key, w->records[i].value, NULL), 0);
        assert_true(cluster_digest(again) == all);
        cluster_destroy(again);
    }
}

/* But that it was rebooted: so often and no more. */
static void test_nothing_is_left_when_all_is_over(void **state)
{
    struct world *w = *state;
    uint64_t before;
    world_ochami(w);
    before = cluster_digest(w->c);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    world_tell(w, COMMAND_DRAINED, "lx01", NULL, NULL);
    REBOOT("lx01", "\"b1\"");
    OVERDUE("lx01", "1.2");
    assert_true(cluster_digest(w->c) != before);
    RESTORED("lx01");
    APPROVE("lx01");
    assert_int_equal(cluster_put(w->c, "effect/reboot.lx01", NULL, NULL), 0);
    assert_true(cluster_digest(w->c) == before);
}

#define FP "\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\""
#define VERSION \
    "\"version\":1,\"fingerprint\":" FP ",\"node\":\"lx01\",\"by\":\"\",\"at\":\"1\",\"note\":\"\""

static void test_damaged_records_are_refused_with_words(void **state)
{
    static const struct {
        const char *key, *value, *why;
    } damaged[] = {
        {"seen/lx01", "[]", "no object"},
        {"seen/a b", "{}", "\"a b\" is not the name of a node"},
        {"seen/lx01", "{\"fingerprint\":\"AB\"}", "fingerprint: \"AB\" is no fingerprint"},
        {"seen/lx01", "{\"fingerprint\":" FP ",\"since\":\"1\"}", "\"history\" is no array"},
        {"seen/lx01", "{\"fingerprint\":" FP ",\"since\":\"1\",\"history\":[7]}",
         "history 1: an entry of the history is no object"},
        {"seen/lx01", "{\"fingerprint\":" FP ",\"since\":\"1\",\"history\":[],\"hystory\":1}",
         "unknown key \"hystory\"; the nearest known is \"history\""},
        {"drift/lx01",
         "{\"class\":\"\",\"version\":1,\"expected\":" FP ",\"actual\":" FP
         ",\"severity\":\"minor\",\"named\":\"\",\"count\":0}",
         "the name of a class has 1 to 63 bytes"},
        {"drift/lx01",
         "{\"class\":\"gpu\",\"version\":0,\"expected\":" FP ",\"actual\":" FP
         ",\"severity\":\"minor\",\"named\":\"\",\"count\":0}",
         "version 0; they count from 1"},
        {"drift/lx01",
         "{\"class\":\"gpu\",\"version\":1,\"expected\":" FP ",\"actual\":" FP
         ",\"severity\":\"dire\",\"named\":\"\",\"count\":0}",
         "\"dire\" is no severity of drift"},
        {"drift/lx01",
         "{\"class\":\"gpu\",\"version\":1,\"expected\":" FP ",\"actual\":" FP
         ",\"severity\":\"minor\",\"named\":\"\",\"count\":0,\"since\":\"1\",\"boot\":\"b\",\"state\":"
         "\"odd\"}",
         "\"odd\" is no state of drift that this version knows"},
        {"drift/lx01",
         "{\"class\":\"gpu\",\"version\":1,\"expected\":" FP ",\"actual\":" FP
         ",\"severity\":\"minor\",\"named\":\"a\\u0001\",\"count\":0}",
         "named: a byte 0x01 in a name"},
        {"list/7", "{}", "\"7\" is no fingerprint"},
        {"list/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
         "{\"components\":{\"kernel.release\":\"6.1\"}}",
         "the components have the fingerprint "
         "453d4e75198fe3bc4ae507bedb968d4f215b72942a144ab6feba221bf228de1a"},
        {"baseline/gpu", "{" VERSION ",\"history\":[{" VERSION "}],\"rollout\":null}",
         "history 1: version 1 is not older than the one before it"},
        {"baseline/gpu", "{" VERSION ",\"history\":[]}", "\"rollout\" is neither null nor an object"},
        {"baseline/", "{" VERSION ",\"history\":[],\"rollout\":null}",
         "the name of a class has 1 to 63 bytes"},
        {"baseline/gpu",
         "{" VERSION ",\"history\":[],\"rollout\":{\"fingerprint\":" FP
         ",\"node\":\"lx01\",\"nodes\":\"\",\"by\":\"\",\"at\":\"1\",\"deadline\":\"2\",\"note\":\"\"}}",
         "rollout: a rollout on no node"},
        {"effect/pony.lx01", "{}", "\"pony.lx01\" is no kind of effect that this version knows"},
        {"effect/ochami.a b", "{}", "\"a b\" is not the name of a node"},
        {"effect/ochami.lx01", "{\"id\":\"1\",\"xname\":\"x\",\"want\":{\"flag\":1},\"done\":null}",
         "want: \"flag\" is not a string"},
        {"effect/ochami.lx01", "{\"id\":\"1\",\"xname\":\"x\",\"want\":null}",
         "\"done\" is neither null nor an object"},
        {"effect/reboot.lx01", "{\"id\":\"1\",\"xname\":\"x\",\"boot\":\"\",\"image\":null,\"done\":null}",
         "\"\" is no boot id"},
        {"effect/reboot.lx01",
         "{\"id\":\"1\",\"xname\":\"x\",\"boot\":\"b\",\"image\":null,\"done\":{\"step\":\"asked\"}}",
         "\"transition\" is missing"},
    };
    struct world *w = *state;
    everything(w);
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        struct err e = {0};
        CLEANUP_TEXT struct text why = {0};
        text_printf(&why, "record %s: %s", damaged[i].key, damaged[i].why);
        assert_int_equal(cluster_put(w->c, damaged[i].key, damaged[i].value, &e), -EILSEQ);
        assert_string_equal(e.msg, why.s);
        assert_true(cluster_digest(w->c) == before);
    }
}

/* A list that is known already is checked all the same. */
static void test_a_list_that_lies_is_refused_even_when_known(void **state)
{
    struct world *w = *state;
    struct err e;
    char key[80];
    snprintf(key, sizeof key, "list/%s", world_hex(w, "A"));
    assert_int_equal(cluster_put(w->c, key, "{\"components\":{\"nic.count\":\"2\"}}", &e), -EILSEQ);
    assert_int_equal(
        cluster_put(w->c, key, "{\"components\":{\"nic.count\":\"2\",\"kernel.release\":\"6.1\"}}", &e), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_conform_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_same_records_same_digest),
        TEST(test_each_record_is_in_the_digest),
        TEST(test_nothing_is_left_when_all_is_over),
        TEST(test_damaged_records_are_refused_with_words),
        TEST(test_a_list_that_lies_is_refused_even_when_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
