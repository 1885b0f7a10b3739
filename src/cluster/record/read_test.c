/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/record/record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A JSON object of one member. The caller owns it. */
static json_t *object(const char *member)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{%s}", member);
    json_t *o = record_object(t.s, NULL);
    assert_non_null(o);
    return o;
}

static void test_a_record_is_an_object(void **state)
{
    static const char *const others[] = {"", "[]", "7", "{", "{}x", "null"};
    struct err e;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_null(record_object(others[i], &e));
    assert_null(record_object("[]", &e));
    assert_string_equal(e.msg, "no object");
    json_decref(object(""));
}

static void test_a_time_is_digits_in_a_string(void **state)
{
    static const struct {
        const char *member;
        int rc;
        uint64_t ns;
    } rows[] = {{"\"at\":\"0\"", 0, 0},
                {"\"at\":\"9223372036854775807\"", 0, INT64_MAX},
                {"\"at\":\"9223372036854775808\"", -EILSEQ, 0},
                {"\"at\":\"-1\"", -EILSEQ, 0},
                {"\"at\":\"\"", -EILSEQ, 0},
                {"\"at\":7", -EILSEQ, 0},
                {"", -EILSEQ, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_JSON json_t *o = object(rows[i].member);
        struct err e = {0};
        uint64_t at = 0;
        assert_int_equal(record_time(o, "at", &at, &e), rows[i].rc);
        if (rows[i].rc == 0)
            assert_true(at == rows[i].ns);
        else
            assert_non_null(strstr(e.msg, "at: "));
    }
}

static void test_a_word_has_a_limit_and_no_control_characters(void **state)
{
    CLEANUP_JSON json_t *full = object("\"w\":\"123\""), *empty = object("\"w\":\"\""),
                        *umlaut = object("\"w\":\"\xc3\xbc\""), *control = object("\"w\":\"a\\tb\""),
                        *del = object("\"w\":\"\x7f\""), *number = object("\"w\":7");
    struct err e;
    char word[4] = "old";
    assert_int_equal(record_word(full, "w", word, 3, &e), 0);
    assert_string_equal(word, "123");
    assert_int_equal(record_word(full, "w", word, 2, &e), -EINVAL);
    assert_string_equal(e.msg, "w: 3 bytes; it has 2 at most");
    assert_int_equal(record_word(empty, "w", word, 3, &e), 0);
    assert_string_equal(word, "");
    assert_int_equal(record_word(umlaut, "w", word, 2, &e), 0);
    assert_int_equal(record_word(control, "w", word, 3, &e), -EINVAL);
    assert_string_equal(e.msg, "w: a control character");
    assert_int_equal(record_word(del, "w", word, 3, &e), -EINVAL);
    assert_int_equal(record_word(number, "w", word, 3, &e), -EINVAL);
    assert_string_equal(word, "\xc3\xbc"); /* what is refused leaves it as it was */
}

static void test_a_result_is_something_that_a_check_finds(void **state)
{
    static const struct {
        const char *member;
        int rc;
    } rows[] = {{"\"r\":\"info\"", 0},          {"\"r\":\"lost\"", 0},       {"\"r\":\"ok\"", -EINVAL},
                {"\"r\":\"unknown\"", -EINVAL}, {"\"r\":\"hurt\"", -EINVAL}, {"\"r\":1", -EINVAL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_JSON json_t *o = object(rows[i].member);
        enum result r;
        assert_int_equal(record_result(o, "r", &r, NULL), rows[i].rc);
    }
}

static void test_a_boot_is_an_id_or_nothing(void **state)
{
    static const char LONGEST[] = "0123456789abcdefABCDEF-0123456789abcd";
    char boot[37] = "old";
    assert_int_equal(strlen(LONGEST), 37);
    assert_false(boot_ok(LONGEST));
    assert_true(boot_ok(LONGEST + 1));
    assert_false(boot_ok(""));
    assert_false(boot_ok("a b"));
    assert_false(boot_ok("a_b"));
    CLEANUP_JSON json_t *good = object("\"boot\":\"b-1\""), *none = object("\"boot\":\"\""),
                        *bad = object("\"boot\":\"b/1\""), *missing = object("");
    struct err e;
    assert_int_equal(record_boot(good, boot, &e), 0);
    assert_string_equal(boot, "b-1");
    assert_int_equal(record_boot(none, boot, &e), 0);
    assert_string_equal(boot, "");
    assert_int_equal(record_boot(bad, boot, &e), -EINVAL);
    assert_string_equal(e.msg, "\"b/1\" is no boot id");
    assert_int_equal(record_boot(missing, boot, &e), -EINVAL);
}

static void test_a_number_in_hex_has_1_to_16_digits(void **state)
{
    static const struct {
        const char *member;
        int rc;
        uint64_t n;
    } rows[] = {{"\"h\":\"0\"", 0, 0},
                {"\"h\":\"ffffffffffffffff\"", 0, UINT64_MAX},
                {"\"h\":\"0ffffffffffffffff\"", -EINVAL, 0},
                {"\"h\":\"\"", -EINVAL, 0},
                {"\"h\":\"FF\"", -EINVAL, 0},
                {"\"h\":\"0x1\"", -EINVAL, 0},
                {"\"h\":\"-1\"", -EINVAL, 0},
                {"\"h\":1", -EINVAL, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_JSON json_t *o = object(rows[i].member);
        uint64_t n = 0;
        assert_int_equal(record_hex(o, "h", &n, NULL), rows[i].rc);
        assert_true(n == rows[i].n);
    }
}

static void test_a_fingerprint_is_64_digits(void **state)
{
#define HALF "0123456789abcdef0123456789abcdef"
    CLEANUP_JSON json_t *good = object("\"f\":\"" HALF HALF "\""), *bad = object("\"f\":\"" HALF "\""),
                        *missing = object("");
    struct fingerprint id;
    struct err e;
    char hex[FINGERPRINT_HEX + 1];
    assert_int_equal(record_fingerprint(good, "f", &id, &e), 0);
    assert_string_equal(fingerprint_format(&id, hex), HALF HALF);
    assert_int_equal(record_fingerprint(bad, "f", &id, &e), -EINVAL);
    assert_string_equal(e.msg, "f: \"" HALF "\" is no fingerprint");
    assert_int_equal(record_fingerprint(missing, "f", &id, &e), -EINVAL);
}

static void test_names_of_components_are_printable_and_few(void **state)
{
    enum { MOST = DRIFT_NAMED_MAX * (COMPONENT_NAME_BYTES_MAX + 2) };
    char names[MOST + 2];
    struct err e;
    memset(names, 'x', sizeof names);
    names[MOST] = '\0';
    assert_int_equal(record_named_check(names, &e), 0);
    names[MOST] = 'x';
    names[MOST + 1] = '\0';
    assert_int_equal(record_named_check(names, &e), -EINVAL);
    assert_int_equal(record_named_check("", &e), 0);
    assert_int_equal(record_named_check(" ~", &e), 0);
    assert_int_equal(record_named_check("a\x1f", &e), -EINVAL);
    assert_string_equal(e.msg, "named: a byte 0x1f in a name");
    assert_int_equal(record_named_check("\x7f", &e), -EINVAL);
    assert_int_equal(record_named_check("\xc3\xbc", &e), -EINVAL);
    CLEANUP_JSON json_t *good = object("\"named\":\"a, b\""), *missing = object("");
    const char *named;
    assert_int_equal(record_named(good, &named, &e), 0);
    assert_string_equal(named, "a, b");
    assert_int_equal(record_named(missing, &named, &e), -EINVAL);
}

static void test_only_names_of_nodes_are_names(void **state)
{
    struct err e;
    assert_int_equal(record_name_check("lx01", &e), 0);
    assert_int_equal(record_name_check("", &e), -EILSEQ);
    assert_int_equal(record_name_check("lx[1-2]", &e), -EILSEQ);
    assert_string_equal(e.msg, "\"lx[1-2]\" is not the name of a node");
}

/* A node that remembers nothing costs nothing. */
static void test_the_memory_of_a_node_goes_with_the_last_thing_in_it(void **state)
{
    struct member m = {0};
    past_trim(&m);
    struct past *p = member_past(&m);
    assert_ptr_equal(member_past(&m), p);
    p->history = mem_dup("[]");
    past_trim(&m);
    assert_ptr_equal(m.past, p);
    free(p->history);
    p->history = NULL;
    past_trim(&m);
    assert_null(m.past);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record_is_an_object),
        cmocka_unit_test(test_a_time_is_digits_in_a_string),
        cmocka_unit_test(test_a_word_has_a_limit_and_no_control_characters),
        cmocka_unit_test(test_a_result_is_something_that_a_check_finds),
        cmocka_unit_test(test_a_boot_is_an_id_or_nothing),
        cmocka_unit_test(test_a_number_in_hex_has_1_to_16_digits),
        cmocka_unit_test(test_a_fingerprint_is_64_digits),
        cmocka_unit_test(test_names_of_components_are_printable_and_few),
        cmocka_unit_test(test_only_names_of_nodes_are_names),
        cmocka_unit_test(test_the_memory_of_a_node_goes_with_the_last_thing_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
