/* SPDX-License-Identifier: Apache-2.0 */
/* A committer whose journal is read from a mirror: the embedded store stands in the place of etcd. */
#include "cluster/said_test.h"
#include "controller/commit/committer.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include <cmocka.h>

/* No durable disk is needed. */
int fsync(int fd)
{
    return 0;
}

int fdatasync(int fd)
{
    return 0;
}

enum { ENTRIES = 1200, WAIT_S = 60 };

struct world {
    uv_loop_t loop;
    uv_timer_t tick;
    char *dir, *mirror, *store_dir, *aside;
    struct store *store;
    struct cluster *c;
    struct committer *k;
    uint64_t term, revision;
    size_t answered, asked;
    struct err journal; /* as it was told last */
    struct err e;
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

static void on_journal(void *arg, const struct err *why)
{
    struct world *x = arg;
    x->journal = why ? *why : (struct err){0};
}

static int take(void *arg, const char *key, const char *value, struct err *e)
{
    return cluster_put(arg, key, value, e);
}

/* Commits of a controller that has this name, one entry each. */
static void commit(struct world *x, size_t n, const char *actor)
{
    for (size_t i = 0; i < n; i++) {
        const struct store_op op = {.key = "meaning/reboots", .value = NULL};
        const struct store_entry entry = {{1}, actor, "node.drain", "lx[01-04]", "bad DIMM", "1.1", ""};
        const struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
        assert_int_equal(store_commit(x->store, x->term, &b, &x->revision, &x->e), 0);
    }
}

static void configure(struct cluster *c)
{
    struct roster r = {.partition_max = 31, .n = 1, .nodes = mem_alloc(sizeof *r.nodes)};
    r.nodes[0].name = mem_dup("lx01");
    spec_init(&r.nodes[0].spec);
    cluster_configure(c, &r, NULL);
}

static void on_tick(uv_timer_t *t)
{
}

static void committer_begin(struct world *x)
{
    uv_timer_start(&x->tick, on_tick, 5, 5);
    const struct committer_events events = {x, on_entry, on_changed, on_why, on_journal, on_why};
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = x->dir};
    x->k = committer_create(&x->loop, x->c, x->store, x->term, x->revision, &keep, &events);
    committer_mirror(x->k, mirror_create(x->mirror, "etcd-1"));
}

static void committer_end(struct world *x)
{
    uv_timer_stop(&x->tick);
    committer_destroy(STEAL(x->k));
    uv_run(&x->loop, UV_RUN_DEFAULT);
}

static int setup(void **state)
{
    struct world *x = mem_alloc(sizeof *x);
    *state = x;
    uv_loop_init(&x->loop);
    uv_timer_init(&x->loop, &x->tick);
    x->dir = fixture_dir();
    x->store_dir = fixture_path(x->dir, "etcd");
    x->mirror = fixture_path(x->dir, "mirror");
    x->aside = fixture_path(x->dir, "mirror-aside");
    x->store = fixture_open(x->store_dir);
    assert_int_equal(store_campaign(x->store, &x->term, NULL), 0);
    x->c = cluster_create();
    assert_int_equal(store_load(x->store, take, x->c, &x->revision, NULL), 0);
    configure(x->c);
    return 0;
}

static int teardown(void **state)
{
    struct world *x = *state;
    committer_end(x);
    uv_close((uv_handle_t *)&x->tick, NULL);
    uv_run(&x->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&x->loop), 0);
    cluster_destroy(x->c);
    store_close(x->store);
    free(x->store_dir);
    free(x->mirror);
    free(x->aside);
    fixture_remove(x->dir);
    free(x);
    return 0;
}

static void turn(struct world *x)
{
    committer_turn(x->k, mono_now());
    uv_run(&x->loop, UV_RUN_ONCE);
}

static struct committer_mirrored mirrored(const struct world *x)
{
    struct committer_mirrored is = {0};
    assert_true(committer_mirrored(x->k, &is));
    return is;
}

static void wait_complete(struct world *x, bool complete)
{
    struct mono until = mono_add(mono_now(), span_s(WAIT_S));
    while (mirrored(x).complete != complete || (complete && x->journal.code)) {
        assert_true(mono_now().ns < until.ns);
        turn(x);
    }
}

static void on_outcome(void *arg, const struct outcome *o)
{
    struct world *x = arg;
    assert_int_equal(o->rc, 0);
    x->answered++;
}

/* A change by the committer, which does not wait for the mirror. */
static void drain(struct world *x)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    assert_int_equal(hostlist_parse("lx01", &names, NULL), 0);
    char actor[16];
    snprintf(actor, sizeof actor, "ann%zu", x->asked);
    struct command cmd = {.kind = COMMAND_DRAIN, .actor = actor, .at = {1}, .nodes = &names, .reason = "x"};
    said_read("x", &cmd);
    committer_submit(x->k, &cmd, on_outcome, x);
    said_fini();
    x->asked++;
    while (x->answered < x->asked)
        turn(x);
}

static int count(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    ++*(size_t *)arg;
    return 0;
}

/* The number of entries that the loop reads. */
static size_t read_here(struct world *x)
{
    size_t n = 0;
    assert_int_equal(committer_journal(x->k, 0, SIZE_MAX, count, &n, &x->e), 0);
    return n;
}

static void it_fetches_what_it_lacks(void **state)
{
    struct world *x = *state;
    commit(x, ENTRIES, "ann");
    committer_begin(x);
    size_t n = 0;
    assert_int_equal(committer_journal(x->k, 0, SIZE_MAX, count, &n, &x->e), -EAGAIN);
    wait_complete(x, true);
    assert_int_equal(read_here(x), ENTRIES);
    assert_int_equal(mirrored(x).revision, ENTRIES);
    assert_int_equal(mirrored(x).first, 1);
    assert_int_equal(mirrored(x).missing.from, 0);
}

static void it_has_a_commit_when_that_is_answered(void **state)
{
    struct world *x = *state;
    committer_begin(x);
    wait_complete(x, true);
    for (size_t i = 1; i <= 20; i++) {
        drain(x);
        assert_int_equal(read_here(x), i);
    }
}

static void it_goes_on_after_a_restart(void **state)
{
    struct world *x = *state;
    committer_begin(x);
    wait_complete(x, true);
    drain(x);
    committer_end(x);
    x->revision = 1;
    commit(x, 5, "bob"); /* meanwhile */
    committer_begin(x);
    wait_complete(x, true);
    assert_int_equal(read_here(x), 6);
    assert_int_equal(access(x->aside, F_OK), -1);
}

static void on_copied(void *arg, const struct store_copied *copied, uint64_t digest, const struct err *why)
{
    struct world *x = arg;
    x->e = why ? *why : (struct err){0};
    x->answered++;
    if (why)
        return;
    assert_true(digest == cluster_digest(x->c));
    assert_int_equal(copied->revision, committer_revision(x->k));
    assert_int_equal(copied->term, x->term);
}

static void copy(struct world *x, const char *dir)
{
    committer_copy(x->k, dir, on_copied, x);
    x->asked++;
    while (x->answered < x->asked)
        turn(x);
}

/* What a copy of the whole store has: as that of the store itself would. */
static void a_copy_has_records_and_journal(void **state)
{
    struct world *x = *state;
    CLEANUP_FREE char *to = fixture_path(x->dir, "copy");
    CLEANUP_TEXT struct text theirs = {0}, copied = {0};
    assert_int_equal(mkdir(to, 0700), 0);
    committer_begin(x);
    wait_complete(x, true);
    for (int i = 0; i < 5; i++)
        drain(x);
    copy(x, to);
    assert_int_equal(x->e.code, 0);
    assert_int_equal(fixture_dump(x->store, &theirs, NULL), 0);
    struct store *s = fixture_open(to);
    assert_int_equal(fixture_dump(s, &copied, NULL), 0);
    store_close(s);
    assert_string_equal(copied.s, theirs.s);
    drain(x); /* it goes on */
    assert_int_equal(read_here(x), 6);
}

/* Something is in the way of the directory. */
static void a_disk_that_refuses_stops_nothing(void **state)
{
    struct world *x = *state;
    size_t n = 0;
    fixture_write(x->mirror, "", 0);
    committer_begin(x);
    drain(x);
    drain(x);
    while (!x->journal.code)
        turn(x);
    assert_non_null(strstr(x->journal.msg, "mirror"));
    assert_int_equal(committer_journal(x->k, 0, SIZE_MAX, count, &n, &x->e), -EAGAIN);
    x->e = (struct err){0};
    assert_int_equal(committer_journal_wait(x->k, 0, SIZE_MAX, count, &n, &x->e), 0);
    assert_int_equal(n, 2); /* a thread asks the store */
    assert_int_equal(x->e.code, 0);
    n = 0;
    assert_int_equal(committer_journal_back(x->k, INT64_MAX, SIZE_MAX, count, &n, &x->e), 0);
    assert_int_equal(n, 2);
    copy(x, x->dir);
    assert_int_equal(x->e.code, -EAGAIN);
    assert_int_equal(unlink(x->mirror), 0);
    wait_complete(x, true);
    assert_int_equal(read_here(x), 2);
}

/* The store went on differently from what the mirror saw. */
static void another_history_is_read_anew(void **state)
{
    struct world *x = *state;
    struct mirror *m = mirror_create(x->mirror, "etcd-1");
    struct store_change *list = NULL;
    commit(x, 3, "ann");
    for (uint64_t r = 1; r <= 2; r++) {
        struct store_change *c = change_create(r);
        change_add_entry(c, &(struct store_entry){{1}, "eve", "node.drain", "lx01", "other", "", ""});
        DL_APPEND(list, c);
    }
    assert_int_equal(mirror_open(m, 3, &x->e, NULL), 0);
    assert_int_equal(mirror_add(m, list, NULL), 0);
    changes_destroy(list);
    mirror_destroy(m);
    committer_begin(x);
    wait_complete(x, true);
    assert_int_equal(read_here(x), 3);
    assert_int_equal(access(x->aside, F_OK), 0);
    assert_int_equal(mirrored(x).missing.from, 0);
}

/* The store's oldest entries are gone. */
static void what_is_gone_everywhere_is_said(void **state)
{
    struct world *x = *state;
    struct mirror *m = mirror_create(x->mirror, "etcd-1");
    struct store_change *c = change_create(1);
    const struct store_keep keep = {span_s(1), UINT64_MAX, NULL, 0};
    bool more = true;
    uint64_t first = 0;
    commit(x, 1, "ann");
    change_add_entry(c, &(struct store_entry){{1}, "ann", "node.drain", "lx[01-04]", "bad DIMM", "", ""});
    assert_int_equal(mirror_open(m, 1, &x->e, NULL), 0);
    assert_int_equal(mirror_add(m, c, NULL), 0);
    change_destroy(c);
    mirror_destroy(m);
    commit(x, 10300, "ann");
    while (more)
        assert_int_equal(store_tidy(x->store, &keep, (struct wall){INT64_MAX / 2}, &more, &x->e), 0);
    assert_int_equal(store_first(x->store, &first, NULL), 0);
    assert_true(first > 2);
    committer_begin(x);
    wait_complete(x, true);
    assert_int_equal(mirrored(x).missing.from, 2);
    assert_int_equal(mirrored(x).missing.to, first - 1);
    assert_int_equal(read_here(x), 10301 - (first - 2));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(it_fetches_what_it_lacks),          TEST(it_has_a_commit_when_that_is_answered),
        TEST(it_goes_on_after_a_restart),        TEST(a_copy_has_records_and_journal),
        TEST(a_disk_that_refuses_stops_nothing), TEST(another_history_is_read_anew),
        TEST(what_is_gone_everywhere_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
