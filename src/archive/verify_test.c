/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/verify.h"

#include "archive/fixture_test.h"
#include "audit/leaf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A log of 600 entries, exported when it had 100, 300 and all of them. */

enum { SIZE = 600 };

static char *root, *dir;
static struct fixture_log l;

static int begin(void **state)
{
    static const uint64_t sizes[] = {100, 300, SIZE};
    root = fixture_dir();
    dir = fixture_path(root, "export");
    CLEANUP_FREE char *tree = fixture_path(root, "audit");
    l = (struct fixture_log){.tree = NULL};
    if (treefile_open(tree, ORIGIN, &l.tree, NULL))
        return -1;
    for (size_t i = 0; i < 3; i++) {
        fixture_grow(l.tree, sizes[i], NULL);
        assert_int_equal(fixture_export(&l, dir, true, NULL), 0);
    }
    return 0;
}

static int end(void **state)
{
    treefile_close(l.tree);
    free(dir);
    fixture_remove(root);
    return 0;
}

static int verify(const struct checkpoint *old, struct verified *out, struct err *e)
{
    struct archive *a;
    int r = archive_read(dir, &a, e);
    if (r)
        return r;
    archive_believe(a, treefile_key(l.tree));
    r = archive_verify(a, old, out, e);
    archive_close(a);
    return r;
}

static void refused(const char *why)
{
    struct verified v;
    struct err e = {0};
    assert_true(verify(NULL, &v, &e) < 0);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" is not in \"%s\"", why, e.msg);
}

static void good(void)
{
    struct verified v;
    struct err e = {0};
    if (verify(NULL, &v, &e))
        fail_msg("%s", e.msg);
}

static void read_file(const char *name, struct text *out)
{
    CLEANUP_FREE char *path = fixture_path(dir, name);
    fixture_read(path, out);
}

static void write_file(const char *name, const struct text *bytes)
{
    CLEANUP_FREE char *path = fixture_path(dir, name);
    fixture_write(path, bytes->s, bytes->len);
}

static void remove_file(const char *name)
{
    CLEANUP_FREE char *path = fixture_path(dir, name);
    assert_int_equal(unlink(path), 0);
}

static void test_a_good_one(void **state)
{
    struct verified v;
    assert_int_equal(verify(NULL, &v, NULL), 0);
    assert_int_equal(v.head.size, SIZE);
    assert_int_equal(v.from, 0);
    assert_int_equal(v.earlier, 3);
    assert_int_equal(v.last.ns, INT64_C(1795211336000000000) + INT64_C(599) * 1000000000);
}

/* Some bytes of every file, and every byte of the small ones. */
static void test_a_flipped_byte_in_every_file(void **state)
{
    CLEANUP_TEXT struct text files = {0};
    unsigned n = 0;
    fixture_files(dir, &files);
    for (char *path = files.s, *nl; (nl = strchr(path, '\n')); path = nl + 1, n++) {
        CLEANUP_TEXT struct text bytes = {0};
        *nl = '\0';
        fixture_read(path, &bytes);
        size_t step = bytes.len < 300 ? 7 : bytes.len / 12;
        for (size_t i = 0; i < bytes.len; i += step) {
            struct verified v;
            struct err e = {0};
            bytes.s[i] = (char)(bytes.s[i] ^ 0x01);
            fixture_write(path, bytes.s, bytes.len);
            if (verify(NULL, &v, &e) >= 0 || !e.msg[0])
                fail_msg("byte %zu of %s", i, path);
            bytes.s[i] = (char)(bytes.s[i] ^ 0x01);
        }
        fixture_write(path, bytes.s, bytes.len);
    }
    assert_int_equal(n, 12);
    good();
}

/* A byte too many or too few. */
static void test_a_length_of_every_file(void **state)
{
    CLEANUP_TEXT struct text files = {0};
    fixture_files(dir, &files);
    for (char *path = files.s, *nl; (nl = strchr(path, '\n')); path = nl + 1) {
        CLEANUP_TEXT struct text bytes = {0};
        struct verified v;
        struct err e;
        *nl = '\0';
        fixture_read(path, &bytes);
        fixture_write(path, bytes.s, bytes.len - 1);
        assert_true(verify(NULL, &v, &e) < 0);
        text_add_char(&bytes, 'x');
        fixture_write(path, bytes.s, bytes.len);
        assert_true(verify(NULL, &v, &e) < 0);
        fixture_write(path, bytes.s, bytes.len - 1);
    }
    good();
}

static void test_a_file_that_is_gone(void **state)
{
    static const char *const names[] = {"checkpoint",           "log.vkey",       "tile/0/000",
                                        "tile/0/002.p/88",      "tile/1/000.p/2", "tile/entries/001",
                                        "tile/entries/002.p/88"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CLEANUP_TEXT struct text bytes = {0};
        read_file(names[i], &bytes);
        remove_file(names[i]);
        refused(i == 5 ? "entry 256 is gone" : "");
        write_file(names[i], &bytes);
    }
    good();
}

/* Writes a bundle of the entries from..to-1, in the order that `swap` says. */
static void write_bundle(const char *name, uint64_t from, uint64_t to, uint64_t swap, const char *other)
{
    CLEANUP_TEXT struct text bundle = {0};
    for (uint64_t i = from; i < to; i++) {
        CLEANUP_TEXT struct text entry = {0};
        fixture_entry(i == swap ? swap + 1 : i == swap + 1 ? swap : i, other, &entry);
        bundle_add(&bundle, entry.s, entry.len);
    }
    write_file(name, &bundle);
}

static void test_edited(void **state)
{
    write_bundle("tile/entries/000", 0, 256, UINT64_MAX - 1, " changed");
    refused("entry 5 (3.1) is not what was logged");
}

static void test_reordered(void **state)
{
    write_bundle("tile/entries/001", 256, 512, 300, NULL);
    refused("entry 300 (151.1) is not what was logged");
}

/* The editor also wrote the tiles: then the heads say how far it is good. */
static void write_tiles(const char *other)
{
    struct tree_hash hashes[TILE_WIDTH], up[2];
    for (unsigned i = 0; i < TILE_WIDTH; i++) {
        CLEANUP_TEXT struct text entry = {0};
        fixture_entry(i, other, &entry);
        hashes[i] = tree_leaf(entry.s, entry.len);
    }
    struct text tile = {.s = (char *)hashes, .len = sizeof hashes};
    write_file("tile/0/000", &tile);
    CLEANUP_TEXT struct text above = {0};
    read_file("tile/1/000.p/2", &above);
    const struct tree_hash left = tile_node(hashes, 7, 0), right = tile_node(hashes, 7, 1);
    up[0] = tree_join(&left, &right);
    memcpy(above.s, &up[0], sizeof up[0]);
    write_file("tile/1/000.p/2", &above);
}

static void test_edited_with_its_tiles(void **state)
{
    write_bundle("tile/entries/000", 0, 256, UINT64_MAX - 1, " changed");
    write_tiles(" changed");
    refused("checkpoints/100");
    remove_file("checkpoints/100");
    remove_file("checkpoints/300");
    remove_file("checkpoints/600");
    refused("checkpoint: ");
}

static void test_a_tile_alone(void **state)
{
    CLEANUP_TEXT struct text tile = {0};
    read_file("tile/0/001", &tile);
    tile.s[40] ^= 1;
    write_file("tile/0/001", &tile);
    remove_file("checkpoints/100");
    refused("its tile was changed");
}

static struct checkpoint head_of(uint64_t size, struct text *note)
{
    char name[64];
    struct checkpoint head;
    snprintf(name, sizeof name, "checkpoints/%u", (unsigned)size);
    read_file(name, note);
    assert_int_equal(archive_checkpoint(note->s, note->len, treefile_key(l.tree), &head, NULL), 0);
    return head;
}

/* Cut off at an earlier head, which the log signed: the later heads tell, or who remembers one. */
static void test_cut_off(void **state)
{
    struct verified v;
    struct err e = {0};
    CLEANUP_TEXT struct text old = {0}, whole = {0};
    const struct checkpoint last = head_of(SIZE, &whole);
    head_of(300, &old);
    write_file("checkpoint", &old);
    refused("the log was cut off: it has 300 entries");
    remove_file("checkpoints/600");
    assert_int_equal(verify(&last, &v, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "had 600"));
}

/* Entries cut off without another head. */
static void test_entries_cut_off(void **state)
{
    write_bundle("tile/entries/002.p/88", 512, 590, UINT64_MAX - 1, NULL);
    refused("another length");
    write_bundle("tile/entries/002", 512, 590, UINT64_MAX - 1, NULL);
    remove_file("tile/entries/002.p/88");
    refused("");
}

/* The same key went another way after 5 entries, and gave an export that is good by itself. */
static void test_forked(void **state)
{
    struct verified v;
    struct err e = {0};
    CLEANUP_TEXT struct text old = {0};
    const struct checkpoint before = head_of(300, &old);
    CLEANUP_FREE char *tree = fixture_path(root, "fork"), *key = fixture_path(root, "audit/key"),
                      *into = fixture_path(root, "fork/key"), *first = fixture_path(root, "fork/checkpoint");
    struct fixture_log fork = {.other = " changed"};
    assert_int_equal(treefile_open(tree, ORIGIN, &fork.tree, NULL), 0);
    treefile_close(fork.tree);
    CLEANUP_TEXT struct text bytes = {0}, note = {0};
    fixture_read(key, &bytes);
    fixture_write(into, bytes.s, bytes.len);
    struct checkpoint empty = {.origin = ORIGIN};
    const struct tree_edge none = {0};
    tree_edge_root(&none, &empty.root);
    checkpoint_format(&empty, &note);
    assert_int_equal(treefile_sign(l.tree, &note, NULL), 0);
    fixture_write(first, note.s, note.len);
    assert_int_equal(treefile_open(tree, ORIGIN, &fork.tree, NULL), 0);
    fixture_grow(fork.tree, SIZE, " changed");
    free(dir);
    dir = fixture_path(root, "forked");
    assert_int_equal(fixture_export(&fork, dir, true, NULL), 0);
    treefile_close(fork.tree);
    good();
    assert_int_equal(verify(&before, &v, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "the head that is remembered"));
    CLEANUP_FREE char *heads = fixture_path(dir, "checkpoints/300");
    fixture_write(heads, old.s, old.len);
    refused("checkpoints/300");
}

static void test_a_remembered_head(void **state)
{
    struct verified v;
    CLEANUP_TEXT struct text note = {0};
    const struct checkpoint old = head_of(300, &note);
    assert_int_equal(verify(&old, &v, NULL), 0);
}

static int sign(void *arg, struct text *text, struct err *e)
{
    return treefile_sign(arg, text, e);
}

/* What a retention removed may be gone, and nothing else; and nobody else can say so. */
static void test_retention(void **state)
{
    struct verified v;
    struct archive *a;
    bool removed;
    assert_int_equal(archive_open(dir, treefile_key(l.tree), &a, NULL), 0);
    assert_int_equal(archive_forget(a, (struct wall){INT64_MAX}, sign, l.tree, &removed, NULL), 0);
    archive_close(a);
    assert_true(removed);
    assert_int_equal(verify(NULL, &v, NULL), 0);
    assert_int_equal(v.from, 256);
    remove_file("tile/entries/001");
    refused("entry 256 is gone");
    write_bundle("tile/entries/001", 256, 512, UINT64_MAX - 1, NULL);
    CLEANUP_TEXT struct text minimum = {0};
    read_file("minimum", &minimum);
    minimum.s[strlen("entries kept of " ORIGIN "\n")] = '3';
    write_file("minimum", &minimum);
    refused("minimum");
    remove_file("minimum");
    refused("entry 0 is gone");
}

/* Another key, with its own signatures: it is not the key that is believed. */
static void test_another_key(void **state)
{
    struct verified v;
    struct err e = {0};
    CLEANUP_FREE char *tree = fixture_path(root, "other");
    struct fixture_log other = {0};
    assert_int_equal(treefile_open(tree, ORIGIN, &other.tree, NULL), 0);
    fixture_grow(other.tree, SIZE, NULL);
    free(dir);
    dir = fixture_path(root, "others");
    assert_int_equal(fixture_export(&other, dir, true, NULL), 0);
    treefile_close(other.tree);
    assert_int_equal(verify(NULL, &v, &e), -ENOKEY);
}

/* --- proofs ---------------------------------------------------------------------------------- */

static void test_proofs(void **state)
{
    struct checkpoint head;
    CLEANUP_TEXT struct text note = {0}, old_note = {0};
    const struct tree_reader reader = treefile_reader(l.tree);
    const struct note_key *k = treefile_key(l.tree);
    treefile_head(l.tree, &head, &note);
    struct proof p = {.kind = PROOF_INCLUSION, .place = 7, .note = note.s, .note_len = note.len};
    fixture_entry(7, NULL, &p.entry);
    assert_int_equal(tree_inclusion(&reader, 7, SIZE, &p.path, NULL), 0);
    assert_int_equal(verify_proof(&p, k, NULL, &head, NULL), 0);
    p.place = 8;
    assert_int_equal(verify_proof(&p, k, NULL, &head, NULL), -EILSEQ);
    p.place = 7;
    p.entry.s[20] ^= 1;
    assert_int_equal(verify_proof(&p, k, NULL, &head, NULL), -EILSEQ);
    p.entry.len = 0;
    assert_int_equal(verify_proof(&p, k, NULL, &head, NULL), -ENODATA);
    proof_fini(&p);
    struct checkpoint old = head_of(300, &old_note);
    p = (struct proof){.kind = PROOF_CONSISTENCY, .place = 300, .note = note.s, .note_len = note.len};
    assert_int_equal(tree_consistency(&reader, 300, SIZE, &p.path, NULL), 0);
    assert_int_equal(verify_proof(&p, k, &old, &head, NULL), 0);
    old.root.bytes[0] ^= 1;
    assert_int_equal(verify_proof(&p, k, &old, &head, NULL), -EILSEQ);
    old.root.bytes[0] ^= 1;
    p.note = old_note.s;
    p.note_len = old_note.len;
    assert_int_equal(verify_proof(&p, k, &old, &head, NULL), -EILSEQ);
    old_note.s[5] ^= 1;
    assert_true(verify_proof(&p, k, &old, &head, NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_good_one, begin, end),
        cmocka_unit_test_setup_teardown(test_a_flipped_byte_in_every_file, begin, end),
        cmocka_unit_test_setup_teardown(test_a_length_of_every_file, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(test_edited, begin, end),
        cmocka_unit_test_setup_teardown(test_reordered, begin, end),
        cmocka_unit_test_setup_teardown(test_edited_with_its_tiles, begin, end),
        cmocka_unit_test_setup_teardown(test_a_tile_alone, begin, end),
        cmocka_unit_test_setup_teardown(test_cut_off, begin, end),
        cmocka_unit_test_setup_teardown(test_entries_cut_off, begin, end),
        cmocka_unit_test_setup_teardown(test_forked, begin, end),
        cmocka_unit_test_setup_teardown(test_a_remembered_head, begin, end),
        cmocka_unit_test_setup_teardown(test_retention, begin, end),
        cmocka_unit_test_setup_teardown(test_another_key, begin, end),
        cmocka_unit_test_setup_teardown(test_proofs, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
