/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_the_level_is_in_the_digest(void **state)
{
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "feature/level", "{\"level\":2}", NULL), 0);
    uint64_t two = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "feature/level", "{\"level\":7}", NULL),
                     0); /* of a later version: it is kept */
    assert_int_equal(cluster_level(w->c), 7);
    assert_int_not_equal(cluster_digest(w->c), two);
    assert_int_equal(cluster_put(w->c, "feature/level", NULL, NULL), 0);
    assert_int_equal(cluster_digest(w->c), before);
    assert_int_equal(cluster_level(w->c), LEVEL_FIRST);
}

static void test_malformed_records(void **state)
{
    static const char *const bad[][2] = {{"feature/level", "{}"},
                                         {"feature/level", "{\"level\":0}"},
                                         {"feature/level", "{\"level\":-1}"},
                                         {"feature/level", "{\"level\":1000001}"},
                                         {"feature/level", "{\"level\":\"2\"}"},
                                         {"feature/level", "{\"level\":2,\"x\":1}"},
                                         {"feature/level", "7"},
                                         {"feature/other", "{\"level\":2}"}};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (cluster_put(w->c, bad[i][0], bad[i][1], NULL) != -EILSEQ)
            fail_msg("%s %s", bad[i][0], bad[i][1]);
    assert_int_equal(cluster_level(w->c), LEVEL_FIRST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_level_is_in_the_digest, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_malformed_records, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
