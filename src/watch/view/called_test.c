/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/view/called.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_members_stand_in_the_order_in_which_they_were_added(void **state)
{
    struct called c = {0};
    for (uint32_t i = 0; i < 100; i++)
        called_add(&c, &(const struct member){.id = 3 * i});
    assert_int_equal(c.n, 100);
    assert_int_equal(c.at, 0);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(c.ids[i], 3 * i);
    free(c.ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_stand_in_the_order_in_which_they_were_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
