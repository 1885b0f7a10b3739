/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/decision/decision.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_changes_are_in_the_order_of_their_coming(void **state)
{
    struct decision d = {0};
    decision_add(&d, "node/", "lx01", mem_dup("{}"));
    decision_add(&d, "node/", "", NULL);
    assert_int_equal(d.n_ops, 2);
    assert_string_equal(d.ops[0].key, "node/lx01");
    assert_string_equal(d.ops[0].value, "{}");
    assert_string_equal(d.ops[1].key, "node/");
    assert_null(d.ops[1].value);
    assert_int_equal(d.about.len, 0);
    decision_fini(&d);
    assert_int_equal(d.n_ops, 0);
    assert_null(d.ops);
    decision_fini(&d); /* of nothing */
}

static void test_a_claim_makes_the_decision_part_of_it(void **state)
{
    struct decision d = {0};
    decision_add(&d, "claim/", "7.1", mem_dup("{}"));
    decision_add(&d, "repair/", "lx01", NULL);
    assert_string_equal(d.about.s, "7.1");
    assert_string_equal(d.fields.ids[ENTRY_CLAIMS].s, "7.1");
    decision_fini(&d);
}

/* An id is there once, whatever it is an id of; no id is none. */
static void test_ids_are_named_once(void **state)
{
    struct decision d = {0};
    decision_about(&d, ENTRY_CLAIMS, NULL);
    decision_about(&d, ENTRY_CLAIMS, "");
    assert_int_equal(d.about.len, 0);
    decision_about(&d, ENTRY_CLAIMS, "7.10");
    decision_about(&d, ENTRY_CLAIMS, "7.1");
    decision_about(&d, ENTRY_OPERATIONS, "7.1");
    decision_about(&d, ENTRY_CLAIMS, "7.10");
    assert_string_equal(d.about.s, "7.10 7.1");
    assert_string_equal(d.fields.ids[ENTRY_CLAIMS].s, "7.10 7.1");
    assert_string_equal(d.fields.ids[ENTRY_OPERATIONS].s, "7.1");
    decision_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_are_in_the_order_of_their_coming),
        cmocka_unit_test(test_a_claim_makes_the_decision_part_of_it),
        cmocka_unit_test(test_ids_are_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
