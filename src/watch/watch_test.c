/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/beats_test.h"
#include "watch/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_second_live_agent_is_noticed(void **state)
{
    struct beats *x = beats_create(4);
    int other;
    struct err e;
    beats_start(x, 1, 4);
    beats_run(x, 5);
    beats_said(x);
    assert_int_equal(beats_open(x, 2, 99, BOOT, &other, &e), -EBUSY);
    assert_string_equal(e.msg, "another live agent has this name");
    assert_string_equal(beats_said(x),
                        "5: node.duplicate lx02: a second agent claims the name and is refused: its "
                        "key is 0000000000000000, the other's 0000000000000000\n");
    assert_ptr_equal(watch_observed(x->w, beats_node(x, 2))->session, &x->sends[2]);
    watch_close(x->w, beats_node(x, 2), &other); /* the stranger's end is not the session's */
    assert_ptr_equal(watch_observed(x->w, beats_node(x, 2))->session, &x->sends[2]);
    beats_destroy(x);
}

/* The other end of the old connection is long gone, and the controller was not told. */
static void test_a_rebooted_node_takes_its_place_when_the_old_is_late(void **state)
{
    struct beats *x = beats_create(4);
    int other;
    beats_start(x, 1, 4);
    beats_run(x, 5);
    x->sends[2] = false;
    beats_run(x, 20);
    assert_int_equal(beats_open(x, 2, 99, BOOT2, &other, NULL), -EBUSY);
    beats_run(x, 12);
    assert_int_equal(beats_open(x, 2, 99, BOOT2, &other, NULL), 0);
    assert_int_equal(beats_beat(x, 2, 99, 1, BOOT2, "[]"), 0);
    beats_said(x);
    assert_int_equal(beats_open(x, 2, 2, BOOT, &x->sends[2], NULL), -EACCES);
    assert_string_equal(beats_said(x),
                        "37: node.duplicate lx02: a second agent claims the name and is refused: its "
                        "key is 0000000000000000, the other's 0000000000000000\n");
    beats_destroy(x);
}

/* An agent that starts anew between two batches of its collector comes as another instance in the
 * same session. */
static void test_a_collector_s_word_for_another_instance(void **state)
{
    struct beats *x = beats_create(4);
    beats_start(x, 1, 4);
    assert_int_equal(beats_open(x, 2, 99, BOOT, &x->sends[2], NULL), 0);
    assert_int_equal(beats_beat(x, 2, 99, 1, BOOT, "[]"), 0);
    assert_int_equal(beats_beat(x, 2, 2, 1000, BOOT, "[]"), -EBUSY);
    beats_destroy(x);
}

static void test_another_boot_s_heartbeat(void **state)
{
    struct beats *x = beats_create(4);
    beats_start(x, 1, 4);
    x->sends[2] = false;
    beats_run(x, 40);
    beats_said(x);
    assert_int_equal(beats_beat(x, 2, 2, 100, BOOT2, "[]"), -EBUSY);
    assert_int_equal(beats_beat(x, 2, 2, 1, BOOT, "[]"), -EALREADY);
    assert_int_equal(beats_beat(x, 2, 7, 100, BOOT, "[]"), -EBUSY);
    beats_run(x, 2);
    assert_string_equal(beats_said(x), "");
    assert_int_equal(beats_live(x, 2), LIVENESS_LATE);
    beats_destroy(x);
}

static void test_a_bad_boot_id(void **state)
{
    struct beats *x = beats_create(1);
    struct err e;
    assert_int_equal(beats_open(x, 1, 1, "yesterday", x, &e), -EINVAL);
    assert_string_equal(e.msg, "\"yesterday\" is not a boot id");
    assert_null(watch_observed(x->w, beats_node(x, 1))->session);
    beats_destroy(x);
}

/* A hundred thousand: so many looks make a sweep, none of its steps is longer, and what it finds is proposed
 * when all were looked at. */
static void test_a_sweep_is_made_of_steps(void **state)
{
    enum { ALL = 100000, NODES_A_STEP = 100 };
    struct beats *x = beats_create(ALL);
    beats_come(x, 100);
    size_t steps = 0;
    for (int i = 0; i < WATCH_SLICES; i++) {
        assert_string_equal(beats_said(x), "");
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, beats_now(x), (struct wall){1});
        while (watch_step(x->w, NODES_A_STEP))
            steps++;
    }
    assert_string_equal(beats_said(x), "1: node.admitted lx[01-99,100]\n");
    assert_in_range(steps, ALL / NODES_A_STEP, ALL / NODES_A_STEP + 50);
    beats_destroy(x);
}

/* Pieces that come late make a sweep longer, and leave nobody out. */
static void test_a_sweep_waits_for_its_steps(void **state)
{
    struct beats *x = beats_create(100);
    beats_come(x, 100);
    for (int i = 0; i < 3 * WATCH_SLICES; i++) {
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, beats_now(x), (struct wall){1});
        watch_step(x->w, 3);
    }
    assert_string_equal(beats_said(x), "");
    beats_run(x, 1);
    assert_string_equal(beats_said(x), "3: node.admitted lx[01-99,100]\n");
    beats_destroy(x);
}

/* For people only, and until the node reports itself. */
static void test_knowledge_of_an_earlier_controller_is_shown_until_the_node_reports(void **state)
{
    struct world *x = world_create(1);
    struct member *m = world_node(x, 1);
    world_lead_anew(x);
    assert_int_equal(watch_contact(x->w, m).ns, 0);
    assert_null(watch_report(x->w, m)->json);
    watch_remember(x->w, m, (struct wall){7});
    CLEANUP_JSON json_t *inventory = json_pack("{s:i}", "CPUs", 9);
    watch_remember_report(x->w, m, inventory);
    assert_int_equal(watch_contact(x->w, m).ns, 7);
    assert_non_null(strstr(watch_report(x->w, m)->json, "\"CPUs\":9"));
    watch_remember_report(x->w, m, inventory); /* the same again */
    world_open(x, 1, 1);
    assert_true(watch_contact(x->w, m).ns > 7);
    assert_non_null(strstr(watch_report(x->w, m)->json, "\"CPUs\":4"));
    watch_remember_report(x->w, m, inventory); /* it comes too late */
    assert_non_null(strstr(watch_report(x->w, m)->json, "\"CPUs\":4"));
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_second_live_agent_is_noticed),
        cmocka_unit_test(test_a_rebooted_node_takes_its_place_when_the_old_is_late),
        cmocka_unit_test(test_a_collector_s_word_for_another_instance),
        cmocka_unit_test(test_another_boot_s_heartbeat),
        cmocka_unit_test(test_a_bad_boot_id),
        cmocka_unit_test(test_a_sweep_is_made_of_steps),
        cmocka_unit_test(test_a_sweep_waits_for_its_steps),
        cmocka_unit_test(test_knowledge_of_an_earlier_controller_is_shown_until_the_node_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
