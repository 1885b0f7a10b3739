/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a real tree. This file stands in the place of follow.c and trail.c: the entries are those of the
 * archive's fixture. */
#include "controller/audit/audit_inside.h"

#include "archive/fixture_test.h"
#include "audit/leaf.h"
#include "audit/proof.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *root;
static struct fixture_log l;
static struct trail t;
static unsigned followed;
static int follows, gives; /* the results of the two functions below */

int trail_follow(struct trail *trail, bool *more, struct err *e)
{
    followed++;
    *more = false;
    return follows ? err_set(e, follows, "the journal cannot be read") : 0;
}

int trail_bundle(struct trail *trail, const struct tile *tile, struct text *out, struct err *e)
{
    const struct archive_source source = fixture_source(&l);
    return gives ? err_set(e, gives, "it is not kept") : source.fetch(source.arg, tile, out, e);
}

static int begin(void **state)
{
    root = fixture_dir();
    CLEANUP_FREE char *tree = fixture_path(root, "audit");
    l = (struct fixture_log){.tree = NULL};
    followed = 0;
    follows = gives = 0;
    int r = treefile_open(tree, ORIGIN, &l.tree, NULL);
    t = (struct trail){.tree = l.tree};
    return r;
}

static int end(void **state)
{
    archive_close(t.archive);
    treefile_close(l.tree);
    fixture_remove(root);
    return 0;
}

static int ask(const struct auditor_ask *a, struct text *out, struct err *e)
{
    text_clear(out);
    text_add(out, "");
    return trail_answer(&t, a, out, e);
}

static void assert_refused(const struct auditor_ask *a, int code, const char *words)
{
    CLEANUP_TEXT struct text out = {0};
    struct err e = {0};
    assert_int_equal(ask(a, &out, &e), code);
    if (!strstr(e.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, words);
}

static void archived(uint64_t size)
{
    CLEANUP_FREE char *dir = fixture_path(root, "archive");
    fixture_grow(l.tree, size, NULL);
    assert_int_equal(fixture_export(&l, dir, true, NULL), 0);
    assert_int_equal(archive_open(dir, treefile_key(l.tree), &t.archive, NULL), 0);
    t.archived = size;
}

static void the_log_is_shown(void **state)
{
    CLEANUP_TEXT struct text out = {0};
    const struct auditor_ask show = {.kind = AUDITOR_SHOW};
    assert_int_equal(ask(&show, &out, NULL), 0);
    assert_int_equal(strncmp(out.s, "{\"origin\":\"" ORIGIN "\",\"key\":\"" ORIGIN "+", 66), 0);
    /* the SHA-256 of nothing */
    assert_non_null(strstr(out.s, ",\"size\":0,\"root\":\"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\","
                                  "\"first\":0,\"archived\":0}"));
    archived(600);
    assert_int_equal(ask(&show, &out, NULL), 0);
    assert_non_null(strstr(out.s, ",\"size\":600,"));
    assert_non_null(strstr(out.s, ",\"first\":0,\"archived\":600}"));
}

static void the_checkpoint_is_the_signed_head(void **state)
{
    CLEANUP_TEXT struct text out = {0};
    struct checkpoint head;
    fixture_grow(l.tree, 7, NULL);
    assert_int_equal(ask(&(struct auditor_ask){.kind = AUDITOR_CHECKPOINT}, &out, NULL), 0);
    assert_int_equal(archive_checkpoint(out.s, out.len, treefile_key(l.tree), &head, NULL), 0);
    assert_int_equal(head.size, 7);
}

static void the_minimum_is_there_once_entries_are_not_kept(void **state)
{
    CLEANUP_TEXT struct text out = {0}, note = {0};
    const struct auditor_ask minimum = {.kind = AUDITOR_MINIMUM}, show = {.kind = AUDITOR_SHOW};
    assert_refused(&minimum, -ENOENT, "all entries are kept");
    archived(600);
    assert_refused(&minimum, -ENOENT, "all entries are kept");
    minimum_format(ORIGIN, 512, &note);
    assert_int_equal(treefile_sign(l.tree, &note, NULL), 0);
    assert_int_equal(archive_take_minimum(t.archive, &note, NULL), 0);
    assert_int_equal(ask(&minimum, &out, NULL), 0);
    assert_string_equal(out.s, note.s);
    assert_int_equal(ask(&show, &out, NULL), 0);
    assert_non_null(strstr(out.s, ",\"first\":512,"));
}

static void tiles_are_those_of_the_head(void **state)
{
    CLEANUP_TEXT struct text out = {0};
    struct auditor_ask a = {.kind = AUDITOR_TILE, .tile = {.width = TILE_WIDTH}};
    fixture_grow(l.tree, 300, NULL);
    assert_int_equal(ask(&a, &out, NULL), 0);
    assert_int_equal(out.len, TILE_WIDTH * TREE_HASH_BYTES);
    CLEANUP_TEXT struct text entry = {0};
    fixture_entry(0, NULL, &entry);
    const struct tree_hash leaf = tree_leaf(entry.s, entry.len);
    assert_memory_equal(out.s, leaf.bytes, sizeof leaf.bytes);
    a.tile = (struct tile){.index = 1, .width = 44};
    assert_int_equal(ask(&a, &out, NULL), 0);
    assert_int_equal(out.len, 44 * TREE_HASH_BYTES);
    a.tile.width = 45;
    assert_refused(&a, -ENOENT, "a log of 300 entries has no tile/0/001.p/45");
    a.tile = (struct tile){.index = 2, .width = 1};
    assert_refused(&a, -ENOENT, "has no tile/0/002.p/1");
    a.tile = (struct tile){.level = 1, .width = 2};
    assert_refused(&a, -ENOENT, "has no tile/1/000.p/2");
    a.tile.width = 1;
    assert_int_equal(ask(&a, &out, NULL), 0);
    a.tile = (struct tile){.entries = true, .index = 1, .width = 44};
    assert_int_equal(ask(&a, &out, NULL), 0);
    a.tile.width = 45;
    assert_refused(&a, -ENOENT, "has no tile/entries/001.p/45");
    a.tile.width = 44;
    gives = -ENOENT;
    assert_refused(&a, -ENOENT, "it is not kept");
}

/* The proof that is given leads from the entry to the head. */
static void an_entry_is_proven(void **state)
{
    static const uint64_t some[] = {0, 1, 254, 255, 256, 257, 599};
    fixture_grow(l.tree, 600, NULL);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        CLEANUP_TEXT struct text out = {0}, entry = {0};
        struct proof p;
        struct checkpoint head;
        assert_int_equal(
            ask(&(struct auditor_ask){.kind = AUDITOR_PROOF, .place = fixture_place(some[i])}, &out, NULL),
            0);
        assert_int_equal(proof_parse(out.s, out.len, &p, NULL), 0);
        assert_int_equal(p.kind, PROOF_INCLUSION);
        assert_int_equal(p.place, some[i]);
        fixture_entry(some[i], NULL, &entry);
        assert_int_equal(p.entry.len, entry.len);
        assert_memory_equal(p.entry.s, entry.s, entry.len);
        assert_int_equal(archive_checkpoint(p.note, p.note_len, treefile_key(l.tree), &head, NULL), 0);
        const struct tree_hash leaf = tree_leaf(entry.s, entry.len);
        assert_true(tree_included(&leaf, p.place, head.size, &p.path, &head.root));
        proof_fini(&p);
    }
}

static void a_false_entry_is_not_proven(void **state)
{
    struct auditor_ask a = {.kind = AUDITOR_PROOF, .place = fixture_place(5)};
    fixture_grow(l.tree, 10, NULL);
    l.other = " changed";
    assert_refused(&a, -EILSEQ, "the tree of the audit log is damaged");
    a.place = fixture_place(4);
    CLEANUP_TEXT struct text out = {0};
    assert_int_equal(ask(&a, &out, NULL), 0);
    a.place = fixture_place(10);
    assert_refused(&a, -ENOENT, "");
    a.place = (struct treefile_place){0, 0};
    assert_refused(&a, -ENOENT, "");
    a.place = fixture_place(4);
    gives = -ENOENT;
    assert_refused(&a, -ENOENT, "it is not kept");
}

static void growth_is_proven(void **state)
{
    static const uint64_t olds[] = {0, 1, 255, 256, 300, 599, 600};
    struct tree_hash roots[sizeof olds / sizeof *olds];
    struct checkpoint head;
    for (size_t i = 0; i < sizeof olds / sizeof *olds; i++) {
        fixture_grow(l.tree, olds[i], NULL);
        treefile_head(l.tree, &head, NULL);
        roots[i] = head.root;
    }
    for (size_t i = 0; i < sizeof olds / sizeof *olds; i++) {
        CLEANUP_TEXT struct text out = {0};
        struct proof p;
        assert_int_equal(ask(&(struct auditor_ask){.kind = AUDITOR_CONSISTENCY, .old = olds[i]}, &out, NULL),
                         0);
        assert_int_equal(proof_parse(out.s, out.len, &p, NULL), 0);
        assert_int_equal(p.kind, PROOF_CONSISTENCY);
        assert_int_equal(p.place, olds[i]);
        assert_true(tree_consistent(olds[i], &roots[i], head.size, &head.root, &p.path));
        proof_fini(&p);
    }
    assert_refused(&(struct auditor_ask){.kind = AUDITOR_CONSISTENCY, .old = 601}, -ENOENT,
                   "the audit log has 600 entries, and not 601");
    assert_refused(&(struct auditor_ask){.kind = AUDITOR_CONSISTENCY, .old = UINT64_MAX}, -ENOENT, "and not");
}

/* The tree follows the journal first, where the answer is about the newest entries. */
static void the_tree_follows_before_it_answers(void **state)
{
    static const struct {
        enum auditor_kind kind;
        unsigned followed;
    } cases[] = {{AUDITOR_SHOW, 1},  {AUDITOR_CHECKPOINT, 1},  {AUDITOR_MINIMUM, 0},
                 {AUDITOR_PROOF, 1}, {AUDITOR_CONSISTENCY, 1}, {AUDITOR_TILE, 0}};
    fixture_grow(l.tree, 3, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text out = {0};
        const struct auditor_ask a = {.kind = cases[i].kind, .place = {1, 0}, .old = 1, .tile = {.width = 1}};
        followed = 0;
        assert_int_equal(ask(&a, &out, NULL), cases[i].kind == AUDITOR_MINIMUM ? -ENOENT : 0);
        assert_int_equal(followed, cases[i].followed);
        follows = -EAGAIN;
        assert_int_equal(ask(&a, &out, NULL), cases[i].followed                  ? -EAGAIN
                                              : cases[i].kind == AUDITOR_MINIMUM ? -ENOENT
                                                                                 : 0);
        follows = 0;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_log_is_shown),
        TEST(the_checkpoint_is_the_signed_head),
        TEST(the_minimum_is_there_once_entries_are_not_kept),
        TEST(tiles_are_those_of_the_head),
        TEST(an_entry_is_proven),
        TEST(a_false_entry_is_not_proven),
        TEST(growth_is_proven),
        TEST(the_tree_follows_before_it_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
