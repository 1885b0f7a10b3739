/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log over the real store. */
#include "controller/audit/auditor.h"

#include "archive/verify.h"
#include "audit/leaf.h"
#include "controller/audit/audit_inside.h"
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

#include <cmocka.h>

struct world {
    uv_loop_t loop;
    char *dir, *audit, *archive;
    struct store *store;
    struct cluster *c;
    struct committer *k;
    struct auditor *a;
    struct note_key key;
    uint64_t term, revision;
    unsigned steps, hours;
    struct err step;
    bool answered, is_shared;
    struct text answer;
    struct err why;
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

static void on_step(void *arg, const struct err *why)
{
    struct world *x = arg;
    x->steps++;
    x->step = why ? *why : (struct err){0};
}

static void on_answer(void *arg, const struct text *answer, const struct err *why)
{
    struct world *x = arg;
    assert_false(x->answered);
    x->answered = true;
    text_clear(&x->answer);
    if (answer)
        text_add_bytes(&x->answer, answer->s ? answer->s : "", answer->len);
    x->why = why ? *why : (struct err){0};
}

/* One commit with so many entries, an hour apart. */
static void commit(struct world *x, size_t n, const char *text)
{
    struct store_entry entries[STORE_ENTRIES_MAX];
    const struct store_op op = {.key = "a", .value = "1"};
    for (size_t i = 0; i < n; i++)
        entries[i] =
            (struct store_entry){{INT64_C(1795211336000000000) + (int64_t)x->revision * 3600000000000},
                                 "ann",
                                 "node.drain",
                                 "lx[01-04]",
                                 text,
                                 "1.1",
                                 "\"claims\":[\"1.1\"]"};
    const struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = n, .entries = entries};
    assert_int_equal(store_commit(x->store, x->term, &b, &x->revision, NULL), 0);
}

static void commit_many(struct world *x, size_t n)
{
    for (; n > 0; n -= n < 100 ? n : 100)
        commit(x, n < 100 ? n : 100, "bad DIMM");
}

static void open_committer(struct world *x)
{
    const struct committer_events events = {x, on_entry, on_changed, on_why, on_why, on_why};
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = ""};
    x->k = committer_create(&x->loop, x->c, x->store, x->term, x->revision, &keep, &events);
}

static int open_log(struct world *x, struct err *e)
{
    struct treefile *tree = NULL;
    int r = treefile_open(x->audit, "fettle/1", &tree, e);
    if (r == 0 && !x->is_shared)
        r = auditor_compare(tree, x->store, x->revision, e);
    if (r) {
        treefile_close(tree);
        return r;
    }
    x->key = *treefile_key(tree);
    const struct auditor_setup setup = {.loop = &x->loop,
                                        .committer = x->k,
                                        .tree = tree,
                                        .archive = x->archive,
                                        .keep = span_s(INT64_C(2557) * 86400),
                                        .is_shared = x->is_shared,
                                        .arg = x,
                                        .on_step = on_step};
    x->a = auditor_create(&setup);
    return 0;
}

static int setup(void **state)
{
    struct world *x = mem_alloc(sizeof *x);
    *state = x;
    uv_loop_init(&x->loop);
    x->dir = fixture_dir();
    x->audit = fixture_path(x->dir, "audit");
    x->archive = fixture_path(x->dir, "archive");
    x->store = fixture_open(x->dir);
    assert_int_equal(store_campaign(x->store, &x->term, NULL), 0);
    x->c = cluster_create();
    return 0;
}

static void close_log(struct world *x)
{
    auditor_destroy(STEAL(x->a));
    committer_destroy(STEAL(x->k));
    uv_run(&x->loop, UV_RUN_DEFAULT);
}

static int teardown(void **state)
{
    struct world *x = *state;
    close_log(x);
    uv_loop_close(&x->loop);
    cluster_destroy(x->c);
    store_close(x->store);
    text_fini(&x->answer);
    free(x->audit);
    free(x->archive);
    fixture_remove(x->dir);
    free(x);
    return 0;
}

static void begin(struct world *x)
{
    struct err e;
    open_committer(x);
    if (open_log(x, &e))
        fail_msg("%s", e.msg);
}

/* A step, an hour after the last. */
static void follow(struct world *x)
{
    unsigned before = x->steps;
    auditor_turn(x->a, mono_add(mono_now(), span_s(3600 * ++x->hours)));
    while (x->steps == before)
        uv_run(&x->loop, UV_RUN_ONCE);
    uv_run(&x->loop, UV_RUN_NOWAIT);
}

static int ask(struct world *x, struct auditor_ask ask)
{
    x->answered = false;
    auditor_begin(x->a, &ask, on_answer, x);
    while (!x->answered)
        uv_run(&x->loop, UV_RUN_ONCE);
    return x->why.code;
}

static struct checkpoint head_of(struct world *x)
{
    struct checkpoint head;
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_CHECKPOINT}), 0);
    assert_int_equal(archive_checkpoint(x->answer.s, x->answer.len, &x->key, &head, NULL), 0);
    return head;
}

/* --- the tree -------------------------------------------------------------------------------- */

struct expected {
    struct tree_edge edge;
    struct trail_walk walk;
};

static int expect_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct expected *x = arg;
    CLEANUP_TEXT struct text bytes = {0};
    trail_format(revision, trail_next(&x->walk, revision).n, entry, &bytes);
    const struct tree_hash leaf = tree_leaf(bytes.s, bytes.len);
    tree_grow(&x->edge, &leaf, NULL, NULL);
    return 0;
}

/* The head is that of all entries of the journal, in its order. */
static void check_head(struct world *x, uint64_t size)
{
    struct expected *all = mem_alloc(sizeof *all);
    struct tree_hash root;
    const struct checkpoint head = head_of(x);
    assert_int_equal(store_journal(x->store, 0, SIZE_MAX, expect_entry, all, NULL), 0);
    tree_edge_root(&all->edge, &root);
    assert_int_equal(all->edge.size, size);
    assert_int_equal(head.size, size);
    assert_true(tree_same(&root, &head.root));
    free(all);
}

static void test_follows_the_journal(void **state)
{
    struct world *x = *state;
    begin(x);
    check_head(x, 0);
    commit(x, 3, "bad DIMM");
    check_head(x, 3);
    commit(x, 1, "good again");
    commit_many(x, 300);
    check_head(x, 304);
    follow(x);
    assert_int_equal(x->step.code, 0);
    check_head(x, 304);
}

/* A journal of before, and a controller that ends at any moment. */
static void test_goes_on_where_it_was(void **state)
{
    struct world *x = *state;
    commit_many(x, 9000);
    begin(x);
    follow(x); /* the first of several steps */
    close_log(x);
    commit_many(x, 150);
    begin(x);
    check_head(x, 9150);
}

/* One turn is enough: the steps go on until nothing is left. */
static void test_steps_go_on_by_themselves(void **state)
{
    struct world *x = *state;
    commit_many(x, 9000);
    begin(x);
    auditor_turn(x->a, mono_add(mono_now(), span_s(3600)));
    while (x->steps < 3)
        uv_run(&x->loop, UV_RUN_ONCE);
    close_log(x);
    begin(x);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_TILE, .tile = {.index = 33, .width = 200}}),
                     0);
}

/* --- logs of several controllers ---------------------------------------------------------------- */

static void begin_shared(struct world *x, size_t n)
{
    x->is_shared = true;
    begin(x);
    commit(x, n, "bad DIMM");
    follow(x);
    assert_int_equal(x->step.code, 0);
}

static void hear(struct world *x, const char *controller, const char *told)
{
    unsigned before = x->steps;
    auditor_hear(x->a, controller, told);
    while (x->steps == before)
        uv_run(&x->loop, UV_RUN_ONCE);
}

#define OTHER_ROOT "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

static void test_the_same_log_goes_on(void **state)
{
    struct world *x = *state;
    char before[AUDITOR_TOLD_BYTES], told[AUDITOR_TOLD_BYTES];
    x->is_shared = true;
    begin(x);
    assert_string_equal(auditor_tell(x->a, told), "");
    commit(x, 3, "bad DIMM");
    follow(x);
    auditor_tell(x->a, before);
    assert_memory_equal(before, "3 ", 2);
    commit_many(x, 300);
    follow(x);
    hear(x, "c1", before); /* one that is behind */
    assert_int_equal(x->step.code, 0);
    hear(x, "c2", auditor_tell(x->a, told));
    assert_int_equal(x->step.code, 0);
    auditor_hear(x->a, "c3", "no head");
    auditor_hear(x->a, "c3", "3 short");
    auditor_hear(x->a, "c3", "-1 " OTHER_ROOT);
    commit(x, 1, "bad DIMM");
    follow(x);
    assert_int_equal(x->step.code, 0);
    check_head(x, 304);
}

/* Both names are told, and nothing is added or signed any more, after a restart either. */
static void test_another_log_stops_this_one(void **state)
{
    struct world *x = *state;
    begin_shared(x, 3);
    hear(x, "c1", "2 " OTHER_ROOT);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(x->step.code, -EILSEQ);
        assert_non_null(strstr(x->step.msg, "the audit log of c1"));
        assert_non_null(strstr(x->step.msg, "fettle/1"));
        commit(x, 1, "good again");
        follow(x);
        assert_int_equal(head_of(x).size, 3);
        close_log(x);
        begin(x);
        hear(x, "c1", "2 " OTHER_ROOT);
    }
    close_log(x);
}

/* The other controller made its log anew. */
static void test_a_difference_ends_when_the_other_has_this_log(void **state)
{
    struct world *x = *state;
    char told[AUDITOR_TOLD_BYTES];
    begin_shared(x, 3);
    auditor_tell(x->a, told);
    hear(x, "c1", "2 " OTHER_ROOT);
    commit(x, 1, "good again");
    auditor_hear(x->a, "c1", "9 " OTHER_ROOT); /* cannot be compared yet */
    follow(x);
    assert_int_equal(x->step.code, -EILSEQ);
    hear(x, "c2", told);
    assert_int_equal(x->step.code, -EILSEQ);
    hear(x, "c1", told);
    assert_int_equal(x->step.code, 0);
    check_head(x, 4);
}

static void test_a_head_that_comes_during_a_step_is_compared(void **state)
{
    struct world *x = *state;
    begin_shared(x, 3);
    unsigned before = x->steps;
    auditor_turn(x->a, mono_add(mono_now(), span_s(3600 * ++x->hours)));
    auditor_hear(x->a, "c1", "2 " OTHER_ROOT);
    while (x->steps < before + 2)
        uv_run(&x->loop, UV_RUN_ONCE);
    assert_int_equal(x->step.code, -EILSEQ);
}

/* A head that is longer than this log is kept until it can be compared, whatever is told meanwhile. */
static void test_a_longer_log_is_compared_later(void **state)
{
    struct world *x = *state;
    begin_shared(x, 3);
    auditor_hear(x->a, "c1", "5 " OTHER_ROOT);
    auditor_hear(x->a, "c1", "9 " OTHER_ROOT);
    commit(x, 1, "good again");
    follow(x);
    assert_int_equal(x->step.code, 0);
    commit(x, 1, "good again");
    follow(x);
    assert_int_equal(x->step.code, -EILSEQ);
}

/* etcd did not have the first entries any more when this controller came. */
static void test_a_log_without_its_beginning_is_none(void **state)
{
    struct world *x = *state;
    const struct store_op op = {.key = "a", .value = "1"};
    const struct store_batch silent = {.n_ops = 1, .ops = &op};
    x->is_shared = true;
    assert_int_equal(store_commit(x->store, x->term, &silent, &x->revision, NULL), 0);
    assert_int_equal(store_commit(x->store, x->term, &silent, &x->revision, NULL), 0);
    commit(x, 1, "bad DIMM");
    begin(x);
    follow(x);
    assert_int_equal(x->step.code, -ENOENT);
    assert_non_null(strstr(x->step.msg, "lacks the revisions 1 to 2"));
}

static void test_a_log_of_another_journal_is_refused(void **state)
{
    struct world *x = *state;
    CLEANUP_FREE char *other = fixture_path(x->dir, "other");
    begin_shared(x, 3);
    close_log(x);
    store_close(x->store);
    x->store = fixture_open(other);
    x->revision = 0;
    assert_int_equal(store_campaign(x->store, &x->term, NULL), 0);
    commit(x, 3, "another journal");
    begin(x);
    follow(x);
    assert_int_equal(x->step.code, -EILSEQ);
    assert_non_null(strstr(x->step.msg, "is not that of the journal"));
}

/* --- answers --------------------------------------------------------------------------------- */

static void test_proves_an_entry(void **state)
{
    struct world *x = *state;
    struct proof p;
    struct checkpoint head;
    begin(x);
    commit(x, 3, "bad DIMM");
    commit(x, 2, "good again");
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_PROOF, .place = {2, 1}}), 0);
    assert_int_equal(proof_parse(x->answer.s, x->answer.len, &p, NULL), 0);
    assert_int_equal(p.place, 4);
    assert_int_equal(verify_proof(&p, &x->key, NULL, &head, NULL), 0);
    assert_non_null(strstr(p.entry.s, "\"revision\":2,\"n\":1,"));
    assert_non_null(strstr(p.entry.s, "\"text\":\"good again\",\"about\":\"1.1\",\"claims\":[\"1.1\"]}"));
    proof_fini(&p);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_PROOF, .place = {2, 2}}), -ENOENT);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_PROOF, .place = {3, 0}}), -ENOENT);
}

static void test_proves_growth(void **state)
{
    struct world *x = *state;
    struct proof p;
    struct checkpoint head;
    begin(x);
    commit(x, 100, "bad DIMM");
    const struct checkpoint old = head_of(x);
    commit_many(x, 700);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_CONSISTENCY, .old = 100}), 0);
    assert_int_equal(proof_parse(x->answer.s, x->answer.len, &p, NULL), 0);
    assert_int_equal(verify_proof(&p, &x->key, &old, &head, NULL), 0);
    assert_int_equal(head.size, 800);
    proof_fini(&p);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_CONSISTENCY, .old = 801}), -ENOENT);
}

static void test_tiles_and_bundles(void **state)
{
    struct world *x = *state;
    const struct tile leaves = {.width = 200}, bundle = {.entries = true, .width = 200};
    begin(x);
    commit_many(x, 200);
    check_head(x, 200);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_TILE, .tile = leaves}), 0);
    assert_int_equal(x->answer.len, 200 * 32);
    CLEANUP_TEXT struct text hashes = {0};
    text_add_bytes(&hashes, x->answer.s, x->answer.len);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_TILE, .tile = bundle}), 0);
    struct bundle_walk w = {x->answer.s, x->answer.s + x->answer.len};
    const char *bytes;
    size_t len;
    for (int i = 0; i < 200; i++) {
        assert_int_equal(bundle_next(&w, &bytes, &len, NULL), 1);
        const struct tree_hash leaf = tree_leaf(bytes, len);
        assert_memory_equal(leaf.bytes, hashes.s + 32 * i, 32);
    }
    assert_int_equal(bundle_next(&w, &bytes, &len, NULL), 0);
    const struct tile more = {.width = 201}, other = {.level = 1, .width = 1};
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_TILE, .tile = more}), -ENOENT);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_TILE, .tile = other}), -ENOENT);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_MINIMUM}), -ENOENT);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_SHOW}), 0);
    assert_non_null(strstr(x->answer.s, "\"size\":200,"));
    assert_non_null(strstr(x->answer.s, "{\"origin\":\"fettle/1\",\"key\":\"fettle/1+"));
}

static void test_too_many_questions(void **state)
{
    struct world *x = *state;
    const struct auditor_ask show = {.kind = AUDITOR_SHOW};
    begin(x);
    unsigned refused = 0;
    for (int i = 0; i < 66; i++) {
        x->answered = false;
        auditor_begin(x->a, &show, on_answer, x);
        refused += x->answered;
        x->answered = false;
    }
    assert_int_equal(refused, 1);
    assert_int_equal(x->why.code, -EAGAIN);
    for (int i = 0; i < 65; i++) {
        x->answered = false;
        while (!x->answered)
            uv_run(&x->loop, UV_RUN_ONCE);
    }
}

/* --- the archive ----------------------------------------------------------------------------- */

static void check_archive(struct world *x, uint64_t size)
{
    struct archive *a;
    struct verified v;
    struct err e;
    assert_int_equal(archive_open(x->archive, &x->key, &a, NULL), 0);
    if (archive_verify(a, NULL, &v, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(v.head.size, size);
    archive_close(a);
}

static void test_archives_whole_bundles(void **state)
{
    struct world *x = *state;
    begin(x);
    commit_many(x, 250);
    follow(x);
    CLEANUP_FREE char *head = fixture_path(x->archive, "checkpoint");
    assert_int_equal(access(head, F_OK), -1);
    commit_many(x, 350);
    follow(x);
    check_archive(x, 512);
    commit_many(x, 300);
    follow(x);
    check_archive(x, 768);
}

/* What is not in the archive stays in the journal. */
static void test_entries_that_may_leave(void **state)
{
    struct world *x = *state;
    struct treefile *tree;
    uint64_t revision = 0;
    bool more;
    open_committer(x);
    assert_int_equal(treefile_open(x->audit, "fettle/1", &tree, NULL), 0);
    struct trail t = {.committer = x->k, .tree = tree, .archive_dir = x->archive};
    commit_many(x, 650); /* seven revisions */
    assert_int_equal(trail_follow(&t, &more, NULL), 0);
    assert_int_equal(trail_stays_from(&t, &revision, NULL), 0);
    assert_int_equal(revision, 1);
    assert_int_equal(trail_archive(&t, (struct wall){0}, &more, NULL), 0);
    assert_int_equal(t.archived, 512);
    assert_int_equal(trail_stays_from(&t, &revision, NULL), 0);
    assert_int_equal(revision, 6); /* entry 512 is among its hundred */
    archive_close(t.archive);
    treefile_close(tree);
}

/* Entries that left the journal come from the archive, and proofs of them. */
static void test_entries_of_the_archive(void **state)
{
    struct world *x = *state;
    struct proof p;
    struct checkpoint head;
    begin(x);
    commit_many(x, 600);
    follow(x);
    close_log(x);
    begin(x);
    follow(x);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_PROOF, .place = {1, 0}}), 0);
    assert_int_equal(proof_parse(x->answer.s, x->answer.len, &p, NULL), 0);
    assert_int_equal(verify_proof(&p, &x->key, NULL, &head, NULL), 0);
    proof_fini(&p);
    CLEANUP_FREE char *bundle = fixture_path(x->archive, "tile/entries/000");
    CLEANUP_TEXT struct text bytes = {0};
    fixture_read(bundle, &bytes);
    bytes.s[20] ^= 1;
    unlink(bundle);
    fixture_write(bundle, bytes.s, bytes.len);
    assert_int_equal(ask(x, (struct auditor_ask){.kind = AUDITOR_PROOF, .place = {1, 0}}), -EILSEQ);
    assert_non_null(strstr(x->why.msg, "entry 0 of the archive"));
}

/* An archive that cannot be written is told; the tree goes on, and the archive later. */
static void test_an_archive_that_fails(void **state)
{
    struct world *x = *state;
    begin(x);
    fixture_write(x->archive, "x", 1);
    commit_many(x, 600);
    follow(x);
    assert_int_equal(x->step.code, -ENOTDIR);
    check_head(x, 600);
    unlink(x->archive);
    follow(x);
    assert_int_equal(x->step.code, 0);
    check_archive(x, 512);
}

static void test_an_archive_of_another_log(void **state)
{
    struct world *x = *state;
    struct archive *a;
    struct note_key other;
    begin(x);
    note_key_init(&other, "fettle/2", x->key.public);
    assert_int_equal(archive_open(x->archive, &other, &a, NULL), 0);
    archive_close(a);
    commit_many(x, 300);
    follow(x);
    assert_int_equal(x->step.code, -EEXIST);
}

static void test_another_archive(void **state)
{
    struct world *x = *state;
    begin(x);
    commit_many(x, 300);
    follow(x);
    check_archive(x, 256);
    free(x->archive);
    x->archive = fixture_path(x->dir, "elsewhere");
    auditor_configure(x->a, x->archive, span_s(INT64_C(2557) * 86400));
    unsigned before = x->steps;
    while (x->steps == before)
        uv_run(&x->loop, UV_RUN_ONCE);
    check_archive(x, 256);
}

/* Each revision is an hour later than the one before it: the first bundle ends 3 hours after the beginning,
 * the last one that is archived at 9. */
static void test_retention(void **state)
{
    struct world *x = *state;
    struct treefile *tree;
    struct verified v;
    bool more;
    open_committer(x);
    assert_int_equal(treefile_open(x->audit, "fettle/1", &tree, NULL), 0);
    x->key = *treefile_key(tree);
    struct trail t = {.committer = x->k, .tree = tree, .archive_dir = x->archive, .keep = span_s(5 * 3600)};
    commit_many(x, 1100);
    assert_int_equal(trail_follow(&t, &more, NULL), 0);
    assert_int_equal(trail_archive(&t, (struct wall){INT64_MAX}, &more, NULL), 0);
    assert_int_equal(t.archived, 1024);
    for (more = true; more;) /* a clock of the year 2262 removes no more than the entries themselves say */
        assert_int_equal(trail_archive(&t, (struct wall){INT64_MAX}, &more, NULL), 0);
    assert_int_equal(archive_verify(t.archive, NULL, &v, NULL), 0);
    assert_int_equal(v.from, 256);
    archive_close(t.archive);
    treefile_close(tree);
}

/* --- what does not belong together ------------------------------------------------------------- */

static void begin_again(struct world *x, const char *text, size_t n)
{
    close_log(x);
    store_close(x->store);
    CLEANUP_FREE char *to = fixture_path(x->dir, "other");
    x->store = fixture_open(to);
    x->revision = 0;
    assert_int_equal(store_campaign(x->store, &x->term, NULL), 0);
    for (size_t i = 0; i < n; i++)
        commit(x, 1, text);
    open_committer(x);
}

/* A log that has three entries, each with a commit of its own. */
static void begin_with_three(struct world *x)
{
    begin(x);
    for (int i = 0; i < 3; i++)
        commit(x, 1, "bad DIMM");
    check_head(x, 3);
}

static void test_another_journal(void **state)
{
    struct world *x = *state;
    struct err e;
    begin_with_three(x);
    begin_again(x, "bad GPU", 3);
    assert_int_equal(open_log(x, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "entry 1.0 of the journal is not what was logged"));
}

static void test_an_older_state(void **state)
{
    struct world *x = *state;
    struct err e;
    begin_with_three(x);
    begin_again(x, "bad DIMM", 2);
    assert_int_equal(open_log(x, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "older copy"));
}

static void test_entries_that_are_gone(void **state)
{
    struct world *x = *state;
    struct err e;
    begin(x);
    commit(x, 3, "bad DIMM");
    check_head(x, 3);
    begin_again(x, "bad DIMM", 1); /* one entry in revision 1 */
    commit(x, 0, "");
    assert_int_equal(open_log(x, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "entry 1.1 is in the audit log"));
}

static void test_the_same_journal(void **state)
{
    struct world *x = *state;
    struct err e;
    begin_with_three(x);
    begin_again(x, "bad DIMM", 4);
    assert_int_equal(open_log(x, &e), 0);
    check_head(x, 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_follows_the_journal),
        TEST(test_goes_on_where_it_was),
        TEST(test_steps_go_on_by_themselves),
        TEST(test_the_same_log_goes_on),
        TEST(test_another_log_stops_this_one),
        TEST(test_a_head_that_comes_during_a_step_is_compared),
        TEST(test_a_difference_ends_when_the_other_has_this_log),
        TEST(test_a_longer_log_is_compared_later),
        TEST(test_a_log_without_its_beginning_is_none),
        TEST(test_a_log_of_another_journal_is_refused),
        TEST(test_proves_an_entry),
        TEST(test_proves_growth),
        TEST(test_tiles_and_bundles),
        TEST(test_too_many_questions),
        TEST(test_archives_whole_bundles),
        TEST(test_entries_that_may_leave),
        TEST(test_entries_of_the_archive),
        TEST(test_an_archive_that_fails),
        TEST(test_an_archive_of_another_log),
        TEST(test_another_archive),
        TEST(test_retention),
        TEST(test_another_journal),
        TEST(test_an_older_state),
        TEST(test_entries_that_are_gone),
        TEST(test_the_same_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
