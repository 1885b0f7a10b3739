/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char CHECKS[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                             "Check=mounts Probe=fs.mounted Path=/scratch Every=60s\n"
                             "Check=stress Probe=plugin Run=/bin/true When=extensive\n";

static struct clinic *open_clinic(size_t n)
{
    const struct health_policy policy = {.limits.act = true,
                                         .limits.percent[SCOPE_CLUSTER] = 10,
                                         .limits.percent[SCOPE_CLASS] = 50,
                                         .limits.percent[SCOPE_GROUP] = 25,
                                         .limits.percent[SCOPE_PARTITION] = 10,
                                         .group = span_s(180),
                                         .fresh = span_s(120),
                                         .override = span_s(4 * 3600),
                                         .limits.remedies_a_week = 5};
    return clinic_create(n, CHECKS, &policy);
}

static const char *list = "00"; /* the list that the nodes run */

/* The body's checks as JSON; boot NULL: the node's. */
static int tell(struct clinic *d, int i, const char *boot, bool full, const char *checks, bool *want,
                struct err *e)
{
    char own[37];
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"boot\":\"%s\",\"list\":\"%s\",\"full\":%s,\"checks\":%s}",
                boot ? boot : world_boot(d->x, i, own), list, full ? "true" : "false", checks);
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    return watch_checks(d->x->w, world_now(d->x), world_wall(d->x), world_node(d->x, i), body, want, e);
}

static const char WELL[] = "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0},"
                           "{\"check\":\"mounts\",\"result\":\"ok\",\"age_ms\":0}]",
                  ILL[] = "[{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,"
                          "\"findings\":[{\"result\":\"fatal\",\"text\":\"full\"}]}]";

static void tells(struct clinic *d, int i, bool full, const char *checks)
{
    bool want;
    struct err e;
    if (tell(d, i, NULL, full, checks, &want, &e) < 0)
        fail_msg("%s", e.msg);
}

static enum health health_of(struct clinic *d, int i)
{
    return watch_health(d->x->w, world_now(d->x), world_node(d->x, i));
}

static void test_a_body_that_is_none_is_refused_whole(void **state)
{
    static const char *const bad[] = {"7",
                                      "[7]",
                                      "[{\"check\":\"space\"}]",
                                      "[{\"check\":\"space\",\"result\":\"sick\",\"age_ms\":0}]",
                                      "[{\"result\":\"ok\",\"age_ms\":0}]",
                                      "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":-1}]",
                                      "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0},{\"check\":7}]"};
    struct clinic *d = open_clinic(2);
    bool want;
    struct err e;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(tell(d, 1, NULL, true, bad[i], &want, &e), -EINVAL);
    assert_int_equal(health_of(d, 1), HEALTH_UNKNOWN);
    clinic_destroy(d);
}

static void test_what_cannot_be_joined_is_asked_for(void **state)
{
    struct clinic *d = open_clinic(2);
    bool want;
    assert_int_equal(tell(d, 1, NULL, false, WELL, &want, NULL), 0);
    assert_true(want);
    assert_int_equal(tell(d, 1, NULL, true, WELL, &want, NULL), 0);
    assert_false(want);
    assert_int_equal(health_of(d, 1), HEALTH_OK);
    world_reboot(d->x, 1);
    assert_int_equal(health_of(d, 1), HEALTH_UNKNOWN);
    assert_int_equal(tell(d, 1, NULL, false, "[]", &want, NULL), 0);
    assert_true(want);
    clinic_destroy(d);
}

static void test_what_is_of_another_boot_says_nothing(void **state)
{
    struct clinic *d = open_clinic(2);
    bool want;
    assert_int_equal(tell(d, 1, "11111111-0000-4000-8000-000000000001", true, ILL, &want, NULL), 0);
    world_run(d->x, 5);
    world_says_nothing(d->x);
    assert_int_equal(health_of(d, 1), HEALTH_UNKNOWN);
    clinic_destroy(d);
}

static void test_a_check_of_other_records_is_passed_over(void **state)
{
    struct clinic *d = open_clinic(2);
    tells(d, 1, true,
          "[{\"check\":\"else\",\"result\":\"lost\",\"age_ms\":0,"
          "\"findings\":[{\"result\":\"lost\",\"text\":\"gone\"}]}]");
    world_run(d->x, 5);
    world_says_nothing(d->x);
    clinic_destroy(d);
}

static void test_what_is_out_of_date_or_not_heard_is_unknown(void **state)
{
    struct clinic *d = open_clinic(2);
    CLEANUP_TEXT struct text why = {0};
    tells(d, 1, true, WELL);
    assert_true(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    world_run(d->x, 200);
    assert_int_equal(health_of(d, 1), HEALTH_UNKNOWN);
    assert_false(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    assert_string_equal(why.s, "space unknown, mounts unknown");
    tells(d, 1, true, "[{\"check\":\"space\",\"result\":\"unsupported\",\"age_ms\":0}]");
    assert_false(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    assert_string_equal(why.s, "mounts has said nothing");
    d->x->off[1] = true;
    world_run(d->x, 60);
    assert_false(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    assert_string_equal(why.s, "it is not heard");
    clinic_destroy(d);
}

static void put_space(void *arg, const struct said *s)
{
    if (strcmp(s->check->name, "space") == 0)
        text_printf(arg, "%s %s", result_name(s->verdict.result), s->verdict.text);
}

static void space_is(struct clinic *d, const char *text)
{
    CLEANUP_TEXT struct text t = {0};
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), put_space, &t);
    assert_string_equal(t.s, text);
}

/* An older answer counts for as long as any; the reason for the missing newer one is always shown. */
static void test_a_look_without_an_answer_says_why(void **state)
{
    struct clinic *d = open_clinic(2);
    tells(d, 1, true, WELL);
    tells(d, 1, false,
          "[{\"check\":\"space\",\"result\":\"ok\",\"blind\":\"probe.stuck: / hangs\",\"age_ms\":0}]");
    assert_int_equal(health_of(d, 1), HEALTH_OK);
    space_is(d, "ok probe.stuck: / hangs");
    world_run(d->x, 200);
    space_is(d, "unknown probe.stuck: / hangs");
    world_says_nothing(d->x);
    tells(d, 1, true, WELL);
    space_is(d, "ok ");
    clinic_destroy(d);
}

static void count(void *arg, struct member *m)
{
    ++*(unsigned *)arg;
}

static void test_who_is_out_of_date_is_to_tell_again_now_and_then(void **state)
{
    struct clinic *d = open_clinic(2);
    unsigned n = 0;
    tells(d, 1, true, WELL);
    watch_untold(d->x->w, world_now(d->x), count, &n);
    assert_int_equal(n, 0);
    world_run(d->x, 200);
    watch_untold(d->x->w, world_now(d->x), count, &n);
    watch_untold(d->x->w, world_now(d->x), count, &n);
    assert_int_equal(n, 1);
    clinic_destroy(d);
}

static void mark(void *arg, struct member *m)
{
    bool *asked = arg;
    asked[m->id] = true;
}

static void test_of_many_who_is_well_is_asked_in_turn_and_who_is_ill_at_once(void **state)
{
    struct clinic *d = open_clinic(NODES);
    bool asked[NODES] = {0};
    unsigned n = 0;
    for (int i = 1; i <= NODES; i++)
        tells(d, i, true, WELL);
    tells(d, NODES, false, ILL);
    world_run(d->x, 200);
    watch_untold(d->x->w, world_now(d->x), mark, asked);
    assert_true(asked[world_node(d->x, NODES)->id]);
    for (int i = 0; i < NODES; i++)
        n += asked[i];
    assert_int_equal(n, 101);
    watch_untold(d->x->w, world_now(d->x), mark, asked);
    for (int i = 0; i < NODES; i++)
        assert_true(asked[i]);
    clinic_destroy(d);
}

static void test_work_is_idle_only_when_both_say_so(void **state)
{
    struct clinic *d = open_clinic(2);
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

static void test_records_of_checks_that_change_keep_what_was_said(void **state)
{
    static const char other[] =
        "Check=mounts Probe=fs.mounted Path=/scratch Every=60s\n"
        "Check=ntp Probe=time Every=60s\nCheck=space Probe=fs.space Path=/ Every=60s\n";
    struct clinic *d = open_clinic(2);
    struct checks now = {0};
    CLEANUP_TEXT struct text why = {0};
    tells(d, 1, true, WELL);
    tells(d, 1, false, ILL);
    assert_int_equal(checks_parse("checks", other, sizeof other - 1, &now, NULL), 0);
    d->x->policy.health.checks = &now;
    watch_set_policy(d->x->w, &d->x->policy);
    checks_fini(&d->checks);
    d->checks = now;
    assert_int_equal(health_of(d, 1), HEALTH_FATAL);
    world_run(d->x, 2);
    watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why);
    assert_string_equal(why.s, "ntp has said nothing, space fatal");
    clinic_destroy(d);
}

static void expect_missing(struct clinic *d, const char *missing)
{
    CLEANUP_TEXT struct text why = {0};
    watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why);
    assert_string_equal(why.len ? why.s : "", missing);
}

/* The check was broken, and was mended by another record. Who cannot take the new list says the old still. */
static void test_what_is_said_by_an_older_list_counts_where_the_record_is_the_same(void **state)
{
    static const char mended[] = "Check=space Probe=fs.space Path=/ Free=1% Every=60s\n"
                                 "Check=mounts Probe=fs.mounted Path=/scratch Every=60s\n",
                      said[] = "[{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,"
                               "\"findings\":[{\"result\":\"fatal\",\"text\":\"full\"}]},"
                               "{\"check\":\"mounts\",\"result\":\"ok\",\"age_ms\":0}]";
    struct clinic *d = open_clinic(2);
    struct checks now = {0};
    watch_checklist(d->x->w, "01");
    list = "01";
    tells(d, 1, true, said);
    expect_missing(d, "space fatal");
    assert_int_equal(checks_parse("checks", mended, sizeof mended - 1, &now, NULL), 0);
    d->x->policy.health.checks = &now;
    watch_set_policy(d->x->w, &d->x->policy);
    watch_checklist(d->x->w, "02");
    checks_fini(&d->checks);
    d->checks = now;
    expect_missing(d, "space has said nothing");
    tells(d, 1, true, said);
    expect_missing(d, "space has said nothing");
    list = "02";
    tells(d, 1, true, WELL);
    expect_missing(d, "");
    list = "00";
    clinic_destroy(d);
}

static void test_an_incident_whose_check_is_taken_away_is_over(void **state)
{
    static const char other[] = "Check=mounts Probe=fs.mounted Path=/scratch Every=60s\n";
    struct clinic *d = open_clinic(4);
    struct checks now = {0};
    tells(d, 1, true, ILL);
    assert_int_equal(member_ailment(world_node(d->x, 1))->n_open, 1);
    assert_int_equal(checks_parse("checks", other, sizeof other - 1, &now, NULL), 0);
    d->x->policy.health.checks = &now;
    watch_set_policy(d->x->w, &d->x->policy);
    checks_fini(&d->checks);
    d->checks = now;
    world_run(d->x, 2);
    assert_int_equal(member_ailment(world_node(d->x, 1))->n_open, 0);
    clinic_destroy(d);
}

/* A check that flips ten times a second for a minute, and one whose findings are others each time. */
static void test_what_comes_and_goes_is_written_down_now_and_then(void **state)
{
    static const char warns[] =
        "[{\"check\":\"space\",\"result\":\"warn\",\"age_ms\":0,"
        "\"findings\":[{\"result\":\"warn\",\"device\":\"disk %d\",\"text\":\"full\"}]}]";
    struct clinic *d = open_clinic(40);
    for (int device = 0; device < 2; device++) {
        unsigned before = d->x->claims;
        for (int i = 0; i < 600; i++) {
            char said[256];
            snprintf(said, sizeof said, warns, device * i);
            tells(d, 1 + device, true, i % 2 ? WELL : said);
            d->x->now_ms += 100;
        }
        assert_in_range(d->x->claims - before, 10, 31);
    }
    unsigned before = d->x->claims; /* other nodes are not limited, */
    tells(d, 3, true, ILL);
    assert_true(d->x->claims > before);
    assert_non_null(member_repair(world_node(d->x, 3)));
    tells(d, 1, true, ILL); /* and a finding that isolates does not wait */
    assert_non_null(member_repair(world_node(d->x, 1)));
    tells(d, 2, true, WELL);
    world_run(d->x, 10); /* the omitted changes follow */
    assert_int_equal(member_ailment(world_node(d->x, 2))->n_open, 0);
    clinic_destroy(d);
}

static void test_what_the_shell_refuses_is_proposed_again(void **state)
{
    struct clinic *d = open_clinic(4);
    d->x->refuse = true;
    tells(d, 1, true, ILL);
    assert_null(member_repair(world_node(d->x, 1)));
    d->x->refuse = false;
    world_run(d->x, 2);
    assert_non_null(member_repair(world_node(d->x, 1)));
    clinic_destroy(d);
}

static void say_budget(void *arg, const struct budget *b)
{
    text_printf(arg, "%s %u/%u of %u\n", b->scope, b->out, b->limit, b->nodes);
}

static void test_budgets_as_they_stand(void **state)
{
    struct clinic *d = open_clinic(20);
    CLEANUP_TEXT struct text t = {0};
    tells(d, 1, true, ILL);
    watch_set_policy(d->x->w, &d->x->policy); /* the nodes are counted at once, */
    for (int i = 0; i < 2; i++) {
        text_clear(&t);
        watch_each_budget(d->x->w, say_budget, &t);
        assert_string_equal(t.s, "cluster 1/2 of 20\nclass default 1/10 of 20\npartition 0 1/2 of 20\n");
        world_run(d->x, 4); /* and then by each sweep */
    }
    clinic_destroy(d);
}

/* As long as the store may still record it. */
static void test_who_was_proposed_has_its_room_although_nothing_is_heard_of_it(void **state)
{
    struct clinic *d = open_clinic(10);
    d->x->refuse = true; /* as one that is under way already */
    tells(d, 1, true, ILL);
    tells(d, 1, true, WELL);
    world_run(d->x, 60);
    d->x->refuse = false;
    tells(d, 2, true, ILL);
    world_run(d->x, 60);
    assert_null(member_repair(world_node(d->x, 2)));
    world_run(d->x, 200);
    tells(d, 2, true, ILL);
    world_run(d->x, 5);
    assert_non_null(member_repair(world_node(d->x, 2)));
    clinic_destroy(d);
}

static void say_check(void *arg, const struct said *s)
{
    text_printf(arg, "%s %s: %s\n", s->check->name, result_name(s->verdict.result), s->verdict.text);
}

static void test_each_check_is_told_with_why_nothing_is_known(void **state)
{
    struct clinic *d = open_clinic(2);
    CLEANUP_TEXT struct text t = {0};
    tells(d, 1, true, WELL);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), say_check, &t);
    world_run(d->x, 200);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), say_check, &t);
    assert_string_equal(
        t.s, "space ok: \nmounts ok: \nstress unknown: it has not reported on this boot\n"
             "space unknown: its result is out of date\nmounts unknown: its result is out of date\n"
             "stress unknown: it has not reported on this boot\n");
    clinic_destroy(d);
}

static void take_cluster(void *arg, const struct budget *b)
{
    if (strcmp(b->scope, "cluster") == 0)
        *(unsigned *)arg = b->out;
}

static unsigned out(const struct clinic *d)
{
    unsigned n = 0;
    watch_each_budget(d->x->w, take_cluster, &n);
    return n;
}

static void becomes(struct world *x, int i, const char *serial)
{
    snprintf(x->serial[i], sizeof x->serial[i], "%s", serial);
    world_reboot(x, i);
    world_run(x, 3);
}

/* The name was in service; the name of a new node was not. */
static void test_a_swapped_machine_counts_as_out(void **state)
{
    struct clinic *d = open_clinic(2);
    tells(d, 1, true, WELL);
    d->x->policy.health.limits.act = true;
    watch_set_policy(d->x->w, &d->x->policy);
    becomes(d->x, 1, "SN-1");
    assert_int_equal(out(d), 0);
    becomes(d->x, 1, "SN-2");
    assert_int_equal(member_repair(world_node(d->x, 1))->step, STEP_PROVISION);
    assert_int_equal(out(d), 1);
    clinic_destroy(d);
}

/* A node that is isolated meanwhile finds it counted as out, even before the record says so. */
static void test_a_swapped_machine_has_its_room_at_once(void **state)
{
    struct clinic *d = open_clinic(2);
    tells(d, 1, true, WELL);
    d->x->policy.health.limits.act = true;
    watch_set_policy(d->x->w, &d->x->policy);
    becomes(d->x, 1, "SN-1");
    d->x->refuse = true;
    becomes(d->x, 1, "SN-2");
    assert_null(member_repair(world_node(d->x, 1)));
    assert_int_equal(out(d), 1);
    clinic_destroy(d);
}

/* A sweep begins with it in the configuration, and ends without. */
static void test_of_one_that_is_taken_out_of_the_files_nothing_is_written(void **state)
{
    struct clinic *d = open_clinic(3);
    struct world *x = d->x;
    snprintf(x->serial[2], sizeof x->serial[2], "SN-2");
    world_reboot(x, 2);
    for (int tick = 0; tick < WATCH_SLICES - 1; tick++) {
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, world_now(x), world_wall(x));
        while (watch_step(x->w, 1))
            ;
    }
    text_clear(&x->log);
    x->n = 1;
    world_configure(x, NULL, 0, "");
    world_run(x, 3);
    assert_null(x->log.s && *x->log.s ? strstr(x->log.s, "lx02") : NULL);
    x->n = 3;
    clinic_destroy(d);
}

static void test_who_comes_for_the_first_time_is_provisioned_before_it_is_admitted(void **state)
{
    struct clinic *d = open_clinic(2);
    struct world *x = d->x;
    x->policy.health.provision_new = true;
    x->n = 3;
    x->boot[3] = 1;
    x->work[3] = "[]";
    world_configure(x, NULL, 0, "");
    world_open(x, 3, 3);
    world_run(x, 3);
    assert_int_equal(member_repair(world_node(x, 3))->step, STEP_PROVISION);
    assert_int_equal(out(d), 0); /* it never was in service */
    assert_false(health_of(d, 3) == HEALTH_OK);
    tells(d, 3, true, WELL);
    world_run(x, 3);
    assert_null(member_repair(world_node(x, 3)));
    assert_true(world_node(x, 3)->admitted);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_body_that_is_none_is_refused_whole),
        cmocka_unit_test(test_what_cannot_be_joined_is_asked_for),
        cmocka_unit_test(test_what_is_of_another_boot_says_nothing),
        cmocka_unit_test(test_a_check_of_other_records_is_passed_over),
        cmocka_unit_test(test_what_is_out_of_date_or_not_heard_is_unknown),
        cmocka_unit_test(test_a_look_without_an_answer_says_why),
        cmocka_unit_test(test_who_is_out_of_date_is_to_tell_again_now_and_then),
        cmocka_unit_test(test_of_many_who_is_well_is_asked_in_turn_and_who_is_ill_at_once),
        cmocka_unit_test(test_work_is_idle_only_when_both_say_so),
        cmocka_unit_test(test_records_of_checks_that_change_keep_what_was_said),
        cmocka_unit_test(test_what_is_said_by_an_older_list_counts_where_the_record_is_the_same),
        cmocka_unit_test(test_an_incident_whose_check_is_taken_away_is_over),
        cmocka_unit_test(test_what_comes_and_goes_is_written_down_now_and_then),
        cmocka_unit_test(test_what_the_shell_refuses_is_proposed_again),
        cmocka_unit_test(test_budgets_as_they_stand),
        cmocka_unit_test(test_who_was_proposed_has_its_room_although_nothing_is_heard_of_it),
        cmocka_unit_test(test_a_swapped_machine_counts_as_out),
        cmocka_unit_test(test_a_swapped_machine_has_its_room_at_once),
        cmocka_unit_test(test_of_one_that_is_taken_out_of_the_files_nothing_is_written),
        cmocka_unit_test(test_who_comes_for_the_first_time_is_provisioned_before_it_is_admitted),
        cmocka_unit_test(test_each_check_is_told_with_why_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
