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

static void test_checks_that_change_keep_their_results(void **state)
{
    static const char other[] =
        "Check=mounts Probe=fs.mounted Path=/scratch Every=60s\n"
        "Check=ntp Probe=time Every=60s\nCheck=space Probe=fs.space Path=/ Every=60s\n";
    struct clinic *d = clinic_open(2);
    CLEANUP_TEXT struct text why = {0};
    clinic_tells(d, 1, true, CLINIC_WELL);
    clinic_tells(d, 1, false, CLINIC_ILL);
    clinic_take_checks(d, other);
    assert_int_equal(clinic_health(d, 1), HEALTH_FATAL);
    world_run(d->x, 2);
    watch_provisioned(d->x->w, world_now(d->x), world_node(d->x, 1), &why);
    assert_string_equal(why.s, "ntp has said nothing, space fatal");
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks_that_change_keep_their_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
