/* SPDX-License-Identifier: Apache-2.0 */
/* Owners, as the interface shows and changes them. */
#include "api/stage_test.h"

#include "api/golden_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static int open_ill(void **state)
{
    return stage_open(state, world_make_ill, 3);
}

/* One after the other: what a scheduler asks, what it hears when it came too late, and what is left. */
static void test_owners(void **state)
{
    static const struct posted asked[] = {
        {"/v1/owners/claim", "{\"nodes\":\"hx1\",\"owner\":\"physics/batch:1\",\"reason\":\"a run\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx1\",\"owner\":\"physics/batch:1\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx[1-2]\",\"owner\":\"physics/batch:2\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx[2-3]\",\"owner\":\"physics\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx2\",\"owner\":\"chem\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx2\"}"},
        {"/v1/owners/claim", "{\"owner\":\"physics\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx2\",\"owner\":\"a b\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx10\",\"owner\":\"physics\"}"},
        {"/v1/owners/release", "{\"nodes\":\"hx[1-2]\",\"owner\":\"physics\"}"},
        {"/v1/owners/transfer", "{\"nodes\":\"hx2\",\"owner\":\"physics\",\"new_owner\":\"physics:3\"}"},
        {"/v1/owners/transfer", "{\"owner\":\"physics/batch:1\",\"new_owner\":\"physics:3\"}"},
        {"/v1/owners/transfer", "{\"owner\":\"physics\"}"},
        {"/v1/owners/transfer", "{\"new_owner\":\"physics\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx2\",\"owner\":\"physics/batch\"}"},
    };
    static const char *const reads[] = {"/v1/owners",
                                        "/v1/owners?owner=physics",
                                        "/v1/owners?owner=physics%2Fbatch",
                                        "/v1/owners?owner=physics%3A3",
                                        "/v1/owners?owner=@ann",
                                        "/v1/owners?owner=a%20b",
                                        "/v1/owners?tenant=physics",
                                        "/v1/nodes?nodes=hx%5B1-3%5D&fields=Name,Owner"};
    static const struct posted ends[] = {{"/v1/owners/release", "{\"owner\":\"physics:3\"}"},
                                         {"/v1/owners/release", "{\"owner\":\"physics:3\"}"}};
    CLEANUP_TEXT struct text t = {0};
    struct stage *s = *state;
    stage_post_all(s, asked, sizeof asked / sizeof asked[0], &t);
    stage_read_all(s, reads, sizeof reads / sizeof reads[0], &t);
    stage_post_all(s, ends, sizeof ends / sizeof ends[0], &t);
    stage_read_all(s, reads, 1, &t);
    golden_check("owners.txt", &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_owners, open_ill, stage_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
