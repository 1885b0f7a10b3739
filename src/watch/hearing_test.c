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

static void test_a_body_that_is_none_is_refused_whole(void **state)
{
    static const char *const bad[] = {"7",
                                      "[7]",
                                      "[{\"check\":\"space\"}]",
                                      "[{\"check\":\"space\",\"result\":\"sick\",\"age_ms\":0}]",
                                      "[{\"result\":\"ok\",\"age_ms\":0}]",
                                      "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":-1}]",
                                      "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0},{\"check\":7}]"};
    struct clinic *d = clinic_open(2);
    bool want;
    struct err e;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(clinic_tell(d, 1, NULL, true, bad[i], &want, &e), -EINVAL);
    assert_int_equal(clinic_health(d, 1), HEALTH_UNKNOWN);
    clinic_destroy(d);
}

static void test_changes_that_cannot_be_joined_are_asked_for_whole(void **state)
{
    struct clinic *d = clinic_open(2);
    bool want;
    assert_int_equal(clinic_tell(d, 1, NULL, false, CLINIC_WELL, &want, NULL), 0);
    assert_true(want);
    assert_int_equal(clinic_tell(d, 1, NULL, true, CLINIC_WELL, &want, NULL), 0);
    assert_false(want);
    assert_int_equal(clinic_health(d, 1), HEALTH_OK);
    world_reboot(d->x, 1);
    assert_int_equal(clinic_health(d, 1), HEALTH_UNKNOWN);
    assert_int_equal(clinic_tell(d, 1, NULL, false, "[]", &want, NULL), 0);
    assert_true(want);
    clinic_destroy(d);
}

static void test_results_of_another_boot_say_nothing(void **state)
{
    struct clinic *d = clinic_open(2);
    bool want;
    assert_int_equal(clinic_tell(d, 1, "11111111-0000-4000-8000-000000000001", true, CLINIC_ILL, &want, NULL),
                     0);
    world_run(d->x, 5);
    world_says_nothing(d->x);
    assert_int_equal(clinic_health(d, 1), HEALTH_UNKNOWN);
    clinic_destroy(d);
}

static void test_a_check_of_other_records_is_passed_over(void **state)
{
    struct clinic *d = clinic_open(2);
    clinic_tells(d, 1, true,
                 "[{\"check\":\"else\",\"result\":\"lost\",\"age_ms\":0,"
                 "\"findings\":[{\"result\":\"lost\",\"text\":\"gone\"}]}]");
    world_run(d->x, 5);
    world_says_nothing(d->x);
    clinic_destroy(d);
}

static void expect_missing(struct clinic *d, const char *missing)
{
    CLEANUP_TEXT struct text why = {0};
    watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why);
    assert_string_equal(why.len ? why.s : "", missing);
}

/* The check was broken, and was mended by another record. Who cannot take the new list says the old still. */
static void test_results_of_an_older_list_count_where_the_record_is_the_same(void **state)
{
    static const char mended[] = "Check=space Probe=fs.space Path=/ Free=1% Every=60s\n"
                                 "Check=mounts Probe=fs.mounted Path=/scratch Every=60s\n",
                      said[] = "[{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,"
                               "\"findings\":[{\"result\":\"fatal\",\"text\":\"full\"}]},"
                               "{\"check\":\"mounts\",\"result\":\"ok\",\"age_ms\":0}]";
    struct clinic *d = clinic_open(2);
    watch_checklist(d->x->w, "01");
    d->list = "01";
    clinic_tells(d, 1, true, said);
    expect_missing(d, "space fatal");
    clinic_take_checks(d, mended);
    watch_checklist(d->x->w, "02");
    expect_missing(d, "space has said nothing");
    clinic_tells(d, 1, true, said);
    expect_missing(d, "space has said nothing");
    d->list = "02";
    clinic_tells(d, 1, true, CLINIC_WELL);
    expect_missing(d, "");
    d->list = "00";
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_body_that_is_none_is_refused_whole),
        cmocka_unit_test(test_changes_that_cannot_be_joined_are_asked_for_whole),
        cmocka_unit_test(test_results_of_another_boot_say_nothing),
        cmocka_unit_test(test_a_check_of_other_records_is_passed_over),
        cmocka_unit_test(test_results_of_an_older_list_count_where_the_record_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
