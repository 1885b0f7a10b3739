/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/state/drift.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define DRIFT_TOLD "{\"id\":\"1\",\"xname\":\"x1\",\"want\":null,\"done\":null}"
#define NOTE(state, more) \
    "{\"id\":\"1\",\"claim\":\"1.1\",\"state\":\"" state "\",\"at\":\"5\",\"reservation\":false" more "}"

static void test_each_kind_is_taken(void **state)
{
    static const char *const records[][2] = {
        {"effect/ochami.lx01", DRIFT_TOLD},
        {"effect/slurm.lx01", NOTE("drained", "")},
        {"effect/reboot.lx01",
         "{\"id\":\"1\",\"xname\":\"x\",\"boot\":\"b1\",\"image\":null,\"times\":[\"5\"],\"done\":null}"},
        {"effect/operate.lx01",
         "{\"id\":\"1.7\",\"run\":\"node:fix\",\"of\":\"fix\",\"boot\":\"b1\",\"instance\":"
         "\"0\",\"deadline\":\"0\",\"done\":null}"},
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        world_takes(*state, records[i][0], records[i][1]);
}

static void test_damaged_records_are_refused(void **state)
{
    static const char *const bad[][3] = {
        {"effect/fax.lx01", DRIFT_TOLD, "\"fax.lx01\" is no kind of effect that this version knows"},
        {"effect/ochami.a b", DRIFT_TOLD, "\"a b\" is not the name of a node"},
        {"effect/ochami.lx01", "{\"xname\":\"x1\",\"want\":null,\"done\":null}", "\"id\" is missing"},
        {"effect/ochami.lx01", "[]", "no object"},
        {"effect/slurm.lx01", "{\"id\":\"1\",\"state\":\"drained\",\"at\":\"5\",\"reservation\":false}",
         "\"claim\" is missing"},
        {"effect/reboot.lx01", "{\"id\":\"1\",\"xname\":\"x\",\"boot\":\"a b\",\"image\":null,\"done\":null}",
         "\"a b\" is no boot id"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        world_refuses(*state, bad[i][0], bad[i][1], bad[i][2]);
}

static void test_records_of_reboots_refuse(void **state)
{
    static const char *const times[] = {"7", "[7]", "[\"x\"]", "[\"-1\"]",
                                        "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]"};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        CLEANUP_TEXT struct text record = {0};
        text_printf(&record,
                    "{\"id\":\"1\",\"xname\":\"x\",\"boot\":null,\"image\":null,\"times\":%s,\"done\":null}",
                    times[i]);
        world_refuses(w, "effect/reboot.lx01", record.s, "times");
    }
    assert_int_equal(cluster_put(w->c, "effect/reboot.lx01",
                                 "{\"id\":\"1\",\"xname\":\"x\",\"boot\":\"b1\",\"image\":null,"
                                 "\"done\":null}",
                                 NULL),
                     0); /* an earlier version's */
    assert_int_equal(cluster_reboots(cluster_find(w->c, "lx01"), (struct wall){1}), 0);
}

/* Until Slurm's driver read that the drain or the reservation is gone. */
static void test_a_note_says_whether_the_node_is_held(void **state)
{
    static const struct {
        const char *note;
        bool held;
    } rows[] = {{NOTE("draining", ""), true},    {NOTE("foreign", ""), false}, {NOTE("drained", ""), true},
                {NOTE("overridden", ""), false}, {NOTE("reserved", ""), true}, {NULL, false}};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(cluster_put(w->c, "effect/slurm.lx01", rows[i].note, NULL), 0);
        assert_int_equal(cluster_find(w->c, "lx01")->held_outside, rows[i].held);
    }
}

static void on_effect(void *arg, const char *key, const char *value)
{
    text_printf(arg, "%s %s\n", key, value ? "there" : "gone");
}

static void test_drivers_hear_of_effects(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text log = {0};
    assert_int_equal(cluster_put(w->c, "effect/ochami.lx01", DRIFT_TOLD, NULL), 0);
    cluster_on_effect(w->c, on_effect, &log);
    assert_string_equal(log.s, "effect/ochami.lx01 there\n"); /* at once */
    assert_int_equal(cluster_put(w->c, "effect/slurm.lx02", NOTE("drained", ""), NULL), 0);
    assert_int_equal(cluster_put(w->c, "effect/ochami.lx01", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "effect/ochami.lx01", NULL, NULL), 0); /* it is gone: nobody is told */
    assert_string_equal(log.s, "effect/ochami.lx01 there\n"
                               "effect/slurm.lx02 there\n"
                               "effect/ochami.lx01 gone\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_kind_is_taken),        TEST(test_damaged_records_are_refused),
        TEST(test_records_of_reboots_refuse), TEST(test_a_note_says_whether_the_node_is_held),
        TEST(test_drivers_hear_of_effects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
