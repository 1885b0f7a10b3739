/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command_health.h"

#include "cluster/command/shape_check_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_names_of_transitions(void **state)
{
    enum by_hand h;
    struct err e;
    for (int i = 0; i < BY_HANDS; i++) {
        assert_int_equal(by_hand_parse(by_hand_name((enum by_hand)i), &h, &e), 0);
        assert_int_equal(h, i);
    }
    assert_int_equal(by_hand_parse("resume", &h, &e), -EINVAL);
    assert_string_equal(e.msg, "\"resume\" is no transition: human_intervention, manual_drain, quarantine, "
                               "retire, maintenance, restart, maintenance_over");
}

static void test_each_command_is_copied_and_compared_whole(void **state)
{
    SHAPE_CHECK(findings);
    SHAPE_CHECK(shared);
    SHAPE_CHECK(repair);
    SHAPE_CHECK(operate);
    SHAPE_CHECK(outcome);
    SHAPE_CHECK(transition);
    SHAPE_CHECK(answer);
    SHAPE_CHECK(ticket);
    SHAPE_CHECK(approval);
    SHAPE_CHECK(switched);
    SHAPE_CHECK(override);
    SHAPE_CHECK(override_of);
    SHAPE_CHECK(trial_begin);
    SHAPE_CHECK(trial_end);
    SHAPE_CHECK(measured);
    SHAPE_CHECK(power);
}

static void test_small_members_are_compared(void **state)
{
    SHAPE_SEES(repair, repair_command, approval);
    SHAPE_SEES(repair, repair_command, attempt.done);
    SHAPE_SEES(repair, repair_command, restarted);
    SHAPE_SEES(repair, repair_command, renewed);
    SHAPE_SEES(operate, operate_command, step);
    SHAPE_SEES(transition, transition_command, answers);
    SHAPE_SEES(switched, switch_command, on);
    SHAPE_SEES(power, power_command, force);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_transitions),
        cmocka_unit_test(test_each_command_is_copied_and_compared_whole),
        cmocka_unit_test(test_small_members_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
