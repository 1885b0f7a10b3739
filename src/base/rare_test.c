/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void suppressed_messages_are_counted(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(suppressed_messages_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
