/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void lines_are_taken_one_after_the_other(void **state)
{
    static const char bytes[] = "one\n\ntwo\n";
    struct lines l = {bytes, bytes + sizeof bytes - 1};
    const char *line;
    size_t len;
    assert_true(lines_take(&l, &line, &len));
    assert_ptr_equal(line, bytes);
    assert_int_equal(len, 3);
    assert_true(lines_take(&l, &line, &len));
    assert_int_equal(len, 0);
    assert_true(lines_take(&l, &line, &len));
    assert_int_equal(len, 3);
    assert_memory_equal(line, "two", 3);
    assert_ptr_equal(l.at, l.end);
    assert_false(lines_take(&l, &line, &len));
}

/* The bytes need not end with a zero, and a newline behind their end is not theirs. */
static void a_line_without_its_newline_is_none(void **state)
{
    static const char bytes[] = "cut\n";
    struct lines l = {bytes, bytes + 3}, none = {bytes, bytes};
    const char *line = NULL;
    size_t len = 7;
    assert_false(lines_take(&l, &line, &len));
    assert_ptr_equal(l.at, bytes);
    assert_false(lines_take(&none, &line, &len));
    assert_null(line);
    assert_int_equal(len, 7);
}

static void zero_bytes_belong_to_a_line(void **state)
{
    static const char bytes[] = "a\0b\n";
    struct lines l = {bytes, bytes + 4};
    const char *line;
    size_t len;
    assert_true(lines_take(&l, &line, &len));
    assert_int_equal(len, 3);
}

static bool number(const char *s, uint64_t *out)
{
    return line_number(s, strlen(s), out);
}

static void numbers_are_read(void **state)
{
    uint64_t n = 1;
    assert_true(number("0", &n));
    assert_int_equal(n, 0);
    assert_true(number("10", &n));
    assert_int_equal(n, 10);
    assert_true(number("4611686018427387903", &n));
    assert_true(n == (UINT64_C(1) << 62) - 1);
    assert_true(line_number("123", 2, &n)); /* as long as the caller says */
    assert_int_equal(n, 12);
}

static void other_numbers_are_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "00",
                                        "01",
                                        "-1",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1a",
                                        "/",
                                        ":",
                                        "0x1",
                                        "4611686018427387904",
                                        "9223372036854775808",
                                        "9999999999999999999",
                                        "18446744073709551616",
                                        "99999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t n;
        if (number(wrong[i], &n))
            fail_msg("\"%s\" was read", wrong[i]);
    }
    uint64_t n;
    assert_false(line_number("1\0", 2, &n));
}

#define ZEROES "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static void a_hash_has_32_bytes_in_base64(void **state)
{
    struct tree_hash h;
    static const unsigned char zeroes[32] = {0};
    assert_true(line_hash(ZEROES "A=", 44, &h));
    assert_memory_equal(h.bytes, zeroes, 32);
    assert_true(line_hash("//////////////////////////////////////////8=", 44, &h));
    assert_int_equal(h.bytes[31], 0xff);
}

static void other_hashes_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",          "A",           ZEROES,       ZEROES "A",   ZEROES "AA",   ZEROES "AAA=",
        ZEROES "B=", /* bits beyond the 32 bytes */
        ZEROES "-=", ZEROES "A=\n", ZEROES "A= ", ZEROES "A==", "=" ZEROES "A"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tree_hash h;
        if (line_hash(wrong[i], strlen(wrong[i]), &h))
            fail_msg("\"%s\" was read", wrong[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_taken_one_after_the_other),
        cmocka_unit_test(a_line_without_its_newline_is_none),
        cmocka_unit_test(zero_bytes_belong_to_a_line),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(other_numbers_are_refused),
        cmocka_unit_test(a_hash_has_32_bytes_in_base64),
        cmocka_unit_test(other_hashes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
