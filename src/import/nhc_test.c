/* SPDX-License-Identifier: Apache-2.0 */
#include "base/conf.h"
#include "health/check.h"
#include "import/import.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_check_of_nhc_becomes_a_record_or_a_comment(void **state)
{
    CLEANUP_TEXT struct text in = {0}, is = {0}, want = {0};
    struct err e = {0};
    const char *mode = getenv("FETTLE_GOLDEN");
    assert_int_equal(conf_read_bytes(TEST_DATA "/nhc.conf", &in, &e), 0);
    assert_int_equal(import_nhc("nhc.conf", in.s, in.len, &is, &e), 0);
    if (mode && strcmp(mode, "write") == 0) {
        FILE *f = fopen(TEST_DATA "/nhc.checks", "w");
        assert_non_null(f);
        fputs(is.s, f);
        fclose(f);
    }
    assert_int_equal(conf_read_bytes(TEST_DATA "/nhc.checks", &want, &e), 0);
    assert_string_equal(is.s, want.s);
}

/* What runs without any file runs with one that was imported, too. */
static void nothing_that_ran_before_is_lost(void **state)
{
    CLEANUP_TEXT struct text is = {0};
    struct checks without, with;
    struct err e = {0};
    checks_default(&without);
    assert_int_equal(import_nhc("nhc.conf", "", 0, &is, &e), 0);
    assert_int_equal(checks_parse("checks.conf", is.s, is.len, &with, &e), 0);
    assert_int_equal(with.n, without.n);
    for (size_t i = 0; i < without.n; i++)
        assert_non_null(checks_find(&with, without.list[i].name));
    checks_fini(&with);
    checks_fini(&without);
}

static void too_much_is_refused(void **state)
{
    CLEANUP_TEXT struct text in = {0}, is = {0};
    struct err e = {0};
    assert_int_equal(import_nhc("nhc.conf", "*||\0", 4, &is, &e), -EINVAL);
    assert_string_equal(e.msg, "nhc.conf: there is a NUL byte");
    for (int i = 0; i < CHECKS_MAX + 1; i++)
        text_printf(&in, "* || check_fs_free /d%d 5%%\n", i);
    text_clear(&is);
    assert_int_equal(import_nhc("nhc.conf", in.s, in.len, &is, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "one too many"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_check_of_nhc_becomes_a_record_or_a_comment),
        cmocka_unit_test(nothing_that_ran_before_is_lost),
        cmocka_unit_test(too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
