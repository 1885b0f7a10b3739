/* SPDX-License-Identifier: Apache-2.0 */
#include "node/field.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_found_in_any_case(void **state)
{
    for (int f = 0; f < FIELDS; f++) {
        enum field found;
        assert_int_equal(field_find(field_get((enum field)f)->name, &found, NULL), 0);
        assert_int_equal(found, f);
    }
    enum field found;
    assert_int_equal(field_find("realMEMORY", &found, NULL), 0);
    assert_int_equal(found, FIELD_REAL_MEMORY);
}

static void test_unknown_names_the_nearest(void **state)
{
    enum field found;
    struct err e;
    assert_int_equal(field_find("RealMemry", &found, &e), -EINVAL);
    assert_string_equal(e.msg, "unknown field \"RealMemry\"; the nearest known is \"RealMemory\"");
    assert_int_equal(field_find("xyzzyxyzzy", &found, &e), -EINVAL);
    assert_string_equal(e.msg, "unknown field \"xyzzyxyzzy\"");
}

static void test_the_document_s_ten_come_first(void **state)
{
    static const char *const ten[] = {"Name",          "OS",      "CPUs",      "Speed",        "RealMemory",
                                      "VirtualMemory", "TmpDisk", "Partition", "LastResponse", "State"};
    for (int f = 0; f < 10; f++)
        assert_string_equal(field_get((enum field)f)->name, ten[f]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_in_any_case),
        cmocka_unit_test(test_unknown_names_the_nearest),
        cmocka_unit_test(test_the_document_s_ten_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
