/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"
#include "watch/conform/baseline_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The configuration names n nodes from now on. */
static void list_only(struct world *x, size_t n, const struct class_lines *classes, size_t n_classes)
{
    size_t all = x->n;
    x->n = n;
    world_configure(x, classes, n_classes, "");
    x->n = all;
    text_clear(&x->log);
    world_run(x, 3);
}

static void assert_alarm(const struct world *x, enum alarm_kind kind, const char *subject, bool stands)
{
    const struct alarm *a = watch_alarms(x->w);
    while (a && !(a->kind == kind && strcmp(a->subject, subject) == 0))
        a = a->next;
    assert_int_equal(a != NULL, stands);
}

static void test_the_alarm_of_a_drifted_node_ends_when_no_file_names_the_node(void **state)
{
    struct world *x = conformant(3, &reboots, "");
    world_says(x, 3, 3, "kernel.release=6.1 nic.count=1 package.bash=5.1");
    world_run(x, 3);
    assert_non_null(strstr(x->log.s, "alarm.drift lx03: critical drift"));
    list_only(x, 2, &reboots, 1);
    assert_non_null(strstr(x->log.s, "none of these nodes drifts any more"));
    assert_null(watch_alarms(x->w));
    world_destroy(x);
}

static void test_the_alarm_of_a_class_ends_with_the_class(void **state)
{
    struct world *x = conformant(12, &reboots, "");
    world_says(x, 2, 5, B);
    world_run(x, 3);
    assert_alarm(x, ALARM_DRIFT, "class gpu", true);
    list_only(x, 12, NULL, 0);
    assert_non_null(strstr(x->log.s, "alarm.over class gpu: there is no such class any more"));
    assert_alarm(x, ALARM_DRIFT, "class gpu", false);
    world_destroy(x);
}

static void test_the_alarm_of_a_node_that_lies_ends_when_no_file_names_the_node(void **state)
{
    struct world *x = conformant(3, NULL, "");
    struct err e;
    assert_true(world_claims(x, 3, B));
    assert_int_equal(world_sends(x, 3, B, A, 9, &e), -EBADMSG);
    assert_alarm(x, ALARM_FINGERPRINT, "lx03", true);
    world_run(x, 3);
    assert_alarm(x, ALARM_FINGERPRINT, "lx03", true);
    list_only(x, 2, NULL, 0);
    assert_non_null(strstr(x->log.s, "alarm.over lx03: the node has shown a list that is right, or is no "
                                     "longer listed"));
    world_destroy(x);
}

static void test_the_shell_ends_the_alarms_that_it_raised(void **state)
{
    struct world *x = world_create(1);
    watch_alarm_raise(x->w, ALARM_CLOCK, "", "lx01", "slow", world_wall(x));
    world_said(x, "alarm.clock lx01: slow\n");
    world_run(x, 5);
    assert_alarm(x, ALARM_CLOCK, "", true);
    text_clear(&x->log);
    watch_alarm_end(x->w, ALARM_CLOCK, "", "it is set");
    world_said(x, "alarm.over : it is set\n");
    assert_null(watch_alarms(x->w));
    world_destroy(x);
}

/* A new leader tells the alarm of a cause that its predecessor found. */
static void test_the_alarm_of_a_shared_cause_stands_as_long_as_its_record(void **state)
{
    struct clinic *d = clinic_open(20);
    struct world *x = d->x;
    x->policy.health.shared = 4;
    x->policy.health.shared_window = span_s(180);
    watch_set_policy(x->w, &x->policy);
    for (int i = 1; i <= 20; i++)
        clinic_tells(d, i, true, i <= 5 ? CLINIC_ILL : CLINIC_WELL);
    world_run(x, 2);
    assert_non_null(watch_alarms(x->w));
    assert_int_equal(watch_alarms(x->w)->kind, ALARM_SHARED);
    world_lead_anew(x);
    assert_null(watch_alarms(x->w));
    world_run(x, 2);
    assert_non_null(watch_alarms(x->w));
    assert_non_null(strstr(watch_alarms(x->w)->text, "one cause: "));
    assert_non_null(strstr(watch_alarms(x->w)->text, "; nobody is isolated for it"));
    world_open(x, 1, 20);
    for (int i = 1; i <= 20; i++)
        clinic_tells(d, i, true, CLINIC_WELL);
    text_clear(&x->log);
    world_run(x, 5);
    assert_null(watch_alarms(x->w));
    assert_non_null(strstr(x->log.s, "the shared cause is over"));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_alarm_of_a_drifted_node_ends_when_no_file_names_the_node),
        cmocka_unit_test(test_the_alarm_of_a_class_ends_with_the_class),
        cmocka_unit_test(test_the_alarm_of_a_node_that_lies_ends_when_no_file_names_the_node),
        cmocka_unit_test(test_the_shell_ends_the_alarms_that_it_raised),
        cmocka_unit_test(test_the_alarm_of_a_shared_cause_stands_as_long_as_its_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
