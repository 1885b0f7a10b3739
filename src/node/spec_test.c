/* SPDX-License-Identifier: Apache-2.0 */
#include "node/spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a field reads back as after it was set to value, or the sentence that refuses it. Valid until
 * the next call. */
static const char *set_and_read(enum field f, const char *value)
{
    static char shown[600];
    struct err e = {0};
    struct spec s;
    CLEANUP_TEXT struct text t = {0};
    spec_init(&s);
    if (spec_set(&s, f, value, 31, &e) < 0) {
        assert_int_equal(e.code, -EINVAL);
        assert_int_equal(s.given, 0);
        text_add(&t, e.msg);
    } else {
        text_add(&t, "");
        spec_format(&s, f, &t);
    }
    spec_fini(&s);
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
}

static void test_every_setting_reads_back(void **state)
{
    assert_string_equal(set_and_read(FIELD_OS, "Linux.2.4.7-10"), "Linux.2.4.7-10");
    assert_string_equal(set_and_read(FIELD_CPUS, "64"), "64");
    assert_string_equal(set_and_read(FIELD_CPUS, "0"), "0");
    assert_string_equal(set_and_read(FIELD_SPEED, "863.8"), "863.8");
    assert_string_equal(set_and_read(FIELD_SPEED, "1.0"), "1");
    assert_string_equal(set_and_read(FIELD_SPEED, "0.005"), "0.005");
    assert_string_equal(set_and_read(FIELD_REAL_MEMORY, "1000000000000"), "1000000000000");
    assert_string_equal(set_and_read(FIELD_VIRTUAL_MEMORY, "4096"), "4096");
    assert_string_equal(set_and_read(FIELD_TMP_DISK, "16384"), "16384");
    assert_string_equal(set_and_read(FIELD_PARTITION, "3,1"), "1,3");
    assert_string_equal(set_and_read(FIELD_PARTITION, ""), "");
    assert_string_equal(set_and_read(FIELD_PARTITION, "31"), "31");
    assert_string_equal(set_and_read(FIELD_SENSITIVE, "YES"), "yes");
    assert_string_equal(set_and_read(FIELD_BORROWED, "0"), "no");
}

static void test_bad_values_are_refused_by_name(void **state)
{
    assert_string_equal(set_and_read(FIELD_CPUS, "two"),
                        "CPUs: \"two\" is not a number from 0 to 1000000000000");
    assert_string_equal(set_and_read(FIELD_CPUS, "-1"),
                        "CPUs: \"-1\" is not a number from 0 to 1000000000000");
    assert_string_equal(set_and_read(FIELD_CPUS, "2 "),
                        "CPUs: \"2 \" is not a number from 0 to 1000000000000");
    assert_string_equal(set_and_read(FIELD_REAL_MEMORY, "1000000000001"),
                        "RealMemory: \"1000000000001\" is not a number from 0 to 1000000000000");
    assert_string_equal(set_and_read(FIELD_SPEED, "fast"), "Speed: \"fast\" is not a decimal number");
    assert_string_equal(set_and_read(FIELD_PARTITION, "32"),
                        "Partition: \"32\" is not a number from 0 to 31");
    assert_string_equal(set_and_read(FIELD_PARTITION, "1,,3"),
                        "Partition: \"\" is not a number from 0 to 31");
    assert_string_equal(set_and_read(FIELD_PARTITION, "1,"), "Partition: \"\" is not a number from 0 to 31");
    assert_string_equal(set_and_read(FIELD_SENSITIVE, "maybe"), "Sensitive: \"maybe\" is neither yes nor no");
    assert_string_equal(set_and_read(FIELD_STATE, "IDLE"),
                        "State cannot be set: state in the words of the 2001 document: IDLE, BUSY, DRAINING, "
                        "DRAINED, DOWN; UNLISTED");
}

static void test_a_bad_value_changes_nothing(void **state)
{
    struct spec s, before;
    spec_init(&s);
    spec_init(&before);
    assert_int_equal(spec_set(&s, FIELD_PARTITION, "1,3", 31, NULL), 0);
    assert_int_equal(spec_set(&s, FIELD_OS, "Linux.6", 31, NULL), 0);
    spec_copy(&before, &s);
    assert_int_equal(spec_set(&s, FIELD_PARTITION, "1,99", 31, NULL), -EINVAL);
    assert_int_equal(spec_set(&s, FIELD_CPUS, "x", 31, NULL), -EINVAL);
    assert_true(spec_equal(&s, &before));
    spec_fini(&s);
    spec_fini(&before);
}

static void test_an_empty_value_asks_for_nothing(void **state)
{
    static const enum field fields[] = {FIELD_OS, FIELD_CPUS, FIELD_SPEED, FIELD_SENSITIVE, FIELD_BORROWED};
    static const char *const values[] = {"Linux.6", "2", "1.5", "yes", "yes"};
    struct spec s, nothing;
    spec_init(&s);
    spec_init(&nothing);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(spec_set(&s, fields[i], values[i], 31, NULL), 0);
        assert_true(spec_given(&s, fields[i]));
        assert_false(spec_equal(&s, &nothing));
        assert_int_equal(spec_set(&s, fields[i], "", 31, NULL), 0);
        assert_true(spec_equal(&s, &nothing));
    }
    spec_fini(&s);
}

/* Both have the same fields given, and one value differs. */
static void test_each_field_makes_a_difference(void **state)
{
    static const struct {
        enum field field;
        const char *one, *other;
    } pairs[] = {
        {FIELD_OS, "Linux.6", "Linux.7"}, {FIELD_CPUS, "2", "3"},
        {FIELD_SPEED, "1.5", "1.6"},      {FIELD_REAL_MEMORY, "1", "2"},
        {FIELD_VIRTUAL_MEMORY, "1", "2"}, {FIELD_TMP_DISK, "1", "2"},
        {FIELD_PARTITION, "1", "2"},      {FIELD_SENSITIVE, "yes", "no"},
        {FIELD_BORROWED, "yes", "no"},    {FIELD_REMEDIATE, "yes", "no"},
        {FIELD_GROUP, "1", "2"},          {FIELD_XNAME, "x1000c0s0b0n0", "x1000c0s0b0n1"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct spec a, b;
        spec_init(&a);
        spec_init(&b);
        for (size_t j = 0; j < sizeof pairs / sizeof *pairs; j++) {
            assert_int_equal(spec_set(&a, pairs[j].field, pairs[j].one, 31, NULL), 0);
            assert_true(spec_given(&a, pairs[j].field));
        }
        spec_copy(&b, &a);
        assert_true(spec_equal(&a, &b));
        assert_int_equal(spec_set(&b, pairs[i].field, pairs[i].other, 31, NULL), 0);
        assert_false(spec_equal(&a, &b));
        spec_fini(&a);
        spec_fini(&b);
    }
}

static void test_partition_zero_unless_given(void **state)
{
    struct spec s;
    spec_init(&s);
    assert_true(partition_has(&s.partitions, 0));
    spec_set(&s, FIELD_PARTITION, "", 31, NULL);
    assert_false(partition_has(&s.partitions, 0));
    spec_set(&s, FIELD_PARTITION, "1,255", PARTITION_MAX, NULL);
    assert_true(partition_has(&s.partitions, 1) && partition_has(&s.partitions, 255));
    assert_false(partition_has(&s.partitions, 0));
    spec_fini(&s);
}

static void test_releases_compare_by_value(void **state)
{
    static const char *const rising[] = {"",
                                         "2",
                                         "2.4.7-10",
                                         "2.4.18",
                                         "2.4.18-3",
                                         "2.10.0",
                                         "6.1.0-9-x",
                                         "6.1.0-13-amd64",
                                         "6.1.0-13-amd64+deb"};
    for (size_t i = 0; i < sizeof rising / sizeof rising[0]; i++) {
        for (size_t j = 0; j < sizeof rising / sizeof rising[0]; j++) {
            int d = spec_compare_release(rising[i], rising[j]);
            assert_int_equal(d < 0 ? -1 : d > 0, i < j ? -1 : i > j);
        }
    }
    assert_int_equal(spec_compare_release("2.04", "2.4"), 0);
    assert_true(spec_compare_release("99999999999999999999998", "99999999999999999999999") < 0);
}

/* "FIELD=VALUE ..." against a report; the shortfall, or "none". Valid until the next call. */
static const char *shortfall(const char *fields, const struct report *r)
{
    static char shown[600];
    CLEANUP_TEXT struct text t = {0};
    CLEANUP_FREE char *copy = mem_dup(fields);
    char *rest = copy;
    struct spec s;
    spec_init(&s);
    for (char *word; (word = strsep(&rest, " "));) {
        enum field f;
        char *value = strchr(word, '=');
        *value++ = '\0';
        assert_int_equal(field_find(word, &f, NULL), 0);
        assert_int_equal(spec_set(&s, f, value, 31, NULL), 0);
    }
    bool lacks = spec_shortfall(&s, r, &t);
    assert_int_equal(lacks, t.len > 0);
    snprintf(shown, sizeof shown, "%s", lacks ? t.s : "none");
    spec_fini(&s);
    return shown;
}

static void test_a_shortfall_is_said_in_words(void **state)
{
    const struct report r = {.os = (char *)(uintptr_t) "Linux.6.1.0-13-amd64",
                             .cpus = {true, 2},
                             .speed_milli = {true, 2400500},
                             .real_memory_mb = {true, 2048},
                             .virtual_memory_mb = {true, 4096}};
    assert_string_equal(shortfall("CPUs=2 RealMemory=2048 Speed=2400.5 OS=Linux.6.1.0-13", &r), "none");
    assert_string_equal(shortfall("CPUs=1 RealMemory=1", &r), "none");
    assert_string_equal(shortfall("CPUs=4", &r), "CPUs 2 < 4");
    assert_string_equal(shortfall("CPUs=4 RealMemory=4096 Speed=3000", &r),
                        "CPUs 2 < 4; Speed 2400.5 < 3000; RealMemory 2048 < 4096");
    assert_string_equal(shortfall("OS=Linux.6.5 CPUs=3", &r),
                        "OS Linux.6.1.0-13-amd64 < Linux.6.5; CPUs 2 < 3");
    assert_string_equal(shortfall("OS=SunOS.5.8", &r), "OS Linux.6.1.0-13-amd64 < SunOS.5.8");
    assert_string_equal(shortfall("OS=Linux", &r), "none");
    assert_string_equal(shortfall("Partition=1 Sensitive=yes", &r), "none");
}

static void test_an_unread_field_does_not_suffice(void **state)
{
    const struct report r = {.cpus = {true, 2}};
    assert_string_equal(shortfall("TmpDisk=1 OS=Linux.2", &r),
                        "OS could not be read, Linux.2 specified; TmpDisk could not be read, 1 specified");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_setting_reads_back),
        cmocka_unit_test(test_bad_values_are_refused_by_name),
        cmocka_unit_test(test_a_bad_value_changes_nothing),
        cmocka_unit_test(test_an_empty_value_asks_for_nothing),
        cmocka_unit_test(test_each_field_makes_a_difference),
        cmocka_unit_test(test_partition_zero_unless_given),
        cmocka_unit_test(test_releases_compare_by_value),
        cmocka_unit_test(test_a_shortfall_is_said_in_words),
        cmocka_unit_test(test_an_unread_field_does_not_suffice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
