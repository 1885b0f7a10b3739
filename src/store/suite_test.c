/* SPDX-License-Identifier: Apache-2.0 */
/* What every engine has to do: records, revisions, terms, limits, and pages of the journal. */
#include "store/suite_test.h"

#include "store/change.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct suite_engine *engine;

struct suite_world {
    void *place;
    struct store *store;
    uint64_t term;
    uint64_t revision;
    struct text dump;
    struct err e;
};

static int suite_start(void **state)
{
    struct suite_world *t = mem_alloc(sizeof *t);
    *state = t;
    t->place = engine->begin();
    t->store = engine->open(t->place);
    return store_campaign(t->store, &t->term, NULL);
}

static int suite_end(void **state)
{
    struct suite_world *t = *state;
    store_close(t->store);
    engine->end(t->place);
    text_fini(&t->dump);
    free(t);
    return 0;
}

static void suite_reopen(struct suite_world *t)
{
    store_close(t->store);
    t->store = engine->open(t->place);
}

static int suite_put(struct suite_world *t, const char *key, const char *value)
{
    struct store_op op = {.key = key, .value = value};
    struct store_batch b = {.n_ops = 1, .ops = &op};
    return store_commit(t->store, t->term, &b, &t->revision, &t->e);
}

static const char *suite_dump(struct suite_world *t)
{
    assert_int_equal(fixture_dump(t->store, &t->dump, &t->e), 0);
    return t->dump.s;
}

static void suite_assert_says(const struct err *e, int code, const char *words)
{
    assert_int_equal(e->code, code);
    if (!strstr(e->msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e->msg, words);
}

static void test_a_new_store_is_empty_at_revision_0(void **state)
{
    assert_string_equal(suite_dump(*state), "revision 0\n");
}

static void test_a_commit_is_there_after_opening_again(void **state)
{
    struct suite_world *t = *state;
    assert_int_equal(fixture_put(t->store, t->term, "claim/42", "{\"a\":1}", &t->revision, NULL), 0);
    assert_int_equal(t->revision, 1);
    const char *whole =
        "claim/42 = {\"a\":1}\n1: 1795207317123000000 root put lx[01-64]: claim/42\nrevision 1\n";
    assert_string_equal(suite_dump(t), whole);
    suite_reopen(t);
    assert_string_equal(suite_dump(t), whole);
}

static void test_records_come_in_the_order_of_their_keys(void **state)
{
    struct suite_world *t = *state;
    static const char *const keys[] = {"node/2", "claim/9", "node/10", "Z", "claim/10", "node/1"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(suite_put(t, keys[i], "0"), 0);
    assert_string_equal(
        suite_dump(t), "Z = 0\nclaim/10 = 0\nclaim/9 = 0\nnode/1 = 0\nnode/10 = 0\nnode/2 = 0\nrevision 6\n");
}

static void test_a_refused_batch_leaves_nothing(void **state)
{
    struct suite_world *t = *state;
    struct store_op ops[] = {{"a", "1"}, {"b", "2"}, {"", "3"}};
    struct store_batch b = {.n_ops = 3, .ops = ops};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -EINVAL);
    b.n_ops = 2;
    assert_int_equal(store_commit(t->store, t->term + 1, &b, &t->revision, &t->e), -EPERM);
    assert_string_equal(suite_dump(t), "revision 0\n");
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
    assert_string_equal(suite_dump(t), "a = 1\nb = 2\nrevision 1\n");
}

static void test_more_records_than_the_limit_are_refused(void **state)
{
    struct suite_world *t = *state;
    struct store_op ops[STORE_OPS_MAX + 1];
    char keys[STORE_OPS_MAX + 1][8];
    for (int i = 0; i <= STORE_OPS_MAX; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        ops[i] = (struct store_op){keys[i], "1"};
    }
    struct store_batch b = {.n_ops = STORE_OPS_MAX + 1, .ops = ops};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -E2BIG);
    suite_assert_says(&t->e, -E2BIG, "a batch of 127 records, the limit is 126");
    b.n_ops = STORE_OPS_MAX;
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

static void test_more_entries_than_the_limit_are_refused(void **state)
{
    struct suite_world *t = *state;
    struct store_entry entries[STORE_ENTRIES_MAX + 1];
    for (int i = 0; i <= STORE_ENTRIES_MAX; i++)
        entries[i] = (struct store_entry){{0}, "root", "drain", "", "", NULL, NULL};
    struct store_batch b = {.n_entries = STORE_ENTRIES_MAX + 1, .entries = entries};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -E2BIG);
    suite_assert_says(&t->e, -E2BIG, "a batch of 129 journal entries, the limit is 128");
    b.n_entries = STORE_ENTRIES_MAX;
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

static void test_more_bytes_than_the_limit_are_refused(void **state)
{
    struct suite_world *t = *state;
    CLEANUP_FREE char *value = mem_alloc(STORE_BATCH_BYTES_MAX + 1);
    memset(value, '1', STORE_BATCH_BYTES_MAX);
    assert_int_equal(suite_put(t, "k", value), -E2BIG);
    suite_assert_says(&t->e, -E2BIG, "a batch of more than 1048576 bytes");
    value[STORE_BATCH_BYTES_MAX - 1] = '\0';
    assert_int_equal(suite_put(t, "k", value), 0);

    struct store_op op = {"k", value};
    struct store_entry entry = {{0}, "", "", "", "x", NULL, NULL};
    struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -E2BIG);
}

static void test_keys_are_printable_and_short(void **state)
{
    struct suite_world *t = *state;
    char key[514];
    memset(key, 'k', sizeof key);
    key[513] = '\0';
    assert_int_equal(suite_put(t, key, "1"), -E2BIG);
    suite_assert_says(&t->e, -E2BIG, "is 513 bytes long, the limit is 512");
    key[512] = '\0';
    assert_int_equal(suite_put(t, key, "1"), 0);
    assert_int_equal(suite_put(t, "", "1"), -EINVAL);
    suite_assert_says(&t->e, -EINVAL, "a key is empty");
    assert_int_equal(suite_put(t, "a\nb", "1"), -EINVAL);
    suite_assert_says(&t->e, -EINVAL, "byte 0x0a");
    assert_int_equal(suite_put(t, "kn\xc3\xb6ten", "1"), -EINVAL);
    assert_int_equal(suite_put(t, "a b~!", "1"), 0);
}

static void test_a_key_stands_once_in_a_batch(void **state)
{
    struct suite_world *t = *state;
    struct store_op ops[] = {{"a", "1"}, {"b", "2"}, {"a", NULL}};
    struct store_batch b = {.n_ops = 3, .ops = ops};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), -EINVAL);
    suite_assert_says(&t->e, -EINVAL, "key \"a\" stands twice");
}

static void test_each_commit_is_one_revision(void **state)
{
    struct suite_world *t = *state;
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(suite_put(t, "k", "1"), 0);
        assert_int_equal(t->revision, i);
    }
    suite_reopen(t);
    assert_int_equal(store_campaign(t->store, &t->term, NULL), 0);
    assert_int_equal(suite_put(t, "k", "2"), 0);
    assert_int_equal(t->revision, 6);
}

static void test_put_replaces_and_delete_removes(void **state)
{
    struct suite_world *t = *state;
    assert_int_equal(suite_put(t, "a", "1"), 0);
    assert_int_equal(suite_put(t, "a", "2"), 0);
    assert_int_equal(suite_put(t, "b", "3"), 0);
    assert_int_equal(suite_put(t, "b", NULL), 0);
    assert_string_equal(suite_dump(t), "a = 2\nrevision 4\n");
}

static void test_deleting_an_absent_key_is_no_error(void **state)
{
    struct suite_world *t = *state;
    assert_int_equal(suite_put(t, "nothing", NULL), 0);
    assert_string_equal(suite_dump(t), "revision 1\n");
}

static void test_each_term_is_higher_than_any_before(void **state)
{
    struct suite_world *t = *state;
    uint64_t last = t->term;
    for (int i = 0; i < 3; i++) {
        suite_reopen(t);
        assert_int_equal(store_campaign(t->store, &t->term, &t->e), 0);
        assert_true(t->term > last);
        last = t->term;
    }
}

static void test_a_deposed_term_commits_nothing(void **state)
{
    struct suite_world *t = *state;
    uint64_t newer;
    assert_int_equal(store_campaign(t->store, &newer, &t->e), 0);
    assert_int_equal(suite_put(t, "a", "1"), -EPERM);
    t->term = 0;
    assert_int_equal(suite_put(t, "a", "1"), -EPERM);
    t->term = newer;
    assert_int_equal(suite_put(t, "a", "1"), 0);
}

struct seen {
    size_t n;
    uint64_t revisions[8];
    char texts[8][16];
    int answer;
};

static int seen_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct seen *seen = arg;
    assert_true(seen->n < 8);
    seen->revisions[seen->n] = revision;
    snprintf(seen->texts[seen->n++], sizeof seen->texts[0], "%s", entry->text);
    return seen->answer ? err_set(e, seen->answer, "enough") : 0;
}

/* Three commits: of two entries, of none, of one. */
static void journal_fill(struct suite_world *t)
{
    struct store_entry two[] = {{{1}, "root", "drain", "lx01", "first", NULL, NULL},
                                {{2}, "root", "drain", "lx02", "second", "7.1 7.2", "\"to\":\"queue\""}};
    struct store_entry one = {{-3}, "fettled", "node.down", "", "third", NULL, NULL};
    struct store_batch a = {.n_entries = 2, .entries = two}, b = {.n_entries = 1, .entries = &one};
    assert_int_equal(store_commit(t->store, t->term, &a, &t->revision, &t->e), 0);
    assert_int_equal(suite_put(t, "k", "1"), 0);
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

static void test_the_journal_is_told_oldest_first(void **state)
{
    struct suite_world *t = *state;
    journal_fill(t);
    assert_string_equal(suite_dump(t), "k = 1\n"
                                       "1: 1 root drain lx01: first\n"
                                       "1: 2 root drain lx02: second about 7.1 7.2 with \"to\":\"queue\"\n"
                                       "3: -3 fettled node.down : third\n"
                                       "revision 3\n");
}

static void test_the_journal_is_told_after_a_revision_and_up_to_a_number(void **state)
{
    struct suite_world *t = *state;
    journal_fill(t);
    static const struct {
        uint64_t after;
        size_t max, n;
        const char *first;
    } cases[] = {{0, 8, 3, "first"},     {1, 8, 1, "third"}, {2, 8, 1, "third"},
                 {3, 8, 0, ""},          {0, 2, 2, "first"}, {1, 0, 1, "third"},
                 {UINT64_MAX, 8, 0, ""}, {0, 1, 2, "first"}}; /* what was committed together is told together
                                                               */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen seen = {0};
        assert_int_equal(store_journal(t->store, cases[i].after, cases[i].max, seen_entry, &seen, &t->e), 0);
        assert_int_equal(seen.n, cases[i].n);
        assert_string_equal(seen.texts[0], cases[i].first);
    }
}

static int seen_record(void *arg, const char *key, const char *value, struct err *e)
{
    struct seen *seen = arg;
    seen->n++;
    return err_set(e, -EPROTO, "record %s is not understood", key);
}

static void test_a_reader_ends_the_walk(void **state)
{
    struct suite_world *t = *state;
    journal_fill(t);
    assert_int_equal(suite_put(t, "l", "1"), 0);
    struct seen seen = {.answer = -EAGAIN};
    assert_int_equal(store_journal(t->store, 0, 8, seen_entry, &seen, &t->e), -EAGAIN);
    suite_assert_says(&t->e, -EAGAIN, "enough");
    assert_int_equal(seen.n, 1);
    seen.n = 0;
    assert_int_equal(store_load(t->store, seen_record, &seen, &t->revision, &t->e), -EPROTO);
    suite_assert_says(&t->e, -EPROTO, "record k is not understood");
    assert_int_equal(seen.n, 1);
    assert_int_equal(suite_put(t, "m", "1"), 0);
}

static void test_the_journal_is_told_newest_first(void **state)
{
    struct suite_world *t = *state;
    journal_fill(t);
    static const struct {
        uint64_t before;
        size_t max, n;
        const char *first, *last;
    } cases[] = {
        {UINT64_MAX, 8, 3, "third", "first"}, {4, 1, 1, "third", "third"}, {4, 2, 3, "third", "first"},
        {3, 8, 2, "second", "first"},         {1, 8, 0, "", ""},           {0, 8, 0, "", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen seen = {0};
        assert_int_equal(
            store_journal_back(t->store, cases[i].before, cases[i].max, seen_entry, &seen, &t->e), 0);
        assert_int_equal(seen.n, cases[i].n);
        assert_string_equal(seen.texts[0], cases[i].first);
        assert_string_equal(seen.n ? seen.texts[seen.n - 1] : "", cases[i].last);
    }
}

static void test_the_first_revision_with_entries(void **state)
{
    struct suite_world *t = *state;
    uint64_t first = 9;
    assert_int_equal(store_first(t->store, &first, &t->e), 0);
    assert_int_equal(first, 0);
    assert_int_equal(suite_put(t, "k", "1"), 0);
    journal_fill(t);
    assert_int_equal(store_first(t->store, &first, &t->e), 0);
    assert_int_equal(first, 2);
}

/* Control characters, quotes and bytes that are no UTF-8, in records and entries. */
static void test_bytes_come_back_as_they_were(void **state)
{
    struct suite_world *t = *state;
    const struct store_op op = {"k", "\"\x01\xff\n\\u"};
    const struct store_entry entry = {{1}, "\xfe", "a\tb", "\x7f", "\"\r\n\xe2\x82", "", "\"n\":1"};
    const struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
    suite_reopen(t);
    assert_string_equal(suite_dump(t), "k = \"\x01\xff\n\\u\n"
                                       "1: 1 \xfe a\tb \x7f: \"\r\n\xe2\x82 with \"n\":1\nrevision 1\n");
}

/* As many records and entries as a batch can have, of which each takes as much room as it can. */
static void test_a_batch_at_all_its_limits_is_taken(void **state)
{
    struct suite_world *t = *state;
    enum { VALUE = 4000, TEXT = 4000 };
    struct store_op ops[STORE_OPS_MAX];
    struct store_entry entries[STORE_ENTRIES_MAX];
    char keys[STORE_OPS_MAX][16], value[VALUE + 1], text[TEXT + 1];
    memset(value, 'v', VALUE);
    memset(text, '\x01', TEXT); /* what JSON writes in six bytes */
    value[VALUE] = text[TEXT] = '\0';
    for (int i = 0; i < STORE_OPS_MAX; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        ops[i] = (struct store_op){keys[i], value};
    }
    for (int i = 0; i < STORE_ENTRIES_MAX; i++)
        entries[i] = (struct store_entry){{i}, "root", "drain", "", text, NULL, NULL};
    const struct store_batch b = {STORE_OPS_MAX, ops, STORE_ENTRIES_MAX, entries};
    assert_int_equal(store_commit(t->store, t->term, &b, &t->revision, &t->e), 0);
}

struct resolved {
    uint64_t revisions[4];
    size_t n, n_ops;
};

static void on_change(void *arg, struct store_change *c)
{
    struct resolved *found = arg;
    assert_true(found->n < 4);
    found->revisions[found->n++] = c->revision;
    found->n_ops = c->batch.n_ops;
    change_destroy(c);
}

static void test_a_known_outcome_leaves_nothing_to_find_out(void **state)
{
    struct suite_world *t = *state;
    struct resolved found = {0};
    assert_int_equal(suite_put(t, "k", "1"), 0);
    assert_int_equal(store_resolve(t->store, 1, on_change, &found, &t->e), 0);
    assert_int_equal(found.n, 0);
    assert_int_equal(store_check(t->store, &t->e), 0);
    assert_int_equal(suite_put(t, "k", "2"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, suite_start, suite_end)

int suite_run(const struct suite_engine *of)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_new_store_is_empty_at_revision_0),
        TEST(test_a_commit_is_there_after_opening_again),
        TEST(test_records_come_in_the_order_of_their_keys),
        TEST(test_a_refused_batch_leaves_nothing),
        TEST(test_more_records_than_the_limit_are_refused),
        TEST(test_more_entries_than_the_limit_are_refused),
        TEST(test_more_bytes_than_the_limit_are_refused),
        TEST(test_keys_are_printable_and_short),
        TEST(test_a_key_stands_once_in_a_batch),
        TEST(test_each_commit_is_one_revision),
        TEST(test_put_replaces_and_delete_removes),
        TEST(test_deleting_an_absent_key_is_no_error),
        TEST(test_each_term_is_higher_than_any_before),
        TEST(test_a_deposed_term_commits_nothing),
        TEST(test_the_journal_is_told_oldest_first),
        TEST(test_the_journal_is_told_after_a_revision_and_up_to_a_number),
        TEST(test_a_reader_ends_the_walk),
        TEST(test_the_journal_is_told_newest_first),
        TEST(test_the_first_revision_with_entries),
        TEST(test_bytes_come_back_as_they_were),
        TEST(test_a_batch_at_all_its_limits_is_taken),
        TEST(test_a_known_outcome_leaves_nothing_to_find_out),
    };
    engine = of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
