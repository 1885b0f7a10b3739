/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

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

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_names_of_transitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
