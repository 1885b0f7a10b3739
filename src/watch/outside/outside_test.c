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

static const char CHECKS[] = "Check=space Probe=fs.space Path=/ Every=60s\n";

static struct clinic *open_clinic(size_t n)
{
    const struct health_policy policy = {.limits.act = true,
                                         .limits.percent[SCOPE_CLUSTER] = 50,
                                         .limits.percent[SCOPE_CLASS] = 50,
                                         .limits.percent[SCOPE_GROUP] = 50,
                                         .limits.percent[SCOPE_PARTITION] = 50,
                                         .limits.surge = 100,
                                         .limits.surge_window = span_s(600),
                                         .shared = 5,
                                         .shared_window = span_s(180),
                                         .group = span_s(180),
                                         .fresh = span_s(120),
                                         .provision_deadline = span_s(1800),
                                         .limits.remedies_a_week = 5};
    struct clinic *d = clinic_create(n, CHECKS, &policy);
    d->x->uptime_s = UINT64_C(3) * 86400;
    world_open(d->x, 1, (int)n);
    world_run(d->x, 2);
    text_clear(&d->x->log);
    return d;
}

static int says(struct clinic *d, int i, const char *check, int status, int64_t age_s)
{
    struct verdict v;
    struct err e = {0};
    verdict_clear(&v);
    if (status == 3)
        verdict_cannot(&v, RESULT_UNKNOWN, "cannot say");
    else if (status)
        verdict_add(&v, status == 1 ? RESULT_WARN : RESULT_FATAL, "", "", "it is bad");
    int rc = watch_event(d->x->w, world_now(d->x), world_wall(d->x), world_node(d->x, i), check, &v,
                         span_s(age_s), &e);
    if (rc < 0)
        assert_true(e.code == rc && strlen(e.msg) > 5);
    return rc;
}

static size_t count_open(struct clinic *d, int i)
{
    const struct ailment *a = member_ailment(world_node(d->x, i));
    return a ? a->n_open : 0;
}

static enum step step_of(struct clinic *d, int i)
{
    const struct repair *r = member_repair(world_node(d->x, i));
    return r ? r->step : STEP_NONE;
}

static void test_a_bad_word_opens_an_incident_and_a_good_one_closes_it(void **state)
{
    struct clinic *d = open_clinic(4);
    assert_int_equal(says(d, 1, "sensu.ntp", 1, 0), 0);
    assert_int_equal(count_open(d, 1), 1);
    assert_string_equal(member_ailment(world_node(d->x, 1))->open[0].findings[0].check, "sensu.ntp");
    assert_int_equal(step_of(d, 1), STEP_NONE);
    world_run(d->x, 30);
    assert_int_equal(count_open(d, 1), 1);
    assert_int_equal(says(d, 1, "sensu.ntp", 0, 0), 0);
    world_run(d->x, 2);
    assert_int_equal(count_open(d, 1), 0);
    clinic_destroy(d);
}

static void test_a_fatal_word_isolates(void **state)
{
    struct clinic *d = open_clinic(4);
    assert_int_equal(says(d, 1, "sensu.disk", 2, 1), 0);
    assert_int_equal(step_of(d, 1), STEP_ISOLATE);
    assert_int_equal(watch_health(d->x->w, world_now(d->x), world_node(d->x, 1)), HEALTH_FATAL);
    assert_int_equal(step_of(d, 2), STEP_NONE);
    clinic_destroy(d);
}

static void test_an_old_word_is_recorded_and_nothing_follows(void **state)
{
    struct clinic *d = open_clinic(4);
    world_run(d->x, 600);
    assert_int_equal(says(d, 1, "sensu.disk", 2, 121), 0);
    world_run(d->x, 10);
    assert_int_equal(count_open(d, 1), 1);
    assert_int_equal(step_of(d, 1), STEP_NONE);
    clinic_destroy(d);
}

static void test_a_word_of_before_the_boot_or_the_last_word_is_refused(void **state)
{
    struct clinic *d = open_clinic(4);
    assert_int_equal(says(d, 1, "sensu.disk", 2, 7 * 86400), -ESTALE);
    world_run(d->x, 60);
    assert_int_equal(says(d, 1, "sensu.disk", 0, 5), 0);
    assert_int_equal(says(d, 1, "sensu.disk", 2, 6), -ESTALE);
    assert_int_equal(count_open(d, 1), 0);
    clinic_destroy(d);
}

static void test_an_event_of_an_unknown_or_unheard_node_is_refused(void **state)
{
    struct clinic *d = open_clinic(4);
    struct verdict v;
    verdict_clear(&v);
    struct member *stranger = cluster_meet(d->x->c, "stranger");
    assert_int_equal(
        watch_event(d->x->w, world_now(d->x), world_wall(d->x), stranger, "sensu.x", &v, span_s(0), NULL),
        -ENOENT);
    assert_int_equal(says(d, 1, "space", 2, 0), -EINVAL);
    assert_int_equal(says(d, 1, "disk", 2, 0), -EINVAL);
    world_lead_anew(d->x);
    assert_int_equal(says(d, 1, "sensu.x", 2, 0), -EAGAIN);
    clinic_destroy(d);
}

static void test_a_boot_ends_findings_and_closes_nothing(void **state)
{
    struct clinic *d = open_clinic(4);
    assert_int_equal(says(d, 1, "sensu.ntp", 1, 0), 0);
    world_reboot(d->x, 1);
    world_run(d->x, 60);
    assert_int_equal(count_open(d, 1), 1);
    assert_int_equal(says(d, 1, "sensu.ntp", 0, 0), 0);
    world_run(d->x, 2);
    assert_int_equal(count_open(d, 1), 0);
    clinic_destroy(d);
}

static void test_a_sender_that_cannot_say_closes_nothing(void **state)
{
    struct clinic *d = open_clinic(4);
    assert_int_equal(says(d, 1, "sensu.ntp", 1, 0), 0);
    assert_int_equal(says(d, 1, "sensu.ntp", 3, 0), 0);
    world_run(d->x, 60);
    assert_int_equal(count_open(d, 1), 1);
    clinic_destroy(d);
}

struct counting {
    unsigned n;
    enum result result;
};

static void count_said(void *arg, const struct said *s)
{
    struct counting *c = arg;
    if (strncmp(s->check->name, "sensu.", 6) != 0)
        return;
    c->n++;
    c->result = s->verdict.result;
}

static struct counting counted_of(struct clinic *d, int i)
{
    struct counting c = {0};
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, i), count_said, &c);
    return c;
}

static void test_after_a_day_without_a_word_it_is_unknown(void **state)
{
    struct clinic *d = open_clinic(2);
    assert_int_equal(says(d, 1, "sensu.ntp", 1, 0), 0);
    assert_int_equal(counted_of(d, 1).n, 1);
    assert_int_equal(counted_of(d, 1).result, RESULT_WARN);
    world_run(d->x, 86400 + 10);
    assert_int_equal(counted_of(d, 1).result, RESULT_UNKNOWN);
    assert_int_equal(count_open(d, 1), 1);
    clinic_destroy(d);
}

static void test_there_is_room_for_so_many_checks_and_those_that_are_well_make_room(void **state)
{
    struct clinic *d = open_clinic(2);
    char name[32];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "sensu.ok%d", i);
        assert_int_equal(says(d, 1, name, 0, 0), 0);
    }
    assert_int_equal(counted_of(d, 1).n, 32);
    for (int i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "sensu.bad%d", i);
        assert_int_equal(says(d, 1, name, 1, 0), 0);
    }
    assert_int_equal(says(d, 1, "sensu.one-more", 1, 0), -ENOSPC);
    assert_int_equal(counted_of(d, 1).n, 32);
    clinic_destroy(d);
}

static void test_a_check_that_is_bad_everywhere_isolates_few(void **state)
{
    struct clinic *d = open_clinic(40);
    unsigned out = 0;
    for (int i = 1; i <= 40; i++)
        says(d, i, "sensu.broken", 0, 0);
    for (int i = 1; i <= 40; i++)
        says(d, i, "sensu.broken", 2, 0);
    world_run(d->x, 5);
    for (int i = 1; i <= 40; i++)
        out += step_of(d, i) != STEP_NONE;
    assert_true(out < 5);
    assert_non_null(strstr(d->x->log.s, "alarm.shared"));
    for (int i = 1; i <= 40; i++)
        says(d, i, "sensu.broken", 0, 0);
    world_run(d->x, 5);
    assert_null(cluster_shared(d->x->c, "sensu.broken class default"));
    clinic_destroy(d);
}

static void test_in_provisioning_one_that_says_no_more_holds_nothing_up(void **state)
{
    struct clinic *d = open_clinic(4);
    world_run(d->x, 30);
    assert_int_equal(says(d, 1, "sensu.gone", 2, 0), 0);
    world_run(d->x, 5);
    if (step_of(d, 1) != STEP_QUEUE) /* no remedies: it waits for a person once it is idle */
        d->x->work[1] = "[]";
    world_run(d->x, 60);
    assert_int_equal(step_of(d, 1), STEP_QUEUE);
    assert_int_equal(world_command_for(d->x, COMMAND_TRANSITION, "lx01", "the check is gone",
                                       "{\"transition\":\"human_intervention\"}"),
                     0);
    assert_int_equal(step_of(d, 1), STEP_PROVISION);
    world_run(d->x, 500);
    assert_int_equal(count_open(d, 1), 1);
    world_run(d->x, 120);
    assert_int_equal(count_open(d, 1), 0);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bad_word_opens_an_incident_and_a_good_one_closes_it),
        cmocka_unit_test(test_a_fatal_word_isolates),
        cmocka_unit_test(test_an_old_word_is_recorded_and_nothing_follows),
        cmocka_unit_test(test_a_word_of_before_the_boot_or_the_last_word_is_refused),
        cmocka_unit_test(test_an_event_of_an_unknown_or_unheard_node_is_refused),
        cmocka_unit_test(test_a_boot_ends_findings_and_closes_nothing),
        cmocka_unit_test(test_a_sender_that_cannot_say_closes_nothing),
        cmocka_unit_test(test_after_a_day_without_a_word_it_is_unknown),
        cmocka_unit_test(test_there_is_room_for_so_many_checks_and_those_that_are_well_make_room),
        cmocka_unit_test(test_a_check_that_is_bad_everywhere_isolates_few),
        cmocka_unit_test(test_in_provisioning_one_that_says_no_more_holds_nothing_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
