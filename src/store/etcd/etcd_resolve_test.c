/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a commit whose answer never came. */
#include "store/change.h"
#include "store/etcd/lab_test.h"
#include "store/etcd/proxy_test.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct lab *lab;

struct world {
    struct proxy *proxy;
    struct text endpoints;
    struct store *store; /* through the proxy */
    uint64_t term, revision;
    struct text found, dump;
    struct err e;
};

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *state = w;
    lab_wipe(lab);
    w->proxy = proxy_create(lab->members[0].client);
    text_printf(&w->endpoints, "http://127.0.0.1:%d", proxy_port(w->proxy));
    const struct etcd_options o = lab_options(lab, w->endpoints.s, "a");
    assert_int_equal(etcd_open(&o, &w->store, &w->e), 0);
    return store_campaign(w->store, &w->term, &w->e);
}

static int teardown(void **state)
{
    struct world *w = *state;
    store_close(w->store);
    proxy_destroy(w->proxy);
    text_fini(&w->endpoints);
    text_fini(&w->found);
    text_fini(&w->dump);
    free(w);
    return 0;
}

static void on_change(void *arg, struct store_change *c)
{
    struct text *t = arg;
    text_printf(t, "%s%d:", t->len ? "; " : "", (int)c->revision);
    for (size_t i = 0; i < c->batch.n_ops; i++)
        text_printf(t, " %s=%s", c->batch.ops[i].key, c->batch.ops[i].value ? c->batch.ops[i].value : "");
    for (size_t i = 0; i < c->batch.n_entries; i++)
        text_printf(t, " %s by %s", c->batch.entries[i].what, c->batch.entries[i].actor);
    change_destroy(c);
}

static const char *resolved(struct world *w, uint64_t after)
{
    text_clear(&w->found);
    text_add(&w->found, "");
    int r = store_resolve(w->store, after, on_change, &w->found, &w->e);
    return r ? w->e.msg : w->found.s;
}

static const char *dumped(struct world *w)
{
    if (fixture_dump(w->store, &w->dump, &w->e))
        fail_msg("%s", w->e.msg);
    return w->dump.s;
}

static int put(struct world *w, const char *key)
{
    const struct store_op op = {key, "1"};
    const struct store_batch b = {.n_ops = 1, .ops = &op};
    return store_commit(w->store, w->term, &b, &w->revision, &w->e);
}

/* Puts b, deletes a, and c, which was never there. */
static void commit_unknown(struct world *w, enum proxy_mode mode)
{
    const struct store_op ops[] = {{"b", "1"}, {"a", NULL}, {"c", NULL}};
    const struct store_entry entry = {.at = {1}, .actor = "root", .what = "swap", .nodes = "", .text = "x"};
    const struct store_batch batch = {.n_ops = 3, .ops = ops, .n_entries = 1, .entries = &entry};
    assert_int_equal(put(w, "a"), 0);
    proxy_next(w->proxy, mode, "/v3/kv/txn");
    assert_int_equal(store_commit(w->store, w->term, &batch, &w->revision, &w->e), STORE_UNKNOWN);
    assert_int_equal(w->e.code, STORE_UNKNOWN);
    assert_non_null(strstr(w->e.msg, "no answer to the commit of revision 2"));
    assert_int_equal(put(w, "d"), -EIO);
    assert_int_equal(store_check(w->store, &w->e), -EIO);
}

static void test_a_commit_that_is_there_is_told(void **state)
{
    struct world *w = *state;
    commit_unknown(w, PROXY_LOSE_ANSWER);
    assert_string_equal(resolved(w, 1), "2: b=1 a= c= swap by root");
    assert_string_equal(dumped(w), "b = 1\n2: 1 root swap : x\nrevision 2\n");
    assert_string_equal(resolved(w, 2), "");
    assert_int_equal(put(w, "d"), 0);
    assert_int_equal(w->revision, 3);
}

static void test_a_commit_that_is_not_there_stays_away(void **state)
{
    struct world *w = *state;
    commit_unknown(w, PROXY_LOSE_REQUEST);
    assert_string_equal(resolved(w, 1), "");
    assert_string_equal(dumped(w), "a = 1\nrevision 1\n");
    assert_int_equal(put(w, "d"), 0);
    assert_int_equal(w->revision, 2);
}

/* The request comes to etcd after it was said that the commit is not there. */
static void test_a_request_that_comes_late_changes_nothing(void **state)
{
    struct world *w = *state;
    commit_unknown(w, PROXY_HOLD);
    assert_string_equal(resolved(w, 1), "");
    proxy_release(w->proxy);
    assert_string_equal(dumped(w), "a = 1\nrevision 1\n");
    assert_int_equal(put(w, "d"), 0);
    assert_int_equal(w->revision, 2);
    assert_string_equal(dumped(w), "a = 1\nd = 1\nrevision 2\n");
}

/* Loading settles it, too. */
static void test_a_load_leaves_nothing_on_its_way(void **state)
{
    struct world *w = *state;
    commit_unknown(w, PROXY_HOLD);
    assert_string_equal(dumped(w), "a = 1\nrevision 1\n");
    proxy_release(w->proxy);
    assert_string_equal(dumped(w), "a = 1\nrevision 1\n");
    assert_int_equal(put(w, "d"), 0);
}

static void test_an_answer_that_is_garbage_says_nothing(void **state)
{
    struct world *w = *state;
    commit_unknown(w, PROXY_GARBAGE);
    assert_string_equal(resolved(w, 1), "");
    assert_int_equal(put(w, "d"), 0);
}

static struct store *successor(struct world *w, uint64_t *term)
{
    const struct etcd_options o = lab_options(lab, w->endpoints.s, "b");
    struct store *s = NULL;
    lab_put(lab, "fettle/leader", NULL);
    assert_int_equal(etcd_open(&o, &s, &w->e), 0);
    assert_int_equal(store_campaign(s, term, &w->e), 0);
    return s;
}

/* Our commit, and two of the controller that leads by now. */
static void test_commits_of_a_successor_are_told_behind_it(void **state)
{
    struct world *w = *state;
    uint64_t term, revision;
    commit_unknown(w, PROXY_LOSE_ANSWER);
    struct store *s = successor(w, &term);
    assert_int_equal(fixture_put(s, term, "e", "1", &revision, &w->e), 0);
    assert_int_equal(fixture_put(s, term, "b", "2", &revision, &w->e), 0);
    assert_string_equal(resolved(w, 1), "2: b=1 a= c= swap by root; 3: e=1 put by root; 4: b=2 put by root");
    assert_int_equal(put(w, "d"), -EPERM);
    assert_non_null(strstr(w->e.msg, "b leads"));
    store_close(s);
}

/* A deposed controller's commit that was not taken cannot be taken any more, and no fence is needed. */
static void test_a_deposed_controller_finds_out(void **state)
{
    struct world *w = *state;
    uint64_t term, revision;
    commit_unknown(w, PROXY_HOLD);
    struct store *s = successor(w, &term);
    assert_string_equal(resolved(w, 1), "");
    proxy_release(w->proxy);
    assert_int_equal(fixture_put(s, term, "e", "1", &revision, &w->e), 0);
    assert_int_equal(revision, 2);
    assert_string_equal(dumped(w),
                        "a = 1\ne = 1\n2: 1795207317123000000 root put lx[01-64]: e\nrevision 2\n");
    store_close(s);
}

static void test_an_outcome_that_stays_unknown_is_asked_again(void **state)
{
    struct world *w = *state;
    commit_unknown(w, PROXY_LOSE_ANSWER);
    proxy_next(w->proxy, PROXY_LOSE_ANSWER, "/v3/kv/txn");
    assert_int_equal(store_resolve(w->store, 1, on_change, &w->found, &w->e), -EAGAIN);
    assert_int_equal(put(w, "d"), -EIO);
    proxy_next(w->proxy, PROXY_GARBAGE, "/v3/watch");
    assert_non_null(strstr(resolved(w, 1), "etcd"));
    assert_int_equal(put(w, "d"), -EIO);
    assert_string_equal(resolved(w, 1), "2: b=1 a= c= swap by root");
    assert_int_equal(put(w, "d"), 0);
}

/* The fence itself is lost: the next one finds it. */
static void test_a_fence_whose_answer_is_lost_holds(void **state)
{
    struct world *w = *state;
    commit_unknown(w, PROXY_LOSE_REQUEST);
    proxy_next(w->proxy, PROXY_LOSE_ANSWER, "/v3/kv/txn");
    assert_int_equal(store_resolve(w->store, 1, on_change, &w->found, &w->e), -EAGAIN);
    assert_string_equal(resolved(w, 1), "");
    assert_int_equal(put(w, "d"), 0);
    assert_int_equal(w->revision, 2);
}

static void test_history_that_is_compacted_is_said(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text out = {0}, body = {0};
    commit_unknown(w, PROXY_LOSE_ANSWER);
    lab_put(lab, "other", "1");
    lab_ask(lab, "/v3/kv/range", "{\"key\":\"YQ==\"}", &out);
    const char *revision = strstr(out.s, "\"revision\":\"") + 12;
    text_printf(&body, "{\"revision\":\"%.*s\"}", (int)strspn(revision, "0123456789"), revision);
    lab_ask(lab, "/v3/kv/compaction", body.s, &out);
    assert_int_equal(store_resolve(w->store, 1, on_change, &w->found, &w->e), -ERANGE);
    assert_string_equal(dumped(w), "b = 1\n2: 1 root swap : x\nrevision 2\n");
    assert_int_equal(put(w, "d"), 0);
}

static void test_a_member_that_is_not_there_is_passed_over(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text endpoints = {0};
    struct store *s = NULL;
    uint64_t term, revision;
    text_printf(&endpoints, "http://127.0.0.1:%d,%s,http://127.0.0.1:%d", lab_port(), w->endpoints.s,
                lab_port());
    const struct etcd_options o = lab_options(lab, endpoints.s, "a");
    store_close(w->store);
    w->store = NULL;
    assert_int_equal(etcd_open(&o, &s, &w->e), 0);
    assert_int_equal(store_campaign(s, &term, &w->e), 0);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(fixture_put(s, term, "k", "1", &revision, &w->e), 0);
    store_close(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_commit_that_is_there_is_told),
        TEST(test_a_commit_that_is_not_there_stays_away),
        TEST(test_a_request_that_comes_late_changes_nothing),
        TEST(test_a_load_leaves_nothing_on_its_way),
        TEST(test_an_answer_that_is_garbage_says_nothing),
        TEST(test_commits_of_a_successor_are_told_behind_it),
        TEST(test_a_deposed_controller_finds_out),
        TEST(test_an_outcome_that_stays_unknown_is_asked_again),
        TEST(test_a_fence_whose_answer_is_lost_holds),
        TEST(test_history_that_is_compacted_is_said),
        TEST(test_a_member_that_is_not_there_is_passed_over),
    };
    lab_need();
    lab = lab_create(1, false, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lab_destroy(lab);
    return failed;
}
