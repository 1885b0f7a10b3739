/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/beats_test.h"
#include "watch/trace_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *power(const struct beats *x, int i, const char *run, bool force, int rc)
{
    static struct err e;
    e = (struct err){0};
    assert_int_equal(watch_may_power(x->w, beats_node(x, i), run, force, &e), rc);
    return e.msg;
}

/* A person's power command asks what runs, whoever can say so; and the switch alone stops what is forced. */
static void test_a_power_command_asks_for_work(void **state)
{
    struct beats *x = beats_create(2);
    beats_start(x, 1, 1);
    beats_run(x, 1);
    power(x, 1, "power.off", false, 0);
    beats_beat(x, 1, 1, ++x->seq[1], BOOT, "[\"slurm.4711\"]");
    assert_string_equal(power(x, 1, "power.off", false, -EBUSY),
                        "work runs on it: slurm.4711; only a command with force goes through");
    power(x, 1, "power.off", true, 0);
    power(x, 1, "power.on", false, 0);
    beats_beat(x, 1, 1, ++x->seq[1], BOOT, "[]");
    watch_scheduler(x->w, beats_node(x, 1), WORK_BUSY, false);
    assert_string_equal(power(x, 1, "power.cycle", false, -EBUSY),
                        "work runs on it, as the scheduler says; only a command with force goes through");
    watch_scheduler(x->w, beats_node(x, 1), WORK_UNKNOWN, false);
    power(x, 1, "power.cycle", false, -EAGAIN);
    watch_scheduler(x->w, beats_node(x, 1), WORK_IDLE, false);
    power(x, 1, "power.cycle", false, 0);
    assert_string_equal(power(x, 2, "power.reset", false, -EAGAIN),
                        "what runs on it is not known, so work may; only a command with force goes through");
    cluster_put(x->c, "switch/stop", "{\"on\":true,\"by\":\"root\",\"at\":\"1\",\"why\":\"cooling\"}", NULL);
    assert_string_equal(power(x, 1, "power.on", true, -EBUSY), "everything is stopped: root: cooling");
    beats_destroy(x);
}

/* What was said last of a node that is silent by now is no proof. */
static void test_a_silent_node_may_have_work(void **state)
{
    struct beats *x = beats_create(1);
    beats_start(x, 1, 1);
    beats_run(x, 1);
    x->sends[1] = false;
    beats_run(x, 100);
    power(x, 1, "power.off", false, -EAGAIN);
    power(x, 1, "power.off", true, 0);
    beats_destroy(x);
}

static void test_what_changes_between_decision_and_call_stops_it(void **state)
{
    trace_walk("changed");
}

static void test_after_a_stall_nothing_is_done_until_nodes_were_asked(void **state)
{
    trace_walk("stalled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_power_command_asks_for_work),
        cmocka_unit_test(test_a_silent_node_may_have_work),
        cmocka_unit_test(test_what_changes_between_decision_and_call_stops_it),
        cmocka_unit_test(test_after_a_stall_nothing_is_done_until_nodes_were_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
