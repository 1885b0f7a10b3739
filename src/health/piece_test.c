/* SPDX-License-Identifier: Apache-2.0 */
#include "health/piece.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct piece piece_of(const char *text)
{
    return (struct piece){text, text + strlen(text)};
}

static void assert_piece(struct piece p, const char *text)
{
    assert_int_equal(p.end - p.at, strlen(text));
    assert_memory_equal(p.at, text, strlen(text));
}

static void test_blanks(void **state)
{
    assert_true(piece_is_blank(' ') && piece_is_blank('\t') && piece_is_blank('\r') && piece_is_blank('\0'));
    assert_false(piece_is_blank('\n') || piece_is_blank('a') || piece_is_blank('\xa0'));
}

static void test_trim_takes_blanks_at_both_ends(void **state)
{
    assert_piece(piece_trim(piece_of(" \ta b\r")), "a b");
    assert_piece(piece_trim(piece_of("\na\n")), "\na\n");
    assert_piece(piece_trim(piece_of(" \t ")), "");
    assert_piece(piece_trim(piece_of("")), "");
}

static void test_cut_at_the_first(void **state)
{
    struct piece rest;
    assert_piece(piece_cut(piece_of("a=b=c"), '=', &rest), "a");
    assert_piece(rest, "b=c");
    assert_piece(piece_cut(piece_of("=b"), '=', &rest), "");
    assert_piece(rest, "b");
    assert_piece(piece_cut(piece_of("a="), '=', &rest), "a");
    assert_piece(rest, "");
}

static void test_cut_where_there_is_none(void **state)
{
    struct piece rest;
    assert_piece(piece_cut(piece_of("abc"), '=', &rest), "abc");
    assert_piece(rest, "");
    assert_piece(piece_cut(piece_of(""), '=', &rest), "");
    assert_piece(rest, "");
}

static void test_the_first_line_has_more_than_blanks(void **state)
{
    static const char output[] = "\n \t\r\n  OK: all\nmore\n";
    struct piece rest;
    assert_piece(piece_first_line(output, sizeof output - 1, &rest), "  OK: all");
    assert_piece(rest, "more\n");
    assert_piece(piece_first_line("one", 3, &rest), "one");
    assert_piece(rest, "");
    assert_piece(piece_first_line("one\ntwo", 3, &rest), "one"); /* not beyond its length */
    assert_piece(rest, "");
}

static void test_an_output_of_blanks(void **state)
{
    struct piece rest;
    struct piece line = piece_first_line("\n\n", 2, &rest);
    assert_piece(piece_trim(line), "");
    assert_piece(rest, "");
    assert_piece(piece_first_line("", 0, &rest), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blanks),
        cmocka_unit_test(test_trim_takes_blanks_at_both_ends),
        cmocka_unit_test(test_cut_at_the_first),
        cmocka_unit_test(test_cut_where_there_is_none),
        cmocka_unit_test(test_the_first_line_has_more_than_blanks),
        cmocka_unit_test(test_an_output_of_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
