/* SPDX-License-Identifier: Apache-2.0 */
#include "health/argument.h"
#include "health/check.h"
#include "health/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_probes_are_found_by_name(void **state)
{
    enum probe p = PROBE_PLUGIN;
    assert_true(probe_find("fs.space", &p));
    assert_int_equal(p, PROBE_FS_SPACE);
    assert_string_equal(probe_row(p)->name, "fs.space");
    assert_int_equal(probe_row(p)->how, PROBE_APART);
    assert_false(probe_find("fs", &p));
    assert_int_equal(p, PROBE_FS_SPACE);
}

/* A key of a probe says what it is, hides none of any check, and every row of argument.tbl is of a key. */
static void test_the_tables_agree(void **state)
{
    static const char *const described[][2] = {
#define ARGUMENT(probe, key, form, least, most, need, what) {probe, key},
#include "health/argument.tbl"
#undef ARGUMENT
    };
    enum { DESCRIBED = sizeof described / sizeof described[0] };
    struct argument a;
    for (int p = 0; p < PROBES; p++) {
        size_t n = 0;
        for (; argument_at((enum probe)p, n, &a); n++) {
            if (!*a.what)
                fail_msg("argument.tbl has no row for %s of %s", a.key, probe_row((enum probe)p)->name);
            if (key_find(a.key))
                fail_msg("%s of %s is a key of any check", a.key, probe_row((enum probe)p)->name);
        }
        assert_true(n <= CHECK_ARGS_MAX);
    }
    for (size_t i = 0; i < DESCRIBED; i++) {
        enum probe p;
        if (!probe_find(described[i][0], &p) || !argument_find(p, described[i][1], &a))
            fail_msg("probe.tbl has no key %s of %s", described[i][1], described[i][0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_are_found_by_name),
        cmocka_unit_test(test_the_tables_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
