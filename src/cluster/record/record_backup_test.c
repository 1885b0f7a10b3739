/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LAST "{\"at\":\"5000000000\",\"name\":\"20261126T120000Z-r7\",\"revision\":7,\"bytes\":4096}"
#define RESTORED "{\"at\":\"9000000000\",\"backup\":{\"at\":\"5000000000\",\"revision\":7,\"term\":3}}"

static void test_the_last_backup(void **state)
{
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    assert_int_equal(cluster_backup(w->c)->at.ns, 0);
    world_takes(w, "backup/last", LAST);
    assert_int_equal(cluster_put(w->c, "backup/last", LAST, NULL), 0);
    const struct backup_made *b = cluster_backup(w->c);
    assert_int_equal(b->at.ns, 5000000000);
    assert_string_equal(b->name, "20261126T120000Z-r7");
    assert_int_equal(b->revision, 7);
    assert_int_equal(b->bytes, 4096);
    assert_int_not_equal(cluster_digest(w->c), before);
    assert_int_equal(cluster_put(w->c, "backup/last", NULL, NULL), 0);
    assert_int_equal(cluster_digest(w->c), before);
}

static void test_a_restored_state(void **state)
{
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "backup/restored", RESTORED, NULL), 0);
    const struct state_restored *r = cluster_restored(w->c);
    assert_int_equal(r->at.ns, 9000000000);
    assert_int_equal(r->made.ns, 5000000000);
    assert_int_equal(r->revision, 7);
    assert_int_equal(r->term, 3);
    assert_int_not_equal(cluster_digest(w->c), before);
    assert_int_equal(cluster_put(w->c, "backup/restored", NULL, NULL), 0);
    assert_int_equal(cluster_digest(w->c), before);
}

static void test_malformed_records(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {"backup/last", "{}"},
        {"backup/last", "{\"at\":\"0\",\"name\":\"a\",\"revision\":7,\"bytes\":4096}"},
        {"backup/last", "{\"at\":\"5\",\"name\":\"\",\"revision\":7,\"bytes\":4096}"},
        {"backup/last", "{\"at\":\"5\",\"name\":\"a\",\"revision\":-7,\"bytes\":4096}"},
        {"backup/last", "{\"at\":\"5\",\"name\":\"a\",\"revision\":7,\"bytes\":4096,\"x\":1}"},
        {"backup/restored", "{\"at\":\"5\"}"},
        {"backup/restored", "{\"at\":\"5\",\"backup\":{\"at\":\"5\",\"revision\":7}}"},
        {"backup/restored", "[]"},
        {"backup/other", LAST}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cluster_put(w->c, bad[i][0], bad[i][1], NULL), -EILSEQ);
    assert_int_equal(cluster_backup(w->c)->at.ns, 0);
    assert_int_equal(cluster_restored(w->c)->at.ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_last_backup, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_a_restored_state, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_malformed_records, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
