/* SPDX-License-Identifier: Apache-2.0
 *
 * Which fields a query names, and in which order.
 */
#include "api/selection.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_fields_are_chosen_in_the_order_of_the_query(void **state)
{
    struct selection s;
    struct err e = {0};
    assert_int_equal(selection_parse("state,Name", &s, &e), 0);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.fields[0], FIELD_STATE);
    assert_int_equal(s.fields[1], FIELD_NAME);
    assert_int_equal(selection_parse(NULL, &s, &e), 0);
    assert_int_equal(s.n, FIELDS);
    for (size_t i = 0; i < FIELDS; i++)
        assert_int_equal(s.fields[i], i);
}

static void test_a_wrong_list_of_fields_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"", "\"fields\" has an empty name"},
        {"Name,", "\"fields\" has an empty name"},
        {",Name", "\"fields\" has an empty name"},
        {"Name,State,name", "\"fields\" names Name twice"},
        {"Stat", "unknown field \"Stat\"; the nearest known is \"State\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct selection s;
        struct err e = {0};
        assert_int_equal(selection_parse(cases[i][0], &s, &e), -EINVAL);
        assert_string_equal(e.msg, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_chosen_in_the_order_of_the_query),
        cmocka_unit_test(test_a_wrong_list_of_fields_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
