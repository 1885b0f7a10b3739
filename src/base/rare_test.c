/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void what_is_not_said_is_counted(void **state)
{
    struct rare r = {.began = {1000}};
    const struct mono minute = mono_add(r.began, span_s(60));
    assert_true(rare_may(&r, 2));
    assert_true(rare_may(&r, 2));
    assert_false(rare_may(&r, 2));
    assert_false(rare_may(&r, 2));
    assert_int_equal(rare_turn(&r, (struct mono){minute.ns - 1}), 0);
    assert_false(rare_may(&r, 2));
    assert_int_equal(rare_turn(&r, minute), 3);
    assert_true(rare_may(&r, 2));
    assert_int_equal(rare_turn(&r, mono_add(minute, span_s(60))), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_said_is_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
