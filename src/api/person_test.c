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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct caller c = {.kind = ACCESS_LOCAL, .uid = cases[i].uid, .name = "ann"};
        assert_true(cases[i].is == (caller_person(&c) == c.name));
    }
    assert_null(caller_person(&(struct caller){.kind = ACCESS_LOCAL, .uid = 1000}));
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct caller c = {.kind = ACCESS_CERTIFICATE, .identity.kind = cases[i].kind, .name = "ann"};
        assert_true(cases[i].is == (caller_person(&c) == c.name));
    }
    /* By the rule of 2001, a local port below 1024 is root's. */
    assert_null(caller_person(&(struct caller){.kind = ACCESS_NOBODY, .port = 80, .here = true}));
}

static void test_a_service_account_is_no_person(void **state)
{
    struct caller c = {.kind = ACCESS_TOKEN, .name = "Ann Lee", .subject = "24400320", .is_person = true};
    assert_string_equal(caller_person(&c), "24400320");
    c.is_person = false;
    assert_null(caller_person(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_local_user_with_an_own_account_is_a_person),
        cmocka_unit_test(test_an_operator_is_a_person),
        cmocka_unit_test(test_a_service_account_is_no_person),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
