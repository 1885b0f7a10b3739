/* SPDX-License-Identifier: Apache-2.0
 *
 * How fields are named, and how each kind of value reads for people, for programs, and as JSON.
 */
#include "cli/field.h"

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- names ---- */

static void test_a_field_is_found_by_name_or_heading_in_any_case(void **state)
{
    static const struct {
        const char *word;
        enum field field;
    } cases[] = {
        {"Name", FIELD_NAME},          {"name", FIELD_NAME},          {"REALMEMORY", FIELD_REAL_MEMORY},
        {"MEMORY", FIELD_REAL_MEMORY}, {"memory", FIELD_REAL_MEMORY}, {"last", FIELD_LAST_RESPONSE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum field f = FIELDS;
        struct err e = {0};
        assert_int_equal(field_parse(cases[i].word, strlen(cases[i].word), &f, &e), 0);
        assert_int_equal(f, cases[i].field);
    }
    enum field f = FIELDS;
    assert_int_equal(field_parse("State,Name", 5, &f, NULL), 0); /* only so many bytes are the name */
    assert_int_equal(f, FIELD_STATE);
}

static void test_an_unknown_field_is_refused_with_the_nearest(void **state)
{
    static const char *const cases[][2] = {
        {"Stat", "unknown field \"Stat\"; the nearest known is \"State\""},
        {"", "unknown field \"\"; \"-o help\" lists them"},
        {"zzzzzz", "unknown field \"zzzzzz\"; \"-o help\" lists them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum field f = FIELDS;
        struct err e = {0};
        assert_int_equal(field_parse(cases[i][0], strlen(cases[i][0]), &f, &e), -EINVAL);
        assert_string_equal(e.msg, cases[i][1]);
        assert_int_equal(f, FIELDS);
    }
}

/* ---- values ---- */

/* A field of this kind, and the member "v" of this JSON. */
struct value {
    struct field_info field;
    struct fettle_answer *answer;
    struct cell cell;
};

static struct value value_read(enum field_kind kind, const char *json)
{
    struct value v = {.field = {.name = "F", .kind = kind, .heading = "F", .unit = "", .what = ""}};
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"v\":%s}", json);
    assert_int_equal(fettle_read(t.s, &v.answer, NULL), 0);
    v.cell.value = fettle_value_find(fettle_answer_value(v.answer), "v");
    return v;
}

static void test_each_kind_reads_in_its_own_way(void **state)
{
    static const struct {
        enum field_kind kind;
        const char *json, *people, *program, *as_json;
    } cases[] = {
        {KIND_TEXT, "\"a,b\"", "a,b", "a,b", "\"a,b\""},
        {KIND_TEXT, "null", "", "", "null"},
        {KIND_NUMBER, "64", "64", "64", "64"},
        {KIND_MILLI, "863.8", "863.8", "863.8", "863.8"},
        {KIND_FLAG, "true", "yes", "true", "true"},
        {KIND_FLAG, "false", "no", "false", "false"},
        {KIND_FLAG, "null", "", "", "null"},
        {KIND_LIST, "[1,3]", "1,3", "1,3", "[1,3]"},
        {KIND_LIST, "[]", "", "", "[]"},
        {KIND_LIST, "[[1],\"x\"]", "[1],x", "[1],x", "[[1],\"x\"]"},
        {KIND_TIME, "1795207317", "2026-11-20T20:41:57Z", "1795207317", "1795207317"},
        {KIND_TIME, "0", "1970-01-01T00:00:00Z", "0", "0"},
        {KIND_TIME, "\"never\"", "never", "never", "\"never\""},
        {KIND_SPAN, "192", "3m12s", "192", "192"},
        {KIND_SPAN, "-1", "-1", "-1", "-1"},
        {KIND_SPAN, "8999999999", "104166d15h", "8999999999", "8999999999"},
        {KIND_SPAN, "9000000000", "9000000000", "9000000000", "9000000000"},
        {KIND_COUNTS, "{\"ok\":12,\"fatal\":1}", "ok 12, fatal 1", "{\"ok\":12,\"fatal\":1}",
         "{\"ok\":12,\"fatal\":1}"},
        {KIND_COUNTS, "{\"ok\":[]}", "ok ?", "{\"ok\":[]}", "{\"ok\":[]}"},
        {KIND_SHARE, "512345", "51.2%", "51.2345", "51.2345"},
        {KIND_SHARE, "1000000", "100.0%", "100.0000", "100.0000"},
        {KIND_SHARE, "null", "", "", "null"},
        {KIND_COST, "10500", "10.5", "10.500", "10.500"},
        {KIND_COST, "0", "0.0", "0.000", "0.000"},
        {KIND_VALUE, "{\"node\":\"n1\"}", "{\"node\":\"n1\"}", "{\"node\":\"n1\"}", "{\"node\":\"n1\"}"},
        {KIND_VALUE, "[1,2]", "[1,2]", "[1,2]", "[1,2]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct value v = value_read(cases[i].kind, cases[i].json);
        CLEANUP_TEXT struct text people = {0}, program = {0}, json = {0};
        field_show(&v.field, &v.cell, &people);
        field_raw(&v.field, &v.cell, &program);
        field_json(&v.field, &v.cell, &json);
        if (strcmp(people.s ? people.s : "", cases[i].people) != 0 ||
            strcmp(program.s, cases[i].program) != 0 || strcmp(json.s, cases[i].as_json) != 0)
            fail_msg("%s: %s, %s, %s", cases[i].json, people.s, program.s, json.s);
        fettle_answer_free(v.answer);
    }
}

static void test_a_text_that_was_made_reads_as_one(void **state)
{
    static const struct field_info text = {.kind = KIND_TEXT}, number = {.kind = KIND_NUMBER};
    char twelve[] = "12", quoted[] = "a \"b\"";
    const struct cell count = {.made = twelve}, words = {.made = quoted};
    CLEANUP_TEXT struct text t = {0};
    int64_t milli = 0;
    field_json(&number, &count, &t);
    text_add_char(&t, ' ');
    field_json(&text, &words, &t);
    text_add_char(&t, ' ');
    field_show(&text, &words, &t);
    assert_string_equal(t.s, "12 \"a \\\"b\\\"\" a \"b\"");
    assert_int_equal(field_milli(&number, &count, &milli), 0);
    assert_int_equal(milli, 12000);
    assert_int_equal(field_milli(&text, &words, &milli), -EINVAL);
}

/* What filters compare and sorting orders by. */
static void test_numbers_are_thousandths_of_the_shown_value(void **state)
{
    static const struct {
        enum field_kind kind;
        const char *json;
        int64_t milli;
    } cases[] = {{KIND_NUMBER, "64", 64000},  {KIND_MILLI, "863.8", 863800},
                 {KIND_SPAN, "192", 192000},  {KIND_SHARE, "512345", 51234},
                 {KIND_COST, "10500", 10500}, {KIND_TIME, "1795207317", 1795207317000},
                 {KIND_NUMBER, "-1", -1000},  {KIND_AGE, "\"2999-01-01T00:00:00Z\"", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct value v = value_read(cases[i].kind, cases[i].json);
        int64_t milli = -7;
        assert_int_equal(field_milli(&v.field, &v.cell, &milli), 0);
        assert_int_equal(milli, cases[i].milli);
        fettle_answer_free(v.answer);
    }
    static const struct {
        enum field_kind kind;
        const char *json;
    } none[] = {{KIND_NUMBER, "null"}, {KIND_NUMBER, "\"x\""}, {KIND_AGE, "\"soon\""}, {KIND_AGE, "7"},
                {KIND_AGE, "null"},    {KIND_SHARE, "\"x\""},  {KIND_COST, "[1]"},     {KIND_SPAN, "true"}};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct value v = value_read(none[i].kind, none[i].json);
        int64_t milli = -7;
        if (field_milli(&v.field, &v.cell, &milli) != -EINVAL || milli != -7)
            fail_msg("%s", none[i].json);
        fettle_answer_free(v.answer);
    }
}

static void test_an_age_is_counted_from_now(void **state)
{
    char then[32], json[40];
    CLEANUP_TEXT struct text shown = {0}, raw = {0};
    wall_format((struct wall){wall_now().ns - span_s(3 * 86400 + 4 * 3600 + 1800).ns}, then);
    snprintf(json, sizeof json, "\"%s\"", then);
    struct value v = value_read(KIND_AGE, json);
    field_show(&v.field, &v.cell, &shown);
    field_raw(&v.field, &v.cell, &raw);
    assert_string_equal(shown.s, "3d04h");
    assert_string_equal(raw.s, then);
    fettle_answer_free(v.answer);
}

static void test_columns_of_numbers_are_on_the_right(void **state)
{
    static const enum field_kind right[] = {KIND_NUMBER, KIND_MILLI, KIND_SPAN,
                                            KIND_AGE,    KIND_SHARE, KIND_COST};
    static const enum field_kind left[] = {KIND_TEXT, KIND_FLAG,   KIND_LIST,
                                           KIND_TIME, KIND_COUNTS, KIND_VALUE};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_true(field_is_number(&(struct field_info){.kind = right[i]}));
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        assert_false(field_is_number(&(struct field_info){.kind = left[i]}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_field_is_found_by_name_or_heading_in_any_case),
        cmocka_unit_test(test_an_unknown_field_is_refused_with_the_nearest),
        cmocka_unit_test(test_each_kind_reads_in_its_own_way),
        cmocka_unit_test(test_a_text_that_was_made_reads_as_one),
        cmocka_unit_test(test_numbers_are_thousandths_of_the_shown_value),
        cmocka_unit_test(test_an_age_is_counted_from_now),
        cmocka_unit_test(test_columns_of_numbers_are_on_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
