/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/conform/baseline_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_the_reasons_why_a_node_is_unknown(void **state)
{
    struct world *x = world_create(5);
    world_stands(x, 1, "unknown", "it has not sent its fingerprint since this controller started");
    world_claims(x, 1, A);
    world_stands(x, 1, "unknown", "the components of its fingerprint are not known yet");
    world_says(x, 2, 4, B);
    world_run(x, 2);
    world_stands(x, 2, "unknown",
                 "its class \"default\" has no baseline; 3 of 5 nodes are as lx02 is "
                 "(baseline accept lx02)");
    world_accept(x, "lx02");
    world_stands(x, 2, "conformant", "");
    world_says(x, 3, 3,
               "kernel.release=6.6 package.bash=5.1 nic.count=?a gpu.*=?b hca.count=?c bios.date=?d");
    world_stands(
        x, 3, "unknown",
        "bios.date could not be read: d; gpu.* could not be read: b; hca.count could not be read: c; "
        "and 1 more");
    world_destroy(x);
}

static void test_only_a_known_list_may_be_a_baseline(void **state)
{
    struct world *x = world_create(4);
    struct err e;
    const struct member *m = world_node(x, 1);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), m, &e), -EBUSY);
    assert_string_equal(e.msg, "lx01: it has not sent its fingerprint since this controller started");
    world_says(x, 1, 1, UNREAD);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), m, &e), -EBUSY);
    assert_string_equal(e.msg, "lx01: nic.count could not be read: denied");
    world_says(x, 1, 1, A);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), m, &e), -EBUSY);
    assert_string_equal(e.msg, "lx01 changed a moment ago, and its new state is being recorded");
    world_run(x, 2);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), m, &e), 0);
    x->off[1] = true;
    world_run(x, 40);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), m, &e), -EBUSY);
    assert_string_equal(e.msg, "lx01 is not heard (late)");
    world_destroy(x);
}

static void test_the_cohort_that_most_nodes_share_is_suggested(void **state)
{
    struct world *x = world_create(6);
    const struct class_lines two = {"two", {{"Nodes", "lx[01-05]"}}};
    uint32_t share, all;
    world_configure(x, &two, 1, "");
    assert_null(watch_suggest(x->w, 0, &share, &all));
    world_says(x, 1, 1, B);
    world_says(x, 2, 4, A);
    world_says(x, 6, 6, B);
    world_run(x, 2);
    assert_string_equal(watch_suggest(x->w, 0, &share, &all)->name, "lx02");
    assert_int_equal(share, 3);
    assert_int_equal(all, 5);
    world_run(x, 100);
    assert_null(strstr(x->log.s, "conform.drift")); /* never blame */
    world_destroy(x);
}

static int excludes_work(const struct world *x, int i, const char *list, char why[static 200])
{
    CLEANUP_TEXT struct text words = {0};
    struct fingerprint id = world_fingerprint(list);
    int r = watch_excludes(x->w, world_now(x), world_node(x, i), &id, &words);
    snprintf(why, 200, "%s", words.s ? words.s : "");
    return r;
}

static void test_a_job_that_waits_is_told_when_it_is_decided(void **state)
{
    char why[200];
    struct world *x = conformant(30, &excludes, "");
    assert_int_equal(excludes_work(x, 2, A, why), 0);
    assert_int_equal(excludes_work(x, 2, MINOR, why), -EAGAIN); /* it did not come yet */
    world_claims(x, 4, B);
    assert_int_equal(excludes_work(x, 4, B, why), -EAGAIN); /* nobody knows what it means */
    world_says(x, 2, 2, MINOR);
    assert_int_equal(excludes_work(x, 2, MINOR, why), -EAGAIN); /* it is about to be claimed */
    world_run(x, 12);
    assert_int_equal(excludes_work(x, 2, MINOR, why), 1);
    assert_non_null(strstr(why, "it is not as version 1 of its baseline says: "));
    world_says(x, 3, 30, MINOR);
    world_run(x, 12);
    int kept = 0;
    for (int i = 3; i <= 30; i++)
        kept += excludes_work(x, i, MINOR, why);
    assert_int_equal(kept, 0); /* the brake holds for jobs that wait, too */
    world_destroy(x);
    x = conformant(3, NULL, "");
    world_says(x, 2, 2, MINOR);
    world_run(x, 12);
    assert_int_equal(excludes_work(x, 2, MINOR, why), 0); /* its class keeps no work away */
    world_destroy(x);
}

static void test_a_person_who_wants_it_as_a_baseline_waits_for_no_pause(void **state)
{
    struct world *x = conformant(2, NULL, "");
    struct err e;
    for (int i = 0; i < 100; i++) {
        world_says(x, 2, 2, i % 2 ? C : B);
        world_run(x, 5);
    }
    world_says(x, 2, 2, MINOR);
    world_run(x, 2);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), world_node(x, 2), &e), -EBUSY);
    world_run(x, 2);
    assert_int_equal(watch_may_be_baseline(x->w, world_now(x), world_node(x, 2), &e), 0);
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_reasons_why_a_node_is_unknown),
        cmocka_unit_test(test_only_a_known_list_may_be_a_baseline),
        cmocka_unit_test(test_the_cohort_that_most_nodes_share_is_suggested),
        cmocka_unit_test(test_a_job_that_waits_is_told_when_it_is_decided),
        cmocka_unit_test(test_a_person_who_wants_it_as_a_baseline_waits_for_no_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
