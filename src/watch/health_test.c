/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_what_the_shell_refuses_is_proposed_again(void **state)
{
    struct clinic *d = clinic_open(4);
    d->x->refuse = true;
    clinic_tells(d, 1, true, CLINIC_ILL);
    assert_null(member_repair(world_node(d->x, 1)));
    d->x->refuse = false;
    world_run(d->x, 2);
    assert_non_null(member_repair(world_node(d->x, 1)));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_shell_refuses_is_proposed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
