/* SPDX-License-Identifier: Apache-2.0 */
#include "link/least.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void on_risen(void *arg, enum identity_kind kind, const char *name)
{
    text_printf(arg, "%d %s ", (int)kind, name);
}

/* What has risen, in words, or the sentence of a refusal. */
static const char *take(struct least *l, const char *json)
{
    static char said[512];
    CLEANUP_TEXT struct text t = {0};
    struct err e = {0};
    CLEANUP_JSON json_t *o = json_read(json, strlen(json), NULL);
    text_add(&t, "");
    if (least_take(l, o, on_risen, &t, &e) < 0)
        text_add(&t, e.msg);
    snprintf(said, sizeof said, "%s", t.s);
    return said;
}

static bool counts(const struct least *l, enum identity_kind kind, uint64_t serial)
{
    const struct identity id = {.kind = kind, .name = "lx01", .serial = serial};
    return least_check(l, &id, NULL) == 0;
}

static void numbers_only_rise(void **state)
{
    struct least *l = least_create();
    assert_true(counts(NULL, IDENTITY_NODE, 0));
    assert_true(counts(l, IDENTITY_NODE, 0));
    assert_string_equal(take(l, "{\"node:lx01\":\"10\",\"controller:c\":\"1\"}"), "2 lx01 1 c ");
    assert_false(counts(l, IDENTITY_NODE, 0));
    assert_false(counts(l, IDENTITY_NODE, 15));
    assert_true(counts(l, IDENTITY_NODE, 16));
    assert_true(counts(l, IDENTITY_OPERATOR, 1));
    assert_string_equal(take(l, "{\"node:lx01\":\"f\"}"), "");
    assert_true(counts(l, IDENTITY_NODE, 16));
    assert_false(counts(l, IDENTITY_NODE, 15));
    assert_string_equal(take(l, "{\"node:lx01\":\"11\"}"), "2 lx01 ");
    assert_false(counts(l, IDENTITY_NODE, 16));
    least_destroy(l);
}

static void wrong_names_and_numbers_are_refused(void **state)
{
    struct least *l = least_create();
    assert_string_equal(take(l, "{\"lx01\":\"1\"}"), "\"lx01\" is no holder of certificates");
    assert_string_equal(take(l, "{\"node:\":\"1\"}"), "\"node:\" is no holder of certificates");
    assert_string_equal(take(l, "{\"node:a\":1}"), "\"node:a\" has no number in hexadecimal");
    assert_string_equal(take(l, "{\"node:a\":\"11112222333344445\"}"),
                        "\"node:a\" has no number in hexadecimal");
    assert_string_equal(take(l, "{\"node:a\":\"\"}"), "\"node:a\" has no number in hexadecimal");
    least_destroy(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_only_rise),
                                       cmocka_unit_test(wrong_names_and_numbers_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
