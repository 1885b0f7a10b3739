/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody writes at the moment of a write of Fettle's, and nodes that are down; the rest is in
 * slurm_test.c. */
#include "driver/slurm_fixture_test.h"

#include <stdio.h>
#include <string.h>

#define ANNS                                                                    \
    "[2026-11-24T22:42:10.900] update_node: node c1 reason set to: mine, Ann\n" \
    "[2026-11-24T22:42:10.900] update_node: node c1 state set to DRAINED\n"
#define KEY "effect/slurm.c1"

static bool is_settled(const struct world *w, const void *arg)
{
    return w->readings > 0 && slurm_waiting(w->slurm) == 0;
}

static void test_a_hold_that_a_drain_undid_is_recorded_and_restored(void **state)
{
    struct world *w = *state;
    world_write(w, "log", "");
    world_write(w, "race", ANNS);
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    world_until_said(w, "restored c1 mine, Ann\n");
    const char *lost = strstr(w->said.s, "\"lost\":{\"reason\":\"mine, Ann\"");
    assert_non_null(lost); /* in the record, before it was restored */
    assert_true(lost < strstr(w->said.s, "restored c1 "));
    assert_int_equal(world_count(w, "update NodeName=c1 Reason=mine, Ann State=DRAIN"), 1);
    assert_int_equal(world_count(w, "update"), 2);
    world_until(w, is_settled, NULL);
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 IDLE+DRAIN held; c2 IDLE; c3 IDLE; ");
}

static void test_a_hold_that_an_undrain_undid_is_restored(void **state)
{
    struct world *w = *state;
    world_write(w, "log", "");
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    world_until_said(w, "\"state\":\"drained\"");
    world_write(w, "race", ANNS);
    world_want(w, "c1", WISH_NOTHING, "");
    world_until_said(w, "restored c1 mine, Ann\n");
    world_until(w, is_settled, NULL);
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 IDLE+DRAIN held; c2 IDLE; c3 IDLE; ");
}

/* Nobody wrote anything between: there is nothing to restore. */
static void test_without_a_race_nothing_is_restored(void **state)
{
    struct world *w = *state;
    world_write(w, "log", ANNS); /* it was before the write, and is over */
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    world_until_said(w, "\"state\":\"drained\"");
    world_until_readings(w, 2);
    assert_null(strstr(w->said.s, "restored"));
    assert_int_equal(world_count(w, "update"), 1);
}

/* A node that is down keeps its state, and gets Slurm's own reason again. */
static void test_a_node_that_is_down_gets_slurms_reason_again(void **state)
{
    struct world *w = *state;
    char reason[SLURM_REASON_BYTES];
    CLEANUP_TEXT struct text more = {0};
    const struct slurm_mark mark = {.claim = "0.1", .problem = "node_problem"};
    slurm_write_reason(OWNER, &mark, "disk", reason);
    text_printf(&more, " Reason=%s [root@" BOOT "]", reason);
    world_set_c1(w, "DOWN", more.s);
    world_start(w);
    world_until_called(w, "update NodeName=c1 Reason=Not responding State=UNDRAIN");
}

/* Ann's drain came after the reading on which the write would have been based. */
static void test_a_node_that_somebody_drained_meanwhile_is_not_written(void **state)
{
    struct world *w = *state;
    world_start_every(w, span_s(60), span_s(20));
    world_until_readings(w, 1);
    w->is_held = true;
    world_want(w, "c1", WISH_DRAIN, "1.1");
    world_until_said(w, "\"state\":\"draining\"");
    world_set_c1(w, "IDLE+DRAIN", " Reason=mine, Ann [ann@" BOOT "]");
    w->is_held = false;
    slurm_effect(w->slurm, KEY,
                 "{\"claim\":\"1.1\",\"state\":\"draining\",\"at\":\"5\",\"reservation\":false}");
    world_until_said(w, "\"state\":\"foreign\"");
    assert_int_equal(world_count(w, "update"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_hold_that_a_drain_undid_is_recorded_and_restored),
        TEST(test_a_hold_that_an_undrain_undid_is_restored),
        TEST(test_without_a_race_nothing_is_restored),
        TEST(test_a_node_that_is_down_gets_slurms_reason_again),
        TEST(test_a_node_that_somebody_drained_meanwhile_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
