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

static void test_first_heard_is_admitted(void **state)
{
    struct beats *x = beats_create(2);
    beats_start(x, 1, 1);
    beats_run(x, 2);
    assert_string_equal(beats_said(x), "1: node.admitted lx01\n");
    assert_int_equal(beats_live(x, 2), LIVENESS_UNHEARD);
    beats_run(x, 200);
    assert_string_equal(beats_said(x), ""); /* lx02 was never heard: nothing is taken from it */
    beats_destroy(x);
}

static void test_very_many_are_admitted_in_turns(void **state)
{
    struct beats *x = beats_create(2600);
    for (int i = 1; i <= 2600; i++) {
        assert_int_equal(beats_open(x, i, (uint64_t)i, BOOT, x, NULL), 0);
        assert_int_equal(beats_beat(x, i, (uint64_t)i, 1, BOOT, "[]"), 0);
    }
    beats_run(x, 1);
    assert_string_equal(beats_said(x), "1: node.admitted lx[01-99,100-500]\n1: node.admitted lx[501-1000]\n");
    beats_tick(x);
    assert_string_equal(beats_said(x), "1: node.admitted lx[1001-1500]\n1: node.admitted lx[1501-2000]\n");
    beats_configure(x, 2400); /* what was found of the others does not count any more */
    beats_tick(x);
    assert_string_equal(beats_said(x), "1: node.admitted lx[2001-2400]\n");
    beats_tick(x);
    assert_string_equal(beats_said(x), "");
    beats_destroy(x);
}

static void test_drained_when_work_ends_draining_when_it_appears(void **state)
{
    struct beats *x = beats_create(4);
    beats_start(x, 1, 4);
    beats_run(x, 5);
    beats_said(x);
    x->sends[2] = false;
    beats_beat(x, 2, 2, 100, BOOT, "[\"job 7\"]");
    beats_drain(x, 2);
    beats_run(x, 3);
    assert_string_equal(beats_said(x), "");
    beats_beat(x, 2, 2, 101, BOOT, "[]");
    beats_run(x, 2);
    assert_string_equal(beats_said(x), "9: node.drained lx02\n");
    beats_beat(x, 2, 2, 102, BOOT, "[\"job 8\"]");
    beats_run(x, 2);
    assert_string_equal(beats_said(x), "11: node.draining lx02\n");
    beats_destroy(x);
}

static void test_unknown_work_never_drains(void **state)
{
    struct beats *x = beats_create(4);
    beats_start(x, 1, 4);
    beats_run(x, 5);
    beats_said(x);
    x->sends[2] = false;
    beats_beat(x, 2, 2, 100, BOOT, NULL);
    beats_drain(x, 2);
    beats_run(x, 3);
    assert_string_equal(beats_said(x), "");
    /* Another boot: what ran before runs no more, what runs now is not known yet. */
    beats_beat(x, 2, 2, 101, BOOT, "[\"job 7\"]");
    watch_close(x->w, beats_node(x, 2), &x->sends[2]);
    assert_int_equal(beats_open(x, 2, 77, BOOT2, &x->sends[2], NULL), 0);
    assert_int_equal(watch_observed(x->w, beats_node(x, 2))->work, WORK_UNKNOWN);
    beats_run(x, 3);
    assert_string_equal(beats_said(x), "9: node.admitted lx02\n"); /* and nothing is said of its work */
    beats_destroy(x);
}

static void test_a_late_node_s_work_is_old_news(void **state)
{
    struct beats *x = beats_create(4);
    beats_start(x, 1, 4);
    beats_run(x, 5);
    x->sends[2] = false;
    beats_run(x, 45);
    beats_said(x);
    beats_drain(x, 2);
    beats_run(x, 3);
    assert_string_equal(beats_said(x), "");
    beats_destroy(x);
}

static void test_the_unlisted_touch_nothing(void **state)
{
    struct beats *x = beats_create(3);
    beats_start(x, 1, 6);
    beats_run(x, 5);
    assert_string_equal(beats_said(x), "1: node.admitted lx[01-03]\n");
    assert_int_equal(beats_live(x, 5), LIVENESS_LIVE);
    x->sends[4] = x->sends[5] = x->sends[6] = false;
    beats_run(x, 200);
    assert_string_equal(beats_said(x), "");
    assert_int_equal(beats_live(x, 5), LIVENESS_SILENT);
    beats_configure(x, 6);
    beats_run(x, 2);
    assert_string_equal(beats_said(x), ""); /* never admitted */
    beats_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_heard_is_admitted),
        cmocka_unit_test(test_very_many_are_admitted_in_turns),
        cmocka_unit_test(test_drained_when_work_ends_draining_when_it_appears),
        cmocka_unit_test(test_unknown_work_never_drains),
        cmocka_unit_test(test_a_late_node_s_work_is_old_news),
        cmocka_unit_test(test_the_unlisted_touch_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
