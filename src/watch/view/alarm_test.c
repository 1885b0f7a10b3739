/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "watch/view/alarm.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct heard {
    struct alarms all;
    struct text log;
};

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    struct heard *h = arg;
    text_printf(&h->log, "%s \"%s\" %s: %s%s%s\n", alarm_name(a->kind), a->subject, a->nodes, a->text,
                over ? "; over: " : "", over ? over : "");
}

static void assert_heard(struct heard *h, const char *expected)
{
    assert_string_equal(h->log.s ? h->log.s : "", expected);
    text_clear(&h->log);
}

static struct heard *heard_create(void)
{
    struct heard *h = mem_alloc(sizeof *h);
    h->all = (struct alarms){.fn = on_alarm, .arg = h};
    return h;
}

static void heard_destroy(struct heard *h)
{
    alarms_fini(&h->all);
    text_fini(&h->log);
    free(h);
}

static void test_an_alarm_is_told_when_it_begins_and_when_it_is_over(void **state)
{
    struct heard *h = heard_create();
    alarms_raise(&h->all, ALARM_BMC, "lx01", "lx01", "no answer", (struct wall){7});
    assert_heard(h, "bmc \"lx01\" lx01: no answer\n");
    assert_int_equal(alarms_find(&h->all, ALARM_BMC, "lx01")->since.ns, 7);
    alarms_end(&h->all, ALARM_BMC, "lx01", "it answers");
    assert_heard(h, "bmc \"lx01\" lx01: no answer; over: it answers\n");
    assert_null(alarms_find(&h->all, ALARM_BMC, "lx01"));
    heard_destroy(h);
}

/* Its words and its nodes are those of the last time, and it stands since the first. */
static void test_an_alarm_that_stands_is_not_told_again(void **state)
{
    struct heard *h = heard_create();
    alarms_raise(&h->all, ALARM_SLURM, "", "lx01", "one", (struct wall){7});
    text_clear(&h->log);
    alarms_raise(&h->all, ALARM_SLURM, "", "lx[01-02]", "two", (struct wall){9});
    assert_heard(h, "");
    const struct alarm *a = alarms_find(&h->all, ALARM_SLURM, "");
    assert_string_equal(a->nodes, "lx[01-02]");
    assert_string_equal(a->text, "two");
    assert_int_equal(a->since.ns, 7);
    assert_null(a->next);
    heard_destroy(h);
}

static void test_kind_and_subject_together_tell_one_alarm_from_another(void **state)
{
    struct heard *h = heard_create();
    alarms_raise(&h->all, ALARM_DRIFT, "class a", "", "x", (struct wall){1});
    alarms_raise(&h->all, ALARM_DRIFT, "class b", "", "x", (struct wall){2});
    alarms_raise(&h->all, ALARM_ROLLOUT, "class a", "", "x", (struct wall){3});
    text_clear(&h->log);
    alarms_end(&h->all, ALARM_DRIFT, "class a", "why");
    assert_heard(h, "drift \"class a\" : x; over: why\n");
    assert_non_null(alarms_find(&h->all, ALARM_DRIFT, "class b"));
    assert_non_null(alarms_find(&h->all, ALARM_ROLLOUT, "class a"));
    assert_string_equal(h->all.list->subject, "class b"); /* the oldest first */
    assert_int_equal(h->all.list->next->kind, ALARM_ROLLOUT);
    heard_destroy(h);
}

static void test_an_alarm_that_does_not_stand_is_not_over(void **state)
{
    struct heard *h = heard_create();
    alarms_end(&h->all, ALARM_CLOCK, "", "why");
    assert_heard(h, "");
    heard_destroy(h);
}

/* The reason may be the alarm's own text. */
static void test_an_alarm_may_end_in_its_own_words(void **state)
{
    struct heard *h = heard_create();
    alarms_raise(&h->all, ALARM_STORE, "", "", "disk full", (struct wall){1});
    text_clear(&h->log);
    alarms_end(&h->all, ALARM_STORE, "", alarms_find(&h->all, ALARM_STORE, "")->text);
    assert_heard(h, "store \"\" : disk full; over: disk full\n");
    heard_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_alarm_is_told_when_it_begins_and_when_it_is_over),
        cmocka_unit_test(test_an_alarm_that_stands_is_not_told_again),
        cmocka_unit_test(test_kind_and_subject_together_tell_one_alarm_from_another),
        cmocka_unit_test(test_an_alarm_that_does_not_stand_is_not_over),
        cmocka_unit_test(test_an_alarm_may_end_in_its_own_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
