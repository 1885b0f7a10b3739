/* SPDX-License-Identifier: Apache-2.0 */
#include "node/refusal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_each_name_leads_to_its_row(void **state)
{
    for (int r = REFUSAL_NONE + 1; r < REFUSALS; r++)
        assert_int_equal(refusal_find(refusal_name((enum refusal)r)), r);
    assert_string_equal(refusal_what(REFUSAL_BUSY), "another operation is under way");
}

static void test_no_refusal(void **state)
{
    assert_string_equal(refusal_name(REFUSAL_NONE), "");
    assert_string_equal(refusal_what(REFUSAL_NONE), "");
    assert_false(refusal_bars(REFUSAL_NONE));
    assert_int_equal(refusal_find(""), REFUSAL_NONE);
    assert_int_equal(refusal_find("a word of a newer version"), REFUSAL_NONE);
}

/* What is wrong with the node or its BMC refuses again; what passes by itself does not. */
static void test_lasting_causes_refuse_again(void **state)
{
    static const enum refusal pass[] = {REFUSAL_BUSY, REFUSAL_BOOT, REFUSAL_TERM},
                              bar[] = {REFUSAL_STORAGE, REFUSAL_DISK, REFUSAL_UNKNOWN, REFUSAL_UNREACHABLE};
    for (size_t i = 0; i < sizeof pass / sizeof *pass; i++)
        assert_false(refusal_bars(pass[i]));
    for (size_t i = 0; i < sizeof bar / sizeof *bar; i++)
        assert_true(refusal_bars(bar[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_name_leads_to_its_row),
        cmocka_unit_test(test_no_refusal),
        cmocka_unit_test(test_lasting_causes_refuse_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
