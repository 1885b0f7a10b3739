/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/state/drift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *summary(const char *named, uint32_t count)
{
    static struct text t;
    text_clear(&t);
    text_add(&t, "");
    drift_summary(named, count, &t);
    return t.s;
}

static void test_the_first_component_is_named_and_the_rest_counted(void **state)
{
    static const struct {
        const char *named;
        uint32_t count;
        const char *said;
    } rows[] = {
        {"kernel.release", 1, "kernel.release"},
        {"kernel.release", 0, "kernel.release"},
        {"kernel.release, nic.count", 2, "kernel.release, 1 more"},
        {"kernel.release, nic.count", 20, "kernel.release, 19 more"}, /* more than are named */
        {"", 3, "3 more"},
        {"", 0, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(summary(rows[i].named, rows[i].count), rows[i].said);
}

static void test_a_fingerprint_is_said_as_the_list_that_it_is_of(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    const struct fingerprint id = {{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd}};
    fingerprint_say(&id, &t);
    assert_string_equal(t.s, "list_0123456789ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_component_is_named_and_the_rest_counted),
        cmocka_unit_test(test_a_fingerprint_is_said_as_the_list_that_it_is_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
