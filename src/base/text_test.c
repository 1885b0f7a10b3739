/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_text_grows(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    assert_null(t.s);
    text_add(&t, "lx");
    text_add_u64(&t, 0);
    text_add_char(&t, '-');
    text_add_u64(&t, UINT64_MAX);
    text_printf(&t, "%s%03d", "/", 7);
    text_add_bytes(&t, "\0z", 2);
    assert_int_equal(t.len, strlen("lx0-18446744073709551615/007") + 2);
    assert_string_equal(t.s, "lx0-18446744073709551615/007");
    assert_int_equal(t.s[t.len], '\0');
    for (int i = 0; i < 10000; i++)
        text_add_char(&t, 'x');
    assert_int_equal(t.s[t.len], '\0');
}

static void clearing_keeps_the_memory(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_clear(&t);
    assert_null(t.s);
    text_add(&t, "something");
    char *was = t.s;
    text_clear(&t);
    assert_ptr_equal(t.s, was);
    assert_int_equal(t.len, 0);
    assert_string_equal(t.s, "");
}

static void taking_gives_a_string_always(void **state)
{
    struct text t = {0};
    CLEANUP_FREE char *empty = text_take(&t);
    assert_string_equal(empty, "");
    text_add(&t, "abc");
    CLEANUP_FREE char *full = text_take(&t);
    assert_string_equal(full, "abc");
    assert_null(t.s);
    assert_int_equal(t.len, 0);
}

static void room_is_for_the_caller(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "a");
    memset(text_room(&t, 1000), 'b', 1000);
    t.len += 1000;
    text_add(&t, "c");
    assert_int_equal(t.len, 1002);
    assert_string_equal(t.s + 1000, "bc");
}

static void assert_json(const char *in, const char *out)
{
    CLEANUP_TEXT struct text t = {0};
    text_add_json(&t, in);
    assert_string_equal(t.s, out);
}

static void members_of_an_object_have_their_commas(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add_member(&t, "a", "x\"y");
    text_add_member(&t, "b", NULL);
    text_add(&t, ",\"c\":{");
    text_add_member(&t, "d", "");
    text_add(&t, "}}");
    assert_string_equal(t.s, "{\"a\":\"x\\\"y\",\"b\":null,\"c\":{\"d\":\"\"}}");
}

static void json_strings_are_escaped(void **state)
{
    assert_json("", "\"\"");
    assert_json("a\"b\\c", "\"a\\\"b\\\\c\"");
    assert_json("\n\t\x01", "\"\\n\\t\\u0001\"");
    assert_json("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    assert_json("a\xff"
                "b",
                "\"a\xef\xbf\xbd"
                "b\"");
    assert_json("\xc3", "\"\xef\xbf\xbd\"");
    assert_json("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");                 /* overlong */
    assert_json("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* surrogate */
    assert_json("\xf4\x90\x80\x80",
                "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* past U+10FFFF */
}

static void numbers_are_read_whole_and_in_bounds(void **state)
{
    uint64_t n = 99;
    assert_int_equal(text_parse_u64("0", 0, 10, &n, NULL), 0);
    assert_int_equal(n, 0);
    assert_int_equal(text_parse_u64("10", 0, 10, &n, NULL), 0);
    assert_int_equal(n, 10);
    assert_int_equal(text_parse_u64("18446744073709551615", 0, UINT64_MAX, &n, NULL), 0);
    assert_true(n == UINT64_MAX);

    static const char *const bad[] = {"", "11", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551616",
                                      "a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        n = 99;
        assert_int_equal(text_parse_u64(bad[i], 0, 10, &n, &e), -EINVAL);
        assert_true(n == 99);
        assert_non_null(strstr(e.msg, "from 0 to 10"));
    }
    assert_int_equal(text_parse_u64("4", 5, 10, &n, NULL), -EINVAL);
}

static void decimals_are_read_in_thousandths(void **state)
{
    static const struct {
        const char *text;
        uint64_t milli;
    } good[] = {{"863.8", 863800},
                {"1.0", 1000},
                {"2", 2000},
                {"0.0019", 1},
                {".5", 500},
                {"5.", 5000},
                {"999999999.999", UINT64_C(999999999999)}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t n = 0;
        assert_int_equal(text_parse_milli(good[i].text, &n, NULL), 0);
        assert_true(n == good[i].milli);
    }
    static const char *const bad[] = {"", ".", "-1", "1.2.3", "1e3", "1,5", "12345678901", " 1", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        uint64_t n = 99;
        assert_int_equal(text_parse_milli(bad[i], &n, &e), -EINVAL);
        assert_true(n == 99 && e.code == -EINVAL);
    }
}

static void yes_and_no_in_every_case(void **state)
{
    static const char *const yes[] = {"yes", "YES", "true", "On", "1"}, *const no[] = {"no", "No", "FALSE",
                                                                                       "off", "0"};
    for (size_t i = 0; i < 5; i++) {
        bool b = false;
        assert_int_equal(text_parse_bool(yes[i], &b, NULL), 0);
        assert_true(b);
        assert_int_equal(text_parse_bool(no[i], &b, NULL), 0);
        assert_false(b);
    }
    struct err e = {0};
    bool b = true;
    assert_int_equal(text_parse_bool("maybe", &b, &e), -EINVAL);
    assert_true(b);
    assert_string_equal(e.msg, "\"maybe\" is neither yes nor no");
}

static void the_nearest_word_is_found(void **state)
{
    static const char *const words[] = {"Name", "CPUs", "RealMemory", "TmpDisk"};
    assert_string_equal(text_nearest("RealMemry", words, 4), "RealMemory");
    assert_string_equal(text_nearest("realmemory", words, 4), "RealMemory");
    assert_string_equal(text_nearest("CPU", words, 4), "CPUs");
    assert_string_equal(text_nearest("CUPs", words, 4),
                        "CPUs");                 /* neighbours that changed places are one slip */
    assert_null(text_nearest("Gums", words, 4)); /* two of four are another word */
    assert_null(text_nearest("Colour", words, 4));
    assert_null(text_nearest("x", words, 0));
    char long_word[200];
    memset(long_word, 'a', sizeof long_word);
    long_word[199] = '\0';
    assert_null(text_nearest(long_word, words, 4));
    const char *const long_words[] = {long_word};
    assert_null(text_nearest("a", long_words, 1));
}

static void a_word_is_found_among_others(void **state)
{
    assert_true(text_has_word("xid.79 xid.48", ' ', "xid.79"));
    assert_true(text_has_word("xid.79  xid.48", ' ', "xid.48"));
    assert_true(text_has_word("MAINT,SPEC_NODES", ',', "SPEC_NODES"));
    assert_false(text_has_word("xid.79 xid.48", ' ', "xid.4"));
    assert_false(text_has_word("xid.79 xid.48", ' ', "id.79"));
    assert_false(text_has_word("xid.79  xid.48", ' ', ""));
    assert_false(text_has_word("", ',', "MAINT"));
}

static void memory_is_zeroed_and_copied(void **state)
{
    CLEANUP_FREE char *zeroes = mem_alloc(8);
    assert_memory_equal(zeroes, "\0\0\0\0\0\0\0\0", 8);
    CLEANUP_FREE char *none = mem_alloc(0);
    assert_non_null(none);
    CLEANUP_FREE char *part = mem_dup_len("abcdef", 3);
    assert_string_equal(part, "abc");
    assert_null(mem_dup(NULL));
    char *given = STEAL(part);
    assert_null(part);
    free(given);
}

static void lines_are_for_people(void **state)
{
    char out[8];
    assert_int_equal(text_line(out, sizeof out, "a\nb \x7f "), 3);
    assert_string_equal(out, "a b");
    text_line(out, sizeof out, "\xff\xc2\x85x");
    assert_string_equal(out, "? x");
    text_line(out, sizeof out,
              "a\xe2\x80\xae"
              "b"); /* U+202E turns the direction of what follows */
    assert_string_equal(out, "a b");
    text_line(out, sizeof out, "123456\xc3\xa9"); /* no room for both bytes of the last */
    assert_string_equal(out, "123456");
    text_line(out, sizeof out, " \t");
    assert_string_equal(out, "");
    CLEANUP_FREE char *all = mem_line("what it said\n", 100), *cut = mem_line("what it said", 5);
    assert_string_equal(all, "what it said");
    assert_string_equal(cut, "what");
}

static void a_line_is_text(void **state)
{
    struct err e = {0};
    assert_int_equal(text_check_line("\xc3\xa9 = e", &e), 0);
    assert_int_equal(text_check_line("a\nb", &e), -EINVAL);
    assert_string_equal(e.msg, "a control character at byte 1");
    assert_int_equal(text_check_line("ab\xe2\x81\xa6", &e), -EINVAL);
    assert_string_equal(e.msg, "a control character at byte 2");
    assert_int_equal(text_check_line("ab\xff", &e), -EINVAL);
    assert_string_equal(e.msg, "not UTF-8 at byte 2");
}

static void several_texts_are_copied_as_one(void **state)
{
    char first[] = "state";
    const char *a = first, *b = NULL, *c = "";
    const char **const texts[] = {&a, &b, &c};
    char *all = mem_dup_all(texts, 3);
    first[0] = 'S';
    assert_ptr_equal(a, all);
    assert_string_equal(a, "state");
    assert_null(b);
    assert_string_equal(c, "");
    free(all);
    a = c = NULL;
    assert_null(mem_dup_all(texts, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_grows),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(taking_gives_a_string_always),
        cmocka_unit_test(room_is_for_the_caller),
        cmocka_unit_test(members_of_an_object_have_their_commas),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(lines_are_for_people),
        cmocka_unit_test(a_line_is_text),
        cmocka_unit_test(numbers_are_read_whole_and_in_bounds),
        cmocka_unit_test(decimals_are_read_in_thousandths),
        cmocka_unit_test(yes_and_no_in_every_case),
        cmocka_unit_test(the_nearest_word_is_found),
        cmocka_unit_test(a_word_is_found_among_others),
        cmocka_unit_test(memory_is_zeroed_and_copied),
        cmocka_unit_test(several_texts_are_copied_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
