/* SPDX-License-Identifier: Apache-2.0 */
/* Searches over the real store: they find exactly what was asked for, newest first. */
#include "controller/commit/search.h"

#include "controller/commit/committer.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
    uv_loop_t loop;
    char *dir;
    struct store *store;
    struct cluster *c;
    struct committer *k;
    struct searches *s;
    uint64_t term, revision;
    size_t answers;
    uint64_t before;
    bool ended;
    struct text log;
};

static void on_entry(void *arg, const struct committed *c)
{
}

static void on_changed(void *arg, const struct hostlist *some)
{
}

static void on_why(void *arg, const struct err *why)
{
}

static void commit(struct world *x, const struct store_entry *entries, size_t n)
{
    struct store_op op = {.key = "a", .value = "1"};
    const struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = n, .entries = entries};
    assert_int_equal(store_commit(x->store, x->term, &b, &x->revision, NULL), 0);
}

static void say(struct world *x, int64_t at_s, const char *actor, const char *what, const char *nodes)
{
    const struct store_entry entry = {{at_s * 1000000000}, actor, what, nodes, "text", NULL, NULL};
    commit(x, &entry, 1);
}

static int setup(void **state)
{
    struct world *x = mem_alloc(sizeof *x);
    *state = x;
    const struct committer_events events = {x, on_entry, on_changed, on_why, on_why, on_why};
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = ""};
    uv_loop_init(&x->loop);
    x->dir = fixture_dir();
    x->store = fixture_open(x->dir);
    assert_int_equal(store_campaign(x->store, &x->term, NULL), 0);
    x->c = cluster_create();
    x->k = committer_create(&x->loop, x->c, x->store, x->term, 0, &keep, &events);
    x->s = searches_create(&x->loop, x->k);
    say(x, 100000, "ann", "node.drain", "lx[01-04]");
    say(x, 110000, "fettled", "node.down", "lx02");
    say(x, 120000, "bob", "nodeset", "lx02,mx1");
    say(x, 130000, "fettled", "repair.step", "lx03");
    say(x, 140000, "ann", "node.undrain", "lx[01-04]");
    return 0;
}

static int teardown(void **state)
{
    struct world *x = *state;
    searches_destroy(x->s);
    committer_destroy(x->k);
    uv_run(&x->loop, UV_RUN_DEFAULT);
    cluster_destroy(x->c);
    store_close(x->store);
    assert_int_equal(uv_loop_close(&x->loop), 0);
    fixture_remove(x->dir);
    text_fini(&x->log);
    free(x);
    return 0;
}

static void on_found(void *arg, const struct journal_found *f, const struct err *why)
{
    struct world *x = arg;
    x->answers++;
    if (why)
        text_printf(&x->log, "%s", why->msg);
    for (size_t i = 0; f && i < f->n; i++)
        text_printf(&x->log, "%s%d", i ? " " : "", (int)f->entries[i].revision);
    x->before = f ? f->before : 0;
    x->ended = f && f->ended;
}

static const struct journal_ask all = {.until = {INT64_MAX}, .before = INT64_MAX, .most = 1000};

/* The revisions that a search finds. */
static const char *found(struct world *x, const struct journal_ask *ask, const char *nodes)
{
    static char shown[1024];
    struct journal_ask a = *ask;
    a.nodes = nodes;
    a.nodes_max = 10;
    text_clear(&x->log);
    text_add(&x->log, "");
    searches_begin(x->s, &a, on_found, x);
    for (x->answers = 0; x->answers == 0;)
        uv_run(&x->loop, UV_RUN_ONCE);
    snprintf(shown, sizeof shown, "%s", x->log.s);
    return shown;
}

static void test_everything_newest_first(void **state)
{
    struct world *x = *state;
    assert_string_equal(found(x, &all, NULL), "5 4 3 2 1");
    assert_int_equal(x->before, 0);
    assert_true(x->ended);
}

/* A list that names the node together with others matches too. */
static void test_entries_that_name_a_node(void **state)
{
    struct world *x = *state;
    assert_string_equal(found(x, &all, "lx02"), "5 3 2 1");
    assert_string_equal(found(x, &all, "lx03,mx1"), "5 4 3 1");
    assert_string_equal(found(x, &all, "lx0"), "");
}

static void test_no_host_list(void **state)
{
    struct world *x = *state;
    assert_non_null(strstr(found(x, &all, "lx[1"), "not closed"));
    assert_non_null(strstr(found(x, &all, "lx[1-11]"), "more than 10"));
}

static void test_a_command_or_a_kind_of_them(void **state)
{
    struct world *x = *state;
    struct journal_ask a = all;
    a.what = "node";
    assert_string_equal(found(x, &a, NULL), "5 2 1");
    a.what = "node.down";
    assert_string_equal(found(x, &a, NULL), "2");
}

/* As many entries as were asked for, and the other entries of the last commit. */
static void test_no_more_than_asked(void **state)
{
    struct world *x = *state;
    struct journal_ask a = all;
    const struct store_entry entry = {{1}, "ann", "x", "", "text", NULL, NULL}, two[] = {entry, entry};
    commit(x, two, 2);
    a.most = 1;
    assert_string_equal(found(x, &a, NULL), "6 6");
    assert_int_equal(x->before, 6);
    a.most = 4;
    assert_string_equal(found(x, &a, NULL), "6 6 5 4");
    a.before = x->before;
    assert_string_equal(found(x, &a, NULL), "3 2 1");
    assert_int_equal(x->before, 0);
}

static void test_by_somebody(void **state)
{
    struct world *x = *state;
    struct journal_ask a = all;
    a.by = "ann";
    assert_string_equal(found(x, &a, NULL), "5 1");
    assert_string_equal(found(x, &a, "mx1"), "");
}

/* A command, and everything that followed from it. */
static void test_entries_that_are_part_of_a_claim(void **state)
{
    struct world *x = *state;
    struct journal_ask a = all;
    const struct store_entry entries[] = {{{1}, "ann", "node.drain", "lx1", "text", "7.1", NULL},
                                          {{2}, "fettled", "effect.result", "lx1", "text", "7.1 7.2", NULL},
                                          {{3}, "fettled", "effect.result", "lx1", "text", "7.12", NULL}};
    for (size_t i = 0; i < 3; i++)
        commit(x, &entries[i], 1);
    a.about = "7.1";
    assert_string_equal(found(x, &a, NULL), "7 6");
}

static void test_between_times(void **state)
{
    struct world *x = *state;
    struct journal_ask a = all;
    a.since.ns = INT64_C(110000) * 1000000000;
    a.until.ns = INT64_C(130000) * 1000000000;
    assert_string_equal(found(x, &a, NULL), "4 3 2");
    assert_false(x->ended); /* older entries were not asked for */
}

/* The clock was set back by half an hour. */
static void test_a_clock_that_was_set_back(void **state)
{
    struct world *x = *state;
    struct journal_ask a = all;
    struct store_entry entries[100];
    for (size_t i = 0; i < 100; i++)
        entries[i] = (struct store_entry){{INT64_C(138300) * 1000000000}, "bob", "x", "", "text", NULL, NULL};
    for (size_t i = 0; i < 6; i++)
        commit(x, entries, 100);
    say(x, 139000, "ann", "x", "");
    a.since.ns = INT64_C(138500) * 1000000000;
    a.by = "ann";
    assert_string_equal(found(x, &a, NULL), "12 5");
}

static void test_between_revisions(void **state)
{
    struct world *x = *state;
    struct journal_ask a = all;
    a.after = 1;
    a.before = 4;
    assert_string_equal(found(x, &a, NULL), "3 2");
}

/* A search with too many entries, or that takes too long, says where to go on. No entry is missed or found
 * twice. */
static void test_a_long_journal_in_parts(void **state)
{
    struct world *x = *state;
    struct store_entry entries[100];
    for (size_t i = 0; i < 100; i++)
        entries[i] =
            (struct store_entry){{INT64_C(150000) * 1000000000}, "ann", "x", "lx1", "text", NULL, NULL};
    for (size_t i = 0; i < 30; i++)
        commit(x, entries, 100);
    struct journal_ask a = all;
    a.most = 700;
    size_t n = 0, parts = 0;
    do {
        found(x, &a, NULL);
        for (const char *p = x->log.s; *p; p++)
            n += *p == ' ' || p[1] == '\0';
        a.before = x->before;
        parts++;
    } while (x->before);
    assert_int_equal(n, 3005);
    assert_in_range(parts, 4, 6);
}

/* The same when the answer becomes too large before that many entries are found. */
static void test_a_large_answer_in_parts(void **state)
{
    struct world *x = *state;
    static char text[3001];
    struct store_entry entries[80];
    memset(text, 'x', sizeof text - 1);
    for (size_t i = 0; i < 80; i++)
        entries[i] = (struct store_entry){{INT64_C(150000) * 1000000000}, "ann", "x", "", text, NULL, NULL};
    for (size_t i = 0; i < 10; i++)
        commit(x, entries, 80);
    struct journal_ask a = all;
    found(x, &a, NULL);
    assert_int_equal(x->before, 15 - 6); /* after 500 entries, at the end of a commit */
    assert_false(x->ended);
    a.before = x->before;
    found(x, &a, NULL);
    assert_non_null(strstr(x->log.s, " 5 4 3 2 1"));
    assert_int_equal(x->before, 0);
}

static void test_one_after_the_other_and_not_too_many(void **state)
{
    struct world *x = *state;
    text_add(&x->log, "");
    for (int i = 0; i < 70; i++)
        searches_begin(x->s, &all, on_found, x);
    assert_int_equal(x->answers, 5); /* one runs, and 64 wait */
    assert_non_null(strstr(x->log.s, "64 searches of the journal are waiting"));
    while (x->answers < 70)
        uv_run(&x->loop, UV_RUN_ONCE);
    text_clear(&x->log);
    x->answers = 0;
    for (int i = 0; i < 3; i++)
        searches_begin(x->s, &all, on_found, x);
    searches_destroy(x->s);
    x->s = NULL;
    assert_int_equal(x->answers, 3);
    assert_non_null(strstr(x->log.s, "the controller is stopping"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_everything_newest_first),
        TEST(test_entries_that_name_a_node),
        TEST(test_no_host_list),
        TEST(test_a_command_or_a_kind_of_them),
        TEST(test_no_more_than_asked),
        TEST(test_by_somebody),
        TEST(test_entries_that_are_part_of_a_claim),
        TEST(test_between_times),
        TEST(test_a_clock_that_was_set_back),
        TEST(test_between_revisions),
        TEST(test_a_long_journal_in_parts),
        TEST(test_a_large_answer_in_parts),
        TEST(test_one_after_the_other_and_not_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
