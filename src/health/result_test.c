/* SPDX-License-Identifier: Apache-2.0 */
#include "health/act.h"
#include "health/blame.h"
#include "health/result.h"
#include "health/service.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* --- results --------------------------------------------------------------------------------- */

static void test_each_name_is_read_back(void **state)
{
    enum result r;
    for (int i = 0; i < RESULTS; i++) {
        assert_true(result_parse(result_name((enum result)i), &r));
        assert_int_equal(r, i);
        assert_true(strlen(result_what((enum result)i)) > 0);
    }
}

static void test_another_name_leaves_it_as_it_was(void **state)
{
    static const char *const others[] = {"", "OK", "fata", "fatal "};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        enum result r = RESULT_WARN;
        assert_false(result_parse(others[i], &r));
        assert_int_equal(r, RESULT_WARN);
    }
}

/* Records and findings of other versions rest on the order. */
static void test_a_later_one_is_worse(void **state)
{
    static const enum result order[] = {RESULT_UNSUPPORTED, RESULT_UNKNOWN,  RESULT_OK,    RESULT_INFO,
                                        RESULT_WARN,        RESULT_DEGRADED, RESULT_FATAL, RESULT_LOST};
    for (int i = 0; i < RESULTS; i++) {
        assert_int_equal(order[i], i);
        assert_int_equal(result_fails(order[i]), order[i] >= RESULT_DEGRADED);
    }
}

/* --- acts ------------------------------------------------------------------------------------ */

static void test_each_act_is_read_back(void **state)
{
    enum act a = ACT_WATCH;
    assert_false(act_parse("", &a));
    assert_false(act_parse("Reset", &a));
    assert_int_equal(a, ACT_WATCH);
    for (int i = 0; i < ACTS; i++) {
        assert_true(act_parse(act_name((enum act)i), &a));
        assert_int_equal(a, i);
        assert_true(strlen(act_what(a)) > 0);
    }
}

/* What asks for nothing ends with time; what asks for more than a reset ends with another boot alone. */
static void test_what_an_act_comes_to_and_what_ends_it(void **state)
{
    static const struct {
        enum act act;
        enum result result;
        enum act_end end;
    } rows[] = {{ACT_IGNORE, RESULT_INFO, ACT_ENDS_TIME},  {ACT_JOB, RESULT_INFO, ACT_ENDS_TIME},
                {ACT_WATCH, RESULT_WARN, ACT_ENDS_TIME},   {ACT_RESET, RESULT_FATAL, ACT_ENDS_REMEDY},
                {ACT_REBOOT, RESULT_FATAL, ACT_ENDS_BOOT}, {ACT_HARDWARE, RESULT_FATAL, ACT_ENDS_BOOT},
                {ACT_LOST, RESULT_LOST, ACT_ENDS_BOOT}};
    assert_int_equal(sizeof rows / sizeof *rows, ACTS);
    for (size_t i = 0; i < ACTS; i++) {
        assert_int_equal(act_result(rows[i].act), rows[i].result);
        assert_int_equal(act_end(rows[i].act), rows[i].end);
    }
}

/* --- what can bring it about ----------------------------------------------------------------- */

static void test_only_what_is_the_nodes_own_counts(void **state)
{
    assert_int_equal(BLAME_NODE, 0); /* what nothing is known of */
    assert_true(blame_counts(BLAME_NODE));
    assert_false(blame_counts(BLAME_PROGRAM));
    assert_false(blame_counts(BLAME_OUTSIDE));
    assert_string_equal(blame_name(BLAME_PROGRAM), "program");
    assert_string_equal(blame_what(BLAME_PROGRAM), "a user's program, on a healthy node");
}

/* --- what follows ---------------------------------------------------------------------------- */

static void test_a_node_that_is_only_observed_takes_work(void **state)
{
    for (int r = 0; r < RESULTS; r++) {
        assert_true(service_of((enum result)r, false)->takes_work);
        assert_int_equal(service_of((enum result)r, false)->drained, DRAINED_NEVER);
    }
}

static void test_only_what_is_fatal_takes_no_work(void **state)
{
    for (int r = 0; r < RESULTS; r++) {
        const struct service *s = service_of((enum result)r, true);
        assert_int_equal(s->takes_work, r < RESULT_FATAL);
        assert_int_equal(s->drained, r >= RESULT_FATAL      ? DRAINED_AT_ONCE
                                     : r == RESULT_DEGRADED ? DRAINED_LASTING
                                                            : DRAINED_NEVER);
    }
}

static void test_nothing_follows_from_nothing(void **state)
{
    assert_string_equal(service_of(RESULT_OK, true)->what, "nothing is wrong");
    assert_string_equal(service_of(RESULT_INFO, false)->what, "nothing is wrong");
    assert_string_equal(service_of(RESULT_WARN, false)->what, "the fault is reported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_name_is_read_back),
        cmocka_unit_test(test_another_name_leaves_it_as_it_was),
        cmocka_unit_test(test_a_later_one_is_worse),
        cmocka_unit_test(test_each_act_is_read_back),
        cmocka_unit_test(test_what_an_act_comes_to_and_what_ends_it),
        cmocka_unit_test(test_only_what_is_the_nodes_own_counts),
        cmocka_unit_test(test_a_node_that_is_only_observed_takes_work),
        cmocka_unit_test(test_only_what_is_fatal_takes_no_work),
        cmocka_unit_test(test_nothing_follows_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
