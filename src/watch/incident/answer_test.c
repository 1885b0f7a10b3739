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

static void test_what_is_out_of_date_or_not_heard_is_unknown(void **state)
{
    struct clinic *d = clinic_open(2);
    CLEANUP_TEXT struct text why = {0};
    clinic_tells(d, 1, true, CLINIC_WELL);
    assert_true(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    world_run(d->x, 200);
    assert_int_equal(clinic_health(d, 1), HEALTH_UNKNOWN);
    assert_false(watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why));
    assert_string_equal(why.s, "space unknown, mounts unknown");
    clinic_tells(d, 1, true, "[{\"check\":\"space\",\"result\":\"unsupported\",\"age_ms\":0}]");
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

/* An older answer counts as long as any does; why there is no other one is said all the time. */
static void test_a_look_without_an_answer_says_why(void **state)
{
    struct clinic *d = clinic_open(2);
    clinic_tells(d, 1, true, CLINIC_WELL);
    clinic_tells(d, 1, false,
                 "[{\"check\":\"space\",\"result\":\"ok\",\"blind\":\"probe.stuck: / hangs\",\"age_ms\":0}]");
    assert_int_equal(clinic_health(d, 1), HEALTH_OK);
    space_is(d, "ok probe.stuck: / hangs");
    world_run(d->x, 200);
    space_is(d, "unknown probe.stuck: / hangs");
    world_says_nothing(d->x);
    clinic_tells(d, 1, true, CLINIC_WELL);
    space_is(d, "ok ");
    clinic_destroy(d);
}

static void count(void *arg, struct member *m)
{
    ++*(unsigned *)arg;
}

static void test_who_is_out_of_date_is_to_tell_again_now_and_then(void **state)
{
    struct clinic *d = clinic_open(2);
    unsigned n = 0;
    clinic_tells(d, 1, true, CLINIC_WELL);
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
    struct clinic *d = clinic_open(NODES);
    bool asked[NODES] = {0};
    unsigned n = 0;
    for (int i = 1; i <= NODES; i++)
        clinic_tells(d, i, true, CLINIC_WELL);
    clinic_tells(d, NODES, false, CLINIC_ILL);
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

static void say_check(void *arg, const struct said *s)
{
    text_printf(arg, "%s %s: %s\n", s->check->name, result_name(s->verdict.result), s->verdict.text);
}

static void test_each_check_is_told_with_why_nothing_is_known(void **state)
{
    struct clinic *d = clinic_open(2);
    CLEANUP_TEXT struct text t = {0};
    clinic_tells(d, 1, true, CLINIC_WELL);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), say_check, &t);
    world_run(d->x, 200);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), say_check, &t);
    assert_string_equal(
        t.s, "space ok: \nmounts ok: \nstress unknown: it has said nothing on this boot\n"
             "space unknown: what it said is out of date\nmounts unknown: what it said is out of date\n"
             "stress unknown: it has said nothing on this boot\n");
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_out_of_date_or_not_heard_is_unknown),
        cmocka_unit_test(test_a_look_without_an_answer_says_why),
        cmocka_unit_test(test_who_is_out_of_date_is_to_tell_again_now_and_then),
        cmocka_unit_test(test_of_many_who_is_well_is_asked_in_turn_and_who_is_ill_at_once),
        cmocka_unit_test(test_each_check_is_told_with_why_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
