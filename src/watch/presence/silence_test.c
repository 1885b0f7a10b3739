/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/beats_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_late_then_down_then_back(void **state)
{
    struct beats *x = beats_create(10);
    beats_start(x, 1, 10);
    beats_run(x, 100);
    beats_said(x);
    x->sends[3] = false; /* last heard at 90.3 */
    beats_run(x, 29);
    assert_string_equal(beats_said(x), "120: node.late lx03: not heard of late; takes no new work\n");
    beats_run(x, 70);
    assert_string_equal(beats_said(x), "180: node.silent lx03\n");
    x->sends[3] = true;
    beats_run(x, 20);
    assert_string_equal(beats_said(x), "200: node.live lx03: heard again\n201: node.heard lx03\n");
    assert_int_equal(beats_node(x, 3)->n_claims, 0);
    beats_destroy(x);
}

static void test_back_within_grace_was_never_disturbed(void **state)
{
    struct beats *x = beats_create(10);
    beats_start(x, 1, 10);
    beats_run(x, 100);
    beats_said(x);
    x->sends[3] = false;
    beats_run(x, 79);
    x->sends[3] = true;
    beats_run(x, 30);
    assert_string_equal(beats_said(x), "120: node.late lx03: not heard of late; takes no new work\n"
                                       "180: node.live lx03: heard again\n");
    assert_int_equal(beats_node(x, 3)->n_claims, 0);
    beats_destroy(x);
}

static void test_sensitive_and_borrowed_nodes(void **state)
{
    struct beats *x = beats_create(20);
    beats_start(x, 1, 20);
    beats_set(x, 3, FIELD_SENSITIVE);
    beats_set(x, 4, FIELD_BORROWED);
    beats_run(x, 100);
    beats_said(x);
    x->sends[3] = x->sends[4] = false;
    beats_run(x, 119);
    assert_string_equal(beats_said(x), "120: node.late lx04: not heard of late; takes no new work\n"
                                       "150: node.silent lx04\n"
                                       "210: node.late lx03: not heard of late; takes no new work\n");
    beats_run(x, 300);
    assert_string_equal(beats_said(x), "510: node.silent lx03\n");
    beats_destroy(x);
}

static void test_a_restart_waits_a_full_window(void **state)
{
    struct beats *x = beats_create(10);
    x->policy.spread = span_s(15);
    beats_start(x, 1, 10);
    beats_run(x, 100);
    beats_said(x);
    memset(x->sends, 0, sizeof x->sends);
    beats_lead_anew(x);
    assert_int_equal(beats_live(x, 1), LIVENESS_UNHEARD);
    beats_run(x, 60);
    beats_start(x, 1, 9);
    beats_run(x, 44);
    assert_string_equal(beats_said(x), "");
    beats_run(x, 5);
    assert_string_equal(beats_said(x), "205: node.silent lx10\n");
    beats_destroy(x);
}

static void test_nodes_whose_collector_was_lost_have_a_window(void **state)
{
    struct beats *x = beats_create(10);
    beats_start(x, 1, 10);
    beats_run(x, 100);
    beats_said(x);
    x->sends[3] = false;
    beats_run(x, 60);
    watch_excuse(x->w, beats_now(x), span_s(0), beats_node(x, 3));
    assert_int_equal(beats_live(x, 3), LIVENESS_LIVE);
    beats_run(x, 88);
    assert_string_equal(beats_said(x), "120: node.late lx03: not heard of late; takes no new work\n"
                                       "190: node.late lx03: not heard of late; takes no new work\n");
    beats_run(x, 4);
    assert_string_equal(beats_said(x), "250: node.silent lx03\n");
    beats_destroy(x);
}

static void vouched(struct beats *x, int i, int collector)
{
    void *old;
    bool want;
    const struct hello h = {.name = beats_node(x, i)->name,
                            .version = "1",
                            .boot = BOOT,
                            .instance = (uint64_t)i,
                            .inventory = ""};
    x->sends[i] = false;
    assert_int_equal(watch_open(x->w, beats_now(x), beats_node(x, i), &h, &x->sends[collector],
                                beats_node(x, collector), &want, &old, NULL),
                     0);
    watch_vouch(x->w, beats_now(x), (struct wall){1}, beats_node(x, i));
}

/* lx02 collects for lx03, which was heard last at 100. */
static struct beats *collected(void)
{
    struct beats *x = beats_create(10);
    beats_start(x, 1, 10);
    beats_run(x, 100);
    vouched(x, 3, 2);
    beats_said(x);
    return x;
}

static void test_silence_counts_from_when_the_collector_heard_it(void **state)
{
    struct beats *x = collected();
    beats_run(x, 15);
    watch_missed(x->w, beats_now(x), span_s(20), beats_node(x, 3));
    beats_run(x, 74);
    assert_string_equal(beats_said(x), "125: node.late lx03: not heard of late; takes no new work\n");
    beats_run(x, 1);
    watch_missed(x->w, beats_now(x), span_ms(95000), beats_node(x, 3));
    beats_run(x, 1);
    assert_string_equal(beats_said(x), "190: node.silent lx03\n");
    beats_destroy(x);
}

/* A collector that says nothing proves nothing about its nodes: they wait until it is given up, or speaks. */
static void test_nobody_is_taken_down_while_its_collector_is_silent(void **state)
{
    struct beats *x = collected();
    x->sends[2] = false; /* last heard at 90.2 */
    beats_run(x, 97);
    assert_string_equal(beats_said(x), "120: node.late lx02: not heard of late; takes no new work\n"
                                       "130: node.late lx03: not heard of late; takes no new work\n"
                                       "180: node.silent lx02\n");
    assert_int_equal(beats_live(x, 3), LIVENESS_LATE);
    x->sends[2] = true;
    beats_run(x, 5);
    assert_string_equal(beats_said(x),
                        "200: node.live lx02: heard again\n200: node.silent lx03\n201: node.heard lx02\n");
    beats_destroy(x);
}

static void test_a_shorter_timeout_begins_with_a_window(void **state)
{
    struct beats *x = beats_create(10);
    x->policy.plain = (struct beat_timeouts){span_s(450), span_s(600)};
    x->policy.quiet = span_s(450);
    watch_set_policy(x->w, &x->policy);
    beats_start(x, 1, 10);
    beats_run(x, 5);
    memset(x->sends, 0, sizeof x->sends);
    beats_run(x, 300);
    beats_said(x);
    x->policy.plain = (struct beat_timeouts){span_s(30), span_s(90)};
    x->policy.quiet = span_s(30);
    watch_set_policy(x->w, &x->policy);
    beats_run(x, 29);
    assert_string_equal(beats_said(x), "");
    watch_set_policy(x->w, &x->policy); /* the same again excuses nobody */
    beats_run(x, 4);
    assert_int_equal(beats_live(x, 1), LIVENESS_LATE);
    assert_int_equal(beats_live(x, 10), LIVENESS_LATE);
    beats_destroy(x);
}

static void test_nobody_is_judged_without_heartbeats(void **state)
{
    struct beats *x = beats_create(10);
    x->policy.judge = false;
    watch_set_policy(x->w, &x->policy);
    beats_start(x, 1, 10);
    memset(x->sends, 0, sizeof x->sends);
    beats_run(x, 1000);
    assert_string_equal(beats_said(x), "1: node.admitted lx[01-10]\n");
    assert_int_equal(beats_live(x, 1), LIVENESS_LIVE);
    x->policy.judge = true;
    watch_set_policy(x->w, &x->policy);
    beats_run(x, 25);
    assert_string_equal(beats_said(x), "");
    beats_destroy(x);
}

static void test_mass_silence_raises_one_alarm(void **state)
{
    struct beats *x = beats_create(12);
    size_t silent, all;
    beats_start(x, 1, 12);
    beats_run(x, 100);
    beats_said(x);
    for (int i = 1; i <= 4; i++)
        x->sends[i] = false;
    beats_run(x, 300);
    assert_string_equal(
        beats_said(x),
        "120: node.late lx[01-02]: not heard of late; takes no new work\n"
        "120: node.late lx[03-04]: not heard of late; takes no new work\n"
        "121: alarm.silence : 4 of 12 nodes are silent at once, more than 25 %: no node is taken down "
        "until fewer are\n");
    assert_true(watch_alarm(x->w, &silent, &all));
    assert_int_equal(silent, 4);
    assert_int_equal(all, 12);
    for (int i = 1; i <= 3; i++)
        x->sends[i] = true;
    beats_run(x, 88);
    assert_string_equal(beats_said(x),
                        "400: node.live lx[01-02]: heard again\n"
                        "400: node.live lx03: heard again\n"
                        "401: alarm.over : 1 of 12 nodes are silent; nodes are judged again\n");
    assert_false(watch_alarm(x->w, &silent, &all));
    beats_run(x, 10);
    assert_string_equal(beats_said(x), "491: node.silent lx04\n"); /* a full window after the alarm */
    beats_destroy(x);
}

static void test_few_nodes_raise_no_alarm(void **state)
{
    struct beats *x = beats_create(5);
    beats_start(x, 1, 5);
    beats_run(x, 100);
    beats_said(x);
    x->sends[1] = x->sends[2] = false;
    beats_run(x, 100);
    assert_string_equal(beats_said(x), "120: node.late lx[01-02]: not heard of late; takes no new work\n"
                                       "180: node.silent lx01\n180: node.silent lx02\n");
    beats_destroy(x);
}

/* All fall silent in the same moment, and the moment falls into the middle of a sweep. */
static void test_a_sweep_s_first_half_is_no_minority(void **state)
{
    for (int64_t offset = 0; offset < 1000; offset += 100) {
        struct beats *x = beats_create(20);
        beats_start(x, 1, 20);
        beats_run(x, 2);
        memset(x->sends, 0, sizeof x->sends);
        x->now_ms += offset;
        beats_lead_anew(x); /* everybody has the same window */
        beats_said(x);
        beats_run(x, 200);
        assert_null(strstr(beats_said(x), "node.silent"));
        beats_destroy(x);
    }
}

static void test_nodes_held_already_raise_no_alarm(void **state)
{
    struct beats *x = beats_create(12);
    beats_start(x, 1, 12);
    beats_run(x, 100);
    for (int i = 1; i <= 12; i += 2) {
        x->sends[i] = false;
        beats_run(x, 100);
    }
    assert_null(strstr(beats_said(x), "alarm"));
    beats_destroy(x);
}

static size_t how_many_are(const struct beats *x, int n, enum liveness is)
{
    size_t count = 0;
    for (int i = 1; i <= n; i++)
        count += beats_live(x, i) == is;
    return count;
}

/* All are due in one tick: none is looked at beyond what is allowed, nor left out. */
static void test_a_step_judges_the_silence_of_so_many_at_most(void **state)
{
    struct beats *x = beats_create(100);
    beats_come(x, 100);
    beats_run(x, 29);
    beats_said(x);
    while (how_many_are(x, 100, LIVENESS_LATE) == 0) {
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, beats_now(x), (struct wall){1});
        watch_step(x->w, 9);
    }
    assert_int_equal(how_many_are(x, 100, LIVENESS_LATE), 9);
    for (size_t late = 18; late < 100; late += 9) {
        assert_true(watch_step(x->w, 9));
        assert_int_equal(how_many_are(x, 100, LIVENESS_LATE), late);
    }
    beats_run(x, 1);
    assert_non_null(strstr(beats_said(x), "node.late lx[01-99,100]: not heard of late"));
    beats_destroy(x);
}

/* Nothing that is judged on the whole is judged on a part: half of the nodes were looked at when silence was
 * found, and the alarm waits for the end. */
static void test_mass_silence_is_judged_when_all_were_looked_at(void **state)
{
    struct beats *x = beats_create(40);
    size_t silent, all;
    beats_come(x, 40);
    beats_run(x, 35);
    assert_true(watch_alarm(x->w, &silent, &all));
    beats_said(x);
    for (int i = 1; i <= 40; i++)
        beats_beat(x, i, (uint64_t)i, 2, BOOT, "[]");
    for (int i = 0; i < WATCH_SLICES; i++) {
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, beats_now(x), (struct wall){1});
        for (int k = 0; k < (i < WATCH_SLICES - 1 ? 50 : 3); k++)
            watch_step(x->w, 1);
    }
    assert_true(watch_alarm(x->w, &silent, &all));
    beats_run(x, 1);
    assert_false(watch_alarm(x->w, &silent, &all));
    beats_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_then_down_then_back),
        cmocka_unit_test(test_back_within_grace_was_never_disturbed),
        cmocka_unit_test(test_sensitive_and_borrowed_nodes),
        cmocka_unit_test(test_a_restart_waits_a_full_window),
        cmocka_unit_test(test_nodes_whose_collector_was_lost_have_a_window),
        cmocka_unit_test(test_silence_counts_from_when_the_collector_heard_it),
        cmocka_unit_test(test_nobody_is_taken_down_while_its_collector_is_silent),
        cmocka_unit_test(test_a_shorter_timeout_begins_with_a_window),
        cmocka_unit_test(test_nobody_is_judged_without_heartbeats),
        cmocka_unit_test(test_mass_silence_raises_one_alarm),
        cmocka_unit_test(test_few_nodes_raise_no_alarm),
        cmocka_unit_test(test_a_sweep_s_first_half_is_no_minority),
        cmocka_unit_test(test_nodes_held_already_raise_no_alarm),
        cmocka_unit_test(test_a_step_judges_the_silence_of_so_many_at_most),
        cmocka_unit_test(test_mass_silence_is_judged_when_all_were_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
