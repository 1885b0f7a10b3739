/* SPDX-License-Identifier: Apache-2.0 */
/* Followers of commits, on real etcd, with a stream that goes deaf. */
#include "store/etcd/follow.h"

#include "store/etcd/lab_test.h"
#include "store/etcd/proxy_test.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEADLINE_MS = 60000 };

static struct lab *lab;

struct world {
    uv_loop_t loop;
    uv_timer_t metronome;
    char *endpoints, *dir, *seen;
    struct store *store; /* the leader's */
    uint64_t term, revision;
    struct follow *follow;
    struct text told; /* "1 2 3", the revisions that were told */
    size_t n_ops, n_entries;
    unsigned silent, current, leader;
    int end;
    bool is_current;
    struct err e;
};

static void on_metronome(uv_timer_t *t)
{
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *state = w;
    uv_loop_init(&w->loop);
    uv_timer_init(&w->loop, &w->metronome);
    uv_timer_start(&w->metronome, on_metronome, 5, 5);
    lab_wipe(lab);
    w->dir = fixture_dir();
    w->seen = fixture_path(w->dir, "etcd.seen");
    w->endpoints = lab_endpoints(lab);
    const struct etcd_options o = lab_options(lab, w->endpoints, "a");
    assert_int_equal(etcd_open(&o, &w->store, &w->e), 0);
    return store_campaign(w->store, &w->term, &w->e);
}

static int teardown(void **state)
{
    struct world *w = *state;
    follow_destroy(w->follow);
    store_close(w->store);
    uv_close((uv_handle_t *)&w->metronome, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    fixture_remove(w->dir);
    free(w->seen);
    free(w->endpoints);
    text_fini(&w->told);
    free(w);
    return 0;
}

static void on_change(void *arg, struct store_change *c)
{
    struct world *w = arg;
    text_printf(&w->told, "%s%d", w->told.len ? " " : "", (int)c->revision);
    w->n_ops = c->batch.n_ops;
    w->n_entries = c->batch.n_entries;
    change_destroy(c);
}

static void on_current(void *arg, const struct err *why)
{
    struct world *w = arg;
    w->is_current = !why;
    w->silent += why != NULL;
    w->current += why == NULL;
    if (why) {
        assert_int_not_equal(why->code, 0);
        assert_true(why->msg[0]);
    }
}

static void on_end(void *arg, const struct err *why)
{
    struct world *w = arg;
    w->end = why->code;
    follow_destroy(w->follow);
    w->follow = NULL;
}

static void on_leader(void *arg)
{
    struct world *w = arg;
    w->leader++;
}

static void follow(struct world *w, const char *endpoints, uint64_t after)
{
    const struct follow_events events = {w, on_change, on_current, on_end, on_leader};
    struct etcd_options o = lab_options(lab, endpoints, "b");
    o.seen = w->seen;
    w->follow = follow_create(&w->loop, &o, after, &events);
}

static void put(struct world *w)
{
    if (fixture_put(w->store, w->term, "k", "1", &w->revision, &w->e))
        fail_msg("%s", w->e.msg);
}

#define WAIT_FOR(w, condition)                                                             \
    for (struct mono until_ = mono_add(mono_now(), span_ms(DEADLINE_MS)); !(condition);) { \
        if (mono_now().ns > until_.ns)                                                     \
            fail_msg("not within %d s: %s", DEADLINE_MS / 1000, #condition);               \
        uv_run(&(w)->loop, UV_RUN_ONCE);                                                   \
    }

static void test_each_commit_is_told_once_and_in_order(void **state)
{
    struct world *w = *state;
    put(w);
    follow(w, w->endpoints, 0);
    WAIT_FOR(w, w->is_current);
    for (int i = 0; i < 3; i++)
        put(w);
    WAIT_FOR(w, follow_revision(w->follow) == 4);
    assert_string_equal(w->told.s, "1 2 3 4");
    assert_int_equal(w->n_ops, 1);
    assert_int_equal(w->n_entries, 1);
    assert_int_equal(w->silent, 0);
}

static void test_it_begins_behind_a_revision(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 3; i++)
        put(w);
    follow(w, w->endpoints, 2);
    put(w);
    WAIT_FOR(w, follow_revision(w->follow) == 4);
    assert_string_equal(w->told.s, "3 4");
}

static void test_it_says_how_old_it_is(void **state)
{
    struct world *w = *state;
    struct span age;
    follow(w, w->endpoints, 0);
    assert_false(follow_age(w->follow, mono_now(), &age));
    WAIT_FOR(w, w->is_current);
    assert_true(follow_age(w->follow, mono_now(), &age));
    struct mono begun = mono_now();
    WAIT_FOR(w, follow_age(w->follow, mono_now(), &age) && age.ns < mono_sub(mono_now(), begun).ns);
}

/* As much as a commit can have: etcd cuts the watch's answer in pieces. */
static void test_a_commit_at_all_limits_is_whole(void **state)
{
    struct world *w = *state;
    enum { VALUE = 4000 };
    struct store_op ops[STORE_OPS_MAX];
    struct store_entry entries[STORE_ENTRIES_MAX];
    char keys[STORE_OPS_MAX][16], value[VALUE + 1];
    memset(value, 'v', VALUE);
    value[VALUE] = '\0';
    for (int i = 0; i < STORE_OPS_MAX; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        ops[i] = (struct store_op){keys[i], value};
    }
    for (int i = 0; i < STORE_ENTRIES_MAX; i++)
        entries[i] = (struct store_entry){{i}, "root", "drain", "", value, NULL, NULL};
    const struct store_batch b = {STORE_OPS_MAX, ops, STORE_ENTRIES_MAX, entries};
    follow(w, w->endpoints, 0);
    for (uint64_t i = 1; i <= 4; i++) {
        assert_int_equal(store_commit(w->store, w->term, &b, &w->revision, &w->e), 0);
        WAIT_FOR(w, follow_revision(w->follow) == i);
        assert_int_equal(w->n_ops, STORE_OPS_MAX);
        assert_int_equal(w->n_entries, STORE_ENTRIES_MAX);
    }
}

/* The stream stays open, and brings nothing: the question beside it shows that something is missing. */
static void test_a_deaf_stream_is_begun_anew(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text endpoints = {0};
    struct proxy *p = proxy_create(lab->members[0].client);
    text_printf(&endpoints, "http://127.0.0.1:%d", proxy_port(p));
    proxy_next(p, PROXY_DEAF, "/v3/watch");
    follow(w, endpoints.s, 0);
    WAIT_FOR(w, w->is_current); /* nothing is missing yet */
    put(w);
    WAIT_FOR(w, follow_revision(w->follow) == 1);
    assert_string_equal(w->told.s, "1");
    follow_destroy(w->follow);
    w->follow = NULL;
    proxy_destroy(p);
}

static void test_garbage_in_the_stream_is_passed_over(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text endpoints = {0};
    struct proxy *p = proxy_create(lab->members[0].client);
    text_printf(&endpoints, "http://127.0.0.1:%d", proxy_port(p));
    proxy_next(p, PROXY_GARBAGE, "/v3/watch");
    put(w);
    follow(w, endpoints.s, 0);
    WAIT_FOR(w, follow_revision(w->follow) == 1);
    follow_destroy(w->follow);
    w->follow = NULL;
    proxy_destroy(p);
}

static void test_an_etcd_that_stands_still_is_said(void **state)
{
    struct world *w = *state;
    follow(w, w->endpoints, 0);
    WAIT_FOR(w, w->is_current);
    lab_signal(lab, 0, SIGSTOP);
    WAIT_FOR(w, w->silent == 1 && !w->is_current);
    lab_signal(lab, 0, SIGCONT);
    WAIT_FOR(w, w->is_current);
    put(w);
    WAIT_FOR(w, follow_revision(w->follow) == 1);
}

static void test_an_etcd_that_comes_back_is_followed_from_where_it_was(void **state)
{
    struct world *w = *state;
    put(w);
    follow(w, w->endpoints, 0);
    WAIT_FOR(w, w->is_current);
    lab_kill(lab, 0);
    lab_run(lab, 0);
    put(w);
    WAIT_FOR(w, follow_revision(w->follow) == 2);
    assert_string_equal(w->told.s, "1 2");
}

static void compact(void)
{
    CLEANUP_TEXT struct text out = {0}, body = {0};
    lab_put(lab, "other", "1");
    lab_ask(lab, "/v3/kv/range", "{\"key\":\"YQ==\"}", &out);
    const char *revision = strstr(out.s, "\"revision\":\"") + 12;
    text_printf(&body, "{\"revision\":\"%.*s\"}", (int)strspn(revision, "0123456789"), revision);
    lab_ask(lab, "/v3/kv/compaction", body.s, &out);
}

static void test_history_that_is_compacted_ends_it(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 3; i++)
        put(w);
    compact();
    follow(w, w->endpoints, 1);
    WAIT_FOR(w, w->end);
    assert_int_equal(w->end, -ERANGE);
    w->end = 0;
    follow(w, w->endpoints, 3); /* what a store that was loaded anew has */
    WAIT_FOR(w, w->is_current);
    put(w);
    WAIT_FOR(w, follow_revision(w->follow) == 4);
}

/* The leader renews its key while nothing is committed, so that the last commit lies before all history. */
static void test_a_last_commit_before_all_history_is_enough(void **state)
{
    struct world *w = *state;
    put(w);
    for (int i = 0; i < 3; i++)
        lab_put(lab, "other", "1");
    compact();
    follow(w, w->endpoints, 1);
    WAIT_FOR(w, w->is_current || w->end);
    assert_int_equal(w->end, 0);
    put(w);
    WAIT_FOR(w, follow_revision(w->follow) == 2);
    assert_string_equal(w->told.s, "2");
}

static void test_somebody_elses_writes_end_it(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *key, *value;
    } cases[] = {{"fettle/record/k", "by hand"},
                 {"fettle/head", "7 0123456789abcdef"},
                 {"fettle/head", "what"},
                 {"fettle/journal/00000000000000000002", "x"},
                 {"fettle/head", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_wipe(lab);
        store_close(w->store);
        const struct etcd_options o = lab_options(lab, w->endpoints, "a");
        assert_int_equal(etcd_open(&o, &w->store, &w->e), 0);
        assert_int_equal(store_campaign(w->store, &w->term, &w->e), 0);
        put(w);
        w->is_current = false;
        follow(w, w->endpoints, 0);
        WAIT_FOR(w, w->is_current);
        lab_put(lab, cases[i].key, cases[i].value);
        WAIT_FOR(w, w->end);
        assert_int_equal(w->end, -EILSEQ);
        w->end = 0;
        unlink(w->seen);
    }
}

static void test_an_etcd_that_lost_commits_ends_it(void **state)
{
    struct world *w = *state;
    put(w);
    lab_copy(lab, "data", "older");
    put(w);
    follow(w, w->endpoints, 0);
    WAIT_FOR(w, follow_revision(w->follow) == 2);
    lab_copy(lab, "older", "data");
    WAIT_FOR(w, w->end);
    assert_int_equal(w->end, -EILSEQ);
}

static void test_it_says_when_the_leader_key_goes(void **state)
{
    struct world *w = *state;
    follow(w, w->endpoints, 0);
    WAIT_FOR(w, w->is_current);
    unsigned before = w->leader;
    lab_put(lab, "fettle/leader", NULL);
    WAIT_FOR(w, w->leader > before);
}

/* What a follower saw, a store that is opened later knows. */
static void test_the_last_revision_seen_is_remembered(void **state)
{
    struct world *w = *state;
    struct store *s = NULL;
    put(w);
    put(w);
    follow(w, w->endpoints, 0);
    WAIT_FOR(w, w->is_current);
    follow_destroy(w->follow);
    w->follow = NULL;
    lab_put(lab, "fettle/head", "1 0123456789abcdef");
    struct etcd_options o = lab_options(lab, w->endpoints, "b");
    o.seen = w->seen;
    assert_int_equal(etcd_open(&o, &s, &w->e), -EILSEQ);
    assert_non_null(strstr(w->e.msg, "etcd stands at revision 1 and this controller saw revision 2"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_commit_is_told_once_and_in_order),
        TEST(test_it_begins_behind_a_revision),
        TEST(test_it_says_how_old_it_is),
        TEST(test_a_commit_at_all_limits_is_whole),
        TEST(test_a_deaf_stream_is_begun_anew),
        TEST(test_garbage_in_the_stream_is_passed_over),
        TEST(test_an_etcd_that_stands_still_is_said),
        TEST(test_an_etcd_that_comes_back_is_followed_from_where_it_was),
        TEST(test_history_that_is_compacted_ends_it),
        TEST(test_a_last_commit_before_all_history_is_enough),
        TEST(test_somebody_elses_writes_end_it),
        TEST(test_an_etcd_that_lost_commits_ends_it),
        TEST(test_it_says_when_the_leader_key_goes),
        TEST(test_the_last_revision_seen_is_remembered),
    };
    lab_need();
    lab = lab_create(1, false, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lab_destroy(lab);
    return failed;
}
