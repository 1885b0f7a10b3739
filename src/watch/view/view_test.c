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

static void test_time_in_which_it_stood_still_is_no_silence(void **state)
{
    struct beats *x = beats_create(10);
    beats_start(x, 1, 10);
    beats_run(x, 100);
    beats_said(x);
    x->now_ms += 600000 - WATCH_TICK_MS;
    beats_tick(x);
    for (int i = 1; i <= 10; i++)
        assert_int_equal(beats_live(x, i), LIVENESS_LIVE);
    beats_run(x, 60);
    assert_string_equal(beats_said(x), "");
    beats_destroy(x);
}

/* What waited in the sockets is read before the timers run: it must not be heard in the future. */
static void test_heard_before_the_first_tick_after_it_stood_still(void **state)
{
    struct beats *x = beats_create(10);
    beats_start(x, 1, 10);
    beats_run(x, 100);
    beats_said(x);
    x->now_ms += 600000;
    for (int i = 1; i <= 10; i++)
        assert_int_equal(beats_beat(x, i, (uint64_t)i, ++x->seq[i], BOOT, "[]"), 0);
    x->sends[3] = false;
    beats_run(x, 40);
    assert_string_equal(beats_said(x), "730: node.late lx03: not heard of late; takes no new work\n");
    beats_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_in_which_it_stood_still_is_no_silence),
        cmocka_unit_test(test_heard_before_the_first_tick_after_it_stood_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
