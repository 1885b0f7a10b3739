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

/* lx01 is ill and isolated, and lx02 is well; the scheduler has work on both. */
static struct clinic *busy_clinic(void)
{
    struct clinic *d = clinic_open(20);
    for (int i = 1; i <= 2; i++) {
        clinic_tells(d, i, true, CLINIC_WELL);
        watch_scheduler(d->x->w, world_node(d->x, i), WORK_BUSY, false);
    }
    clinic_tells(d, 1, false, CLINIC_ILL);
    world_run(d->x, 2);
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_ISOLATE);
    return d;
}

static void note_name(void *arg, struct member *m)
{
    text_printf(arg, "%s ", m->name);
}

/* Which nodes are to be asked for whose jobs run there. */
static void assert_jobless(struct clinic *d, const char *names)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    watch_jobless(d->x->w, world_now(d->x), note_name, &t);
    assert_string_equal(t.s, names);
}

static void reads(struct clinic *d, int i, const char *id, const char *user)
{
    struct incident_job job = {0};
    snprintf(job.id, sizeof job.id, "%s", id);
    snprintf(job.user, sizeof job.user, "%s", user);
    watch_jobs(d->x->w, world_now(d->x), world_node(d->x, i), &job, 1);
}

static const struct incident *incident(const struct clinic *d, int i)
{
    return &member_ailment(world_node(d->x, i))->open[0];
}

static void test_an_ill_node_is_asked_for_its_jobs_until_they_are_read(void **state)
{
    struct clinic *d = busy_clinic();
    assert_jobless(d, "lx01 ");
    assert_jobless(d, "lx01 "); /* nobody answered */
    reads(d, 1, "4711", "ann");
    assert_jobless(d, "");
    d->x->now_ms += 59900;
    assert_jobless(d, "");
    d->x->now_ms += 100;
    assert_jobless(d, "lx01 ");
    clinic_destroy(d);
}

static void test_a_node_without_work_or_without_an_incident_is_not_asked(void **state)
{
    struct clinic *d = busy_clinic();
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_UNKNOWN, false);
    assert_jobless(d, "");
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_BUSY, false);
    assert_jobless(d, "lx01 ");
    clinic_tells(d, 1, false, "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0}]");
    world_run(d->x, 2);
    assert_jobless(d, ""); /* its incident is over; it is out still, and work runs */
    assert_non_null(member_repair(world_node(d->x, 1)));
    clinic_destroy(d);
}

static void test_jobs_are_noted_in_the_incident_once(void **state)
{
    struct clinic *d = busy_clinic();
    reads(d, 1, "4711", "ann");
    assert_int_equal(incident(d, 1)->n_jobs, 1);
    assert_string_equal(incident(d, 1)->jobs[0].id, "4711");
    assert_string_equal(incident(d, 1)->jobs[0].user, "ann");
    unsigned commands = d->x->claims;
    reads(d, 1, "4711", "ann");
    assert_int_equal(d->x->claims, commands);
    reads(d, 1, "4712", "bob");
    assert_int_equal(incident(d, 1)->n_jobs, 2);
    assert_string_equal(incident(d, 1)->jobs[1].id, "4712");
    clinic_destroy(d);
}

static void test_an_incident_has_room_for_eight_jobs(void **state)
{
    struct clinic *d = busy_clinic();
    struct incident_job jobs[INCIDENT_JOBS_MAX + 2] = {0};
    for (size_t i = 0; i < INCIDENT_JOBS_MAX + 2; i++) {
        snprintf(jobs[i].id, sizeof jobs[i].id, "%zu", i);
        snprintf(jobs[i].user, sizeof jobs[i].user, "ann");
    }
    watch_jobs(d->x->w, world_now(d->x), world_node(d->x, 1), jobs, INCIDENT_JOBS_MAX + 2);
    assert_int_equal(incident(d, 1)->n_jobs, INCIDENT_JOBS_MAX);
    unsigned commands = d->x->claims;
    reads(d, 1, "99", "bob");
    assert_int_equal(incident(d, 1)->n_jobs, INCIDENT_JOBS_MAX);
    assert_int_equal(d->x->claims, commands); /* nothing is proposed that has no room */
    clinic_destroy(d);
}

/* What the shell has no room for is asked for again. */
static void test_jobs_that_could_not_be_noted_are_read_again(void **state)
{
    struct clinic *d = busy_clinic();
    d->x->refuse = true;
    reads(d, 1, "4711", "ann");
    d->x->refuse = false;
    assert_int_equal(incident(d, 1)->n_jobs, 0);
    d->x->now_ms += 60000;
    assert_jobless(d, "lx01 ");
    reads(d, 1, "4711", "ann");
    assert_int_equal(incident(d, 1)->n_jobs, 1);
    clinic_destroy(d);
}

static void test_jobs_of_a_well_node_are_noted_nowhere(void **state)
{
    struct clinic *d = busy_clinic();
    unsigned commands = d->x->claims;
    reads(d, 2, "4711", "ann");
    assert_int_equal(d->x->claims, commands);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_ill_node_is_asked_for_its_jobs_until_they_are_read),
        cmocka_unit_test(test_a_node_without_work_or_without_an_incident_is_not_asked),
        cmocka_unit_test(test_jobs_are_noted_in_the_incident_once),
        cmocka_unit_test(test_an_incident_has_room_for_eight_jobs),
        cmocka_unit_test(test_jobs_that_could_not_be_noted_are_read_again),
        cmocka_unit_test(test_jobs_of_a_well_node_are_noted_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
