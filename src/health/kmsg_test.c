/* SPDX-License-Identifier: Apache-2.0 */
#include "health/kmsg.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct kmsg read_one(const char *record)
{
    struct kmsg k;
    struct err e = {0};
    assert_int_equal(kmsg_read(record, strlen(record), &k, &e), 0);
    return k;
}

static void a_record_has_its_parts(void **state)
{
    struct kmsg k = read_one("3,1234,5678901,-;NVRM: Xid (PCI:0000:9b:00): 79, x\n");
    assert_int_equal(k.facility, 0);
    assert_int_equal(k.level, 3);
    assert_int_equal(k.seq, 1234);
    assert_int_equal(k.at_us, 5678901);
    assert_true(k.from_kernel);
    assert_string_equal(k.text, "NVRM: Xid (PCI:0000:9b:00): 79, x");
}

static void more_fields_and_continued_lines_are_records_too(void **state)
{
    assert_string_equal(read_one("6,1,2,c,caller=T77,x=1;part of a line").text, "part of a line");
    assert_string_equal(read_one("6,1,2,+;another part\n").text, "another part");
    assert_string_equal(read_one("6,1,2,;a;b").text, "a;b");
}

static void a_dictionary_is_no_text(void **state)
{
    assert_string_equal(read_one("6,1,2,-;hello\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:01.0\n").text, "hello");
}

static void a_line_of_a_user_is_not_the_kernels(void **state)
{
    assert_false(read_one("12,1,2,-;NVRM: Xid (PCI:0000:9b:00): 79, x").from_kernel); /* user.warning */
    assert_false(read_one("30,1,2,-;systemd[1]: Started x").from_kernel);
    assert_true(read_one("7,1,2,-;debug").from_kernel);
    assert_int_equal(read_one("30,1,2,-;x").facility, 3);
}

static void escapes_are_undone(void **state)
{
    assert_string_equal(read_one("6,1,2,-;a\\x5cb\\x09c").text, "a\\b\tc");
    assert_string_equal(read_one("6,1,2,-;\\xc3\\xA9").text, "\xc3\xa9");
    assert_string_equal(read_one("6,1,2,-;nul\\x00.").text, "nul .");
    assert_string_equal(read_one("6,1,2,-;\\x\\xg1\\x1").text, "\\x\\xg1\\x1"); /* none */
}

static void a_long_text_is_cut(void **state)
{
    char record[4000] = "6,1,2,-;";
    memset(record + 8, 'x', 3000);
    assert_int_equal(strlen(read_one(record).text), KMSG_TEXT_BYTES_MAX);
}

static void a_line_that_is_no_record_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "hello",
                                      "6,1,2",
                                      "6,1,2,-",
                                      "6,1,;x",
                                      "x,1,2,-;x",
                                      "6;1,2,-,x",
                                      "-6,1,2,-;x",
                                      "6,99999999999999999999999,2,-;x",
                                      "99999999,1,2,-;x",
                                      "6,1,2,-\n;x",
                                      " SUBSYSTEM=pci"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct kmsg k;
        struct err e = {0};
        assert_int_equal(kmsg_read(bad[i], strlen(bad[i]), &k, &e), -EINVAL);
        assert_true(*e.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_has_its_parts),
        cmocka_unit_test(more_fields_and_continued_lines_are_records_too),
        cmocka_unit_test(a_dictionary_is_no_text),
        cmocka_unit_test(a_line_of_a_user_is_not_the_kernels),
        cmocka_unit_test(escapes_are_undone),
        cmocka_unit_test(a_long_text_is_cut),
        cmocka_unit_test(a_line_that_is_no_record_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
