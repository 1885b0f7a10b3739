/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_work_is_idle_only_when_both_say_so(void **state)
{
    struct clinic *d = clinic_open(2);
    struct member *m = world_node(d->x, 1);
    assert_int_equal(watch_work(d->x->w, m), WORK_IDLE);
    watch_scheduler(d->x->w, m, WORK_UNKNOWN, false);
    assert_int_equal(watch_work(d->x->w, m), WORK_UNKNOWN);
    watch_scheduler(d->x->w, m, WORK_IDLE, true);
    assert_int_equal(watch_work(d->x->w, m), WORK_BUSY);
    watch_scheduler(d->x->w, m, WORK_IDLE, false);
    assert_int_equal(watch_work(d->x->w, m), WORK_IDLE);
    d->x->work[1] = NULL;
    world_run(d->x, 10);
    assert_int_equal(watch_work(d->x->w, m), WORK_UNKNOWN);
    watch_scheduler(d->x->w, m, WORK_BUSY, false);
    assert_int_equal(watch_work(d->x->w, m), WORK_BUSY);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_is_idle_only_when_both_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
