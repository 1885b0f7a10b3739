/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ask.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int parse(enum route r, const char *body, struct ask *a, struct err *e)
{
    *a = (struct ask){0};
    return ask_parse(r, body, strlen(body), a, e);
}

static void test_token(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_token_create, "{\"nodes\":\"new1\"}", &a, NULL), 0);
    assert_int_equal(a.nodes.n, 1);
    assert_int_equal(a.valid.ns, span_s(3600).ns);
    assert_int_equal(a.count, 1);
    assert_false(a.again);
    assert_null(a.from);
    assert_null(a.uuid);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_token_create, "{\"nodes\":\"new[1-2]\",\"valid\":\"7d\"}", &a, NULL), 0);
    assert_int_equal(a.nodes.n, 2);
    assert_int_equal(a.valid.ns, span_s(7 * 86400).ns);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_token_create,
                           "{\"nodes\":\"new[1-2]\",\"count\":2,\"again\":true,\"from\":\"10.0.0.0/8\","
                           "\"uuid\":\"4C4C4544-0039-3510-8052-b4c04f4e3332\"}",
                           &a, NULL),
                     0);
    assert_int_equal(a.count, 2);
    assert_true(a.again);
    assert_string_equal(a.from, "10.0.0.0/8");
    assert_string_equal(a.uuid, "4C4C4544-0039-3510-8052-b4c04f4e3332");
    ask_fini(&a);
}

static void test_certificate(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_certificate_create,
                           "{\"name\":\"ann\",\"role\":\"admin\",\"request\":\"-----\\n\"}", &a, NULL),
                     0);
    assert_string_equal(a.name, "ann");
    assert_int_equal(a.role, ROLE_ADMIN);
    assert_string_equal(a.request, "-----\n");
    assert_int_equal(a.valid.ns, span_s(90 * 86400).ns);
    ask_fini(&a);
}

static void refuse(enum route r, const char *body, const char *why)
{
    struct ask a;
    struct err e = {0};
    assert_int_equal(parse(r, body, &a, &e), -EINVAL);
    assert_non_null(strstr(e.msg, why));
}

static void test_controller(void **state)
{
    char key[CONTROLLER_KEY_BYTES + 1], body[256];
    struct ask a;
    memset(key, 'a', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    snprintf(body, sizeof body, "{\"name\":\"c3\",\"key\":\"%s\"}", key);
    assert_int_equal(parse(ROUTE_controller_admit, body, &a, NULL), 0);
    assert_string_equal(a.name, "c3");
    assert_string_equal(a.word, key);
    ask_fini(&a);
    refuse(ROUTE_controller_admit, "{\"name\":\"c3\"}", "\"key\" is missing");
    refuse(ROUTE_controller_admit, "{\"name\":\"c3\",\"key\":\"aa\"}",
           "is not the key that a new controller prints");
    refuse(ROUTE_controller_remove, "{\"name\":\"c3\"}", "\"reason\" is missing");
    assert_int_equal(parse(ROUTE_controller_remove, "{\"name\":\"c3\",\"reason\":\"sold\"}", &a, NULL), 0);
    assert_string_equal(a.reason, "sold");
    ask_fini(&a);
}

static void test_revoke(void **state)
{
    struct ask a;
    refuse(ROUTE_certificate_revoke, "{\"reason\":\"x\"}", "either \"nodes\" or \"holder\" is needed");
    refuse(ROUTE_certificate_revoke, "{\"nodes\":\"n1\",\"holder\":\"operator:ann\",\"reason\":\"x\"}",
           "not both");
    refuse(ROUTE_certificate_revoke, "{\"nodes\":\"n1\",\"serial\":\"1a\",\"reason\":\"x\"}",
           "needs a \"holder\"");
    refuse(ROUTE_certificate_revoke, "{\"holder\":\"operator:ann\",\"serial\":\"1A\",\"reason\":\"x\"}",
           "lower-case hex");
    assert_int_equal(parse(ROUTE_certificate_revoke,
                           "{\"holder\":\"operator:ann\",\"serial\":\"1a\",\"reason\":\"x\"}", &a, NULL),
                     0);
    assert_true(a.gives);
    assert_int_equal(a.serial, 0x1a);
    ask_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_token), cmocka_unit_test(test_certificate),
                                       cmocka_unit_test(test_controller), cmocka_unit_test(test_revoke)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
