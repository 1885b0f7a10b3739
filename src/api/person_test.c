/* SPDX-License-Identifier: Apache-2.0 */
#include "api/person.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_a_local_user_with_an_own_account_is_a_person(void **state)
{
    static const struct {
        uid_t uid;
        bool is;
    } cases[] = {{0, false}, {999, false}, {1000, true}, {59999, true}, {60000, false}, {65534, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(caller_is_person(&(struct caller){.local = true, .uid = cases[i].uid}), cases[i].is);
}

static void test_an_operator_is_a_person(void **state)
{
    static const struct {
        enum identity_kind kind;
        bool is;
    } cases[] = {{IDENTITY_OPERATOR, true},
                 {IDENTITY_NONE, false},
                 {IDENTITY_NODE, false},
                 {IDENTITY_CONTROLLER, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(caller_is_person(&(struct caller){.identity.kind = cases[i].kind}), cases[i].is);
    /* By the rule of 2001, a local port below 1024 is root's. */
    assert_false(caller_is_person(&(struct caller){.port = 80, .here = true}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_local_user_with_an_own_account_is_a_person),
        cmocka_unit_test(test_an_operator_is_a_person),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
