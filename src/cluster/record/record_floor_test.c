/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_records_that_are_none_are_refused_and_change_nothing(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {"floor/gpu", "{'at':'1','sum':'1','nodes':[{'node':'lx01','values':{'a b':1}}]}"},
        {"floor/gpu a b", "{'at':'1','sum':'1','nodes':[{'node':'lx01','values':{'a b':1}}]}"},
        {"floor/gpu ram", "{'at':'1','sum':'1','nodes':[]}"},
        {"floor/gpu ram", "{'at':'1','sum':'1','nodes':[{'node':'lx01'}]}"},
        {"floor/gpu ram", "{'at':'1','sum':'x','nodes':[{'node':'lx01','values':{'a b':1}}]}"},
        {"floor/gpu ram", "{'at':'1','sum':'1','nodes':[{'node':'lx 1','values':{'a b':1}}]}"},
        {"floor/gpu ram", "{'at':'1','sum':'1','nodes':[{'node':'lx01','values':{'a b':1}},"
                          "{'node':'lx01','values':{'a b':1}}]}"},
        {"floor/gpu ram", "{'at':'1','sum':'1','more':1,'nodes':[{'node':'lx01','values':{'a b':1}}]}"}};
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cluster_put(w->c, bad[i][0], quoted(bad[i][1]), NULL), -EILSEQ);
    assert_true(cluster_digest(w->c) == before);
}

static void test_the_same_records_are_the_same_state(void **state)
{
    struct world *w = *state;
    world_measured(w, "ram", "1f",
                   "'lx01':{'bandwidth MB/s':1000,'latency ns':80},'lx03':{'bandwidth MB/s':9}");
    world_measured(w, "disk", "2f", "'lx02':{'write MB/s':3}");
    for (size_t i = 0; i < w->n; i++) {
        struct cluster *c = world_reload(w, "lx[01-06] CPUs=2", i, i % 2);
        assert_true(cluster_digest(c) == cluster_digest(w->c));
        assert_int_equal(cluster_floor(c, "gpu", "ram")->nodes[1].values[0].value, 9);
        cluster_destroy(c);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_records_that_are_none_are_refused_and_change_nothing),
        TEST(test_the_same_records_are_the_same_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
