/* SPDX-License-Identifier: Apache-2.0 */
#include "node/report.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int update(struct report *r, const char *message, struct err *e)
{
    CLEANUP_JSON json_t *o = json_read(message, strlen(message), NULL);
    assert_non_null(o);
    return report_update(r, o, e);
}

static void test_a_full_report(void **state)
{
    struct report r = {0};
    assert_int_equal(
        update(&r,
               "{\"full\":true,\"hash\":\"0123456789abcdef\",\"set\":{\"OS\":\"Linux.6.1\",\"CPUs\":8,"
               "\"Speed\":863.8,\"RealMemory\":2048,\"GPUs\":[{},{}],\"NICs\":[],\"Arch\":\"x86_64\","
               "\"Odd\":{\"kept\":1}}}",
               NULL),
        0);
    assert_string_equal(r.hash, "0123456789abcdef");
    assert_string_equal(r.os, "Linux.6.1");
    assert_string_equal(r.arch, "x86_64");
    assert_true(r.cpus.known && r.cpus.value == 8);
    assert_true(r.speed_milli.known);
    assert_int_equal(r.speed_milli.value, 863800); /* not 863799: it travels as 863.79999999999995 */
    assert_true(r.gpus.known && r.gpus.value == 2);
    assert_true(r.nics.known && r.nics.value == 0);
    assert_false(r.disks.known || r.tmp_disk_mb.known);
    assert_non_null(strstr(r.json, "\"Odd\":{\"kept\":1}"));
    report_fini(&r);
    assert_null(r.json);
}

static void test_a_change_sets_and_unsets(void **state)
{
    struct report r = {0};
    update(&r, "{\"full\":true,\"hash\":\"a\",\"set\":{\"CPUs\":8,\"TmpDisk\":5,\"Arch\":\"x\"}}", NULL);
    assert_int_equal(
        update(&r, "{\"hash\":\"b\",\"set\":{\"CPUs\":4},\"unset\":[\"TmpDisk\",\"never there\"]}", NULL), 0);
    assert_string_equal(r.hash, "b");
    assert_int_equal(r.cpus.value, 4);
    assert_false(r.tmp_disk_mb.known);
    assert_string_equal(r.arch, "x");
    assert_int_equal(update(&r, "{\"full\":true,\"hash\":\"c\",\"set\":{\"CPUs\":1}}", NULL), 0);
    assert_null(r.arch); /* a full one replaces everything */
    report_fini(&r);
}

static void test_a_value_of_a_wrong_type_is_unknown(void **state)
{
    struct report r = {0};
    assert_int_equal(
        update(&r,
               "{\"full\":true,\"hash\":\"\",\"set\":{\"CPUs\":\"8\",\"RealMemory\":-1,\"Speed\":-2.5,"
               "\"OS\":7,\"GPUs\":3,\"VirtualMemory\":1e30,\"Sockets\":null}}",
               NULL),
        0);
    assert_false(r.cpus.known || r.real_memory_mb.known || r.speed_milli.known || r.gpus.known ||
                 r.virtual_memory_mb.known || r.sockets.known);
    assert_null(r.os);
    report_fini(&r);
}

static void test_garbage_leaves_it_as_it_was(void **state)
{
    static const char *const garbage[] = {
        "{}",
        "[]",
        "{\"full\":true,\"set\":{}}",
        "{\"full\":true,\"hash\":7,\"set\":{}}",
        "{\"full\":true,\"hash\":\"0123456789abcdef0\",\"set\":{}}",
        "{\"hash\":\"x\",\"set\":[]}",
        "{\"hash\":\"x\",\"unset\":{}}",
        "{\"hash\":\"x\",\"unset\":[7]}",
    };
    struct report r = {0};
    update(&r, "{\"full\":true,\"hash\":\"a\",\"set\":{\"CPUs\":8}}", NULL);
    CLEANUP_FREE char *before = mem_dup(r.json);
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        struct err e = {0};
        assert_int_equal(update(&r, garbage[i], &e), -EINVAL);
        assert_true(e.msg[0]);
        assert_string_equal(r.json, before);
        assert_string_equal(r.hash, "a");
        assert_int_equal(r.cpus.value, 8);
    }
    report_fini(&r);
}

static void test_a_change_of_nothing_known(void **state)
{
    struct report r = {0};
    assert_int_equal(update(&r, "{\"hash\":\"a\",\"set\":{\"CPUs\":8}}", NULL), -ENOENT);
    assert_null(r.json);
}

static void test_the_limit(void **state)
{
    struct report r = {0};
    struct err e;
    CLEANUP_TEXT struct text big = {0};
    text_add(&big, "{\"full\":true,\"hash\":\"a\",\"set\":{\"x\":\"");
    for (int i = 0; i < REPORT_BYTES_MAX; i++)
        text_add_char(&big, 'x');
    text_add(&big, "\"}}");
    assert_int_equal(update(&r, big.s, &e), -EINVAL);
    assert_string_equal(e.msg, "an inventory of more than 262144 bytes");
    assert_null(r.json);
    assert_int_equal(update(&r, "{\"full\":true,\"hash\":\"\"}", NULL), 0);
    report_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_report),
        cmocka_unit_test(test_a_change_sets_and_unsets),
        cmocka_unit_test(test_a_value_of_a_wrong_type_is_unknown),
        cmocka_unit_test(test_garbage_leaves_it_as_it_was),
        cmocka_unit_test(test_a_change_of_nothing_known),
        cmocka_unit_test(test_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
