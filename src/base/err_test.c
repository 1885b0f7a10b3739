/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void set_keeps_code_and_sentence(void **state)
{
    struct err e = {0};
    assert_int_equal(err_set(&e, -ENOENT, "no node \"%s\"", "lx09"), -ENOENT);
    assert_int_equal(e.code, -ENOENT);
    assert_string_equal(e.msg, "no node \"lx09\"");
}

static void no_err_is_allowed(void **state)
{
    assert_int_equal(err_set(NULL, -EIO, "x"), -EIO);
    assert_int_equal(err_wrap(NULL, -EINVAL, "x"), -EINVAL);
}

static void wrap_puts_context_in_front(void **state)
{
    struct err e = {0};
    err_set(&e, -ENOENT, "no node \"lx09\"");
    assert_int_equal(err_wrap(&e, -EINVAL, "%s:%d", "nodes.conf", 12), -EINVAL);
    assert_int_equal(e.code, -EINVAL);
    assert_string_equal(e.msg, "nodes.conf:12: no node \"lx09\"");
}

static void long_sentences_are_cut(void **state)
{
    char line[2 * ERR_MSG_BYTES_MAX];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    struct err e = {0};
    err_set(&e, -EINVAL, "%s", line);
    assert_int_equal(strlen(e.msg), ERR_MSG_BYTES_MAX - 1);
    err_wrap(&e, -EINVAL, "a");
    assert_int_equal(strlen(e.msg), ERR_MSG_BYTES_MAX - 1);
    assert_memory_equal(e.msg, "a: x", 4);
    err_wrap(&e, -EINVAL, "%s", line);
    assert_int_equal(strlen(e.msg), ERR_MSG_BYTES_MAX - 1);
}

static void a_code_has_a_name_on_each_surface(void **state)
{
    assert_string_equal(err_name(-ENOENT), "not_found");
    assert_string_equal(err_name(ENOENT), "not_found");
    assert_int_equal(err_http(-ENOENT), 404);
    assert_int_equal(err_exit(-ENOENT), 4);
    assert_int_equal(err_http(-EINVAL), 400);
    assert_int_equal(err_exit(-EINVAL), 2);
}

static void other_codes_are_internal(void **state)
{
    assert_string_equal(err_name(-EXDEV), "internal");
    assert_int_equal(err_http(-EXDEV), 500);
    assert_int_equal(err_exit(-EXDEV), 1);
}

static void names_lead_back_to_codes(void **state)
{
    static const int codes[] = {
#define ERR(code, name, http, exit) code,
#include "base/err.tbl"
#undef ERR
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        assert_int_equal(err_code(err_name(codes[i])), -codes[i]);
    assert_int_equal(err_code("nonsense"), -EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_keeps_code_and_sentence),       cmocka_unit_test(no_err_is_allowed),
        cmocka_unit_test(wrap_puts_context_in_front),        cmocka_unit_test(long_sentences_are_cut),
        cmocka_unit_test(a_code_has_a_name_on_each_surface), cmocka_unit_test(other_codes_are_internal),
        cmocka_unit_test(names_lead_back_to_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
