/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct slurm_want want = {.drain = true, .mark = {"1.1", "node_problem"}, .reason = "x"};

static struct slurm_case seen(const char *state, const char *reason)
{
    static const struct slurm_record none;
    const struct slurm_line l = {.name = "c1", .state = slurm_read_state(state), .reason = reason, .by = ""};
    return slurm_view("a1", &want, &none, &l, GUARD_NONE, "2026", false);
}

static void hold_is(const char *state, const char *reason, enum slurm_hold hold)
{
    if (seen(state, reason).hold != hold)
        print_error("%s, %s: %u\n", state, reason, seen(state, reason).hold);
    assert_int_equal(seen(state, reason).hold, hold);
}

static void test_the_holder_of_a_node(void **state)
{
    hold_is("IDLE+DRAIN", "x [node_problem] [fettle:a1:1.1:be75]", HOLD_WANTED);
    hold_is("IDLE+DRAIN", "other words [node_problem] [fettle:a1:1.1:eac4] : reboot issued", HOLD_WANTED);
    hold_is("IDLE+DRAIN", "x [hardware_problem] [fettle:a1:1.1:910d]", HOLD_STALE);
    hold_is("IDLE+DRAIN", "x [node_problem] [fettle:a1:1.2:be75]", HOLD_STALE);
    hold_is("IDLE+DRAIN", "x [node_problem] [fettle:a1:1.10:be75]", HOLD_STALE);
    hold_is("IDLE+DRAIN", "new memory", HOLD_FOREIGN);
    hold_is("IDLE+DRAIN", "x [node_problem] [fettle:b2:1.1:be75]", HOLD_FOREIGN); /* another Fettle's */
    hold_is("DOWN", "x [node_problem] [fettle:b2:1.1:be75]", HOLD_FOREIGN);
    hold_is("IDLE+DRAIN", "x [node_problem] [fettle:a1:1.1:be75], new fan", HOLD_FOREIGN);
    hold_is("IDLE+DRAIN", "fettle:a1:1.1 [node_problem] x", HOLD_WANTED); /* as older versions wrote it */
    hold_is("IDLE+DRAIN", "fettle:a1:1.1 [hardware_problem] x", HOLD_STALE);
    hold_is("IDLE+DRAIN", "", HOLD_FOREIGN);
    hold_is("IDLE+DRAIN", "Not responding", HOLD_FOREIGN);
    hold_is("IDLE", "x [node_problem] [fettle:a1:1.1:be75]", HOLD_NONE); /* what an undrain leaves behind */
    hold_is("IDLE", "a note", HOLD_NONE);
    hold_is("DOWN+NOT_RESPONDING", "Not responding", HOLD_NONE);
    hold_is("DOWN", "", HOLD_NONE);
    hold_is("DOWN", "broken fan", HOLD_FOREIGN);
    hold_is("DOWN", "Node unexpectedly rebooted", HOLD_FOREIGN);
    hold_is("DOWN+REBOOT_ISSUED", "new kernel : reboot issued", HOLD_FOREIGN);
    hold_is("DOWN+REBOOT_ISSUED", "x [node_problem] [fettle:a1:1.1:be75] : reboot issued", HOLD_REST);
    hold_is("DOWN", "x [node_problem] [fettle:a1:1.1:be75]", HOLD_REST);
    hold_is("IDLE+FAIL", "fan", HOLD_FOREIGN);
    hold_is("IDLE+FAIL", "", HOLD_FOREIGN);
    hold_is("IDLE+FAIL", "x [node_problem] [fettle:a1:1.1:be75]",
            HOLD_FOREIGN); /* a person's FAIL over our drain */
}

static void test_the_ground_of_a_node(void **state)
{
    assert_int_equal(seen("MIXED+DRAIN+COMPLETING", "").ground, GROUND_UP);
    assert_int_equal(seen("IDLE+PLANNED", "").ground, GROUND_UP);
    assert_int_equal(seen("DOWN+DRAIN", "").ground, GROUND_DOWN);
    assert_int_equal(seen("DOWN+DRAIN+REBOOT_ISSUED", "").ground, GROUND_MOVING);
    assert_int_equal(seen("DOWN+DRAIN+POWERED_DOWN", "").ground, GROUND_DOWN);
    assert_int_equal(seen("UNKNOWN+DRAIN", "").ground, GROUND_MOVING);
    assert_int_equal(seen("IDLE+DRAIN+REBOOT_ISSUED", "").ground, GROUND_MOVING);
    assert_int_equal(seen("IDLE+POWERING_UP", "").ground, GROUND_MOVING);
    assert_false(seen("IDLE+LEVITATING", "").is_known);
}

static void test_the_sink_sees_slurms_words(void **state)
{
    const struct slurm_line l = {.name = "c1",
                                 .state = slurm_read_state("MIXED*+DRAIN"),
                                 .state_text = "MIXED*+DRAIN",
                                 .reason = "r",
                                 .by = "b"};
    struct slurm_node n = slurm_view_node(&l, "a1", false);
    assert_true(n.known && n.drain && n.busy && !n.responding && !n.completing && !n.down && !n.reserved);
    const struct slurm_line boots = {.name = "c1",
                                     .state = slurm_read_state("DOWN+REBOOT_ISSUED"),
                                     .state_text = "DOWN+REBOOT_ISSUED",
                                     .reason = "",
                                     .by = ""};
    n = slurm_view_node(&boots, "a1", false);
    assert_true(n.down && n.rebooting);
    const struct slurm_line odd = {
        .name = "c1", .state = slurm_read_state("ODD"), .state_text = "ODD", .reason = "", .by = ""};
    n = slurm_view_node(&odd, "a1", false);
    assert_false(n.known || n.drain || n.busy || n.responding);
    assert_string_equal(n.state, "ODD");
}

static struct slurm_node node_of(const char *state, const char *reason, bool is_pasted)
{
    const struct slurm_line l = {
        .name = "c1", .state = slurm_read_state(state), .state_text = state, .reason = reason, .by = ""};
    return slurm_view_node(&l, "a1", is_pasted);
}

static void held_is(const char *state, const char *reason, const char *held)
{
    const struct slurm_node n = node_of(state, reason, false);
    assert_string_equal(n.held ? n.out : "nobody", held);
}

static void out_is(const char *state, const char *reason, const char *out)
{
    const struct slurm_node n = node_of(state, reason, false);
    assert_string_equal(n.out ? n.out : "in", out);
}

/* Somebody's hands may be in it, but for what is Fettle's and what Slurm does by itself. */
static void test_a_holder_outside_fettle(void **state)
{
    held_is("IDLE", "", "nobody");
    held_is("IDLE", "a note", "nobody");
    held_is("IDLE+DRAIN", "new memory", "drained");
    held_is("IDLE+DRAIN", "", "drained");
    held_is("IDLE+DRAIN", "x [node_problem] [fettle:a1:1.1:be75]", "nobody");
    held_is("IDLE+DRAIN", "x [node_problem] [fettle:b2:1.1:be75]", "drained");
    held_is("IDLE+DRAIN", "Epilog error", "nobody");
    held_is("IDLE+DRAIN", "Epilog error: I look at it, Ann", "drained");
    held_is("DOWN", "Not responding", "nobody");
    held_is("DOWN", "Low RealMemory (reported:1000 < 100.00% of configured:2000)", "nobody");
    held_is("DOWN", "gres/gpu count reported lower than configured (1 < 4)", "nobody");
    held_is("DOWN", "", "nobody");
    held_is("DOWN", "broken fan", "down");
    held_is("IDLE+FAIL", "", "failing");
    held_is("IDLE+FAIL", "x [node_problem] [fettle:a1:1.1:be75]", "failing");
    held_is("DOWN+REBOOT_ISSUED", "x [node_problem] [fettle:a1:1.1:be75] : reboot issued", "rebooting");
    assert_true(node_of("IDLE+DRAIN", "x [node_problem] [fettle:a1:1.1:be75]", true).held);
    held_is("ODD", "new memory", "nobody"); /* it is not known */
}

/* Also where nobody holds it. */
static void test_states_that_keep_work_away(void **state)
{
    out_is("IDLE", "a note", "in");
    out_is("MIXED+COMPLETING", "", "in");
    out_is("IDLE+PLANNED", "", "in");
    out_is("IDLE+CLOUD+POWERED_DOWN", "", "in");
    out_is("IDLE+DRAIN", "new memory", "drained");
    out_is("ALLOCATED+DRAIN", "Epilog error", "drained");
    out_is("DOWN", "Not responding", "down");
    out_is("DOWN*", "", "down");
    out_is("IDLE+NOT_RESPONDING", "", "in");
    out_is("UNKNOWN", "", "not in service");
    out_is("FUTURE", "", "not in service");
    out_is("IDLE+DRAIN", "x [node_problem] [fettle:a1:1.1:be75]", "in"); /* a claim says why */
    out_is("DOWN+DRAIN", "x [node_problem] [fettle:a1:1.1:be75]", "in");
    out_is("DOWN", "x [node_problem] [fettle:a1:1.1:be75]", "down");
    out_is("IDLE+DRAIN", "x [node_problem] [fettle:b2:1.1:be75]", "drained");
    out_is("ODD+DRAIN", "new memory", "in"); /* it is not known */
}

static void guards(const char *name, const char *node)
{
    CLEANUP_FREE char *is = slurm_guarded_node(name, "a1");
    assert_int_equal(is != NULL, node != NULL);
    assert_string_equal(is ? is : "", node ? node : "");
}

static void test_the_name_of_a_reservation_tells_its_owner(void **state)
{
    CLEANUP_TEXT struct text name = {0};
    slurm_write_guard("c1.rack.2", "a1", &name);
    assert_string_equal(name.s, "suspicious-node-c1.rack.2.a1");
    guards(name.s, "c1.rack.2");
    guards("suspicious-node-c1.a1", "c1");
    guards("suspicious-node-c1.b2", NULL);
    guards("suspicious-node-c1", NULL);
    guards("suspicious-node-.a1", NULL);
    guards("suspicious-node-a1", NULL);
    guards("my-suspicious-node-c1.a1", NULL);
    guards("", NULL);
    struct slurm_reservation r = {.nodes = "c1", .users = "root", .flags = "MAINT,IGNORE_JOBS,SPEC_NODES"};
    assert_true(slurm_is_our_guard(&r, "c1", "root"));
    assert_false(slurm_is_our_guard(&r, "c2", "root") || slurm_is_our_guard(&r, "c1", "ann"));
    r.flags = "MAINT,SPEC_NODES";
    assert_false(slurm_is_our_guard(&r, "c1", "root"));
}

/* As scontrol 22.05 prints them. */
static enum slurm_window window(const char *name, const char *flags, const char *state)
{
    CLEANUP_TEXT struct text line = {0};
    struct slurm_reservations r;
    text_printf(&line,
                "ReservationName=%s StartTime=2026-11-22T06:00:00 EndTime=2026-11-22T07:00:00 "
                "Duration=01:00:00 Nodes=c[1-2] NodeCnt=2 CoreCnt=4 Features=(null) PartitionName=all%s "
                "TRES=cpu=4 Users=root Groups=(null) Accounts=(null) Licenses=(null)%s BurstBuffer=(null) "
                "Watts=n/a MaxStartDelay=(null)\n",
                name, flags, state);
    assert_int_equal(slurm_read_reservations(line.s, line.len, &r, NULL), 0);
    enum slurm_window is = slurm_is_window(&r.list[0], "a1");
    assert_string_equal(r.list[0].nodes, "c[1-2]");
    slurm_reservations_fini(&r);
    return is;
}

static void test_a_maintenance_window_of_somebody_else(void **state)
{
    assert_int_equal(window("root_1", " Flags=MAINT,SPEC_NODES", " State=ACTIVE"), WINDOW_IS);
    assert_int_equal(window("root_1", " Flags=DAILY,MAINT", " State=ACTIVE"), WINDOW_IS);
    assert_int_equal(window("root_1", " Flags=MAINT,SPEC_NODES", " State=INACTIVE"), WINDOW_NOT);
    assert_int_equal(window("root_1", " Flags=IGNORE_JOBS,SPEC_NODES", " State=ACTIVE"), WINDOW_NOT);
    assert_int_equal(window("root_1", " Flags=NO_MAINT", " State=ACTIVE"), WINDOW_NOT);
    assert_int_equal(window("suspicious-node-c1.a1", " Flags=MAINT,IGNORE_JOBS", " State=ACTIVE"),
                     WINDOW_NOT);
    /* another Fettle examines it */
    assert_int_equal(window("suspicious-node-c1.b2", " Flags=MAINT,IGNORE_JOBS", " State=ACTIVE"), WINDOW_IS);
    assert_int_equal(window("root_1", " Flags=MAINT", ""), WINDOW_UNKNOWN);
    assert_int_equal(window("root_1", "", ""), WINDOW_UNKNOWN);
    assert_int_equal(window("root_1", " Flags=", " State=ACTIVE"), WINDOW_NOT);
    assert_int_equal(window("root_1", " Flags=MAINT", " State=LEVITATING"), WINDOW_UNKNOWN);
}

static void test_lists_are_such_as_slurm_reads(void **state)
{
    static const char *const flat[] = {"c1", "c2", "c10", "d7"}, *const deep[] = {"r1n1", "r1n2", "r2n1",
                                                                                  "r2n2"};
    CLEANUP_TEXT struct text t = {0}, u = {0};
    slurm_write_list(flat, 4, &t);
    assert_string_equal(t.s, "c[1-2,10],d7");
    slurm_write_list(deep, 4, &u);
    assert_string_equal(u.s, "r1n1,r1n2,r2n1,r2n2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_holder_of_a_node),
        cmocka_unit_test(test_the_ground_of_a_node),
        cmocka_unit_test(test_the_sink_sees_slurms_words),
        cmocka_unit_test(test_a_holder_outside_fettle),
        cmocka_unit_test(test_states_that_keep_work_away),
        cmocka_unit_test(test_the_name_of_a_reservation_tells_its_owner),
        cmocka_unit_test(test_a_maintenance_window_of_somebody_else),
        cmocka_unit_test(test_lists_are_such_as_slurm_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
