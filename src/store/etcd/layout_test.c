/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values of the state in etcd. */
#include "store/etcd/layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct wire_kv kv_of(const char *value)
{
    return (struct wire_kv){"fettle/x", value, strlen(value), 1, 1};
}

static void test_journal_keys_sort_as_their_revisions(void **state)
{
    char a[LAYOUT_JOURNAL_BYTES], b[LAYOUT_JOURNAL_BYTES];
    uint64_t revision = 0;
    assert_string_equal(layout_journal_key(42, a), "fettle/journal/00000000000000000042");
    assert_true(strcmp(layout_journal_key(9, a), layout_journal_key(10, b)) < 0);
    assert_int_equal(layout_journal_read(layout_journal_key(INT64_MAX, a), &revision, NULL), 0);
    assert_int_equal(revision, INT64_MAX);
    static const char *const wrong[] = {"fettle/journal/42", "fettle/journal/00000000000000000000",
                                        "fettle/head", "fettle/journal/0000000000000000004x",
                                        "fettle/journal/99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(layout_journal_read(wrong[i], &revision, NULL), -EILSEQ);
}

static void test_a_head_comes_back(void **state)
{
    const struct layout_head h = {.revision = 7, .mark = "0123456789abcdef"};
    struct layout_head again;
    char buf[LAYOUT_HEAD_BYTES];
    assert_string_equal(layout_head_write(&h, buf), "7 0123456789abcdef");
    struct wire_kv kv = kv_of(buf);
    assert_int_equal(layout_head_read(&kv, &again, NULL), 0);
    assert_true(again.revision == 7 && strcmp(again.mark, h.mark) == 0);
    static const char *const wrong[] = {"",
                                        "7",
                                        "7 ",
                                        " 0123456789abcdef",
                                        "x 0123456789abcdef",
                                        "7 0123456789ABCDEF",
                                        "7 0123456789abcdef0",
                                        "99999999999999999999 0123456789abcdef"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kv = kv_of(wrong[i]);
        assert_int_equal(layout_head_read(&kv, &again, NULL), -EILSEQ);
    }
}

static int entry_show(void *arg, uint64_t revision, const struct store_entry *e, struct err *err)
{
    text_printf(arg, "%d %lld %s %s %s %s %s %s\n", (int)revision, (long long)e->at.ns, e->actor, e->what,
                e->nodes, e->text, e->about, e->fields);
    return 0;
}

static void test_entries_come_back_byte_for_byte(void **state)
{
    const struct store_entry entries[] = {{{-5}, "a:1,", "\xff", "", "7:x,\n", NULL, "\"n\":1"},
                                          {{INT64_MAX}, "", "", "", "", "7.1", NULL}};
    const struct store_batch b = {.n_entries = 2, .entries = entries};
    CLEANUP_TEXT struct text value = {0}, shown = {0};
    char mark[LAYOUT_MARK_BYTES];
    layout_entries_write("0123456789abcdef", &b, &value);
    struct wire_kv kv = {"fettle/journal/x", value.s, value.len, 1, 1};
    assert_int_equal(layout_entries_read(&kv, 3, mark, entry_show, &shown, NULL), 0);
    assert_string_equal(mark, "0123456789abcdef");
    assert_string_equal(shown.s, "3 -5 a:1, \xff  7:x,\n  \"n\":1\n3 9223372036854775807     7.1 \n");
}

static void test_entries_that_are_none(void **state)
{
    static const char *const wrong[] = {"",
                                        "x",
                                        "16:0123456789abcdef",
                                        "16:0123456789abcdeg,",
                                        "016:0123456789abcdef,",
                                        "17:0123456789abcdef,",
                                        "15:0123456789abcdef,",
                                        "99999999999999999999:0123456789abcdef,",
                                        "16:0123456789abcdef,1:5,",
                                        "16:0123456789abcdef,1:x,0:,0:,0:,0:,0:,0:,",
                                        "16:0123456789abcdef,0:,0:,0:,0:,0:,0:,0:,",
                                        "16:0123456789abcdef,1:5,0:,0:,0:,0:,0:,0:,9"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct wire_kv kv = kv_of(wrong[i]);
        CLEANUP_TEXT struct text shown = {0};
        char mark[LAYOUT_MARK_BYTES];
        if (layout_entries_read(&kv, 3, mark, entry_show, &shown, NULL) != -EILSEQ)
            fail_msg("%s", wrong[i]);
    }
}

static void test_words_of_a_controller_come_back(void **state)
{
    const struct layout_told t = {.name = "c\"1",
                                  .address = "[::1]:7",
                                  .agents = "[::1]:8",
                                  .instance = "0123456789abcdef",
                                  .count = 3,
                                  .lease_ms = 3000,
                                  .revision = 9,
                                  .level = 2,
                                  .at = {5},
                                  .audit = "7 AAAA"};
    CLEANUP_TEXT struct text value = {0};
    struct layout_told again;
    layout_told_write(&t, &value);
    struct wire_kv kv = {"fettle/leader", value.s, value.len, 1, 1};
    assert_int_equal(layout_told_read(&kv, &again, NULL), 0);
    assert_memory_equal(&t, &again, sizeof t);
    kv = kv_of("{\"name\":\"x\"}");
    assert_int_equal(layout_told_read(&kv, &again, NULL), -EILSEQ);
    kv = kv_of("{\"name\":\"x\",\"address\":\"\",\"instance\":\"\",\"count\":1,\"lease_ms\":1,\"revision\":1,"
               "\"at_ns\":1}"); /* as older controllers tell it */
    assert_int_equal(layout_told_read(&kv, &again, NULL), 0);
    assert_string_equal(again.agents, "");
    kv = kv_of("{\"name\":\"x\",\"address\":\"\",\"agents\":7,\"instance\":\"\",\"count\":1,\"lease_ms\":1,"
               "\"revision\":1,\"at_ns\":1}");
    assert_int_equal(layout_told_read(&kv, &again, NULL), -EILSEQ);
    /* One of before levels; and one that is damaged. */
#define TOLD                                                                                                \
    "\"name\":\"x\",\"address\":\"h:1\",\"instance\":\"a\",\"count\":1,\"lease_ms\":1,\"revision\":1,\"at_" \
    "ns\":1"
    kv = kv_of("{" TOLD "}");
    assert_int_equal(layout_told_read(&kv, &again, NULL), 0);
    assert_int_equal(again.level, 0);
    kv = kv_of("{" TOLD ",\"level\":\"2\"}");
    assert_int_equal(layout_told_read(&kv, &again, NULL), -EILSEQ);
}

static void test_a_cluster_comes_back(void **state)
{
    const struct layout_cluster c = {.id = "beef-0", .term_base = 17};
    CLEANUP_TEXT struct text value = {0};
    struct layout_cluster again;
    layout_cluster_write(&c, &value);
    struct wire_kv kv = {"fettle/cluster", value.s, value.len, 1, 1};
    assert_int_equal(layout_cluster_read(&kv, &again, NULL), 0);
    assert_string_equal(again.id, "beef-0");
    assert_int_equal(again.term_base, 17);
    static const char *const wrong[] = {"",
                                        "{}",
                                        "{\"id\":\"x y\",\"term_base\":0}",
                                        "{\"id\":\"beef\"}",
                                        "{\"id\":\"beef\",\"term_base\":-1}",
                                        "{\"id\":\"beef\",\"term_base\":\"1\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kv = kv_of(wrong[i]);
        assert_int_equal(layout_cluster_read(&kv, &again, NULL), -EILSEQ);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_keys_sort_as_their_revisions),
        cmocka_unit_test(test_a_head_comes_back),
        cmocka_unit_test(test_entries_come_back_byte_for_byte),
        cmocka_unit_test(test_entries_that_are_none),
        cmocka_unit_test(test_words_of_a_controller_come_back),
        cmocka_unit_test(test_a_cluster_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
