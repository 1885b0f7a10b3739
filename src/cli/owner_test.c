/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define OWNERS                                                                                              \
    "{\"owners\":[{\"owner\":\"physics/"                                                                    \
    "batch:12\",\"tenant\":\"physics\",\"vcluster\":\"batch\",\"allocation\":"                              \
    "\"12\",\"person\":null,\"count\":2,\"since\":\"2026-11-26T10:00:00.000Z\",\"by\":\"root\",\"reason\":" \
    "\"a run\",\"nodes\":\"lx[1-2]\"}],\"tenants\":[{\"tenant\":\"bio\",\"nodes\":0,\"nodes_max\":null,"    \
    "\"allocations\":0,\"allocations_max\":null},{\"tenant\":\"physics\",\"nodes\":2,\"nodes_max\":64,"     \
    "\"allocations\":1,\"allocations_max\":null}],\"sensitive\":{\"nodes\":1,\"nodes_max\":8}}"
#define CHANGED "{\"revision\":9,\"changed\":\"lx[1-2]\",\"held\":[]}"

static void owners_are_listed_and_shown(void **state)
{
    char sent[4096];
    run_expect("owner list -o Owner,Count,Nodes,Tenant", OWNERS, "GET /v1/owners ",
               "OWNER             COUNT  NODES    TENANT\nphysics/batch:12      2  lx[1-2]  physics\n");
    run_expect("owner show physics/batch:12 --json", OWNERS, "GET /v1/owners?owner=physics%2Fbatch%3A12 ",
               OWNERS "\n");
    struct run r = run_with("owner show physics", 200, OWNERS, sent);
    assert_non_null(strstr(r.out, "physics/batch:12"));
    assert_non_null(strstr(r.out, "2 of 64 nodes, 1 allocations"));
    assert_null(strstr(r.out, "bio"));
}

static void each_change_is_asked_for(void **state)
{
    run_expect("owner claim lx[1-2] --owner physics/batch:12 --reason a run", CHANGED,
               "POST /v1/owners/claim ", "lx[1-2]: claimed\n");
    run_expect("owner claim lx[1-2]", CHANGED, "POST /v1/owners/claim ", "lx[1-2]: claimed\n");
    run_expect("owner release --owner physics", CHANGED, "POST /v1/owners/release ", "lx[1-2]: released\n");
    run_expect("owner transfer lx[1-2] --owner a --new-owner b", CHANGED, "POST /v1/owners/transfer ",
               "lx[1-2]: transferred\n");
}

static void a_missing_argument_is_said_at_once(void **state)
{
    struct run r = run("owner release", "/nowhere");
    assert_string_equal(r.error, "which nodes? name them, or an --owner for all of its nodes");
    r = run("owner transfer lx1 --owner a", "/nowhere");
    assert_int_equal(r.status, 2);
}

static void another_owner_has_the_status_of_a_conflict(void **state)
{
    char sent[4096];
    struct run r = run_with("owner claim lx1 --owner bio", 409,
                            "{\"error\":{\"code\":\"conflict\",\"message\":\"node \\\"lx1\\\" is owned by "
                            "physics\",\"node\":\"lx1\",\"owner\":\"physics\"}}",
                            sent);
    assert_int_equal(r.status, 3);
    assert_string_equal(r.error, "node \"lx1\" is owned by physics");
    r = run_with("owner claim lx1 --owner bio", 409,
                 "{\"error\":{\"code\":\"quota_exceeded\",\"message\":\"too many\"}}", sent);
    assert_int_equal(r.status, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_are_listed_and_shown),
        cmocka_unit_test(each_change_is_asked_for),
        cmocka_unit_test(a_missing_argument_is_said_at_once),
        cmocka_unit_test(another_owner_has_the_status_of_a_conflict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
