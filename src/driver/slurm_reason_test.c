/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_reason.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* `expected` is "CLAIM PROBLEM" with "-" for no problem, or NULL for a reason of somebody else's. */
static void mark_is(const char *reason, const char *expected)
{
    struct slurm_mark mark = {0};
    char is[100] = "";
    if (slurm_read_mark(reason, "a1", &mark))
        snprintf(is, sizeof is, "%s %s", mark.claim, *mark.problem ? mark.problem : "-");
    if (strcmp(is, expected ? expected : "") != 0)
        print_error("of \"%s\"\n", reason);
    assert_string_equal(is, expected ? expected : "");
}

static void test_the_mark_at_the_end_names_the_owner_of_a_reason(void **state)
{
    mark_is("x [node_problem] [fettle:a1:12.1:be75]", "12.1 node_problem");
    mark_is("x [fettle:a1:12.1:1707]", "12.1 -");
    mark_is("[fettle:a1:12.1:2325]", "12.1 -");
    mark_is("[node_problem] [fettle:a1:12.1:e615]", "12.1 node_problem");
    mark_is("x [node_problem] [fettle:a1:12.1:be75] : reboot issued", "12.1 node_problem");
    mark_is("see [fettle:a1:1.1:f140] there [node_problem] [fettle:a1:12.1:b4e7]",
            "12.1 node_problem");                                      /* the last counts */
    mark_is("x [hardware_problem] y [fettle:a1:12.1:74ca]", "12.1 -"); /* not right before it */
    mark_is("x [Node problem] [fettle:a1:12.1:8054]", "12.1 -");
    mark_is("x ] [fettle:a1:12.1:fdc8]", "12.1 -");
    mark_is("x [abcdefghijklmnopqrstuvwxyz] [fettle:a1:12.1:74ec]", "12.1 -"); /* too long */
}

static void test_an_edited_reason_is_somebody_elses(void **state)
{
    mark_is("", NULL);
    mark_is("x", NULL);
    mark_is("x [fettle:a1:12.1:1707] and a new fan, Ann", NULL);
    mark_is("x [fettle:a1:12.1:1707]: a new fan", NULL);
    mark_is("y [fettle:a1:12.1:1707]", NULL); /* other words */
    mark_is("kept for Ann; x [fettle:a1:12.1:1707]", NULL);
    mark_is("x [fettle:a1:12.1]", NULL);
    mark_is("x [fettle:a1:12.1:1707", NULL);
    mark_is("x[fettle:a1:12.1:1707]", NULL);
    mark_is("x [fettle:a1:12.1", NULL);
    mark_is("x [fettle:a1:]", NULL);
    mark_is("x [fettle:a1]", NULL);
    mark_is("x [fettle:a1: 12.1]", NULL);
    mark_is("x [fettle:12.1]", NULL);
    mark_is("x [fettle:a2:12.1:1707]", NULL); /* another Fettle's */
    mark_is("x [fettle:a12:12.1:1707]", NULL);
    mark_is("x [fettle:a:12.1:1707]", NULL);
    mark_is("x [fettle:a1:1234567890123456789012345678901234567890123456789:1707]", NULL);
    mark_is("[fettle:a1:12.1:2325] copied [fettle:a2:3.1]", NULL);
}

static void test_reasons_of_older_versions_are_still_known(void **state)
{
    mark_is("fettle:a1:12.1 [node_problem] x : reboot issued", "12.1 node_problem");
    mark_is("fettle:a1:12.1 drain by root: x", "12.1 -");
    mark_is("fettle:a1:12.1", "12.1 -");
    mark_is("fettle:", NULL);
    mark_is("fettle:a1", NULL);
    mark_is("fettle:a1:", NULL);
    mark_is("fettle:a1: 12.1", NULL);
    mark_is(" fettle:a1:12.1", NULL);
    mark_is("see fettle:a1:12.1 x", NULL);
    mark_is("fettle:a1:12.1,x", NULL);
    mark_is("fettle:a1:1234567890123456789012345678901234567890123456789 x", NULL);
    mark_is("fettle:12.1 x", NULL);
    mark_is("fettle:a2:12.1 x", NULL);
    mark_is("fettle:a12:12.1 x", NULL);
    mark_is("fettle:a:12.1 x", NULL);
}

static void reason_is(const char *words, const char *problem, const char *expected)
{
    struct slurm_mark mark = {.claim = "1.2"};
    char reason[SLURM_REASON_BYTES];
    snprintf(mark.problem, sizeof mark.problem, "%s", problem);
    slurm_write_reason("a1", &mark, words, reason);
    assert_string_equal(reason, expected);
}

static void test_a_reason_is_harmless(void **state)
{
    reason_is("licence: it is gone", "node_problem",
              "licence: it is gone [node_problem] [fettle:a1:1.2:943c]");
    reason_is("drain by root: x ", "", "drain by root: x [fettle:a1:1.2:60ac]");
    reason_is("", "", "[fettle:a1:1.2:2325]");
    reason_is("", "node_problem", "[node_problem] [fettle:a1:1.2:e615]");
    reason_is("a\nb\tc\x01"
              "d \"e\" 'f' `g` \\h",
              "", "a b c d e f g h [fettle:a1:1.2:c40f]");
    reason_is("caf\xc3\xa9 \xff\xc3", "", "caf\xc3\xa9 ?? [fettle:a1:1.2:0459]");
}

static void test_long_words_are_cut_and_the_mark_is_whole(void **state)
{
    static const struct slurm_mark mark = {.claim = "1.2", .problem = "node_problem"};
    char longest[600], reason[SLURM_REASON_BYTES];
    for (size_t i = 0; i < sizeof longest - 2; i += 2)
        memcpy(longest + i, "\xc3\xa9", 3);
    slurm_write_reason("a1", &mark, longest, reason);
    assert_int_equal(strlen(reason), 250);
    mark_is(reason, "1.2 node_problem");
    longest[0] = 'x';
    memmove(longest + 1, longest + 2, strlen(longest + 2) + 1);
    slurm_write_reason("a1", &mark, longest, reason);
    assert_int_equal(strlen(reason), 249); /* no half of a character */
    mark_is(reason, "1.2 node_problem");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_mark_at_the_end_names_the_owner_of_a_reason),
        cmocka_unit_test(test_an_edited_reason_is_somebody_elses),
        cmocka_unit_test(test_reasons_of_older_versions_are_still_known),
        cmocka_unit_test(test_a_reason_is_harmless),
        cmocka_unit_test(test_long_words_are_cut_and_the_mark_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
