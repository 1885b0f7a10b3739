/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/ward_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_pair_runs_it_together_in_ranks(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    ward_run(d, 10);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_string_equal(d->with[2], "lx01,lx02 1");
    assert_string_equal(d->with[4], "lx03,lx04 1");
    assert_int_equal(ward_last(d, 4, "pair")->result, RESULT_OK);
    assert_int_equal(ward_count_held(d), 0);
    ward_destroy(d);
}

static void test_a_bad_node_is_named_and_nobody_else(void **state)
{
    struct ward *d = ward_create(6, PAIR);
    d->answer[3] = FATAL;
    ward_run(d, 20);
    assert_non_null(ward_incident(d, 3));
    assert_string_equal(ward_incident(d, 3)->findings[0].f.text,
                        "failed with lx04 and lx01, which passed with others: 3 GB/s");
    assert_int_equal(ward_incident(d, 3)->severity, RESULT_FATAL);
    for (int i = 1; i <= 6; i++)
        if (i != 3) {
            assert_null(ward_incident(d, i));
            assert_int_equal(ward_last(d, i, "pair")->result, RESULT_OK);
        }
    assert_true(world_held(d->x, 3, CLAIM_REPAIR));
    assert_int_equal(ward_count_held(d), 0);
    assert_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    ward_destroy(d);
}

static void test_with_too_few_to_tell_there_is_a_warning(void **state)
{
    struct ward *d = ward_create(2, PAIR);
    d->answer[1] = FATAL;
    ward_run(d, 20);
    assert_int_equal(ward_incident(d, 1)->severity, RESULT_WARN);
    assert_int_equal(ward_incident(d, 2)->severity, RESULT_WARN);
    assert_false(world_held(d->x, 1, CLAIM_REPAIR));
    assert_int_equal(ward_count_held(d), 0);
    ward_destroy(d);
}

static void test_a_bad_link_is_shared_until_it_is_not_found_again(void **state)
{
    struct ward *d = ward_create(6, PAIR);
    d->bad_link[0] = 3;
    d->bad_link[1] = 4;
    ward_run(d, 20);
    const struct shared_cause *s = cluster_shared(d->x->c, "trial:pair lx[03-04]");
    assert_non_null(s);
    assert_string_equal(s->why, "pair fails between lx03 and lx04, and each of them passes with others");
    for (int i = 1; i <= 6; i++)
        assert_null(ward_incident(d, i));
    assert_int_equal(ward_count_held(d), 0);
    world_lead_anew(d->x);
    world_open(d->x, 1, 6);
    ward_all_well(d);
    ward_run(d, 60);
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    d->bad_link[0] = 0;
    ward_run(d, 3700);
    assert_null(cluster_shared(d->x->c, "trial:pair lx[03-04]"));
    ward_destroy(d);
}

static void test_one_that_leaves_blames_nobody(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    for (int i = 1; i <= 4; i++)
        d->hangs[i] = true;
    ward_run(d, 5);
    assert_int_equal(ward_count_held(d), 4);
    world_command(d->x, COMMAND_UNDRAIN, "lx01", NULL);
    d->answer[2] = FATAL; /* because the other end is gone */
    for (int i = 1; i <= 4; i++)
        d->hangs[i] = false;
    ward_run(d, 20);
    assert_int_equal(ward_count_held(d), 0);
    assert_null(ward_incident(d, 1));
    for (int i = 2; i <= 4; i++)
        assert_true(!ward_incident(d, i) || ward_incident(d, i)->severity <= RESULT_FATAL);
    assert_null(ward_last(d, 1, "pair"));
    ward_destroy(d);
}

static void test_one_that_leaves_before_it_began_holds_nobody_up(void **state)
{
    struct ward *d = ward_create(4, PAIR);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_IDLE, false);
    for (int i = 0; i < 50 && !ward_held(d, 1); i++)
        world_run(d->x, 1);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_UNKNOWN, false);
    ward_run(d, 3);
    assert_int_equal(d->ran[3], 0);
    world_command(d->x, COMMAND_UNDRAIN, "lx02", NULL);
    watch_scheduler(d->x->w, world_node(d->x, 1), WORK_IDLE, false);
    ward_run(d, 10);
    assert_int_equal(ward_count_held(d), 0);
    assert_int_equal(ward_last(d, 3, "pair")->result, RESULT_OK);
    assert_int_equal(ward_last(d, 1, "pair")->result,
                     RESULT_UNKNOWN); /* nobody was left to run it with in time */
    ward_destroy(d);
}

static void test_one_that_fails_with_all_its_partners_is_at_fault(void **state)
{
    struct ward *d = ward_examine(8);
    d->answer[1] = FATAL;
    ward_wait_step(d, 1, STEP_QUEUE);
    assert_string_equal(ward_repair(d, 1)->problem, "hardware_problem");
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_FAIL);
    assert_non_null(strstr(d->x->log.s, "lx01; more of fatal: pair fatal"));
    ward_run(d, 5);
    for (int i = 2; i <= 8; i++)
        assert_true(!ward_incident(d, i) && !ward_repair(d, i));
    ward_assert_free(d);
    ward_destroy(d);
}

static void test_larger_groups_blame_or_clear_the_examined_node(void **state)
{
    for (int group = 3; group <= 8; group++) {
        for (int bad = 1; bad <= 2; bad++) {
            CLEANUP_TEXT struct text checks = {0};
            text_printf(&checks,
                        "Check=space Probe=fs.space Path=/ Every=60s\n"
                        "Check=pair Probe=plugin Run=/bin/true When=extensive Group=%d Deadline=60s\n",
                        group);
            struct ward *d = ward_create(12, checks.s);
            d->says[1] = ILL;
            ward_tell(d, 1, ILL);
            d->answer[bad] = FATAL;
            ward_run(d, 40);
            assert_int_equal(ward_repair(d, 1)->examined, bad == 1 ? EXAMINED_FAIL : EXAMINED_PASS);
            assert_true(world_held(d->x, 2, CLAIM_REPAIR) == (bad == 2));
            for (int i = 3; i <= 12; i++)
                assert_null(ward_incident(d, i));
            ward_destroy(d);
        }
    }
}

static void test_a_bad_partner_is_named_and_the_examined_node_passes(void **state)
{
    struct ward *d = ward_examine(8);
    d->answer[2] = FATAL;
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    assert_true(world_held(d->x, 2, CLAIM_REPAIR));
    assert_non_null(strstr(ward_incident(d, 2)->findings[0].f.text, "which passed with others"));
    ward_destroy(d);
}

static void test_a_bad_link_to_a_partner_is_nobodys_failure(void **state)
{
    struct ward *d = ward_examine(8);
    d->bad_link[0] = 1;
    d->bad_link[1] = 2;
    ward_run(d, 20);
    assert_int_equal(ward_repair(d, 1)->examined, EXAMINED_PASS);
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
    assert_null(ward_incident(d, 2));
    ward_assert_free(d);
    ward_destroy(d);
}

/* lx01 is ill, is well again, and is examined meanwhile. */
static void examine_again(struct ward *d)
{
    ward_tell(d, 1, d->says[1] = ILL);
    d->hangs[1] = true;
    ward_run(d, 10);
    d->says[1] = NULL;
    ward_tell(d, 1, WELL);
    d->hangs[1] = false;
    ward_run(d, 30);
    assert_null(ward_repair(d, 1));
    ward_assert_free(d);
}

static void test_a_bad_link_is_over_when_its_ends_passed_together(void **state)
{
    struct ward *d = ward_create(6, EXAM);
    d->bad_link[0] = 1;
    d->bad_link[1] = 2;
    examine_again(d);
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
    examine_again(d); /* each of them passes with another one */
    assert_string_equal(d->with[1], "lx01,lx05 0");
    assert_string_equal(d->with[2], "lx06,lx02 1");
    assert_non_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
    d->bad_link[0] = 0;
    world_command_for(d->x, COMMAND_DRAIN, "lx[03-06]", "bad DIMM", NULL);
    examine_again(d);
    assert_string_equal(d->with[1], "lx01,lx02 0");
    assert_null(cluster_shared(d->x->c, "trial:pair lx[01-02]"));
    ward_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pair_runs_it_together_in_ranks),
        cmocka_unit_test(test_a_bad_node_is_named_and_nobody_else),
        cmocka_unit_test(test_with_too_few_to_tell_there_is_a_warning),
        cmocka_unit_test(test_a_bad_link_is_shared_until_it_is_not_found_again),
        cmocka_unit_test(test_one_that_leaves_blames_nobody),
        cmocka_unit_test(test_one_that_leaves_before_it_began_holds_nobody_up),
        cmocka_unit_test(test_one_that_fails_with_all_its_partners_is_at_fault),
        cmocka_unit_test(test_larger_groups_blame_or_clear_the_examined_node),
        cmocka_unit_test(test_a_bad_partner_is_named_and_the_examined_node_passes),
        cmocka_unit_test(test_a_bad_link_to_a_partner_is_nobodys_failure),
        cmocka_unit_test(test_a_bad_link_is_over_when_its_ends_passed_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
