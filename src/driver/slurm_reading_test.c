/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of Slurm: what the sink is told, and what an answer that is no answer means. */
#include "driver/slurm_fixture_test.h"

#include <stdio.h>
#include <string.h>

#define READ_ALL "-o -a show node\n"
#define WINDOW(name, nodes, flags, state)                                                        \
    "ReservationName=" name " StartTime=" BOOT " EndTime=2026-11-24T23:42:11 Duration=01:00:00 " \
    "Nodes=" nodes " NodeCnt=1 CoreCnt=2 Features=(null) PartitionName=(null) Flags=" flags      \
    " TRES=cpu=2 Users=root Groups=(null) Accounts=(null) Licenses=(null) State=" state          \
    " BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n"

static void test_a_reading_reports_every_node_and_then_its_end(void **state)
{
    struct world *w = *state;
    world_set_c1(w, "MIXED+DRAIN", " Reason=disk, Ann [ann@" BOOT "]");
    world_start(w);
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 MIXED+DRAIN held; c2 IDLE; c3 IDLE; ");
    CLEANUP_FREE char *calls = world_calls(w);
    static const char once[] = "-o -a show node\n-o -a show reservation\nshow config\n";
    assert_true(strncmp(calls, once, sizeof once - 1) == 0);
    assert_string_equal(w->said.s, ""); /* nobody wanted anything */
}

/* More nodes than one turn of the loop takes in, and one beside a whole number of turns. */
static void test_many_nodes_are_each_reported_once(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text nodes = {0};
    for (int i = 1; i <= 513; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        world_add_node(&nodes, name, "IDLE", "");
    }
    world_write(w, "nodes", nodes.s);
    world_start(w);
    world_until_readings(w, 2);
    size_t n = 0;
    for (const char *at = w->saw.s; (at = strstr(at, "IDLE; ")); at++)
        n++;
    assert_int_equal(n, 513);
}

static void assert_no_answer(struct world *w, const char *nodes, const char *why)
{
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "trouble %s", why);
    text_clear(&w->said);
    text_add(&w->said, "");
    world_write(w, "nodes", nodes);
    world_until_said(w, line.s);
    assert_string_equal(w->saw.s, "c1 ?; c2 ?; c3 ?; ");
    world_set_c1(w, "IDLE", "");
    world_until_said(w, "trouble is over\n");
    assert_string_equal(w->saw.s, "c1 IDLE; c2 IDLE; c3 IDLE; ");
}

static void test_an_answer_that_is_none_makes_every_node_unknown(void **state)
{
    struct world *w = *state;
    world_start(w);
    world_until_readings(w, 1);
    assert_no_answer(w, "", "");
    assert_no_answer(w, "NodeName=c1 State=IDLE\nNodeName=c2 Sta", "");
    assert_no_answer(w, "\n", "scontrol knows no node\n");
    assert_no_answer(w, "NodeName=c1 State=IDLE\nNodeName=c2\n", "");
}

static void test_a_controller_that_is_away_is_told_in_scontrols_words(void **state)
{
    struct world *w = *state;
    world_write(w, "away", AWAY);
    world_start(w);
    world_until_said(w, "trouble scontrol ended with 1: slurm_load_node error: Unable to contact");
    assert_string_equal(w->saw.s, ""); /* it has seen no node yet */
    world_remove(w, "away");
    world_until_said(w, "trouble is over\n");
}

static void test_a_node_that_occurs_twice_is_unknown(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text nodes = {0};
    world_add_node(&nodes, "c1", "IDLE", "");
    world_add_node(&nodes, "c2", "IDLE", "");
    world_add_node(&nodes, "c1", "DOWN", "");
    world_write(w, "nodes", nodes.s);
    world_start(w);
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 ?; c2 IDLE; ");
}

static void test_the_order_of_the_answer_does_not_matter(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text nodes = {0};
    world_start(w);
    world_until_readings(w, 1);
    world_add_node(&nodes, "c3", "DOWN", "");
    world_add_node(&nodes, "c1", "IDLE", "");
    world_add_node(&nodes, "c2", "MIXED", "");
    world_write(w, "nodes", nodes.s);
    world_until_readings(w, 2);
    assert_string_equal(w->saw.s, "c1 IDLE; c2 MIXED; c3 DOWN; ");
}

static void test_reservations_of_others_are_told_with_their_nodes(void **state)
{
    struct world *w = *state;
    world_write(w, "reservations",
                WINDOW("service", "c2", "MAINT,IGNORE_JOBS,SPEC_NODES", "ACTIVE")
                    WINDOW("later", "c3", "MAINT", "INACTIVE")
                        WINDOW("course", "c[2-3]", "SPEC_NODES", "ACTIVE")
                            WINDOW("licences", "(null)", "MAINT", "ACTIVE"));
    world_start(w);
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 IDLE; c2 IDLE in service; c3 IDLE in course; ");
    static const char windows[] = "maintenance service 1 c2\nmaintenance licences 0 \n";
    assert_true(strncmp(w->said.s, windows, sizeof windows - 1) == 0);
    world_write(w, "reservations", "");
    world_until_readings(w, 2);
    assert_string_equal(w->saw.s, "c1 IDLE; c2 IDLE; c3 IDLE; ");
}

static void test_a_reservation_that_is_not_understood_may_include_any_node(void **state)
{
    static const char *const lines[] = {WINDOW("service", "c2", "MAINT", "LEVITATING"),
                                        WINDOW("service", "c[2", "MAINT", "ACTIVE"),
                                        WINDOW("course", "c[2", "SPEC_NODES", "ACTIVE")};
    struct world *w = *state;
    world_start(w);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        world_write(w, "reservations", lines[i]);
        world_until_readings(w, 2);
        assert_non_null(strstr(w->saw.s, "c1 IDLE vague; "));
        assert_non_null(strstr(w->said.s, "trouble a reservation is not understood"));
        assert_null(strstr(w->said.s, "maintenance "));
    }
    world_write(w, "reservations", "");
    world_until_said(w, "trouble is over\n");
}

static void test_reservations_that_cannot_be_read_fail_the_reading(void **state)
{
    struct world *w = *state;
    world_start(w);
    world_until_readings(w, 1);
    world_write(w, "reservations", "ReservationName=service StartTime");
    world_until_said(w, "trouble ");
    assert_string_equal(w->saw.s, "c1 ?; c2 ?; c3 ?; ");
}

static void test_a_slurmctld_whose_start_is_not_told_fails_the_reading(void **state)
{
    struct world *w = *state;
    world_write(w, "config", "ClusterName             = lab\n");
    world_start(w);
    world_until_said(w, "trouble ");
    assert_string_equal(w->said.s + strlen(w->said.s) - 1, "\n");
    assert_int_equal(w->readings, 1);
}

/* The nodes may have come from one slurmctld and its start from the next. */
static void test_a_restart_during_a_reading_reads_again(void **state)
{
    struct world *w = *state;
    world_start_every(w, span_s(60), span_s(20));
    world_until_readings(w, 1);
    assert_int_equal(world_count(w, "show config"), 2); /* the first start is a new one, too */
}

static void test_a_wanted_node_that_is_missing_is_asked_for_by_name(void **state)
{
    struct world *w = *state;
    world_start(w);
    world_until_readings(w, 1);
    assert_false(slurm_lacks(w->slurm, "c9"));
    world_want(w, "c9", WISH_DRAIN, "1.1");
    world_until_called(w, "-o -a show node c9");
    world_until_readings(w, 1);
    assert_true(slurm_lacks(w->slurm, "c9"));
    assert_false(slurm_lacks(w->slurm, "c1"));
    assert_null(strstr(w->saw.s, "c9")); /* nothing to tell about a node that does not exist */
    assert_int_equal(world_count(w, "update"), 0);
}

static bool has_lost_c1(const struct world *w, const void *arg)
{
    return strstr(w->saw.s, "c1 ?; ") != NULL;
}

/* By name it is there, so the list proves nothing about it. */
static void test_a_wanted_node_that_a_list_has_lost_is_unknown(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    world_until_said(w, "\"state\":\"drained\"");
    world_write(w, "list", "NodeName=c2 State=IDLE\n");
    world_until(w, has_lost_c1, NULL);
    assert_false(slurm_lacks(w->slurm, "c1"));
    assert_null(strstr(w->said.s, "null"));
}

static void test_a_wanted_node_comes_back_after_slurm_had_none(void **state)
{
    struct world *w = *state;
    world_want_quietly(w, "c1", WISH_DRAIN, "1.1");
    world_start(w);
    world_until_said(w, "\"state\":\"drained\"");
    world_write(w, "nodes", "NodeName=c2 State=IDLE\n");
    world_until_said(w, "effect/slurm.c1 null\n");
    assert_true(slurm_lacks(w->slurm, "c1"));
    world_set_c1(w, "IDLE", "");
    world_until_readings(w, 2);
    assert_false(slurm_lacks(w->slurm, "c1"));
}

static void test_a_node_that_nobody_wants_is_forgotten_with_its_line(void **state)
{
    struct world *w = *state;
    world_start(w);
    world_until_readings(w, 1);
    world_write(w, "nodes", "NodeName=c2 State=IDLE\n");
    world_until_readings(w, 2);
    assert_string_equal(w->saw.s, "c2 IDLE; ");
    assert_null(node_find(w->slurm, "c1"));
    assert_int_equal(world_count(w, "-o -a show node c"), 0);
}

/* The record of a node that Slurm no longer has goes with it. */
static void test_a_record_without_a_node_goes(void **state)
{
    struct world *w = *state;
    world_start(w);
    slurm_effect(w->slurm, "effect/slurm.c9",
                 "{\"claim\":\"1.1\",\"state\":\"drained\",\"at\":\"5\",\"reservation\":false}");
    world_until_said(w, "effect/slurm.c9 null\n");
    world_until_readings(w, 2);
    assert_null(node_find(w->slurm, "c9"));
}

static void test_a_look_reports_the_node_alone_with_its_reservation(void **state)
{
    struct world *w = *state;
    world_write(w, "reservations", WINDOW("course", "c2", "SPEC_NODES", "ACTIVE"));
    world_start_every(w, span_s(60), span_s(20));
    slurm_look(w->slurm, "c2"); /* it is not known before a reading */
    world_until_readings(w, 1);
    assert_int_equal(world_count(w, "-o -a show node c2"), 0);
    slurm_look(w->slurm, "c2");
    world_until_alone(w, "c2 IDLE in course; ");
    assert_int_equal(world_count(w, "-o -a show node c2"), 1);
    assert_int_equal(w->readings, 1);
}

static void test_a_look_at_a_node_that_is_gone_reads_all(void **state)
{
    struct world *w = *state;
    world_start_every(w, span_s(60), span_s(20));
    world_until_readings(w, 1);
    world_write(w, "nodes", "NodeName=c2 State=IDLE\n");
    slurm_look(w->slurm, "c1");
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c2 IDLE; ");
}

static void test_a_look_that_fails_makes_every_node_unknown(void **state)
{
    struct world *w = *state;
    world_start_every(w, span_s(60), span_s(20));
    world_until_readings(w, 1);
    world_write(w, "away", AWAY);
    slurm_look(w->slurm, "c1");
    world_until_readings(w, 1);
    assert_string_equal(w->saw.s, "c1 ?; c2 ?; c3 ?; ");
}

static void test_a_call_that_does_not_end_is_no_answer(void **state)
{
    struct world *w = *state;
    world_write(w, "asleep", "");
    world_start_every(w, span_ms(20), span_ms(50));
    world_until_said(w, "trouble scontrol did not end in time\n");
    assert_int_equal(w->readings, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_reading_reports_every_node_and_then_its_end),
        TEST(test_many_nodes_are_each_reported_once),
        TEST(test_an_answer_that_is_none_makes_every_node_unknown),
        TEST(test_a_controller_that_is_away_is_told_in_scontrols_words),
        TEST(test_a_node_that_occurs_twice_is_unknown),
        TEST(test_the_order_of_the_answer_does_not_matter),
        TEST(test_reservations_of_others_are_told_with_their_nodes),
        TEST(test_a_reservation_that_is_not_understood_may_include_any_node),
        TEST(test_reservations_that_cannot_be_read_fail_the_reading),
        TEST(test_a_slurmctld_whose_start_is_not_told_fails_the_reading),
        TEST(test_a_restart_during_a_reading_reads_again),
        TEST(test_a_wanted_node_that_is_missing_is_asked_for_by_name),
        TEST(test_a_wanted_node_that_a_list_has_lost_is_unknown),
        TEST(test_a_wanted_node_comes_back_after_slurm_had_none),
        TEST(test_a_node_that_nobody_wants_is_forgotten_with_its_line),
        TEST(test_a_record_without_a_node_goes),
        TEST(test_a_look_reports_the_node_alone_with_its_reservation),
        TEST(test_a_look_at_a_node_that_is_gone_reads_all),
        TEST(test_a_look_that_fails_makes_every_node_unknown),
        TEST(test_a_call_that_does_not_end_is_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
