/* SPDX-License-Identifier: Apache-2.0 */
#include "health/finding.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_a_verdict_is_ok_without_findings(void **state)
{
    struct verdict v;
    verdict_clear(&v);
    assert_int_equal(v.result, RESULT_OK);
    assert_int_equal(v.n, 0);
    assert_string_equal(v.text, "");
}

static void test_the_result_is_the_worst_of_the_findings(void **state)
{
    struct verdict v;
    verdict_clear(&v);
    verdict_add(&v, RESULT_WARN, "eth0", "", "%d errors", 3);
    verdict_add(&v, RESULT_FATAL, "eth1", "", "no carrier");
    verdict_add(&v, RESULT_DEGRADED, "eth2", "x.1", "flaps");
    assert_int_equal(v.result, RESULT_FATAL);
    assert_int_equal(v.n, 3);
    assert_string_equal(v.findings[0].text, "3 errors");
    assert_string_equal(v.findings[2].device, "eth2");
    assert_string_equal(v.findings[2].code, "x.1");
}

static void test_ok_is_no_finding(void **state)
{
    struct verdict v;
    verdict_clear(&v);
    verdict_add(&v, RESULT_OK, "eth0", "", "fine");
    verdict_add(&v, RESULT_UNKNOWN, "eth0", "", "who knows");
    assert_int_equal(v.result, RESULT_OK);
    assert_int_equal(v.n, 0);
}

static void test_the_mildest_of_too_many_findings_are_counted(void **state)
{
    struct verdict v;
    unsigned fatal = 0;
    verdict_clear(&v);
    for (int i = 0; i < FINDINGS_A_CHECK_MAX; i++)
        verdict_add(&v, i == 3 ? RESULT_WARN : RESULT_DEGRADED, "", "", "%d", i);
    verdict_add(&v, RESULT_WARN, "", "", "mild");
    verdict_add(&v, RESULT_FATAL, "", "", "first");
    verdict_add(&v, RESULT_FATAL, "", "", "second");
    assert_int_equal(v.n, FINDINGS_A_CHECK_MAX);
    assert_int_equal(v.more, 3);
    for (size_t i = 0; i < v.n; i++) {
        assert_true(v.findings[i].result > RESULT_WARN);
        fatal += v.findings[i].result == RESULT_FATAL;
    }
    assert_int_equal(fatal, 2);
    verdict_add(&v, RESULT_DEGRADED, "", "", "as mild as others");
    for (size_t i = 0; i < v.n; i++)
        assert_string_not_equal(v.findings[i].text, "as mild as others");
}

static void test_texts_are_cut_at_a_character_and_have_no_control(void **state)
{
    struct verdict v;
    char text[FINDING_TEXT_BYTES_MAX + 3];
    verdict_clear(&v);
    memset(text, 'x', sizeof text);
    memcpy(text + FINDING_TEXT_BYTES_MAX - 1, "\xc3\xbc!", 4);
    verdict_add(&v, RESULT_WARN, "a\nb", "c\x1b\x7f", "%s", text);
    assert_int_equal(strlen(v.findings[0].text), FINDING_TEXT_BYTES_MAX - 1);
    assert_string_equal(v.findings[0].device, "a b");
    assert_string_equal(v.findings[0].code, "c");
    verdict_add(&v, RESULT_WARN, "", "", "\xc2\x9b\xff\xe2\x82\xac\xe2\x82");
    assert_string_equal(v.findings[1].text, " ?\xe2\x82\xac??");
}

static void test_a_verdict_that_cannot_be_said_has_no_findings(void **state)
{
    struct verdict v;
    verdict_clear(&v);
    verdict_add(&v, RESULT_FATAL, "", "", "x");
    verdict_cannot(&v, RESULT_UNSUPPORTED, "no %s here", "slurmd");
    assert_int_equal(v.result, RESULT_UNSUPPORTED);
    assert_int_equal(v.n, 0);
    assert_string_equal(v.text, "no slurmd here");
}

static void test_worse_results_are_lowered(void **state)
{
    struct verdict v;
    verdict_clear(&v);
    verdict_add(&v, RESULT_LOST, "", "", "x");
    verdict_add(&v, RESULT_INFO, "", "", "y");
    verdict_cap(&v, RESULT_WARN);
    assert_int_equal(v.result, RESULT_WARN);
    assert_int_equal(v.findings[0].result, RESULT_WARN);
    assert_int_equal(v.findings[1].result, RESULT_INFO);
    verdict_cannot(&v, RESULT_UNKNOWN, "x");
    verdict_cap(&v, RESULT_WARN);
    assert_int_equal(v.result, RESULT_UNKNOWN);
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static void test_json_leaves_out_empty_members(void **state)
{
    struct verdict v;
    CLEANUP_TEXT struct text t = {0};
    verdict_clear(&v);
    verdict_write(&v, &t);
    assert_string_equal(t.s, "{\"result\":\"ok\"}");
    text_clear(&t);
    verdict_add(&v, RESULT_LOST, "gpu 0000:9b:00", "xid.79", "it said \"gone\"");
    verdict_add(&v, RESULT_WARN, "", "", "%s", "");
    v.more = 2;
    verdict_write(&v, &t);
    assert_string_equal(
        t.s, "{\"result\":\"lost\",\"findings\":[{\"result\":\"lost\",\"device\":\"gpu 0000:9b:00\","
             "\"code\":\"xid.79\",\"text\":\"it said \\\"gone\\\"\"},{\"result\":\"warn\"}],\"more\":2}");
    text_clear(&t);
    verdict_cannot(&v, RESULT_UNKNOWN, "it hung");
    verdict_write(&v, &t);
    assert_string_equal(t.s, "{\"result\":\"unknown\",\"text\":\"it hung\"}");
}

static int read_text(const char *json, struct verdict *v, struct err *e)
{
    CLEANUP_JSON json_t *o = json_read(json, strlen(json), NULL);
    assert_non_null(o);
    return verdict_read(o, v, e);
}

static void test_json_reads_back_as_the_same(void **state)
{
    struct verdict v, again;
    CLEANUP_TEXT struct text t = {0}, same = {0};
    verdict_clear(&v);
    for (int i = 0; i < 20; i++)
        verdict_add(&v, RESULT_INFO + i % 4, "mount /\xc3\xbc", i % 2 ? "" : "fs.full", "%d \\ \"%%\"", i);
    verdict_note(&v, "beside");
    verdict_write(&v, &t);
    assert_int_equal(read_text(t.s, &again, NULL), 0);
    verdict_write(&again, &same);
    assert_string_equal(t.s, same.s);
    assert_int_equal(again.more, 4);
}

static void test_members_of_others_may_stand_beside(void **state)
{
    struct verdict v;
    assert_int_equal(read_text("{\"check\":\"time\",\"result\":\"ok\",\"age_ms\":3}", &v, NULL), 0);
    assert_int_equal(v.result, RESULT_OK);
}

static void refused(const char *json, const char *sentence)
{
    struct verdict v;
    struct err e = {0};
    int rc = read_text(json, &v, &e);
    if (rc != -EINVAL || !strstr(e.msg, sentence))
        fail_msg("%s: %d \"%s\"", json, rc, e.msg);
    assert_int_equal(v.result, RESULT_UNKNOWN);
    assert_int_equal(v.n, 0);
}

static void test_json_is_read_strictly(void **state)
{
    refused("[]", "no object");
    refused("{}", "\"result\" is missing");
    refused("{\"result\":3}", "\"result\" is not a string");
    refused("{\"result\":\"OK\"}", "\"result\": \"OK\" is none");
    refused("{\"result\":\"ok\",\"text\":1}", "\"text\" is not a string");
    refused("{\"result\":\"ok\",\"text\":\"a\\nb\"}", "\"text\" has a control character");
    refused("{\"result\":\"ok\",\"findings\":{}}", "\"findings\" is no array");
    refused("{\"result\":\"warn\",\"findings\":[{\"result\":\"warn\"},7]}",
            "\"findings\", number 2: it is no object");
    refused("{\"result\":\"warn\",\"findings\":[{\"result\":\"warn\",\"devise\":\"\"}]}",
            "nearest known is \"device\"");
    refused("{\"result\":\"ok\",\"findings\":[{\"result\":\"ok\"}]}", "ok is no finding");
    refused("{\"result\":\"warn\",\"findings\":[{\"text\":\"\"}]}", "\"result\" is missing");
    refused("{\"result\":\"ok\",\"more\":-1}", "\"more\" is not");
    refused("{\"result\":\"ok\",\"more\":1}", "\"more\" is 1, and there are 0 findings");
    refused("{\"result\":\"warn\",\"findings\":[{\"result\":\"warn\",\"code\":"
            "\"12345678901234567890123456789012\"}]}",
            "\"code\" has 32 bytes; 31 are allowed");
}

static void test_the_result_belongs_to_the_findings(void **state)
{
    refused("{\"result\":\"fatal\"}", "\"result\" is fatal, and the worst of the findings ok");
    refused("{\"result\":\"ok\",\"findings\":[{\"result\":\"warn\"}]}", "\"result\" is ok");
    refused("{\"result\":\"unknown\",\"findings\":[{\"result\":\"warn\"}]}", "\"result\" is unknown");
}

static void test_too_many_findings_are_refused(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "{\"result\":\"warn\",\"findings\":[{\"result\":\"warn\"}");
    for (int i = 0; i < FINDINGS_A_CHECK_MAX; i++)
        text_add(&t, ",{\"result\":\"warn\"}");
    text_add(&t, "]}");
    refused(t.s, "\"findings\" has 17; 16 are allowed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_verdict_is_ok_without_findings),
        cmocka_unit_test(test_the_result_is_the_worst_of_the_findings),
        cmocka_unit_test(test_ok_is_no_finding),
        cmocka_unit_test(test_the_mildest_of_too_many_findings_are_counted),
        cmocka_unit_test(test_texts_are_cut_at_a_character_and_have_no_control),
        cmocka_unit_test(test_a_verdict_that_cannot_be_said_has_no_findings),
        cmocka_unit_test(test_worse_results_are_lowered),
        cmocka_unit_test(test_json_leaves_out_empty_members),
        cmocka_unit_test(test_json_reads_back_as_the_same),
        cmocka_unit_test(test_members_of_others_may_stand_beside),
        cmocka_unit_test(test_json_is_read_strictly),
        cmocka_unit_test(test_the_result_belongs_to_the_findings),
        cmocka_unit_test(test_too_many_findings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
