/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/event.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include <cmocka.h>

/* --- Sensu ----------------------------------------------------------------------------------- */

static int read_event(const char *text, struct sensu_event *out)
{
    struct err e = {0};
    int rc = sensu_event_read(text, strlen(text), out, &e);
    if (rc < 0)
        assert_true(e.code == rc && strlen(e.msg) > 5);
    return rc;
}

/* As sensu-agent writes one; what is not read is there too. */
static const char whole[] =
    "{\"timestamp\":1700000105,\"id\":\"7b1\",\"sequence\":12,\"metadata\":{\"namespace\":\"default\"},"
    "\"entity\":{\"entity_class\":\"agent\",\"system\":{\"hostname\":\"gx01\",\"os\":\"linux\"},"
    "\"subscriptions\":[\"gpu\"],\"last_seen\":1700000100,\"metadata\":{\"name\":\"gx01\",\"labels\":null}},"
    "\"check\":{\"command\":\"check-ntp\",\"handlers\":[\"mqtt\"],\"interval\":60,\"issued\":1700000099,"
    "\"executed\":1700000100,\"duration\":0.004,\"output\":\"NTP CRITICAL: offset 4.1 s | "
    "offset=4.1s;1;2\\nmore\\n\","
    "\"status\":2,\"state\":\"failing\",\"history\":[{\"status\":0,\"executed\":1700000040}],\"occurrences\":"
    "3,"
    "\"occurrences_watermark\":3,\"metadata\":{\"name\":\"check-ntp\"}},\"pipelines\":[]}";

static void test_an_event_of_sensu_is_a_verdict_on_a_node(void **state)
{
    struct sensu_event x;
    assert_int_equal(read_event(whole, &x), 0);
    assert_string_equal(x.node, "gx01");
    assert_string_equal(x.check, "sensu.check-ntp");
    assert_int_equal(x.verdict.result, RESULT_FATAL);
    assert_int_equal(x.verdict.n, 1);
    assert_string_equal(x.verdict.findings[0].text, "NTP CRITICAL: offset 4.1 s");
    assert_string_equal(x.verdict.findings[0].device, "");
    assert_true(x.at.ns == INT64_C(1700000100) * 1000000000);
}

static void test_metrics_are_read_in_the_format_that_the_event_names(void **state)
{
    struct sensu_event x;
    assert_int_equal(
        read_event("{\"entity\":{\"metadata\":{\"name\":\"n1\"}},\"check\":{\"metadata\":{\"name\":\"d\"},"
                   "\"status\":1,\"output\":\"disk.used 97 1700000000\\ndisk.free 3 1700000000\\n\","
                   "\"output_metric_format\":\"graphite_plaintext\"}}",
                   &x),
        0);
    assert_int_equal(x.verdict.result, RESULT_WARN);
    assert_string_equal(x.verdict.text, "disk.used=97 disk.free=3");
}

/* The smallest event, with this check object's members. */
static int read_check(const char *members, struct sensu_event *out)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"timestamp\":1700000105,\"entity\":{\"metadata\":{\"name\":\"n1\"}},\"check\":{%s}}",
             members);
    return read_event(text, out);
}

static void test_the_status_says_what_it_is(void **state)
{
    static const struct {
        const char *status;
        enum result result;
    } all[] = {{"0", RESULT_OK},       {"1", RESULT_WARN},    {"2", RESULT_FATAL},
               {"3", RESULT_UNKNOWN},  {"4", RESULT_UNKNOWN}, {"127", RESULT_UNSUPPORTED},
               {"255", RESULT_UNKNOWN}};
    struct sensu_event x;
    char members[128];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(members, sizeof members, "\"status\":%s,\"output\":\"said\",\"metadata\":{\"name\":\"c\"}",
                 all[i].status);
        assert_int_equal(read_check(members, &x), 0);
        assert_int_equal(x.verdict.result, all[i].result);
    }
}

static void test_without_output_it_is_a_verdict_still(void **state)
{
    struct sensu_event x;
    assert_int_equal(read_check("\"status\":2,\"metadata\":{\"name\":\"c\"}", &x), 0);
    assert_int_equal(x.verdict.result, RESULT_FATAL);
    assert_int_equal(read_check("\"status\":2,\"output\":null,\"metadata\":{\"name\":\"c\"}", &x), 0);
    assert_int_equal(x.verdict.result, RESULT_FATAL);
}

static void test_a_proxy_speaks_of_its_entity(void **state)
{
    struct sensu_event x;
    assert_int_equal(
        read_check("\"status\":0,\"proxy_entity_name\":\"sw7\",\"metadata\":{\"name\":\"c\"}", &x), 0);
    assert_string_equal(x.node, "sw7");
    assert_int_equal(read_check("\"status\":0,\"proxy_entity_name\":\"\",\"metadata\":{\"name\":\"c\"}", &x),
                     0);
    assert_string_equal(x.node, "n1");
}

static void test_the_time_is_the_checks_own_where_it_says_it(void **state)
{
    struct sensu_event x;
    assert_int_equal(read_check("\"status\":0,\"executed\":0,\"metadata\":{\"name\":\"c\"}", &x), 0);
    assert_true(x.at.ns == INT64_C(1700000105) * 1000000000);
    assert_int_equal(read_check("\"status\":0,\"executed\":-7,\"metadata\":{\"name\":\"c\"}", &x), 0);
    assert_true(x.at.ns == INT64_C(1700000105) * 1000000000);
    assert_int_equal(
        read_event("{\"entity\":{\"metadata\":{\"name\":\"n\"}},\"timestamp\":9223372036854775807,"
                   "\"check\":{\"status\":0,\"metadata\":{\"name\":\"c\"}}}",
                   &x),
        0);
    assert_true(x.at.ns == 0);
}

static void test_names_of_checks_are_as_checks_have_them(void **state)
{
    struct sensu_event x, y;
    assert_int_equal(read_check("\"status\":0,\"metadata\":{\"name\":\"Check NTP/v2\"}", &x), 0);
    assert_string_equal(x.check, "sensu.check-ntp-v2");
    assert_int_equal(
        read_check("\"status\":0,\"metadata\":{\"name\":\"0123456789012345678901234567890123456789xx\"}", &x),
        0);
    assert_string_equal(x.check, "sensu.0123456789012345678901234567890123456789xx");
    assert_int_equal(
        read_check("\"status\":0,\"metadata\":{\"name\":\"012345678901234567890123456789012345678901x\"}",
                   &x),
        0);
    assert_int_equal(
        read_check("\"status\":0,\"metadata\":{\"name\":\"012345678901234567890123456789012345678901y\"}",
                   &y),
        0);
    assert_int_equal(strlen(x.check), CHECK_NAME_BYTES_MAX);
    assert_string_not_equal(x.check, y.check);
}

static void test_a_message_that_is_no_event_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "7",
        "[]",
        "{}",
        "{\"check\":7,\"entity\":{\"metadata\":{\"name\":\"n\"}}}",
        "{\"check\":{\"status\":0,\"metadata\":{\"name\":\"c\"}}}",
        "{\"check\":{\"status\":0,\"metadata\":{\"name\":\"c\"}},\"entity\":{\"metadata\":{\"name\":\"\"}}}",
        "{\"check\":{\"status\":0},\"entity\":{\"metadata\":{\"name\":\"n\"}}}",
        "{\"check\":{\"status\":\"2\",\"metadata\":{\"name\":\"c\"}},\"entity\":{\"metadata\":{\"name\":"
        "\"n\"}}}",
        "{\"check\":{\"status\":-1,\"metadata\":{\"name\":\"c\"}},\"entity\":{\"metadata\":{\"name\":\"n\"}}"
        "}",
        "{\"check\":{\"status\":256,\"metadata\":{\"name\":\"c\"}},\"entity\":{\"metadata\":{\"name\":\"n\"}}"
        "}",
    };
    struct sensu_event x;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(read_event(bad[i], &x), -EINVAL);
    assert_int_equal(
        read_event("{\"entity\":{\"metadata\":{\"name\":\"n\"}},\"metrics\":{\"points\":[]}}", &x), -ENOENT);
    CLEANUP_TEXT struct text t = {0};
    text_add(&t,
             "{\"check\":{\"status\":0,\"metadata\":{\"name\":\"c\"}},\"entity\":{\"metadata\":{\"name\":\"");
    for (int i = 0; i <= EVENT_NODE_BYTES_MAX; i++)
        text_add_char(&t, 'n');
    text_add(&t, "\"}}}");
    assert_int_equal(read_event(t.s, &x), -EINVAL);
}

/* --- transitions ----------------------------------------------------------------------------- */

static int read_wish(const char *text, struct transition_wish *out)
{
    struct err e = {0};
    int rc = transition_wish_read(text, strlen(text), out, &e);
    if (rc < 0)
        assert_true(e.code == rc && strlen(e.msg) > 5);
    return rc;
}

static void test_a_transition_as_json(void **state)
{
    struct transition_wish w;
    assert_int_equal(read_wish("{\"node\":\"n1\",\"transition\":\"manual_drain\",\"message\":\"new\\nfan\","
                               "\"by\":\"ann\",\"id\":\"a-1\",\"more\":7}",
                               &w),
                     0);
    assert_string_equal(w.node, "n1");
    assert_string_equal(w.transition, "manual_drain");
    assert_string_equal(w.message, "new fan");
    assert_string_equal(w.by, "ann");
    assert_string_equal(w.id, "a-1");
}

static void test_a_transition_in_three_words(void **state)
{
    struct transition_wish w;
    assert_int_equal(read_wish("  n1\thuman_intervention   Node rebooted, twice \n", &w), 0);
    assert_string_equal(w.node, "n1");
    assert_string_equal(w.transition, "human_intervention");
    assert_string_equal(w.message, "Node rebooted, twice");
    assert_string_equal(w.by, "");
    assert_string_equal(w.id, "");
}

static void test_a_message_that_is_no_transition_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "n1",
        "n1 manual_drain",
        "n1 manual_drain   ",
        "n[1-9] manual_drain all of them",
        "-n manual_drain no name",
        "n1 manual;drain why",
        "[]",
        "[\"n1\",\"manual_drain\",\"why\"]",
        "{\"node\":\"n1\",\"transition\":\"manual_drain\"}",
        "{\"node\":\"n1\",\"transition\":\"manual_drain\",\"message\":\"\"}",
        "{\"node\":\"n1\",\"transition\":\"manual_drain\",\"message\":7}",
        "{\"node\":\"n 1\",\"transition\":\"manual_drain\",\"message\":\"x\"}",
        "{\"node\":\"n1\",\"transition\":\"manual_drain\",\"message\":\"x\",\"by\":\"a b\"}",
        "{\"node\":\"n1\",\"transition\":\"manual_drain\",\"message\":\"x\",\"id\":7}",
        "{\"node\":\"n1\",\"transition\":\"manual_drain\",\"message\":\"x\",\"id\":\"a/b\"}",
        "{\"node\":\"n1\",\"node\":\"n2\",\"transition\":\"manual_drain\",\"message\":\"x\"}",
    };
    struct transition_wish w;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (read_wish(bad[i], &w) != -EINVAL)
            fail_msg("taken: %s", bad[i]);
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "n1 manual_drain ");
    for (int i = 0; i <= EVENT_MESSAGE_BYTES_MAX; i++)
        text_add_char(&t, 'x');
    assert_int_equal(read_wish(t.s, &w), -EINVAL);
    assert_int_equal(transition_wish_read("n1 manual_drain a\0b", 19, &w, NULL), -EINVAL);
}

static void test_a_refused_one_can_be_answered_where_its_id_is_known(void **state)
{
    struct transition_wish w;
    assert_int_equal(read_wish("{\"id\":\"q7\",\"node\":\"n1\"}", &w), -EINVAL);
    assert_string_equal(w.id, "q7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_event_of_sensu_is_a_verdict_on_a_node),
        cmocka_unit_test(test_metrics_are_read_in_the_format_that_the_event_names),
        cmocka_unit_test(test_the_status_says_what_it_is),
        cmocka_unit_test(test_without_output_it_is_a_verdict_still),
        cmocka_unit_test(test_a_proxy_speaks_of_its_entity),
        cmocka_unit_test(test_the_time_is_the_checks_own_where_it_says_it),
        cmocka_unit_test(test_names_of_checks_are_as_checks_have_them),
        cmocka_unit_test(test_a_message_that_is_no_event_is_refused),
        cmocka_unit_test(test_a_transition_as_json),
        cmocka_unit_test(test_a_transition_in_three_words),
        cmocka_unit_test(test_a_message_that_is_no_transition_is_refused),
        cmocka_unit_test(test_a_refused_one_can_be_answered_where_its_id_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
