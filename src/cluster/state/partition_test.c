/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/state/roster.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char batch[] = "batch", gpu[] = "gpu", nameless[] = "";
static const struct partition list[] = {{3, batch, true}, {7, gpu, false}, {8, nameless, false}};
enum { N = sizeof list / sizeof list[0] };

static void test_partitions_are_found_by_name_and_number(void **state)
{
    assert_int_equal(partition_named(list, N, "gpu")->number, 7);
    assert_null(partition_named(list, N, "GPU"));
    assert_null(partition_named(list, N, "")); /* no name is no name to be found by */
    assert_null(partition_named(list, 0, "gpu"));
    assert_string_equal(partition_numbered(list, N, 3)->name, "batch");
    assert_null(partition_numbered(list, N, 4));
}

static void test_people_call_a_partition_by_its_name_or_number(void **state)
{
    char word[PARTITION_WORD_BYTES];
    assert_string_equal(partition_word(list, N, 7, word), "gpu");
    assert_string_equal(partition_word(list, N, 8, word), "8");
    assert_string_equal(partition_word(list, N, 31, word), "31");
}

static void test_words_become_numbers(void **state)
{
    static const struct {
        const char *words, *numbers;
    } rows[] = {{"batch", "3"}, {"batch,31,gpu", "3,31,7"}, {"7", "7"}, {"", ""}, {"3,,7", "3,,7"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        assert_int_equal(partition_numbers(list, N, rows[i].words, &t, NULL), 0);
        assert_string_equal(t.s, rows[i].numbers);
    }
}

static void test_an_unknown_partition_is_refused_with_the_nearest(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct err e;
    assert_int_equal(partition_numbers(list, N, "batch,gpus", &t, &e), -EINVAL);
    assert_string_equal(e.msg, "\"gpus\" is neither a number nor a partition; the nearest is \"gpu\"");
    assert_int_equal(partition_numbers(list, N, "zzzzzzzzz", &t, &e), -EINVAL);
    assert_string_equal(e.msg, "\"zzzzzzzzz\" is neither a number nor a partition of PartitionConf");
    assert_int_equal(partition_numbers(list, 0, "gpu", &t, &e), -EINVAL);
    assert_int_equal(partition_numbers(list, N, "7x", &t, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions_are_found_by_name_and_number),
        cmocka_unit_test(test_people_call_a_partition_by_its_name_or_number),
        cmocka_unit_test(test_words_become_numbers),
        cmocka_unit_test(test_an_unknown_partition_is_refused_with_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
