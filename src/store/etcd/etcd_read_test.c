/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a state of which etcd's pages are given by the test: this file stands in the place of etcd_state.c.
 */
#include "store/etcd/etcd_inside.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS_MAX = 2000, KEY_BYTES = 64 };

/* --- in the place of etcd ---------------------------------------------------------------------- */

static struct {
    size_t n;
    char keys[KEYS_MAX][KEY_BYTES];
    char *values[KEYS_MAX];
    uint64_t revision; /* of the head */
    size_t page_max;   /* keys in a page; fewer than were asked for: the answer was too long */
    unsigned pages, fences;
    int fails; /* the result of the page behind this many */
    unsigned fails_at;
} etcd;

static void etcd_put(const char *key, const char *value)
{
    snprintf(etcd.keys[etcd.n], KEY_BYTES, "%s", key);
    etcd.values[etcd.n++] = mem_dup(value);
}

int etcd_page(struct etcd *s, const char *key, const char *end, uint64_t revision, uint64_t *limit,
              struct wire_answer *a, struct err *e)
{
    if (etcd.fails && etcd.pages == etcd.fails_at)
        return err_set(e, etcd.fails, "etcd fails");
    etcd.pages++;
    if (etcd.page_max && *limit > etcd.page_max)
        *limit = etcd.page_max;
    *a = (struct wire_answer){.n_found = 1};
    a->found = mem_alloc(sizeof *a->found);
    a->kvs = mem_alloc((etcd.n + 1) * sizeof *a->kvs);
    for (size_t i = 0; i < etcd.n; i++) {
        if (strcmp(etcd.keys[i], key) < 0 || strcmp(etcd.keys[i], end) >= 0)
            continue;
        a->found->more = a->n_kvs == *limit;
        if (a->found->more)
            break;
        a->kvs[a->n_kvs++] =
            (struct wire_kv){.key = etcd.keys[i], .value = etcd.values[i], .len = strlen(etcd.values[i])};
    }
    a->found->n = a->n_kvs;
    return 0;
}

int etcd_head(struct etcd *s, struct layout_head *head, uint64_t *at, struct err *e)
{
    *head = (struct layout_head){.revision = etcd.revision};
    *at = 77;
    return 0;
}

int etcd_fence(struct etcd *s, struct err *e)
{
    etcd.fences++;
    return 0;
}

void etcd_unsure_fini(struct etcd *s)
{
    s->unsure.is = false;
}

/* ------------------------------------------------------------------------------------------------ */

static struct etcd reader;
static struct store *const store = &reader.store;

static int begin(void **state)
{
    memset(&etcd, 0, sizeof etcd);
    memset(&reader, 0, sizeof reader);
    return 0;
}

static int end(void **state)
{
    for (size_t i = 0; i < etcd.n; i++)
        free(etcd.values[i]);
    return 0;
}

/* A commit of this revision with so many entries. */
static void commit(uint64_t revision, size_t n)
{
    CLEANUP_TEXT struct text value = {0};
    char key[LAYOUT_JOURNAL_BYTES];
    struct store_entry entries[8];
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct store_entry){{1}, "ann", i ? "second" : "first", "", "t", "", ""};
    layout_entries_write("0123456789abcdef", &(struct store_batch){.n_entries = n, .entries = entries},
                         &value);
    etcd_put(layout_journal_key(revision, key), value.s);
    etcd.revision = revision;
}

static int record_say(void *arg, const char *key, const char *value, struct err *e)
{
    text_printf(arg, "%s=%s ", key, value);
    return 0;
}

static int entry_say(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    text_printf(arg, "%llu%s ", (unsigned long long)revision, strcmp(entry->what, "second") ? "" : "b");
    return 0;
}

static void assert_journal(uint64_t after, size_t max, const char *want)
{
    CLEANUP_TEXT struct text said = {0};
    text_add(&said, "");
    assert_int_equal(etcd_journal(store, after, max, entry_say, &said, NULL), 0);
    assert_string_equal(said.s, want);
}

static void assert_back(uint64_t before, size_t max, const char *want)
{
    CLEANUP_TEXT struct text said = {0};
    text_add(&said, "");
    assert_int_equal(etcd_journal_back(store, before, max, entry_say, &said, NULL), 0);
    assert_string_equal(said.s, want);
}

static void records_come_in_pages(void **state)
{
    etcd.revision = 9;
    etcd_put("fettle/record/a", "1");
    etcd_put("fettle/record/a/b", "2");
    etcd_put("fettle/record/b", "3");
    for (size_t page = 0; page <= 4; page++) {
        CLEANUP_TEXT struct text said = {0};
        uint64_t revision = 0;
        etcd.page_max = page;
        assert_int_equal(etcd_load(store, record_say, &said, &revision, NULL), 0);
        assert_int_equal(revision, 9);
        assert_string_equal(said.s, "a=1 a/b=2 b=3 ");
    }
}

static void an_empty_state_has_no_records(void **state)
{
    CLEANUP_TEXT struct text said = {0};
    uint64_t revision = 7;
    assert_int_equal(etcd_load(store, record_say, &said, &revision, NULL), 0);
    assert_int_equal(revision, 0);
    assert_null(said.s);
}

static int refuse(void *arg, const char *key, const char *value, struct err *e)
{
    ++*(int *)arg;
    return err_set(e, -EILSEQ, "no");
}

static void a_load_that_fails_tells_no_revision(void **state)
{
    CLEANUP_TEXT struct text said = {0};
    struct err e = {0};
    uint64_t revision = 7;
    int n = 0;
    etcd.revision = 9;
    etcd.page_max = 1;
    etcd_put("fettle/record/a", "1");
    etcd_put("fettle/record/b", "2");
    reader.unsure.is = true;
    assert_int_equal(etcd_load(store, refuse, &n, &revision, &e), -EILSEQ);
    assert_int_equal(n, 1);
    etcd.fails = -ERANGE; /* the revision was compacted meanwhile */
    etcd.fails_at = etcd.pages + 1;
    assert_int_equal(etcd_load(store, record_say, &said, &revision, &e), -EAGAIN);
    assert_non_null(strstr(e.msg, "the records changed while they were read"));
    assert_int_equal(revision, 7);
    assert_true(reader.unsure.is);
    etcd.fails = 0;
    assert_int_equal(etcd_load(store, record_say, &said, &revision, NULL), 0);
    assert_int_equal(etcd.fences, 3); /* what is on its way can change nothing any more, each time */
    assert_false(reader.unsure.is);
}

static void a_key_that_was_not_asked_for_is_damage(void **state)
{
    CLEANUP_TEXT struct text said = {0};
    struct err e = {0};
    uint64_t revision;
    etcd_put("fettle/record/", "1"); /* the prefix itself is a record of no name */
    assert_int_equal(etcd_load(store, record_say, &said, &revision, NULL), 0);
    assert_string_equal(said.s, "=1 ");
    commit(1, 1);
    snprintf(etcd.keys[1], KEY_BYTES, "fettle/journal/0000000000000000000x");
    assert_int_equal(etcd_journal(store, 0, 9, entry_say, &said, &e), -EILSEQ);
}

/* A revision is told whole or not at all, but for the first. */
static void revisions_are_told_whole(void **state)
{
    commit(1, 2);
    commit(2, 1);
    commit(3, 0);
    commit(4, 2);
    assert_journal(0, SIZE_MAX, "1 1b 2 4 4b ");
    assert_journal(0, 1, "1 1b ");
    assert_journal(0, 2, "1 1b ");
    assert_journal(0, 3, "1 1b 2 ");
    assert_journal(0, 4, "1 1b 2 ");
    assert_journal(0, 5, "1 1b 2 4 4b ");
    assert_journal(2, 1, "4 4b ");
    assert_journal(4, 9, "");
    assert_journal(UINT64_MAX, 9, "");
    assert_journal(INT64_MAX, 9, "");
}

static void pages_of_the_journal_are_joined(void **state)
{
    for (uint64_t i = 1; i <= 600; i++)
        commit(i, i > 598);
    assert_journal(0, 5, "599 600 ");
    assert_int_equal(etcd.pages, 3);
    etcd.page_max = 7;
    assert_journal(0, 5, "599 600 ");
    assert_back(UINT64_MAX, 1, "600 ");
    assert_back(UINT64_MAX, 2, "600 599 ");
    assert_back(600, 1, "599 ");
}

/* As many as were asked for, also of a revision that has more. */
static void the_journal_backwards(void **state)
{
    commit(1, 2);
    commit(2, 1);
    commit(3, 0);
    commit(4, 2);
    assert_back(UINT64_MAX, SIZE_MAX, "4b 4 2 1b 1 ");
    assert_back(5, 2, "4b 4 ");
    assert_back(4, 9, "2 1b 1 ");
    assert_back(1, 9, "");
    assert_back(0, 9, "");
    assert_back(UINT64_MAX, 0, "");
}

/* etcd's answer was too long, so that it gives fewer than were asked for: not the newest ones. */
static void long_entries_come_backwards_too(void **state)
{
    for (uint64_t i = 1; i <= 8; i++)
        commit(i, 1);
    etcd.page_max = 3;
    assert_back(UINT64_MAX, 8, "8 7 6 5 4 3 2 1 ");
    assert_back(7, 4, "6 5 4 3 ");
}

/* Entries that went to files left no keys, or keys without entries. */
static void the_first_revision_is_one_with_entries(void **state)
{
    uint64_t first = 7;
    assert_int_equal(etcd_first(store, &first, NULL), 0);
    assert_int_equal(first, 0);
    for (uint64_t i = 40; i < 140; i++)
        commit(i, 0);
    assert_int_equal(etcd_first(store, &first, NULL), 0);
    assert_int_equal(first, 0);
    assert_back(UINT64_MAX, 9, "");
    commit(140, 1);
    commit(141, 1);
    assert_int_equal(etcd_first(store, &first, NULL), 0);
    assert_int_equal(first, 140);
    unsigned pages = etcd.pages;
    assert_int_equal(etcd_first(store, &first, NULL), 0); /* it is known by now */
    assert_int_equal(etcd.pages, pages);
    assert_back(UINT64_MAX, 9, "141 140 ");
}

static void an_error_of_etcd_is_given(void **state)
{
    uint64_t first;
    struct err e = {0};
    commit(1, 1);
    etcd.fails = -EAGAIN;
    assert_int_equal(etcd_journal(store, 0, 9, entry_say, NULL, &e), -EAGAIN);
    assert_string_equal(e.msg, "etcd fails");
    assert_int_equal(etcd_journal_back(store, 9, 9, entry_say, NULL, &e), -EAGAIN);
    assert_int_equal(etcd_first(store, &first, &e), -EAGAIN);
}

static void a_damaged_commit_is_refused(void **state)
{
    CLEANUP_TEXT struct text said = {0};
    uint64_t first;
    commit(1, 1);
    etcd.values[0][0] ^= 1;
    assert_int_equal(etcd_journal(store, 0, 9, entry_say, &said, NULL), -EILSEQ);
    assert_int_equal(etcd_first(store, &first, NULL), -EILSEQ);
    reader.first = 1;
    assert_int_equal(etcd_journal_back(store, 9, 9, entry_say, &said, NULL), -EILSEQ);
    assert_null(said.s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_come_in_pages),
        TEST(an_empty_state_has_no_records),
        TEST(a_load_that_fails_tells_no_revision),
        TEST(a_key_that_was_not_asked_for_is_damage),
        TEST(revisions_are_told_whole),
        TEST(pages_of_the_journal_are_joined),
        TEST(the_journal_backwards),
        TEST(long_entries_come_backwards_too),
        TEST(the_first_revision_is_one_with_entries),
        TEST(an_error_of_etcd_is_given),
        TEST(a_damaged_commit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
