/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_nodes_are_held_by_one_claim_and_it_says_for_what(void **state)
{
    struct world *w = *state;
    world_trial_begin(w, "lx[01-03]", "7.1");
    assert_int_equal(world_rc(), 0);
    assert_string_equal(world_claims(w, "lx02"), "7.1 trial by fettled: check pair");
    assert_string_equal(world_state(w, "lx02"), "draining");
    assert_string_equal(world_trial(w, "lx03")->claim, "7.1");
    assert_string_equal(world_trial(w, "lx03")->check, "pair");
    assert_int_equal(world_trial(w, "lx03")->deadline.ns - world_trial(w, "lx03")->began.ns,
                     INT64_C(600000000000));
}

static void test_all_or_none_are_held(void **state)
{
    struct world *w = *state;
    world_do(w, COMMAND_DRAIN, "root", "lx02", "bad DIMM", "1.9");
    world_trial_begin(w, "lx[01-03]", "7.1");
    assert_int_equal(world_rc(), -EBUSY);
    assert_null(world_trial(w, "lx01"));
    world_configure(w, "lx[02-06] CPUs=2", NULL);
    world_trial_begin(w, "lx01", "7.2");
    assert_int_equal(world_rc(), -EBUSY);
    world_trial_begin(w, "lx03", "7.3");
    world_trial_begin(w, "lx03", "7.4");
    assert_int_equal(world_rc(), -EBUSY);
    assert_string_equal(world_trial(w, "lx03")->claim, "7.3");
    world_trial_begin(w, "lx99", "7.5");
    assert_int_equal(world_rc(), -ENOENT);
}

/* Under the claim of its repair. */
static void isolate(struct world *w, const char *node)
{
    world_tell(w, COMMAND_REPAIR, node,
               quoted("{'id':null,'from':'none','to':'isolate','why':'full','deadline_s':0}"), "6.1");
    assert_int_equal(world_rc(), 0);
}

static void examine(struct world *w, const char *node)
{
    world_tell(w, COMMAND_REPAIR, node,
               quoted("{'id':'6.1','from':'isolate','to':'examine','why':'full','deadline_s':600}"), NULL);
    assert_int_equal(world_rc(), 0);
}

static void test_one_that_is_examined_takes_part_and_its_repair_alone_holds_it(void **state)
{
    struct world *w = *state;
    const char *set = "{'check':'pair','deadline_s':600,'examines':'lx02'}";
    isolate(w, "lx02");
    examine(w, "lx02");
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[01-03]", quoted(set), "7.1");
    assert_int_equal(world_rc(), 0);
    assert_string_equal(world_claims(w, "lx01"), "7.1 trial by fettled: check pair, to examine lx02");
    assert_string_equal(world_claims(w, "lx02"), "6.1 repair by fettled: [node_problem] full");
    assert_string_equal(world_state(w, "lx02"), "examining");
    assert_string_equal(world_trial(w, "lx02")->claim, "7.1");
    struct cluster *again = world_reload(w, "lx[01-06] CPUs=2", 3, true);
    assert_int_equal(cluster_digest(again), cluster_digest(w->c));
    cluster_destroy(again);
    world_trial_end(w, "lx[01-03]", "7.1", "{'lx01':'ok','lx02':'fatal','lx03':null}");
    assert_null(cluster_claim(w->c, "7.1"));
    assert_string_equal(world_claims(w, "lx02"), "6.1 repair by fettled: [node_problem] full");
    assert_string_equal(world_trial(w, "lx02")->claim, "");
    assert_int_equal(trial_last(world_trial(w, "lx02"), "pair")->result, RESULT_FATAL);
}

static void test_a_node_that_is_not_examined_or_held_for_more_is_no_guest_of_a_trial(void **state)
{
    struct world *w = *state;
    const char *set = "{'check':'pair','deadline_s':600,'examines':'lx02'}";
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[01-03]", quoted(set), "7.1");
    assert_int_equal(world_rc(), -EBUSY); /* it is in service */
    isolate(w, "lx02");
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[01-03]", quoted(set), "7.1");
    assert_int_equal(world_rc(), -EBUSY); /* not in this step */
    examine(w, "lx02");
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx02", quoted(set), "7.1");
    assert_int_equal(world_rc(), -EINVAL); /* alone */
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[03-04]", quoted(set), "7.1");
    assert_int_equal(world_rc(), -EINVAL); /* not there */
    world_trial_begin(w, "lx[01-02]", "7.1");
    assert_int_equal(world_rc(), -EBUSY); /* it is nobody's partner */
    world_do(w, COMMAND_DRAIN, "root", "lx02", "bad DIMM", "1.9");
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[01-03]", quoted(set), "7.1");
    assert_int_equal(world_rc(), -EBUSY);
    world_do(w, COMMAND_UNDRAIN, "root", "lx02", NULL, "1.9");
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[01-03]", quoted(set), "7.1");
    assert_int_equal(world_rc(), 0);
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[02,04]", quoted(set), "7.2");
    assert_int_equal(world_rc(), -EBUSY);
    assert_null(world_trial(w, "lx04"));
}

static void test_nodes_leave_one_by_one_and_their_results_stay(void **state)
{
    struct world *w = *state;
    world_trial_begin(w, "lx[01-03]", "7.1");
    assert_non_null(strstr(world_trial_end(w, "lx01", "7.1", "{'lx01':'fatal'}"),
                           "pair: lx01 fatal, it ran (claim 7.1)"));
    assert_string_equal(world_claims(w, "lx01"), "");
    assert_string_equal(world_claims(w, "lx02"), "7.1 trial by fettled: check pair");
    assert_string_equal(world_trial(w, "lx01")->claim, "");
    assert_int_equal(trial_last(world_trial(w, "lx01"), "pair")->result, RESULT_FATAL);
    assert_null(trial_last(world_trial(w, "lx01"), "other"));
    world_trial_end(w, "lx[02-03]", "7.1", "{'lx02':'ok','lx03':null}");
    assert_null(cluster_claim(w->c, "7.1"));
    assert_int_equal(trial_last(world_trial(w, "lx02"), "pair")->result, RESULT_OK);
    assert_null(world_trial(w, "lx03")); /* nothing ran: nothing is remembered */
    assert_string_equal(world_trial_end(w, "lx[01-03]", "7.1", "{}"), "nothing");
}

static void test_a_claim_that_a_person_took_back_leaves_nothing(void **state)
{
    struct world *w = *state;
    world_trial_begin(w, "lx[01-02]", "7.1");
    world_do(w, COMMAND_UNDRAIN, "ann", "lx01", NULL, "7.1");
    assert_int_equal(world_rc(), 0);
    world_do(w, COMMAND_UNDRAIN, "ann", "lx02", NULL, NULL);
    assert_int_equal(world_rc(), 0);
    assert_null(cluster_claim(w->c, "7.1"));
    world_trial_end(w, "lx[01-02]", "7.1", "{}");
    assert_null(world_trial(w, "lx01"));
    assert_null(world_trial(w, "lx02"));
}

static void test_a_claim_without_a_record_goes_as_well(void **state)
{
    struct world *w = *state;
    world_trial_begin(w, "lx01", "7.1");
    cluster_put(w->c, "trial/lx01", NULL, NULL);
    world_trial_end(w, "lx01", "7.1", "{}");
    assert_null(cluster_claim(w->c, "7.1"));
}

static void test_a_persons_drain_stays_when_the_trial_ends(void **state)
{
    struct world *w = *state;
    world_trial_begin(w, "lx01", "7.1");
    world_do(w, COMMAND_DRAIN, "root", "lx01", "bad DIMM", "7.2");
    world_trial_end(w, "lx01", "7.1", "{'lx01':null}");
    assert_string_equal(world_claims(w, "lx01"), "7.2 drain by root: bad DIMM");
    world_do(w, COMMAND_DRAIN, "root", "lx02", "new disk", "7.3");
    assert_string_equal(world_trial_end(w, "lx02", "7.3", "{}"), "nothing"); /* no trial's claim */
    assert_string_equal(world_claims(w, "lx02"), "7.3 drain by root: new disk");
}

static void test_a_bad_command_is_refused(void **state)
{
    struct world *w = *state;
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx01", quoted("{'check':'','deadline_s':1}"), "7.1");
    assert_int_equal(world_rc(), -EINVAL);
    world_tell(w, COMMAND_TRIAL_END, "lx01", quoted("{'claim':'7.1','check':'','why':'it ran'}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_tell(w, COMMAND_TRIAL_END, "lx01", quoted("{'claim':'7.1','check':'x','why':'two\\nlines'}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
}

static void test_the_oldest_of_too_many_checks_is_forgotten(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < TRIALS_KEPT_MAX + 3; i++) {
        char set[256];
        w->at += 1000;
        snprintf(set, sizeof set, "{'check':'c%d','deadline_s':600}", i);
        world_tell(w, COMMAND_TRIAL_BEGIN, "lx01", quoted(set), "7.1");
        snprintf(set, sizeof set, "{'claim':'7.1','check':'c%d','why':'it ran','results':{'lx01':'ok'}}", i);
        world_tell(w, COMMAND_TRIAL_END, "lx01", quoted(set), NULL);
        assert_int_equal(world_rc(), 0);
    }
    assert_int_equal(world_trial(w, "lx01")->n_last, TRIALS_KEPT_MAX);
    assert_null(trial_last(world_trial(w, "lx01"), "c2"));
    assert_non_null(trial_last(world_trial(w, "lx01"), "c3"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nodes_are_held_by_one_claim_and_it_says_for_what),
        TEST(test_all_or_none_are_held),
        TEST(test_one_that_is_examined_takes_part_and_its_repair_alone_holds_it),
        TEST(test_a_node_that_is_not_examined_or_held_for_more_is_no_guest_of_a_trial),
        TEST(test_nodes_leave_one_by_one_and_their_results_stay),
        TEST(test_a_claim_that_a_person_took_back_leaves_nothing),
        TEST(test_a_claim_without_a_record_goes_as_well),
        TEST(test_a_persons_drain_stays_when_the_trial_ends),
        TEST(test_a_bad_command_is_refused),
        TEST(test_the_oldest_of_too_many_checks_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
