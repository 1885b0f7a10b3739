/* SPDX-License-Identifier: Apache-2.0 */
#include "product/product.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_row_is_found_by_its_key(void **state)
{
    assert_ptr_equal(product_record_find("ochami.lx01"), product_record(PRODUCT_DRIFT));
    assert_ptr_equal(product_record_find("reboot.lx01"), product_record(PRODUCT_REBOOT));
    assert_ptr_equal(product_record_find("slurm.lx01"), product_record(PRODUCT_HOLD));
    assert_null(product_record_find("slurm"));
    assert_null(product_record_find("operate.lx01"));
    assert_null(product_record_find(""));
    assert_true(product_record(PRODUCT_HOLD)->is_note);
    assert_false(product_record(PRODUCT_DRIFT)->is_note || product_record(PRODUCT_REBOOT)->is_note);
}

static void test_names_of_nodes(void **state)
{
    static const char *const others[] = {"lx01", "x1000c0s0b0", "x1000c0s0b0n", "x1000c0s0b0n0n1", "c0s0b0n0",
                                         ""};
    assert_string_equal(product_node_name("lx01", "x1c0s0b0n1"), "x1c0s0b0n1");
    assert_string_equal(product_node_name("x1000c0s0b0n0", NULL), "x1000c0s0b0n0");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(product_node_name(others[i], NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_is_found_by_its_key),
        cmocka_unit_test(test_names_of_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
