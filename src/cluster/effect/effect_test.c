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

static int setup(void **state)
{
    *state = world_conform();
    return 0;
}

static int teardown(void **state)
{
    world_destroy(*state);
    return 0;
}

#define DRIFT(nodes, f, id) world_found(w, COMMAND_DRIFT, nodes, f, id)
#define PERSISTS(nodes, f, id) world_found(w, COMMAND_PERSISTS, nodes, f, id)
#define RESTORED(nodes) world_tell(w, COMMAND_RESTORED, nodes, NULL, NULL)
#define REBOOT(nodes, boots) world_tell(w, COMMAND_REBOOT, nodes, "{\"boots\":[" boots "]}", NULL)
#define EFFECT(key, done) \
    world_tell(w, COMMAND_EFFECT, "", "{\"key\":\"effect/" key "\",\"done\":" done "}", NULL)

/* --- effects --------------------------------------------------------------------------------- */

#define WANT                                                                                \
    "{\"flag\":\"Warning\",\"status\":\"drift:major:B\",\"group\":\"drifted\",\"message\":" \
    "\"conformance_drift: baseline gpu 1: kernel.release; expected=list_A, actual=list_B\"}"

static void test_ochami_is_told(void **state)
{
    struct world *w = *state;
    world_ochami(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    assert_string_equal(world_record(w, "effect/ochami.lx01"),
                        "{\"id\":\"1000\",\"xname\":\"x1c0s0b0n1\",\"want\":" WANT ",\"done\":null}");
    DRIFT("lx02", &FOUND_DEFAULT, "1.2"); /* has no xname */
    assert_string_equal(world_record(w, "effect/ochami.lx02"), "none");
    DRIFT("x1000c0s0b0n1", &FOUND_DEFAULT, "1.3"); /* its name is one */
    assert_non_null(strstr(world_record(w, "effect/ochami.x1000c0s0b0n1"), "\"xname\":\"x1000c0s0b0n1\""));
}

static void test_nobody_is_told_where_nobody_listens(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    world_do(w, COMMAND_SET, "root", "lx01", "{\"Xname\":\"x1c0s0b0n1\"}", NULL);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    assert_string_equal(world_record(w, "effect/ochami.lx01"), "none");
}

#define DONE "{\"flag\":\"Warning\",\"status\":\"drift:major:x\",\"group\":\"drifted\",\"message\":\"m\"}"
#define PENDING                                                                                   \
    "{\"flag\":\"Warning\",\"status\":\"drift:major:x\",\"group\":\"drifted\",\"message\":\"m\"," \
    "\"pending\":true}"

static void test_a_told_effect_is_taken_back(void **state)
{
    struct world *w = *state;
    world_ochami(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    assert_string_equal(EFFECT("ochami.lx01", DONE),
                        "effect/ochami.lx01 = {\"id\":\"1000\",\"xname\":\"x1c0s0b0n1\",\"want\":" WANT
                        ",\"done\":" DONE "}\nlx01: OpenCHAMI was told: drift:major:x\n");
    assert_string_equal(EFFECT("ochami.lx01", DONE), "nothing");
    w->at = 3000;
    RESTORED("lx01");
    assert_string_equal(world_record(w, "effect/ochami.lx01"),
                        "{\"id\":\"3000\",\"xname\":\"x1c0s0b0n1\",\"want\":null,\"done\":" DONE "}");
    assert_string_equal(EFFECT("ochami.lx01", "null"),
                        "effect/ochami.lx01 = gone\nlx01: OpenCHAMI: taken back\n");
    assert_string_equal(EFFECT("ochami.lx01", "null"), "nothing"); /* it is gone */
}

static void test_an_untold_effect_is_forgotten(void **state)
{
    struct world *w = *state;
    world_ochami(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    RESTORED("lx01");
    assert_string_equal(world_record(w, "effect/ochami.lx01"), "none");
    assert_string_equal(EFFECT("ochami.lx01", "null"), "nothing");
}

/* The driver says what it is about to do before it does it. It is taken back where it may stand. */
static void test_an_effect_that_may_have_been_told_is_taken_back(void **state)
{
    struct world *w = *state;
    world_ochami(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    EFFECT("ochami.lx01", PENDING);
    RESTORED("lx01");
    assert_string_equal(world_record(w, "effect/ochami.lx01"),
                        "{\"id\":\"1000\",\"xname\":\"x1c0s0b0n1\",\"want\":null,\"done\":" PENDING "}");
    world_do(w, COMMAND_SET, "root", "lx01", "{\"Xname\":\"x9c0s0b0n9\"}", NULL);
    DRIFT("lx01", &FOUND_MAJOR, "1.2");
    assert_string_equal(world_record(w, "effect/ochami.lx01"),
                        "{\"id\":\"1000\",\"xname\":\"x1c0s0b0n1\",\"want\":" WANT ",\"done\":" PENDING "}");
}

static void test_results_in_words(void **state)
{
    static const struct {
        const char *done, *text;
    } told[] = {
        {PENDING, "OpenCHAMI is being told: drift:major:x"},
        {"{\"flag\":null,\"status\":null,\"group\":null,\"message\":null,\"error\":\"no such node\"}",
         "OpenCHAMI was not told: no such node"},
    };
    static const struct {
        const char *done, *text;
    } rebooted[] = {
        {"{\"step\":\"image\"}", "reboot: image"},
        {"{\"step\":\"asking\",\"after\":\"\"}", "reboot: asking"},
        {"{\"step\":\"asked\",\"transition\":\"t7\"}", "reboot: asked: t7"},
        {"{\"step\":\"failed\",\"why\":\"no power\"}", "reboot: failed: no power"},
        {"{\"step\":\"refused\",\"why\":null}", "reboot: refused"},
        {"{\"step\":\"completed\"}", "reboot: completed"},
    };
    struct world *w = *state;
    world_ochami(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    world_tell(w, COMMAND_DRAINED, "lx01", NULL, NULL);
    REBOOT("lx01", "\"b1\"");
    for (size_t i = 0; i < sizeof told / sizeof told[0] + sizeof rebooted / sizeof rebooted[0]; i++) {
        bool is_told = i < sizeof told / sizeof told[0];
        size_t j = is_told ? i : i - sizeof told / sizeof told[0];
        CLEANUP_TEXT struct text set = {0}, text = {0};
        text_printf(&set, "{\"key\":\"effect/%s.lx01\",\"done\":%s}", is_told ? "ochami" : "reboot",
                    is_told ? told[j].done : rebooted[j].done);
        text_printf(&text, "lx01: %s\n", is_told ? told[j].text : rebooted[j].text);
        assert_non_null(strstr(world_tell(w, COMMAND_EFFECT, "", set.s, NULL), text.s));
    }
}

static void test_results_refuse(void **state)
{
    struct world *w = *state;
    world_ochami(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    assert_string_equal(EFFECT("ochami.lx01", "[]"), "\"done\" is neither null nor an object");
    assert_int_equal(world_rc(), -EINVAL);
    assert_string_equal(EFFECT("ochami.lx01",
                               "{\"flag\":\"Warning\",\"status\":\"123456789012345678901234567890"
                               "123\",\"group\":\"\",\"message\":\"\"}"),
                        "done: a status of 33 bytes; it has 32 at most");
    assert_string_equal(EFFECT("pony.lx01", "null"), "nothing");
}

static void test_a_reboot_is_asked_for_once_a_boot(void **state)
{
    struct world *w = *state;
    world_ochami(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    assert_string_equal(REBOOT("lx01", "\"b1\""), "nothing"); /* work may run there */
    world_tell(w, COMMAND_DRAINED, "lx01", NULL, NULL);
    assert_string_equal(REBOOT("lx01", "\"b1\""),
                        "effect/reboot.lx01 = {\"id\":\"1000\",\"xname\":\"x1c0s0b0n1\",\"boot\":\"b1\","
                        "\"image\":null,\"times\":[\"1000\"],\"done\":null}\n"
                        "lx01: a reboot into the right image is asked for\n");
    assert_string_equal(REBOOT("lx01", "\"b1\""), "nothing");
    assert_string_equal(
        EFFECT("reboot.lx01", "{\"step\":\"asked\",\"transition\":\"t7\"}"),
        "effect/reboot.lx01 = {\"id\":\"1000\",\"xname\":\"x1c0s0b0n1\",\"boot\":\"b1\","
        "\"image\":null,\"times\":[\"1000\"],\"done\":{\"step\":\"asked\",\"transition\":\"t7\"}}\n"
        "lx01: reboot: asked: t7\n");
    assert_string_equal(EFFECT("reboot.lx01", "{\"step\":\"danced\"}"),
                        "\"danced\" is no step of a reboot that this version knows");
    PERSISTS("lx01", &FOUND_MAJOR, "1.2");
    REBOOT("lx01", "\"b2\"");
    assert_non_null(strstr(world_record(w, "effect/reboot.lx01"),
                           "\"boot\":\"b2\",\"image\":null,\"times\":[\"1000\",\"1000\"],\"done\":null"));
    RESTORED("lx01");
    assert_non_null(strstr(world_record(w, "effect/reboot.lx01"), "\"boot\":null")); /* what was, is known */
    assert_string_equal(REBOOT("lx01", "\"b2\""), "nothing"); /* not drifted any more */
    assert_string_equal(REBOOT("lx01", "\"b 2\""), "\"b 2\" is no boot id");
}

static void test_a_reboot_names_the_image_of_the_class(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    world_do(w, COMMAND_SET, "root", "lx[01,05]", "{\"Xname\":\"x1c0s0b0n1\"}", NULL);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    DRIFT("lx05", &FOUND_DEFAULT, "1.2"); /* of a class that asks for no reboot */
    world_tell(w, COMMAND_DRAINED, "lx[01,05]", NULL, NULL);
    REBOOT("lx[01,05]", "\"b1\",\"b1\"");
    assert_non_null(strstr(world_record(w, "effect/reboot.lx01"),
                           "\"image\":{\"kernel\":\"http://boot/vmlinuz\",\"initrd\":null,\"params\":null}"));
    assert_string_equal(world_record(w, "effect/reboot.lx05"), "none");
}

#define DAY_NS (24 * 3600 * INT64_C(1000000000))

/* A day: it drifts, is to be rebooted, and is right again. Says what the reboot came to. */
static const char *a_day(struct world *w, const char *boots)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"boots\":[\"%s\"]}", boots);
    w->at += DAY_NS;
    DRIFT("lx01", &FOUND_MAJOR, boots);
    world_tell(w, COMMAND_DRAINED, "lx01", NULL, NULL);
    const char *said = world_tell(w, COMMAND_REBOOT, "lx01", set.s, NULL);
    RESTORED("lx01");
    return said;
}

/* Invariant: nothing is rebooted for ever, whoever leads, and whatever it was between. */
static void test_a_drift_that_reboots_do_not_cure_ends_the_reboots(void **state)
{
    struct world *w = *state;
    world_ochami(w);
    const struct member *m = cluster_find(w->c, "lx01");
    for (int day = 1; day <= 3; day++)
        assert_non_null(strstr(a_day(w, "b1"), "a reboot into the right image is asked for"));
    assert_int_equal(cluster_reboots(m, (struct wall){w->at}), 3);
    assert_string_equal(a_day(w, "b1"), "nothing");
    for (size_t rotation = 0; rotation < w->n; rotation++) {
        struct cluster *again = world_reload(w, OCHAMI_ROSTER, rotation, false);
        assert_int_equal(cluster_reboots(cluster_find(again, "lx01"), (struct wall){w->at}), 3);
        assert_true(cluster_digest(again) == cluster_digest(w->c));
        cluster_destroy(again);
    }
    assert_int_equal(cluster_reboots(m, (struct wall){0}), 3); /* the clock was set back */
    w->at += 4 * DAY_NS;                                       /* a week after the first */
    assert_int_equal(cluster_reboots(m, (struct wall){w->at}), 2);
    for (int again = 0; again < 2; again++) /* the same boot, and another drift: another reboot */
        assert_int_equal(strcmp(a_day(w, "b1"), "nothing") != 0, 1);
    for (int week = 0; week < 10; week++) {
        w->at += 7 * DAY_NS;
        assert_string_not_equal(a_day(w, "b1"), "nothing");
    }
    assert_int_equal(m->past->reboots->n, REBOOTS_KEPT_MAX);
    assert_int_equal(m->past->reboots->at[REBOOTS_KEPT_MAX - 1].ns, w->at);
    assert_int_equal(cluster_put(w->c, "effect/reboot.lx01", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "flap/lx01", NULL, NULL), 0);
    assert_null(m->past);
}

static void test_a_result_of_the_reboot_before_does_not_count(void **state)
{
    struct world *w = *state;
    world_ochami(w);
    a_day(w, "b1");
    CLEANUP_TEXT struct text older = {0}, set = {0};
    text_printf(&older, "{\"step\":\"completed\",\"id\":\"%lld\"}", (long long)w->at);
    text_printf(&set, "{\"key\":\"effect/reboot.lx01\",\"done\":%s}", older.s);
    a_day(w, "b1");
    assert_string_equal(world_tell(w, COMMAND_EFFECT, "", set.s, NULL), "nothing");
    text_clear(&set);
    text_printf(&set, "{\"key\":\"effect/reboot.lx01\",\"done\":{\"step\":\"completed\",\"id\":\"%lld\"}}",
                (long long)w->at);
    assert_non_null(strstr(world_tell(w, COMMAND_EFFECT, "", set.s, NULL), "lx01: reboot: completed\n"));
}

static void test_a_system_that_listens_later_is_told_later(void **state)
{
    struct world *w = *state;
    const struct member *m;
    world_baselines(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    m = cluster_find(w->c, "lx01");
    assert_false(cluster_drift_untold(w->c, m));
    world_configure(w, CONFORM_ROSTER "; ochami", NULL);
    assert_false(cluster_drift_untold(w->c, m));
    world_do(w, COMMAND_SET, "root", "lx01", "{\"Xname\":\"x1c0s0b0n1\"}", NULL);
    assert_true(cluster_drift_untold(w->c, m));
    assert_string_equal(DRIFT("lx01", &FOUND_MAJOR, "1.2"),
                        "effect/ochami.lx01 = {\"id\":\"1000\",\"xname\":\"x1c0s0b0n1\",\"want\":" WANT
                        ",\"done\":null}\nlx01: drifted from baseline gpu 1: kernel.release (major)\n");
    assert_false(cluster_drift_untold(w->c, m));
    EFFECT("ochami.lx01", DONE);
    RESTORED("lx01");
    assert_false(cluster_drift_untold(w->c, m));
    world_configure(w, CONFORM_ROSTER, NULL); /* and again: what was told before is to be taken back still */
    DRIFT("lx01", &FOUND_MAJOR, "1.3");
    world_configure(w, CONFORM_ROSTER "; ochami", NULL);
    assert_non_null(strstr(world_record(w, "effect/ochami.lx01"), "\"want\":null"));
    assert_true(cluster_drift_untold(w->c, m));
    world_configure(w, OCHAMI_ROSTER, NULL);
    DRIFT("lx01", &FOUND_MAJOR, "1.3");
    EFFECT("ochami.lx01", DONE);
    world_configure(w, "lx[02-06]; class gpu Nodes=lx01 Reboot=yes; ochami", NULL);
    world_ask(w, COMMAND_APPROVE, "ann", "lx01", NULL, "sold");
    assert_non_null(strstr(world_record(w, "effect/ochami.lx01"), "\"want\":null"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ochami_is_told),
        TEST(test_nobody_is_told_where_nobody_listens),
        TEST(test_a_told_effect_is_taken_back),
        TEST(test_an_untold_effect_is_forgotten),
        TEST(test_an_effect_that_may_have_been_told_is_taken_back),
        TEST(test_results_in_words),
        TEST(test_results_refuse),
        TEST(test_a_reboot_is_asked_for_once_a_boot),
        TEST(test_a_reboot_names_the_image_of_the_class),
        TEST(test_a_drift_that_reboots_do_not_cure_ends_the_reboots),
        TEST(test_a_result_of_the_reboot_before_does_not_count),
        TEST(test_a_system_that_listens_later_is_told_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
