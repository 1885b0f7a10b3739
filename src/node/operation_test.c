/* SPDX-License-Identifier: Apache-2.0 */
#include "node/operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RECORD                                                                                  \
    "{\"id\":\"7.1\",\"run\":\"reboot\",\"of\":\"restart\",\"boot\":\"b1\",\"instance\":\"2\"," \
    "\"deadline\":\"9000\",\"done\":"

static void a_record_says_how_far_its_operation_is(void **state)
{
    static const struct {
        const char *done;
        enum operation_state state;
        const char *text;
        enum refusal refusal;
        int64_t began_ns;
    } cases[] = {
        {"null}", OPERATION_WAITS, "", REFUSAL_NONE, 0},
        {"{\"state\":\"begun\",\"id\":\"7.1\",\"at\":\"55\"}}", OPERATION_BEGUN, "", REFUSAL_NONE, 55},
        {"{\"state\":\"done\",\"id\":\"7.1\",\"text\":\"on\"}}", OPERATION_DONE, "on", REFUSAL_NONE, 0},
        {"{\"state\":\"failed\",\"text\":\"no\"}}", OPERATION_FAILED, "no", REFUSAL_NONE, 0},
        {"{\"state\":\"refused\",\"text\":\"\",\"code\":\"busy\"}}", OPERATION_REFUSED, "", REFUSAL_BUSY, 0},
        {"{\"state\":\"unknown\",\"text\":\"?\"}}", OPERATION_UNKNOWN, "?", REFUSAL_NONE, 0},
        {"{\"state\":\"paused\",\"text\":\"?\"}}", OPERATION_UNKNOWN, "?", REFUSAL_NONE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP_TEXT struct text value = {0};
        CLEANUP_OPERATION struct operation o = {0};
        text_printf(&value, RECORD "%s", cases[i].done);
        operation_parse(&o, value.s);
        assert_int_equal(o.state, cases[i].state);
        assert_string_equal(o.id, "7.1");
        assert_string_equal(o.run, "reboot");
        assert_string_equal(o.of, "restart");
        assert_string_equal(o.boot, "b1");
        assert_string_equal(o.text, cases[i].text);
        assert_int_equal(o.refusal, cases[i].refusal);
        assert_int_equal(o.began.ns, cases[i].began_ns);
        assert_int_equal(o.deadline.ns, 9000);
        assert_false(o.force);
    }
}

static void a_power_command_has_no_remedy_and_may_have_force(void **state)
{
    CLEANUP_OPERATION struct operation o = {0};
    operation_parse(&o, "{\"id\":\"7.1\",\"run\":\"power.off\",\"by\":\"ann\",\"why\":\"fan\",\"force\":true,"
                        "\"deadline\":\"1\",\"done\":null}");
    assert_string_equal(o.of, "");
    assert_string_equal(o.boot, "");
    assert_true(o.force);
}

static void no_record_is_no_operation(void **state)
{
    static const char *const none[] = {NULL, "", "null", "{\"id\":"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct operation o;
        operation_parse(&o, none[i]);
        assert_int_equal(o.state, OPERATION_NONE);
        assert_null(o.id);
        operation_fini(&o);
    }
}

static void a_written_operation_is_read(void **state)
{
    static const struct {
        struct operation_said said;
        const char *json;
    } cases[] = {
        {{.state = OPERATION_BEGUN, .id = "7.1", .text = "not said", .began = {55}},
         "{\"state\":\"begun\",\"id\":\"7.1\",\"at\":\"55\"}"},
        {{.state = OPERATION_DONE, .id = "7.1", .text = "it is \"on\"", .began = {55}},
         "{\"state\":\"done\",\"id\":\"7.1\",\"text\":\"it is \\\"on\\\"\"}"},
        {{.state = OPERATION_REFUSED, .id = "7.1", .text = "no", .refusal = REFUSAL_DISK},
         "{\"state\":\"refused\",\"id\":\"7.1\",\"text\":\"no\",\"code\":\"disk\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP_TEXT struct text out = {0}, value = {0};
        CLEANUP_OPERATION struct operation o = {0};
        operation_format(&cases[i].said, &out);
        assert_string_equal(out.s, cases[i].json);
        text_printf(&value, RECORD "%s}", out.s);
        operation_parse(&o, value.s);
        assert_int_equal(o.state, cases[i].said.state);
        assert_int_equal(o.refusal, cases[i].said.refusal);
    }
}

/* Each row: what may be said of one that was so before. An end stays. */
static void a_state_follows_only_where_it_can(void **state)
{
    static const struct {
        enum operation_state before, now[5];
    } cases[] = {
        {OPERATION_WAITS, {OPERATION_BEGUN, OPERATION_FAILED, OPERATION_REFUSED}},
        {OPERATION_BEGUN, {OPERATION_DONE, OPERATION_FAILED, OPERATION_REFUSED, OPERATION_UNKNOWN}},
        {OPERATION_NONE, {OPERATION_NONE}},
        {OPERATION_DONE, {OPERATION_NONE}},
        {OPERATION_FAILED, {OPERATION_NONE}},
        {OPERATION_REFUSED, {OPERATION_NONE}},
        {OPERATION_UNKNOWN, {OPERATION_NONE}},
    };
    assert_int_equal(sizeof cases / sizeof cases[0], OPERATION_STATES);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int now = OPERATION_NONE + 1; now < OPERATION_STATES; now++) {
            bool may = false;
            for (size_t k = 0; cases[i].now[k]; k++)
                may = may || (int)cases[i].now[k] == now;
            assert_int_equal(operation_may_follow(cases[i].before, (enum operation_state)now), may);
        }
    }
}

static void states_are_open_or_have_ended(void **state)
{
    static const struct {
        enum operation_state s;
        const char *name;
        bool open, ended, begun, text;
    } cases[] = {
        {OPERATION_NONE, "", false, false, false, false},
        {OPERATION_WAITS, "", true, false, false, false},
        {OPERATION_BEGUN, "begun", true, false, true, false},
        {OPERATION_DONE, "done", false, true, true, true},
        {OPERATION_FAILED, "failed", false, true, true, true},
        {OPERATION_REFUSED, "refused", false, true, false, true},
        {OPERATION_UNKNOWN, "unknown", false, true, true, true},
    };
    assert_int_equal(sizeof cases / sizeof cases[0], OPERATION_STATES);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum operation_state s = cases[i].s;
        assert_string_equal(operation_state_name(s), cases[i].name);
        assert_int_equal(operation_state_find(cases[i].name), *cases[i].name ? s : OPERATION_NONE);
        assert_int_equal(operation_is_open(s), cases[i].open);
        assert_int_equal(operation_has_ended(s), cases[i].ended);
        assert_int_equal(operation_was_begun(s), cases[i].begun);
        assert_int_equal(operation_has_text(s), cases[i].text);
    }
}

static void a_key_names_its_node(void **state)
{
    assert_string_equal(operate_key_node("effect/operate.lx01"), "lx01");
    assert_string_equal(power_key_node("effect/power.lx01"), "lx01");
    assert_null(operate_key_node("effect/power.lx01"));
    assert_null(power_key_node("effect/operate.lx01"));
    assert_null(operate_key_node("operate.lx01"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_says_how_far_its_operation_is),
        cmocka_unit_test(a_power_command_has_no_remedy_and_may_have_force),
        cmocka_unit_test(no_record_is_no_operation),
        cmocka_unit_test(a_written_operation_is_read),
        cmocka_unit_test(a_state_follows_only_where_it_can),
        cmocka_unit_test(states_are_open_or_have_ended),
        cmocka_unit_test(a_key_names_its_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
