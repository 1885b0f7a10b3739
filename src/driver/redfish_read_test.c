/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/redfish_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BODY(text) text, strlen(text)

static void test_the_root_leads_to_the_systems(void **state)
{
    redfish_path p;
    struct err e = {0};
    assert_int_equal(redfish_read_root(BODY("{\"Systems\":{\"@odata.id\":\"/redfish/v1/Systems/\"}}"), p, &e),
                     0);
    assert_string_equal(p, "/redfish/v1/Systems/");
    static const char *const wrong[] = {"",
                                        "{}",
                                        "[]",
                                        "{\"Systems\":{\"@odata.id\":\"https://evil/\"}}",
                                        "{\"Systems\":{\"@odata.id\":\"/a b\"}}",
                                        "html"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(redfish_read_root(BODY(wrong[i]), p, &e), -EPROTO);
}

static void test_the_system_is_the_only_one_or_the_named(void **state)
{
    redfish_path p;
    struct err e = {0};
    const char *one = "{\"Members\":[{\"@odata.id\":\"/S/1/\"}]}";
    const char *two = "{\"Members\":[{\"@odata.id\":\"/S/Node0\"},{\"@odata.id\":\"/S/Node1/\"}]}";
    assert_int_equal(redfish_read_systems(BODY(one), "", p, &e), 0);
    assert_string_equal(p, "/S/1/");
    assert_int_equal(redfish_read_systems(BODY(two), "Node1", p, &e), 0);
    assert_string_equal(p, "/S/Node1/");
    assert_int_equal(redfish_read_systems(BODY(two), "", p, &e), -ENOENT);
    assert_string_equal(e.msg, "the BMC has 2 systems and bmc.conf does not say which");
    assert_int_equal(redfish_read_systems(BODY(two), "Node", p, &e), -ENOENT);
    assert_int_equal(redfish_read_systems(BODY("{}"), "", p, &e), -ENOENT);
}

#define RESET(more) "\"Actions\":{\"#ComputerSystem.Reset\":{\"target\":\"/R/\"" more "}}"

static void test_a_system_says_its_power_and_the_allowed_resets(void **state)
{
    struct redfish_system s;
    struct err e = {0};
    const char *body = "{\"@odata.etag\":\"W/\\\"1\\\"\",\"PowerState\":\"On\"," RESET(
        ",\"ResetType@Redfish.AllowableValues\":[\"On\",\"Nmi\",7,\"PowerCycle\"]") "}";
    assert_int_equal(redfish_read_system(BODY(body), &s, &e), 0);
    assert_true(s.is_on);
    assert_int_equal(s.allowed, RESET_ON | RESET_POWER_CYCLE);
    assert_string_equal(s.etag, "W/\"1\"");
    assert_string_equal(s.target, "/R/");
    body = "{\"PowerState\":\"PoweringOn\"," RESET(",\"@Redfish.ActionInfo\":\"/I\"") "}";
    assert_int_equal(redfish_read_system(BODY(body), &s, &e), 0);
    assert_false(s.is_on);
    assert_int_equal(s.allowed, 0);
    assert_string_equal(s.action_info, "/I");
    assert_int_equal(redfish_read_system(BODY("{\"PowerState\":\"Odd\"," RESET("") "}"), &s, &e), -EPROTO);
    assert_int_equal(redfish_read_system(BODY("{" RESET("") "}"), &s, &e), -EPROTO);
    assert_int_equal(redfish_read_system(BODY("{\"PowerState\":\"On\"}"), &s, &e), -EPROTO);
    assert_string_equal(e.msg, "its reset: the BMC's answer has no path \"target\"");
}

static void test_action_info(void **state)
{
    unsigned allowed = 0;
    struct err e = {0};
    const char *body =
        "{\"Parameters\":[{\"Name\":\"X\"},{\"Name\":\"ResetType\",\"AllowableValues\":[\"ForceOff\"]}]}";
    assert_int_equal(redfish_read_action_info(BODY(body), &allowed, &e), 0);
    assert_int_equal(allowed, RESET_FORCE_OFF);
    assert_int_equal(redfish_read_action_info(BODY("{\"Parameters\":[]}"), &allowed, &e), -EPROTO);
}

static void test_tasks(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(redfish_read_task(BODY("{\"TaskState\":\"Running\"}"), &t), TASK_RUNS);
    assert_int_equal(redfish_read_task(BODY("{\"TaskState\":\"Completed\"}"), &t), TASK_OVER);
    assert_int_equal(redfish_read_task(BODY(""), &t), TASK_OVER);
    assert_int_equal(t.len, 0);
    const char *bad = "{\"TaskState\":\"Killed\",\"Messages\":[{\"Message\":\"why\\nnot\"}]}";
    assert_int_equal(redfish_read_task(BODY(bad), &t), TASK_FAILED);
    assert_string_equal(t.s, "its task is Killed: why not");
}

static void test_an_error_is_words(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    redfish_read_error(BODY("{\"error\":{\"message\":\"general\"}}"), &t);
    assert_string_equal(t.s, "general");
    text_clear(&t);
    redfish_read_error(
        BODY("{\"error\":{\"message\":\"general\",\"@Message.ExtendedInfo\":[{\"Message\":\"this\"}]}}"), &t);
    assert_string_equal(t.s, "this");
    text_clear(&t);
    redfish_read_error(BODY("<html>"), &t);
    assert_int_equal(t.len, 0);
}

/* The password goes where a path leads. */
static void test_a_system_that_is_to_be_left_alone(void **state)
{
    (void)state;
    struct redfish_system s;
    struct err e;
#define STATE(word) "{\"PowerState\":\"On\",\"Status\":{\"State\":\"" word "\"}," RESET("") "}"
    assert_int_equal(redfish_read_system(BODY(STATE("Updating")), &s, &e), 0);
    assert_string_equal(s.held, "Updating");
    assert_int_equal(redfish_read_system(BODY(STATE("InTest")), &s, &e), 0);
    assert_string_equal(s.held, "InTest");
    assert_int_equal(redfish_read_system(BODY(STATE("Disabled")), &s, &e), 0);
    assert_string_equal(s.held, "");
}

static void test_no_path_leads_elsewhere(void **state)
{
    redfish_path p;
    const char *base = "https://bmc";
    assert_true(redfish_take_path(base, "/a", p));
    assert_true(redfish_take_path(base, "https://bmc/a/b", p));
    assert_string_equal(p, "/a/b");
    static const char *const wrong[] = {"",       "a",          "https://bmc.evil/a", "https://evil/a",
                                        "@evil/", "/a\r\nX: y", "https://bmc"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(redfish_take_path(base, wrong[i], p));
    char long_one[REDFISH_PATH_BYTES_MAX + 2];
    memset(long_one, '/', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    assert_false(redfish_take_path("", long_one, p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_root_leads_to_the_systems),
        cmocka_unit_test(test_the_system_is_the_only_one_or_the_named),
        cmocka_unit_test(test_a_system_says_its_power_and_the_allowed_resets),
        cmocka_unit_test(test_action_info),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_an_error_is_words),
        cmocka_unit_test(test_a_system_that_is_to_be_left_alone),
        cmocka_unit_test(test_no_path_leads_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
