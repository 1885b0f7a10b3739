/* SPDX-License-Identifier: Apache-2.0 */
/* One turn after the other: what is wanted gets into Slurm, with a note in the record before each write. */
#include "driver/slurm_fixture_test.h"

#include <stdio.h>
#include <string.h>

#define KEY "effect/slurm.c1"

/* A reason of this Fettle's, as it stands in a line. */
static void add_reason(struct text *t, const char *claim)
{
    char reason[SLURM_REASON_BYTES];
    struct slurm_mark mark = {.problem = "node_problem"};
    snprintf(mark.claim, sizeof mark.claim, "%s", claim);
    slurm_write_reason(OWNER, &mark, "disk", reason);
    text_printf(t, " Reason=%s [root@" BOOT "]", reason);
}

static bool is_settled(const struct world *w, const void *arg)
{
    return w->readings > 0 && slurm_waiting(w->slurm) == 0;
}

/* Runs until the node's record has this state and nothing waits. */
static void until_record(struct world *w, const char *member)
{
    world_until_said(w, member);
    world_until(w, is_settled, NULL);
}

static void test_a_drain_is_noted_written_and_seen(void **state)
{
    struct world *w = *state;
    world_start(w);
    world_until_readings(w, 1);
    assert_int_equal(slurm_waiting(w->slurm), 0);
    world_want(w, "c1", WISH_DRAIN, "1.1");
    assert_int_equal(slurm_waiting(w->slurm), 1);
    until_record(w, "\"state\":\"drained\"");
    assert_string_equal(w->record, "{\"claim\":\"1.1\",\"state\":\"drained\",\"reservation\":false,"
                                   "\"slurmctld\":\"" BOOT "\"}");
    CLEANUP_FREE char *calls = world_calls(w);
    CLEANUP_TEXT struct text reason = {0}, update = {0};
    add_reason(&reason, "1.1");
    text_printf(&update, "update NodeName=c1 %.*s State=DRAIN\n",
                (int)(strstr(reason.s, " [root") - reason.s - 1), reason.s + 1);
    assert_non_null(strstr(calls, update.s));
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 IDLE+DRAIN ours; c2 IDLE; c3 IDLE; ");
}

static void test_nothing_is_written_before_the_record_says_so(void **state)
{
    struct world *w = *state;
    w->is_held = true;
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    world_until_said(w, "\"state\":\"draining\"");
    world_until_readings(w, 3);
    assert_int_equal(world_count(w, "update"), 0);
    slurm_effect(w->slurm, KEY,
                 "{\"claim\":\"1.1\",\"state\":\"draining\",\"at\":\"5\",\"reservation\":false}");
    world_until_called(w, "update NodeName=c1 ");
}

static void test_a_drain_that_nobody_wants_any_more_is_taken_back(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    until_record(w, "\"state\":\"drained\"");
    world_want(w, "c1", WISH_NOTHING, "");
    until_record(w, KEY " null\n");
    CLEANUP_FREE char *calls = world_calls(w);
    assert_non_null(strstr(calls, " State=UNDRAIN\n"));
    assert_null(strstr(calls, "RESUME"));
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 IDLE; c2 IDLE; c3 IDLE; ");
}

static void test_nodes_that_need_the_same_share_one_write(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_want_quietly(w, "c2", WISH_DRAIN, "1.1");
    world_want_quietly(w, "c3", WISH_DRAIN, "1.2");
    world_start(w);
    until_record(w, "effect/slurm.c3 {\"claim\":\"1.2\",\"state\":\"drained\"");
    assert_int_equal(world_count(w, "update NodeName=c[1-2] "), 1);
    assert_int_equal(world_count(w, "update NodeName=c3 "), 1);
    assert_int_equal(world_count(w, "update"), 2);
}

static void test_a_reason_of_somebody_else_is_not_written_over(void **state)
{
    struct world *w = *state;
    world_set_c1(w, "IDLE+DRAIN", " Reason=disk, Ann [ann@" BOOT "]");
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    until_record(w, "\"state\":\"foreign\"");
    world_until_readings(w, 2);
    assert_int_equal(world_count(w, "update"), 0);
}

static void test_a_node_that_a_person_resumed_is_not_drained_again(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    until_record(w, "\"state\":\"drained\"");
    world_set_c1(w, "IDLE", "");
    until_record(w, "overridden c1 1.1\n");
    world_until_said(w, "\"state\":\"overridden\"");
    world_until_readings(w, 2);
    assert_int_equal(world_count(w, "update"), 1);
    world_want(w, "c1", WISH_DRAIN, "2.1"); /* another claim */
    until_record(w, "{\"claim\":\"2.1\",\"state\":\"drained\"");
}

static void test_a_drain_that_a_restart_of_slurmctld_lost_is_written_again(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    until_record(w, "\"state\":\"drained\"");
    world_write(w, "config", "BOOT_TIME               = 2026-11-24T23:00:00\n");
    world_set_c1(w, "IDLE", "");
    until_record(w, "\"slurmctld\":\"2026-11-24T23:00:00\"");
    assert_int_equal(world_count(w, "update"), 2);
    assert_null(strstr(w->said.s, "overridden"));
}

static void test_an_orphan_of_a_crash_is_taken_back(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text reason = {0};
    add_reason(&reason, "0.1");
    world_set_c1(w, "IDLE+DRAIN", reason.s);
    world_start(w);
    until_record(w, KEY " null\n");
    assert_non_null(strstr(w->said.s, KEY " {\"claim\":\"0.1\",\"state\":\"undraining\""));
    assert_int_equal(world_count(w, "update NodeName=c1 "), 1);
}

/* A person copied the reason of c1, token and all, to c2. */
static void test_a_pasted_reason_is_not_fettles(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text reason = {0}, nodes = {0};
    add_reason(&reason, "1.1");
    world_add_node(&nodes, "c1", "IDLE+DRAIN", reason.s);
    world_add_node(&nodes, "c2", "IDLE+DRAIN", reason.s);
    world_write(w, "nodes", nodes.s);
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    until_record(w, "\"state\":\"drained\"");
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 IDLE+DRAIN ours; c2 IDLE+DRAIN held; ");
    world_want(w, "c1", WISH_NOTHING, ""); /* the claim is over, the copy is still a person's */
    until_record(w, KEY " null\n");
    world_until_readings(w, 2);
    assert_string_equal(w->saw.s, "c1 IDLE; c2 IDLE+DRAIN held; ");
    assert_int_equal(world_count(w, "update NodeName=c2"), 0);
}

static void test_a_reservation_keeps_other_work_out_and_goes_again(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_RESERVE, "1.1");
    world_start(w);
    until_record(w, "\"state\":\"reserved\",\"reservation\":true");
    assert_int_equal(world_count(w, "create reservation ReservationName=suspicious-node-c1." OWNER
                                    " Nodes=c1 Users=root Flags=MAINT,IGNORE_JOBS,NO_HOLD_JOBS_AFTER"
                                    " StartTime=now Duration=infinite"),
                     1);
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 IDLE guarded; c2 IDLE; c3 IDLE; ");
    world_want(w, "c1", WISH_NOTHING, "");
    until_record(w, KEY " null\n");
    assert_int_equal(world_count(w, "delete ReservationName=suspicious-node-c1." OWNER), 1);
}

static void test_a_reservation_that_a_person_deleted_is_a_refusal(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_RESERVE, "1.1");
    world_start(w);
    until_record(w, "\"state\":\"reserved\",\"reservation\":true");
    world_write(w, "reservations", "");
    world_until_said(w, "refused c1 1.1\n");
    until_record(w, "\"state\":\"drained\"");
    assert_int_equal(world_count(w, "create"), 1);
}

static void test_a_decision_of_fettles_own_waits_for_maintenance(void **state)
{
    struct world *w = *state;
    world_write(w, "reservations",
                "ReservationName=service StartTime=" BOOT " EndTime=2026-11-24T23:42:11 Duration=01:00:00 "
                "Nodes=c1 NodeCnt=1 CoreCnt=2 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES "
                "TRES=cpu=2 Users=root State=ACTIVE\n");
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1")->own = true;
    world_start(w);
    world_until_readings(w, 3);
    assert_int_equal(world_count(w, "update"), 0);
    world_want(w, "c1", WISH_DRAIN, "1.2"); /* a person's */
    until_record(w, "\"state\":\"drained\"");
}

static void test_a_write_without_effect_is_trouble_and_is_repeated(void **state)
{
    struct world *w = *state;
    world_write(w, "deaf", "");
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    world_until_said(w, "trouble c1: drain: Slurm does not show the state that was written\n");
    assert_int_equal(world_count(w, "update"), 2);
}

static void test_a_refused_write_is_trouble_in_slurms_words(void **state)
{
    struct world *w = *state;
    world_write(w, "refusal", "slurm_update error: Invalid user id");
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    world_until_said(w, "trouble c1: drain: scontrol ended with 1: slurm_update error: Invalid user id\n");
}

static void test_a_node_to_avoid_gets_a_larger_weight(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_NOTHING, "")->avoid = true;
    world_start(w);
    world_until_called(w, "update NodeName=c1 AvailableFeatures=fettle_avoid_1 ActiveFeatures=fettle_avoid_1 "
                          "Weight=1001");
}

static void test_somebody_elses_reservation_of_our_name_is_trouble(void **state)
{
    struct world *w = *state;
    world_write(w, "reservations",
                "ReservationName=suspicious-node-c1." OWNER " StartTime=" BOOT " Nodes=c1 Flags=SPEC_NODES "
                "Users=ann State=ACTIVE\n");
    world_want_quietly(w, "c1", WISH_RESERVE, "1.1");
    world_start(w);
    world_until_said(w, "trouble somebody changed the reservation of c1\n");
    assert_int_equal(world_count(w, "delete"), 0);
}

static void test_a_record_that_cannot_be_read_counts_as_none(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    slurm_effect(w->slurm, KEY, "{\"state\":\"levitating\"}");
    slurm_effect(w->slurm, "effect/ochami.c2", "{}"); /* of another driver */
    assert_null(node_find(w->slurm, "c2"));
    until_record(w, "\"state\":\"drained\"");
}

static void test_without_scontrol_nothing_happens(void **state)
{
    struct world *w = *state;
    world_start(w);
    slurm_configure(w->slurm, &(struct slurm_conf){.scontrol = "", .owner = OWNER});
    for (int i = 0; i < 3; i++)
        uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(world_count(w, ""), 0);
    slurm_configure(w->slurm, &(struct slurm_conf){.scontrol = w->scontrol, .owner = OWNER});
    world_until_readings(w, 1);
}

static void test_a_program_that_is_missing_is_trouble(void **state)
{
    struct world *w = *state;
    world_remove(w, "scontrol");
    world_start(w);
    world_until_said(w, "scontrol: no such file or directory\n");
}

static void test_marks_of_nodes_that_nobody_wants_make_no_node(void **state)
{
    struct world *w = *state;
    world_start(w);
    world_want(w, "c9", WISH_NOTHING, "");
    assert_null(node_find(w->slurm, "c9"));
    world_want(w, "c9", WISH_DRAIN, "1.1");
    assert_non_null(node_find(w->slurm, "c9"));
    slurm_destroy(NULL);
}

static void test_waits_are_doubled_up_to_a_minute(void **state)
{
    static const struct {
        unsigned tries;
        int64_t seconds;
    } cases[] = {{0, 1}, {1, 1}, {2, 2}, {3, 4}, {6, 32}, {7, 60}, {8, 60}, {1000000, 60}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(slurm_backoff(cases[i].tries).ns, span_s(cases[i].seconds).ns);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_drain_is_noted_written_and_seen),
        TEST(test_nothing_is_written_before_the_record_says_so),
        TEST(test_a_drain_that_nobody_wants_any_more_is_taken_back),
        TEST(test_nodes_that_need_the_same_share_one_write),
        TEST(test_a_reason_of_somebody_else_is_not_written_over),
        TEST(test_a_node_that_a_person_resumed_is_not_drained_again),
        TEST(test_a_drain_that_a_restart_of_slurmctld_lost_is_written_again),
        TEST(test_an_orphan_of_a_crash_is_taken_back),
        TEST(test_a_pasted_reason_is_not_fettles),
        TEST(test_a_reservation_keeps_other_work_out_and_goes_again),
        TEST(test_a_reservation_that_a_person_deleted_is_a_refusal),
        TEST(test_a_decision_of_fettles_own_waits_for_maintenance),
        TEST(test_a_write_without_effect_is_trouble_and_is_repeated),
        TEST(test_a_refused_write_is_trouble_in_slurms_words),
        TEST(test_a_node_to_avoid_gets_a_larger_weight),
        TEST(test_somebody_elses_reservation_of_our_name_is_trouble),
        TEST(test_a_record_that_cannot_be_read_counts_as_none),
        TEST(test_without_scontrol_nothing_happens),
        TEST(test_a_program_that_is_missing_is_trouble),
        TEST(test_marks_of_nodes_that_nobody_wants_make_no_node),
        cmocka_unit_test(test_waits_are_doubled_up_to_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
