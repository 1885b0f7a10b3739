/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the state in etcd, what is refused, certificates, space, and the work beside commits. */
#include "store/etcd/etcd.h"

#include "store/etcd/lab_test.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct lab *lab;

struct world {
    char *endpoints, *dir, *seen;
    struct etcd_options o;
    struct store *store;
    uint64_t term, revision;
    struct text dump;
    struct err e;
};

static void assert_says(const struct world *w, int code, const char *words)
{
    assert_int_equal(w->e.code, code);
    if (!strstr(w->e.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", w->e.msg, words);
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *state = w;
    lab_wipe(lab);
    w->dir = fixture_dir();
    w->seen = fixture_path(w->dir, "etcd.seen");
    w->endpoints = lab_endpoints(lab);
    w->o = lab_options(lab, w->endpoints, "a");
    w->o.seen = w->seen;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    store_close(w->store);
    fixture_remove(w->dir);
    free(w->seen);
    free(w->endpoints);
    text_fini(&w->dump);
    free(w);
    return 0;
}

static int reopen(struct world *w)
{
    store_close(w->store);
    w->store = NULL;
    return etcd_open(&w->o, &w->store, &w->e);
}

/* Opens it, leads, and commits n times. */
static void begin(struct world *w, int n)
{
    assert_int_equal(reopen(w), 0);
    assert_int_equal(store_campaign(w->store, &w->term, &w->e), 0);
    for (int i = 0; i < n; i++)
        assert_int_equal(fixture_put(w->store, w->term, "k", "1", &w->revision, &w->e), 0);
}

static const char *dumped(struct world *w)
{
    if (fixture_dump(w->store, &w->dump, &w->e))
        fail_msg("%s", w->e.msg);
    return w->dump.s;
}

static void test_a_state_is_begun_once(void **state)
{
    struct world *w = *state;
    char first[ETCD_ID_BYTES_MAX + 1];
    begin(w, 1);
    snprintf(first, sizeof first, "%s", etcd_cluster(w->store));
    assert_int_equal(strlen(first), 32);
    assert_int_equal(reopen(w), 0);
    assert_string_equal(etcd_cluster(w->store), first);
    assert_non_null(strstr(dumped(w), "revision 1\n"));
}

static void test_wrong_options_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const wrong[] = {
        "",           "a:2379",     "ftp://a", "http://", "http://a/", "http://a,,http://b", "http://user@a",
        "http://a?b", "https://a b"};
    struct etcd_options o = w->o;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.endpoints = wrong[i];
        assert_int_equal(etcd_check(&o, &w->e), -EINVAL);
        assert_int_equal(etcd_open(&o, &w->store, &w->e), -EINVAL);
    }
    o.endpoints = "https://a:2379,http://[::1]:2379";
    assert_int_equal(etcd_check(&o, &w->e), 0);
    o.name = "";
    assert_int_equal(etcd_check(&o, &w->e), -EINVAL);
    o.name = "a";
    o.cert = "only.pem";
    o.key = NULL;
    assert_int_equal(etcd_check(&o, &w->e), -EINVAL);
    o.cert = NULL;
    o.lease = span_ms(1);
    assert_int_equal(etcd_check(&o, &w->e), -EINVAL);
}

static void test_nobody_there_is_said(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text url = {0};
    text_printf(&url, "https://127.0.0.1:%d", lab_port());
    w->o.endpoints = url.s;
    w->o.answered_ms = 200;
    assert_int_equal(reopen(w), -EAGAIN);
    assert_says(w, -EAGAIN, url.s);
}

static void test_a_state_that_is_gone_is_not_begun_anew(void **state)
{
    struct world *w = *state;
    begin(w, 3);
    lab_wipe(lab);
    assert_int_equal(reopen(w), -EILSEQ);
    assert_says(w, -EILSEQ, "etcd has no state of Fettle any more; this controller saw revision 3");
    unlink(w->seen);
    assert_int_equal(reopen(w), 0);
}

static void test_a_part_of_a_state_is_refused(void **state)
{
    struct world *w = *state;
    lab_put(lab, "fettle/head", "3 0123456789abcdef");
    assert_int_equal(reopen(w), -EILSEQ);
    assert_says(w, -EILSEQ, "a part of a state");
}

static void test_another_clusters_state_is_refused(void **state)
{
    struct world *w = *state;
    begin(w, 1);
    store_close(w->store);
    w->store = NULL;
    lab_wipe(lab);
    w->o.seen = NULL;
    begin(w, 1);
    w->o.seen = w->seen;
    assert_int_equal(reopen(w), -EILSEQ);
    assert_says(w, -EILSEQ, "this controller belongs to");
}

/* etcd as it was before the last commits, and then with others in their place. */
static void test_an_older_backup_is_refused(void **state)
{
    struct world *w = *state;
    begin(w, 2);
    lab_copy(lab, "data", "older");
    assert_int_equal(reopen(w), 0);
    begin(w, 2);
    store_close(w->store);
    w->store = NULL;
    lab_copy(lab, "older", "data");
    assert_int_equal(reopen(w), -EILSEQ);
    assert_says(w, -EILSEQ, "etcd stands at revision 2 and this controller saw revision 4");
    w->o.seen = NULL;
    begin(w, 3);
    w->o.seen = w->seen;
    assert_int_equal(reopen(w), -EILSEQ);
    assert_says(w, -EILSEQ, "revision 4 in etcd is not the one that this controller saw");
}

static void test_a_damaged_memory_is_refused(void **state)
{
    struct world *w = *state;
    begin(w, 1);
    fixture_write(w->seen, "fettle in etcd: cluster", 23);
    assert_int_equal(reopen(w), -EILSEQ);
    assert_says(w, -EILSEQ, "etcd.seen is damaged");
}

static void test_values_that_fettle_did_not_write_are_refused(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *key, *value;
    } cases[] = {{"fettle/head", "x"},
                 {"fettle/head", "1 0123456789abcdeg"},
                 {"fettle/head", "-1 0123456789abcdef"},
                 {"fettle/cluster", "[]"},
                 {"fettle/cluster", "{\"id\":\"\",\"term_base\":0}"},
                 {"fettle/journal/00000000000000000001", "16:0123456789abcdef,1:5,"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_wipe(lab);
        unlink(w->seen);
        begin(w, 1);
        lab_put(lab, cases[i].key, cases[i].value);
        assert_int_equal(reopen(w), -EILSEQ);
        assert_says(w, -EILSEQ, "was not written by Fettle");
    }
}

static void test_a_foreign_head_stops_commits(void **state)
{
    struct world *w = *state;
    begin(w, 1);
    lab_put(lab, "fettle/head", "1 0123456789abcdef");
    assert_int_equal(fixture_put(w->store, w->term, "k", "1", &w->revision, &w->e), -EILSEQ);
    assert_says(w, -EILSEQ, "somebody else wrote there");
}

static void test_many_records_come_in_pages(void **state)
{
    struct world *w = *state;
    enum { BATCHES = 40 };
    begin(w, 0);
    for (int i = 0; i < BATCHES; i++) {
        struct store_op ops[STORE_OPS_MAX];
        char keys[STORE_OPS_MAX][24];
        for (int j = 0; j < STORE_OPS_MAX; j++) {
            snprintf(keys[j], sizeof keys[j], "node/%05d", i * STORE_OPS_MAX + j);
            ops[j] = (struct store_op){keys[j], "{}"};
        }
        const struct store_batch b = {.n_ops = STORE_OPS_MAX, .ops = ops};
        assert_int_equal(store_commit(w->store, w->term, &b, &w->revision, &w->e), 0);
    }
    dumped(w);
    size_t lines = 0;
    for (const char *s = w->dump.s; (s = strchr(s, '\n')); s++)
        lines++;
    assert_int_equal(lines, BATCHES * STORE_OPS_MAX + 1);
    assert_non_null(strstr(w->dump.s, "node/03999 = {}\nnode/04000 = {}\nnode/04001 = {}\n"));
}

static int count(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    ++*(size_t *)arg;
    return 0;
}

/* More revisions than one answer has, forwards and backwards. */
static void test_a_long_journal_comes_in_pages(void **state)
{
    struct world *w = *state;
    size_t n = 0;
    begin(w, 600);
    assert_int_equal(store_journal(w->store, 0, SIZE_MAX, count, &n, &w->e), 0);
    assert_int_equal(n, 600);
    n = 0;
    assert_int_equal(store_journal(w->store, 100, 300, count, &n, &w->e), 0);
    assert_int_equal(n, 300);
    n = 0;
    assert_int_equal(store_journal_back(w->store, UINT64_MAX, SIZE_MAX, count, &n, &w->e), 0);
    assert_int_equal(n, 600);
    n = 0;
    assert_int_equal(store_journal_back(w->store, 500, 280, count, &n, &w->e), 0);
    assert_int_equal(n, 280);
}

/* Old entries go to the file of their day, and only then from etcd; the newest revision stays. */
static void test_old_entries_leave_the_journal(void **state)
{
    struct world *w = *state;
    const struct store_keep keep = {.age = span_s(86400), .bytes = UINT64_MAX, .directory = w->dir};
    CLEANUP_FREE char *day = fixture_path(w->dir, "journal-2026-11-20.jsonl");
    CLEANUP_TEXT struct text lines = {0};
    uint64_t first = 0;
    bool more = true;
    begin(w, 5); /* of that day */
    for (int i = 0; i < 10 && more; i++)
        assert_int_equal(store_tidy(w->store, &keep,
                                    (struct wall){INT64_C(1795207317123000000) + span_s(90000).ns}, &more,
                                    &w->e),
                         0);
    assert_false(more);
    assert_int_equal(store_first(w->store, &first, &w->e), 0);
    assert_int_equal(first, 5);
    fixture_read(day, &lines);
    size_t n = 0;
    for (const char *s = lines.s; s && (s = strchr(s, '\n')); s++)
        n++;
    assert_int_equal(n, 4);
    assert_int_equal(reopen(w), 0); /* what it saw is still there */
}

/* A controller that has its own copy of the journal has exported it from there. */
static void test_entries_that_another_has_leave_without_a_file(void **state)
{
    struct world *w = *state;
    const struct store_keep keep = {.age = span_s(86400), .bytes = UINT64_MAX, .stays_from = 4};
    const struct wall later = {INT64_C(1795207317123000000) + span_s(90000).ns};
    uint64_t first = 0;
    bool more = true;
    begin(w, 5);
    for (int i = 0; i < 10 && more; i++)
        assert_int_equal(store_tidy(w->store, &keep, later, &more, &w->e), 0);
    assert_int_equal(store_first(w->store, &first, &w->e), 0);
    assert_int_equal(first, 4); /* which that one has not yet */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_state_is_begun_once),
        TEST(test_wrong_options_are_refused),
        TEST(test_nobody_there_is_said),
        TEST(test_a_state_that_is_gone_is_not_begun_anew),
        TEST(test_a_part_of_a_state_is_refused),
        TEST(test_another_clusters_state_is_refused),
        TEST(test_an_older_backup_is_refused),
        TEST(test_a_damaged_memory_is_refused),
        TEST(test_values_that_fettle_did_not_write_are_refused),
        TEST(test_a_foreign_head_stops_commits),
        TEST(test_many_records_come_in_pages),
        TEST(test_a_long_journal_comes_in_pages),
        TEST(test_entries_that_another_has_leave_without_a_file),
        TEST(test_old_entries_leave_the_journal),
    };
    lab_need();
    lab = lab_create(1, false, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lab_destroy(lab);
    return failed;
}
