/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_records_are_read_strictly(void **state)
{
    static const char *const bad[] = {
        "{'id':'1','run':'power.off','by':'ann','why':'x','force':false,'deadline':'9'}",
        "{'id':'','run':'power.off','by':'ann','why':'x','force':false,'deadline':'9','done':null}",
        "{'id':'1','run':'power.off','by':'ann','why':'x','force':1,'deadline':'9','done':null}",
        "{'id':'1','run':'power.off','why':'x','force':false,'deadline':'9','done':null}",
        ("{'id':'1','run':'power.off','by':'ann','why':'x','force':false,'deadline':'9','done':{'state':'"
         "gone'"
         "}}")};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cluster_put(w->c, "effect/power.lx01", quoted(bad[i]), NULL), -EILSEQ);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_records_are_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
