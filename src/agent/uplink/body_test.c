/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/body.h"

#include "agent/uplink/frame_test.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void reads_a_welcome(void **state)
{
    struct body_welcome w;
    assert_int_equal(
        READ(body_read_welcome, FRAME_WELCOME,
             "{\"interval_ms\":10000,\"spread_ms\":1500,\"term\":7,\"origin\":\"0a\",\"controller\":\"c1\","
             "\"want\":true,\"new\":[]}",
             &w, NULL),
        0);
    assert_true(w.has_interval && w.want);
    assert_int_equal(span_to_ms(w.interval), 10000);
    assert_int_equal(span_to_ms(w.spread), 1500);
    assert_int_equal(w.term, 7);
    assert_string_equal(w.origin, "0a");
    assert_string_equal(w.controller, "c1");
    assert_int_equal(READ(body_read_welcome, FRAME_WELCOME, "{}", &w, NULL), 0);
    assert_false(w.has_interval);
}

static void says_which_frame_and_member_is_wrong(void **state)
{
    static const struct {
        const char *body, *member;
    } rows[] = {
        {"{\"interval_ms\":-1}", "interval_ms"},
        {"{\"interval_ms\":86400001}", "interval_ms"},
        {"{\"spread_ms\":\"1\"}", "spread_ms"},
        {"{\"term\":1.5}", "term"},
        {"{\"want\":1}", "want"},
        {"{\"controller\":\"a\\nb\"}", "controller"},
        {"[]", "object"},
        {"{\"term\":1,\"term\":2}", "JSON"},
        {"", "JSON"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct body_welcome w;
        struct err e = {0};
        assert_int_equal(READ(body_read_welcome, FRAME_WELCOME, rows[i].body, &w, &e), -EINVAL);
        assert_non_null(strstr(e.msg, "WELCOME"));
        assert_non_null(strstr(e.msg, rows[i].member));
    }
}

static void reads_refusals_with_clean_words(void **state)
{
    struct body_refuse r;
    assert_int_equal(
        READ(body_read_refuse, FRAME_REFUSE, "{\"code\":\"conflict\",\"message\":\"two\\nlines\"}", &r, NULL),
        0);
    assert_int_equal(r.code, -EBUSY);
    assert_string_equal(r.message, "two lines");
    assert_int_equal(READ(body_read_refuse, FRAME_REFUSE, "{\"code\":\"never heard\"}", &r, NULL), 0);
    assert_int_equal(r.code, -EIO);
    assert_int_equal(READ(body_read_refuse, FRAME_REFUSE, "{}", &r, NULL), -EINVAL);
}

static void reads_redirects(void **state)
{
    struct body_redirect r;
    assert_int_equal(READ(body_read_redirect, FRAME_REDIRECT, "{}", &r, NULL), 0);
    assert_false(r.to_collector);
    assert_int_equal(READ(body_read_redirect, FRAME_REDIRECT,
                          "{\"collector\":{\"name\":\"lx01\",\"host\":\"192.0.2.1\",\"port\":6120}}", &r,
                          NULL),
                     0);
    assert_true(r.to_collector);
    assert_string_equal(r.collector.name, "lx01");
    assert_int_equal(r.collector.address.port, 6120);
    static const char *const bad[] = {"{\"collector\":{}}",
                                      "{\"collector\":[]}",
                                      "{\"collector\":{\"name\":\"lx01\",\"host\":\"\",\"port\":1}}",
                                      "{\"collector\":{\"name\":\"lx01\",\"host\":\"a\",\"port\":0}}",
                                      "{\"collector\":{\"name\":\"lx01\",\"host\":\"a\",\"port\":65536}}",
                                      "{\"collector\":{\"name\":\"lx[1]\",\"host\":\"a\",\"port\":1}}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(READ(body_read_redirect, FRAME_REDIRECT, bad[i], &r, NULL), -EINVAL);
}

static void tells_an_empty_share_from_none(void **state)
{
    struct body_share s;
    assert_int_equal(READ(body_read_share, FRAME_SHARE, "{\"epoch\":3,\"nodes\":\"lx[02-04]\"}", &s, NULL),
                     0);
    assert_true(s.collect);
    assert_int_equal(s.epoch, 3);
    assert_int_equal(s.nodes.n, 3);
    hostlist_fini(&s.nodes);
    assert_int_equal(READ(body_read_share, FRAME_SHARE, "{\"epoch\":3,\"nodes\":\"\"}", &s, NULL), 0);
    assert_true(s.collect);
    assert_int_equal(s.nodes.n, 0);
    assert_int_equal(READ(body_read_share, FRAME_SHARE, "{\"epoch\":3}", &s, NULL), 0);
    assert_false(s.collect);
    assert_int_equal(READ(body_read_share, FRAME_SHARE, "{\"epoch\":3,\"nodes\":\"n[1-20000]\"}", &s, NULL),
                     -EINVAL);
    assert_int_equal(s.nodes.n, 0);
}

#define HEX "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void reads_whose_inventory_is_wanted(void **state)
{
    struct body_want w;
    assert_int_equal(READ(body_read_want, FRAME_WANT, "{}", &w, NULL), 0);
    assert_true(w.own && !w.components);
    assert_int_equal(READ(body_read_want, FRAME_WANT, "{\"nodes\":\"a,b\"}", &w, NULL), 0);
    assert_false(w.own);
    assert_int_equal(w.nodes.n, 2);
    hostlist_fini(&w.nodes);
}

static void reads_which_components_are_wanted(void **state)
{
    struct body_want w;
    char hex[FINGERPRINT_HEX + 1];
    assert_int_equal(
        READ(body_read_want, FRAME_WANT, "{\"nodes\":\"a\",\"components\":\"" HEX "\"}", &w, NULL), 0);
    assert_true(w.components && !w.own);
    assert_string_equal(fingerprint_format(&w.fingerprint, hex), HEX);
    hostlist_fini(&w.nodes);
    assert_int_equal(READ(body_read_want, FRAME_WANT, "{\"components\":\"00\"}", &w, NULL), -EINVAL);
    assert_int_equal(READ(body_read_want, FRAME_WANT, "{\"components\":true}", &w, NULL), -EINVAL);
}

static void reads_how_fingerprints_are_to_be_read(void **state)
{
    struct body_survey s;
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS,
                          "{\"revision\":5,\"recheck_ms\":21600000,\"also\":[\"sysctl.vm.swappiness\","
                          "\"file./etc/x\"]}",
                          &s, NULL),
                     0);
    assert_true(s.has_recheck && s.has_also);
    assert_int_equal(s.revision, 5);
    assert_int_equal(span_to_ms(s.recheck), 21600000);
    assert_int_equal(s.also.n, 2);
    assert_string_equal(s.also.names[1], "file./etc/x");
    body_survey_fini(&s);
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, "{\"also\":[]}", &s, NULL), 0);
    assert_true(s.has_also && !s.has_recheck);
    assert_int_equal(s.also.n, 0);
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, "{}", &s, NULL), 0);
    assert_false(s.has_also);
}

static void reads_the_controllers_of_the_state(void **state)
{
    struct body_survey s;
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, "{}", &s, NULL), 0);
    assert_false(s.has_controllers);
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS,
                          "{\"controllers\":[\"c1:6120\",\"[::1]:7\",\"c1:6120\",\"c3\"]}", &s, NULL),
                     0);
    assert_true(s.has_controllers);
    assert_int_equal(s.controllers.n, 3);
    assert_string_equal(s.controllers.at[1].host, "::1");
    assert_int_equal(s.controllers.at[1].port, 7);
    assert_int_equal(s.controllers.at[2].port, ADDRESS_PORT_DEFAULT);
    static const char *const bad[] = {"{\"controllers\":\"c1\"}", "{\"controllers\":[7]}",
                                      "{\"controllers\":[\"\"]}", "{\"controllers\":[\"c1:0\"]}",
                                      "{\"also\":[\"x\"],\"controllers\":[\"a b\"]}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, bad[i], &s, NULL), -EINVAL);
    CLEANUP_TEXT struct text many = {0};
    text_add(&many, "{\"controllers\":[\"c0\"");
    for (int i = 1; i < BODY_CONTROLLERS_MAX; i++)
        text_printf(&many, ",\"c%d\"", i);
    size_t len = many.len;
    text_add(&many, "]}");
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, many.s, &s, NULL), 0);
    assert_int_equal(s.controllers.n, ADDRESS_LIST_MAX);
    many.len = len;
    text_add(&many, ",\"more\"]}");
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, many.s, &s, NULL), -EINVAL);
}

static void takes_an_order_for_the_survey_as_it_came(void **state)
{
    struct body_welcome w;
    struct body_settings s;
    assert_int_equal(READ(body_read_welcome, FRAME_WELCOME, "{\"survey\":{\"signed\":\"x\"}}", &w, NULL), 0);
    assert_string_equal(json_text(w.survey, "signed"), "x");
    json_decref(w.survey);
    assert_int_equal(READ(body_read_settings, FRAME_SETTINGS, "{\"survey\":{\"a\":1}}", &s, NULL), 0);
    assert_non_null(s.survey);
    json_decref(s.survey);
    /* What nobody signed is no survey. */
    assert_int_equal(READ(body_read_settings, FRAME_SETTINGS, "{\"also\":[\"file./etc/x\"]}", &s, NULL), 0);
    assert_null(s.survey);
    assert_int_equal(READ(body_read_settings, FRAME_SETTINGS, "{\"survey\":\"x\"}", &s, NULL), -EINVAL);
}

static void bounds_members_beside_the_usual(void **state)
{
    static const char *const bad[] = {"{\"also\":\"a\"}", "{\"also\":[1]}", "{\"also\":[\"\"]}",
                                      "{\"also\":[\"a b\"]}", "{\"recheck_ms\":2147483648}"};
    struct body_survey s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, bad[i], &s, NULL), -EINVAL);
    CLEANUP_TEXT struct text many = {0}, large = {0};
    for (int i = 0; i <= BODY_ALSO_MAX; i++)
        text_printf(&many, "%s\"a\"", i ? "," : "{\"also\":[");
    text_add(&many, "]}");
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, many.s, &s, NULL), -EINVAL);
    for (int i = 0; i < BODY_PART_BYTES_MAX / 255; i++)
        text_printf(&large, "%s\"%0255d\"", i ? "," : "{\"also\":[", i);
    text_add(&large, "]}");
    assert_int_equal(READ(body_read_survey, FRAME_SETTINGS, large.s, &s, NULL), -EINVAL);
}

static void reads_fingerprints(void **state)
{
    struct body_fingerprint f;
    char hex[FINGERPRINT_HEX + 1];
    assert_int_equal(READ(body_read_fingerprint, FRAME_FINGERPRINT,
                          "{\"fingerprint\":\"" HEX "\",\"boot\":\"b1\"}", &f, NULL),
                     0);
    assert_false(f.same);
    assert_string_equal(fingerprint_format(&f.fingerprint, hex), HEX);
    assert_string_equal(f.boot, "b1");
    assert_int_equal(READ(body_read_fingerprint, FRAME_FINGERPRINT, "{\"same\":true}", &f, NULL), 0);
    assert_true(f.same);
    static const char *const bad[] = {
        "{}",
        "{\"same\":false}",
        "{\"same\":1}",
        ("{\"fingerprint\":\"" HEX "\"}"),
        "{\"fingerprint\":\"0\",\"boot\":\"b1\"}",
        ("{\"fingerprint\":\"00112233445566778899AABBccddeeff00112233445566778899aabbccddeeff\",\"boot\":"
         "\"b1\"}")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(READ(body_read_fingerprint, FRAME_FINGERPRINT, bad[i], &f, NULL), -EINVAL);
}

static void reads_components_as_they_are_handed_on(void **state)
{
    struct body_components c;
    assert_int_equal(READ(body_read_components, FRAME_COMPONENTS,
                          "{\"part\":1,\"parts\":3,\"fingerprint\":\"" HEX
                          "\",\"unknown\":{\"b\":\"why\"},\"components\":{\"a\":\"1\"}}",
                          &c, NULL),
                     0);
    assert_int_equal(c.part, 1);
    assert_int_equal(c.parts, 3);
    assert_string_equal(c.members, "\"fingerprint\":\"" HEX "\",\"part\":1,\"parts\":3,"
                                   "\"components\":{\"a\":\"1\"},\"unknown\":{\"b\":\"why\"}");
    free(c.members);
    static const char *const bad[] = {"{\"fingerprint\":\"" HEX "\",\"part\":3,\"parts\":3}",
                                      "{\"fingerprint\":\"" HEX "\",\"part\":0,\"parts\":0}",
                                      "{\"fingerprint\":\"" HEX "\",\"part\":0,\"parts\":513}",
                                      "{\"fingerprint\":\"" HEX "\",\"part\":0}",
                                      "{\"part\":0,\"parts\":1}",
                                      "{\"fingerprint\":\"" HEX
                                      "\",\"part\":0,\"parts\":1,\"components\":[]}",
                                      "{\"fingerprint\":\"" HEX "\",\"part\":0,\"parts\":1,\"absent\":{}}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(READ(body_read_components, FRAME_COMPONENTS, bad[i], &c, NULL), -EINVAL);
        assert_null(c.members);
    }
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"fingerprint\":\"" HEX "\",\"part\":0,\"parts\":1,\"components\":{\"x\":\"%0*d\"}}",
                BODY_PART_BYTES_MAX, 0);
    assert_int_equal(READ(body_read_components, FRAME_COMPONENTS, t.s, &c, NULL), -EINVAL);
}

static void reads_hellos_of_its_protocol_only(void **state)
{
    struct body_hello h;
    assert_int_equal(READ(body_read_hello, FRAME_HELLO,
                          "{\"protocol\":1,\"name\":\"lx02\",\"boot\":\"b\",\"instance\":\"i\"}", &h, NULL),
                     0);
    assert_string_equal(h.name, "lx02");
    assert_string_equal(h.inventory, "");
    static const char *const bad[] = {
        "{}", "{\"protocol\":2,\"name\":\"lx02\",\"boot\":\"b\",\"instance\":\"i\"}",
        "{\"protocol\":1,\"name\":\"l x\",\"boot\":\"b\",\"instance\":\"i\"}",
        "{\"protocol\":1,\"name\":\"lx02\",\"boot\":\"\",\"instance\":\"i\"}",
        "{\"protocol\":1,\"name\":\"lx02\",\"boot\":\"b\",\"instance\":\"\\\"\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(READ(body_read_hello, FRAME_HELLO, bad[i], &h, NULL), -EINVAL);
}

static void reads_heartbeats_and_bounds_the_work(void **state)
{
    struct body_heartbeat h;
    assert_int_equal(READ(body_read_heartbeat, FRAME_HEARTBEAT,
                          "{\"boot\":\"b\",\"instance\":\"i\",\"seq\":9,\"work\":[\"a\"],\"uptime_s\":5}", &h,
                          NULL),
                     0);
    assert_int_equal(h.seq, 9);
    assert_string_equal(h.work, "[\"a\"]");
    free(h.work);
    assert_int_equal(READ(body_read_heartbeat, FRAME_HEARTBEAT,
                          "{\"boot\":\"b\",\"instance\":\"i\",\"seq\":9,\"work\":null}", &h, NULL),
                     0);
    assert_string_equal(h.work, "null");
    free(h.work);
    assert_int_equal(READ(body_read_heartbeat, FRAME_HEARTBEAT,
                          "{\"boot\":\"b\",\"instance\":\"i\",\"seq\":9,\"work\":[1]}", &h, NULL),
                     -EINVAL);
    assert_null(h.work);
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"boot\":\"b\",\"instance\":\"i\",\"seq\":9,\"work\":[\"%0*d\"]}", BODY_WORK_BYTES_MAX,
                0);
    assert_int_equal(READ(body_read_heartbeat, FRAME_HEARTBEAT, t.s, &h, NULL), 0);
    assert_string_equal(h.work, "null");
    free(h.work);
}

static void reads_inventories_as_they_are_handed_on(void **state)
{
    struct body_inventory r;
    assert_int_equal(READ(body_read_inventory, FRAME_INVENTORY,
                          "{\"instance\":\"i\",\"hash\":\"h\",\"full\":true,\"set\":{\"CPUs\":2}}", &r, NULL),
                     0);
    assert_string_equal(r.members, "\"full\":true,\"set\":{\"CPUs\":2},\"unset\":[]");
    free(r.members);
    assert_int_equal(READ(body_read_inventory, FRAME_INVENTORY,
                          "{\"instance\":\"i\",\"hash\":\"h\",\"set\":[]}", &r, NULL),
                     -EINVAL);
    assert_null(r.members);
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"instance\":\"i\",\"hash\":\"h\",\"set\":{\"x\":\"%0*d\"}}", BODY_PART_BYTES_MAX, 0);
    assert_int_equal(READ(body_read_inventory, FRAME_INVENTORY, t.s, &r, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_welcome),
        cmocka_unit_test(says_which_frame_and_member_is_wrong),
        cmocka_unit_test(reads_refusals_with_clean_words),
        cmocka_unit_test(reads_redirects),
        cmocka_unit_test(tells_an_empty_share_from_none),
        cmocka_unit_test(reads_whose_inventory_is_wanted),
        cmocka_unit_test(reads_which_components_are_wanted),
        cmocka_unit_test(reads_how_fingerprints_are_to_be_read),
        cmocka_unit_test(reads_the_controllers_of_the_state),
        cmocka_unit_test(takes_an_order_for_the_survey_as_it_came),
        cmocka_unit_test(bounds_members_beside_the_usual),
        cmocka_unit_test(reads_fingerprints),
        cmocka_unit_test(reads_components_as_they_are_handed_on),
        cmocka_unit_test(reads_hellos_of_its_protocol_only),
        cmocka_unit_test(reads_heartbeats_and_bounds_the_work),
        cmocka_unit_test(reads_inventories_as_they_are_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
