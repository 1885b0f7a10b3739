/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct command made = {.kind = COMMAND_BACKUP,
                                    .actor = "ann",
                                    .at = {6000000000},
                                    .backup = {"20261126T120000Z-r7", {5000000000}, 7, 4096}};

static void test_a_backup_is_recorded_with_its_fields(void **state)
{
    struct world *w = *state;
    struct decision d = {0};
    CLEANUP_TEXT struct text fields = {0};
    assert_int_equal(cluster_decide(w->c, &made, 0, &d, NULL), 0);
    assert_int_equal(d.n_ops, 1);
    assert_string_equal(d.ops[0].key, "backup/last");
    assert_string_equal(d.text, "20261126T120000Z-r7: revision 7, 4096 bytes");
    entry_fields_write(&d.fields, &fields);
    assert_string_equal(fields.s, "\"backup\":{\"name\":\"20261126T120000Z-r7\",\"at\":\"5000000000\","
                                  "\"revision\":7,\"bytes\":4096}");
    assert_int_equal(cluster_put(w->c, d.ops[0].key, d.ops[0].value, NULL), 0);
    assert_int_equal(cluster_backup(w->c)->revision, 7);
    decision_fini(&d);
}

static void test_the_same_again_changes_nothing(void **state)
{
    struct world *w = *state;
    struct decision d = {0};
    struct command next = made;
    assert_int_equal(cluster_decide(w->c, &made, 0, &d, NULL), 0);
    cluster_put(w->c, d.ops[0].key, d.ops[0].value, NULL);
    decision_fini(&d);
    assert_int_equal(cluster_decide(w->c, &made, 0, &d, NULL), 0);
    assert_int_equal(d.n_ops, 0);
    decision_fini(&d);
    /* By a clock that was set back, it is the last one all the same. */
    next.backup.name = "20261126T110000Z-r8";
    next.backup.made.ns -= 1000000000;
    assert_int_equal(cluster_decide(w->c, &next, 0, &d, NULL), 0);
    assert_int_equal(d.n_ops, 1);
    decision_fini(&d);
}

static void test_a_name_that_is_none(void **state)
{
    struct world *w = *state;
    struct decision d = {0};
    struct command bad = made;
    char longer[BACKUP_WORD_BYTES_MAX + 2] = "";
    memset(longer, 'a', sizeof longer - 1);
    bad.backup.name = longer;
    assert_int_equal(cluster_decide(w->c, &bad, 0, &d, NULL), -EINVAL);
    bad.backup.name = "";
    assert_int_equal(cluster_decide(w->c, &bad, 0, &d, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_backup_is_recorded_with_its_fields, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_the_same_again_changes_nothing, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_a_name_that_is_none, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
