/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An assertion of ours fails between a decision and its commit, or between the commit and its answer, and the
 * process ends. Every change that it had answered is in the store, a change without an answer is there as a
 * whole or not at all, and the next process goes on. The test replaces store_commit (the linker's --wrap),
 * which the committer calls between the two.
 */
#include "controller/commit/committer.h"

#include "store/fixture_test.h"

#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NODES = 40, A_LIFE = 5 };

enum moment { MOMENT_NEVER, MOMENT_DECIDED, MOMENT_COMMITTED } breaks_at;

/* The linker expects these names, which are reserved. */
int store_commit_really(struct store *s, uint64_t term, const struct store_batch *b, uint64_t *revision,
                        struct err *e) __asm__("__real_store_commit");
int store_commit_or_break(struct store *s, uint64_t term, const struct store_batch *b, uint64_t *revision,
                          struct err *e) __asm__("__wrap_store_commit");

int store_commit_or_break(struct store *s, uint64_t term, const struct store_batch *b, uint64_t *revision,
                          struct err *e)
{
    assert(breaks_at != MOMENT_DECIDED && "a node has one allocation");
    int rc = store_commit_really(s, term, b, revision, e);
    assert(breaks_at != MOMENT_COMMITTED && "an answer follows its commit");
    return rc;
}

/* A process with its committer, from its start to its failed assertion. */
struct life {
    struct committer *k;
    int out;
    uint64_t next, last;
    enum moment ends_at;
};

static void on_entry(void *arg, const struct committed *c)
{
}

static void on_changed(void *arg, const struct hostlist *some)
{
}

static void on_store(void *arg, const struct err *why)
{
}

static int put_record(void *arg, const char *key, const char *value, struct err *e)
{
    return cluster_put(arg, key, value, e);
}

static void submit_next(struct life *l);

static void on_outcome(void *arg, const struct outcome *o)
{
    struct life *l = arg;
    if (o->rc < 0 || write(l->out, &l->next, sizeof l->next) != sizeof l->next)
        _exit(1);
    if (l->next++ == l->last)
        breaks_at = l->ends_at;
    submit_next(l);
}

static void submit_next(struct life *l)
{
    char name[16];
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    snprintf(name, sizeof name, "lx%03u", (unsigned)l->next);
    if (hostlist_parse(name, &nodes, NULL) < 0)
        _exit(2);
    const struct command cmd = {
        .kind = COMMAND_DRAIN, .actor = "root", .at = {1}, .nodes = &nodes, .reason = "bad fan"};
    committer_submit(l->k, &cmd, on_outcome, l);
}

static struct cluster *load_cluster(struct store *s, uint64_t *revision)
{
    struct cluster *c = cluster_create();
    struct roster r = {.partition_max = 31, .n = NODES, .nodes = mem_alloc(NODES * sizeof *r.nodes)};
    assert_int_equal(store_load(s, put_record, c, revision, NULL), 0);
    for (size_t i = 0; i < r.n; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%03zu", i + 1);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    cluster_configure(c, &r, NULL);
    return c;
}

/* Drains one node after another until its assertion fails. */
static void live(const char *dir, struct life *l, int said)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    dup2(said, STDERR_FILENO);
    uv_loop_t loop;
    uv_loop_init(&loop);
    uint64_t term, revision;
    struct store *s = fixture_open(dir);
    if (store_campaign(s, &term, NULL) < 0)
        _exit(3);
    const struct committer_events events = {l, on_entry, on_changed, on_store, on_store, on_store};
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = dir};
    l->k = committer_create(&loop, load_cluster(s, &revision), s, term, revision, &keep, &events);
    submit_next(l);
    uv_run(&loop, UV_RUN_DEFAULT);
    _exit(4);
}

/* Returns the last node that was answered for. The failed assertion has printed its meaning. */
static uint64_t live_and_break(const char *dir, uint64_t next, enum moment moment)
{
    int acknowledged[2], said[2], status;
    char words[1024] = "";
    uint64_t last = 0, one;
    assert_int_equal(pipe(acknowledged), 0);
    assert_int_equal(pipe(said), 0);
    pid_t child = fork();
    if (child == 0) {
        struct life l = {.out = acknowledged[1], .next = next, .last = next + A_LIFE - 1, .ends_at = moment};
        live(dir, &l, said[1]);
    }
    close(acknowledged[1]);
    close(said[1]);
    while (read(acknowledged[0], &one, sizeof one) == sizeof one)
        last = one;
    assert_true(read(said[0], words, sizeof words - 1) > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(words, moment == MOMENT_DECIDED ? "a node has one allocation"
                                                           : "an answer follows its commit"));
    close(acknowledged[0]);
    close(said[0]);
    return last;
}

static int see_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    uint64_t *n = arg;
    char name[16];
    snprintf(name, sizeof name, "lx%03u", (unsigned)++*n);
    assert_string_equal(entry->nodes, name);
    assert_int_equal(revision, *n);
    return 0;
}

/* Asserts that each node up to `drained`, and no other, has its claim and its entry in the journal. */
static void assert_drained(const char *dir, uint64_t drained)
{
    struct store *s = fixture_open(dir);
    uint64_t revision, entries = 0;
    struct cluster *c = load_cluster(s, &revision);
    assert_int_equal(revision, drained);
    for (unsigned i = 1; i <= NODES; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%03u", i);
        assert_int_equal(cluster_find(c, name)->n_claims, i <= drained);
    }
    assert_int_equal(store_journal(s, 0, SIZE_MAX, see_entry, &entries, NULL), 0);
    assert_int_equal(entries, drained);
    cluster_destroy(c);
    store_close(s);
}

static void test_nothing_that_was_answered_is_lost(void **state)
{
    char *dir = fixture_dir();
    uint64_t drained = 0;
    for (int i = 0; i < 4; i++) {
        enum moment moment = i % 2 ? MOMENT_COMMITTED : MOMENT_DECIDED;
        uint64_t answered = live_and_break(dir, drained + 1, moment);
        assert_int_equal(answered, drained + A_LIFE);
        drained = answered + (moment == MOMENT_COMMITTED); /* as a whole, though no caller was told */
        assert_drained(dir, drained);
    }
    fixture_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_that_was_answered_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
