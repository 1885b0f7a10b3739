/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"
#include "watch/incident/evidence_inside.h"
#include "watch/incident/incident.h"
#include "watch/trace_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_an_unknown_result_opens_and_ends_nothing(void **state)
{
    trace_walk("unknown");
}

static void test_a_repeated_finding_is_no_new_evidence(void **state)
{
    trace_walk("looked");
}

static const char CHECKS[] = "Check=space Probe=fs.space Path=/ Every=60s Severity=lost\n"
                             "Check=kernel Probe=kernel.log\n"
                             "Check=quiet Probe=plugin Run=/bin/q Every=60s Observe=yes Severity=lost\n";

static struct clinic *observed(void)
{
    struct clinic *d = clinic_open(20);
    clinic_take_checks(d, CHECKS);
    d->x->policy.health.limits.act = false;
    watch_set_policy(d->x->w, &d->x->policy);
    return d;
}

static struct mono awake(const struct clinic *d)
{
    return watch_awake(d->x->w, world_now(d->x));
}

/* One check of lx01 says this, with one finding. */
static void says(struct clinic *d, const char *check, const char *result, const char *code,
                 const char *device)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t,
                "[{\"check\":\"%s\",\"result\":\"%s\",\"age_ms\":0,\"findings\":[{\"result\":\"%s\","
                "\"code\":\"%s\",\"device\":\"%s\",\"text\":\"x\"}]}]",
                check, result, result, code, device);
    clinic_tells(d, 1, false, t.s);
}

static void assert_cures(struct clinic *d, const char *remedy, const char *codes)
{
    CLEANUP_TEXT struct text t = {0};
    watch_cures(d->x->w, world_now(d->x), world_node(d->x, 1), remedy, &t);
    assert_string_equal(t.s, codes);
}

/* What a new boot ends is not over when the remedy is done. */
static void test_a_remedy_cures_the_codes_that_it_helps_and_that_need_no_boot(void **state)
{
    struct clinic *d = observed();
    clinic_take_remedies(
        d, "Remedy=reset Run=\"node:reset\" Helps=xid.* Confidence=60% Because=\"a try\" Takes=1m\n"
           "Remedy=other Run=\"node:other\" Helps=space Confidence=60% Because=\"a try\" Takes=1m\n");
    clinic_tells(
        d, 1, true,
        "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0},{\"check\":\"kernel\",\"result\":\"fatal\","
        "\"age_ms\":0,\"findings\":["
        "{\"result\":\"fatal\",\"code\":\"xid.119\",\"device\":\"gpu 0\",\"text\":\"a\"},"
        "{\"result\":\"fatal\",\"code\":\"xid.119\",\"device\":\"gpu 1\",\"text\":\"a\"},"
        "{\"result\":\"warn\",\"code\":\"xid.63\",\"device\":\"gpu 0\",\"text\":\"b\"},"
        "{\"result\":\"fatal\",\"code\":\"xid.151\",\"text\":\"c\"}]}]");
    assert_cures(d, "reset", "xid.119 xid.63");
    assert_cures(d, "other", "");
    assert_cures(d, "none.of.this.name", "");
    clinic_destroy(d);
}

static bool is_lost(struct clinic *d)
{
    return incident_lost(d->x->w, awake(d), world_node(d->x, 1));
}

static void test_a_node_is_lost_by_a_fresh_finding_that_counts(void **state)
{
    struct clinic *d = observed();
    clinic_tells(d, 1, true, "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0}]");
    says(d, "space", "fatal", "", "");
    assert_false(is_lost(d));
    says(d, "quiet", "lost", "", ""); /* only observed */
    assert_false(is_lost(d));
    says(d, "space", "lost", "", "");
    assert_true(is_lost(d));
    world_run(d->x, 125); /* it was seen two minutes ago, and counts for the record alone */
    assert_false(is_lost(d));
    says(d, "space", "lost", "", "");
    assert_true(is_lost(d));
    world_run(d->x, 300); /* it is out of date */
    assert_false(is_lost(d));
    clinic_destroy(d);
}

static bool is_gone(struct clinic *d, const char *check, const char *code, const char *device)
{
    struct finding f = {.result = RESULT_FATAL};
    snprintf(f.code, sizeof f.code, "%s", code);
    snprintf(f.device, sizeof f.device, "%s", device);
    return finding_gone(d->x->w, awake(d), world_node(d->x, 1), check, &f);
}

static void test_a_finding_is_gone_when_its_check_says_so_and_not_while_nothing_is_known(void **state)
{
    struct clinic *d = observed();
    assert_false(is_gone(d, "space", "", "sda"));
    assert_true(is_gone(d, "taken.away", "", "")); /* no record has the check any more */
    clinic_tells(d, 1, true, "[{\"check\":\"space\",\"result\":\"unknown\",\"age_ms\":0}]");
    assert_false(is_gone(d, "space", "", "sda"));
    says(d, "space", "fatal", "", "sda");
    assert_false(is_gone(d, "space", "", "sda"));
    assert_true(is_gone(d, "space", "", "sdb"));
    assert_true(is_gone(d, "space", "io", "sda"));
    clinic_tells(d, 1, false, "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0}]");
    assert_true(is_gone(d, "space", "", "sda"));
    world_run(d->x, 400);
    assert_false(is_gone(d, "space", "", "sda"));
    clinic_destroy(d);
}

/* Of more findings than are told nobody knows which they are. */
static void test_no_finding_is_gone_while_its_check_has_more_than_it_tells(void **state)
{
    struct clinic *d = observed();
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "[{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,\"more\":3,\"findings\":[");
    for (int i = 0; i < FINDINGS_A_CHECK_MAX; i++)
        text_printf(&t, "%s{\"result\":\"fatal\",\"device\":\"sd%d\",\"text\":\"x\"}", i ? "," : "", i);
    text_add(&t, "]}]");
    clinic_tells(d, 1, true, t.s);
    assert_false(is_gone(d, "space", "", "other"));
    clinic_destroy(d);
}

static void test_evidence_is_at_least_a_warning_and_from_every_source(void **state)
{
    struct clinic *d = observed();
    struct evidence_list all;
    struct verdict v;
    d->x->uptime_s = 86400;
    world_open(d->x, 1, 1);
    clinic_tells(d, 1, true,
                 "[{\"check\":\"space\",\"result\":\"warn\",\"age_ms\":0,\"findings\":["
                 "{\"result\":\"warn\",\"device\":\"sdb\",\"text\":\"x\"}]}]");
    verdict_clear(&v);
    verdict_add(&v, RESULT_FATAL, "psu 1", "", "it is bad");
    assert_int_equal(watch_event(d->x->w, world_now(d->x), world_wall(d->x), world_node(d->x, 1), "sensu.psu",
                                 &v, span_s(0), NULL),
                     0);
    evidence_gather(d->x->w, awake(d), world_node(d->x, 1), &all);
    assert_int_equal(all.n, 2);
    assert_string_equal(all.list[0].check->name, "space");
    assert_string_equal(all.list[0].f->device, "sdb");
    assert_null(all.list[0].outside);
    assert_string_equal(all.list[1].check->name, "sensu.psu");
    assert_non_null(all.list[1].outside);
    assert_true(evidence_fresh(d->x->w, awake(d), world_node(d->x, 1), &all.list[1]));
    assert_int_equal(evidence_meaning(d->x->w, &all.list[1]).act, ACT_WATCH);
    free(all.list);
    evidence_gather(d->x->w, awake(d), world_node(d->x, 2), &all);
    assert_int_equal(all.n, 0);
    free(all.list);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_unknown_result_opens_and_ends_nothing),
        cmocka_unit_test(test_a_repeated_finding_is_no_new_evidence),
        cmocka_unit_test(test_a_remedy_cures_the_codes_that_it_helps_and_that_need_no_boot),
        cmocka_unit_test(test_a_node_is_lost_by_a_fresh_finding_that_counts),
        cmocka_unit_test(test_a_finding_is_gone_when_its_check_says_so_and_not_while_nothing_is_known),
        cmocka_unit_test(test_no_finding_is_gone_while_its_check_has_more_than_it_tells),
        cmocka_unit_test(test_evidence_is_at_least_a_warning_and_from_every_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
