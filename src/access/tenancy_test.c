/* SPDX-License-Identifier: Apache-2.0 */
#include "access/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { READS = 1, CLAIMS = 2, OWNS = 4 };

static char physics[] = "physics", chem[] = "chem";
static struct tenancy_part parts[] = {{physics, CLAIMS}, {chem, CLAIMS | OWNS}};
static const struct tenancy two = {.everywhere = READS, .n = 2, .parts = parts};

static void roles_for_a_tenant_come_on_top(void **state)
{
    assert_int_equal(tenancy_roles(&two, "physics"), READS | CLAIMS);
    assert_int_equal(tenancy_roles(&two, "chem"), READS | CLAIMS | OWNS);
}

/* Another tenant's name, a part of one, and no name have the roles that are bound to none, and no more. */
static void another_tenant_gives_nothing(void **state)
{
    static const char *const others[] = {"", "bio", "phys", "physics2", "Physics"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(tenancy_roles(&two, others[i]), READS);
    const struct tenancy none = {0};
    assert_int_equal(tenancy_roles(&none, "physics"), 0);
}

static void only_one_tenant_is_taken_as_meant(void **state)
{
    assert_null(tenancy_only(&two, CLAIMS));
    assert_string_equal(tenancy_only(&two, OWNS), "chem");
    assert_null(tenancy_only(&two, READS)); /* it is bound to none */
    const struct tenancy none = {0};
    assert_null(tenancy_only(&none, CLAIMS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_for_a_tenant_come_on_top),
        cmocka_unit_test(another_tenant_gives_nothing),
        cmocka_unit_test(only_one_tenant_is_taken_as_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
