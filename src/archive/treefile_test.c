/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/treefile.h"

#include "archive/archive.h"
#include "archive/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* Which call from now on the disk refuses; 0: none. */
static unsigned refuse_at;

static int sync_really(int fd, long call)
{
    if (refuse_at && --refuse_at == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(call, fd);
}

int fsync(int fd)
{
    return sync_really(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return sync_really(fd, SYS_fdatasync);
}

static char *root, *dir;

static int make_dir(void **state)
{
    root = fixture_dir();
    dir = fixture_path(root, "audit");
    return 0;
}

static int remove_dir(void **state)
{
    free(dir);
    fixture_remove(root);
    return 0;
}

static struct treefile *open_tree(void)
{
    struct treefile *t;
    struct err e = {0};
    if (treefile_open(dir, ORIGIN, &t, &e))
        fail_msg("%s", e.msg);
    return t;
}

static void refuse_tree(int code)
{
    struct treefile *t;
    struct err e = {0};
    assert_int_equal(treefile_open(dir, ORIGIN, &t, &e), code);
    assert_true(e.msg[0]);
}

/* The root of so many entries, by the definition. */
static struct tree_hash root_of(uint64_t size)
{
    struct tree_edge edge = {0};
    struct tree_hash out;
    for (uint64_t i = 0; i < size; i++) {
        CLEANUP_TEXT struct text entry = {0};
        fixture_entry(i, NULL, &entry);
        const struct tree_hash leaf = tree_leaf(entry.s, entry.len);
        tree_grow(&edge, &leaf, NULL, NULL);
    }
    tree_edge_root(&edge, &out);
    return out;
}

static void check_head(struct treefile *t, uint64_t size)
{
    struct checkpoint head, noted;
    CLEANUP_TEXT struct text note = {0};
    const struct tree_hash expected = root_of(size);
    treefile_head(t, &head, &note);
    assert_int_equal(head.size, size);
    assert_true(tree_same(&head.root, &expected));
    assert_int_equal(archive_checkpoint(note.s, note.len, treefile_key(t), &noted, NULL), 0);
    assert_memory_equal(&noted, &head, sizeof head);
}

static void test_begins_empty_with_a_key(void **state)
{
    struct stat st;
    struct treefile *t = open_tree();
    CLEANUP_FREE char *key = fixture_path(dir, "key");
    check_head(t, 0);
    assert_string_equal(treefile_key(t)->name, ORIGIN);
    assert_int_equal(treefile_last(t).revision, 0);
    treefile_close(t);
    assert_int_equal(stat(key, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* However often it is opened, and in whatever pieces it grew. */
static void test_grows_and_stays(void **state)
{
    static const uint64_t sizes[] = {1, 2, 3, 255, 256, 257, 300, 512, 700};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct treefile *t = open_tree();
        fixture_grow(t, sizes[i], NULL);
        check_head(t, sizes[i]);
        treefile_close(t);
        t = open_tree();
        check_head(t, sizes[i]);
        const struct treefile_place last = treefile_last(t), place = fixture_place(sizes[i] - 1);
        assert_memory_equal(&last, &place, sizeof last);
        treefile_close(t);
    }
}

/* A process that ends between two syncs: what it added does not count, and is added again. */
static void test_leaves_that_were_not_synced(void **state)
{
    struct treefile *t = open_tree();
    fixture_grow(t, 250, NULL);
    for (uint64_t i = 250; i < 5000; i++) { /* more than wait in memory */
        const struct tree_hash leaf = tree_leaf("other", 5);
        const struct treefile_place place = fixture_place(i);
        assert_int_equal(treefile_add(t, &place, &leaf, NULL), 0);
    }
    check_head(t, 250);
    treefile_close(t);
    t = open_tree();
    check_head(t, 250);
    fixture_grow(t, 600, NULL);
    check_head(t, 600);
    treefile_close(t);
    t = open_tree();
    check_head(t, 600);
    treefile_close(t);
}

/* Whichever file the disk refuses, the head stays what it was, and all is there once the disk works again. */
static void test_a_sync_that_fails_makes_no_head(void **state)
{
    struct treefile *t = open_tree();
    struct checkpoint head;
    bool refused = true;
    fixture_grow(t, 300, NULL);
    for (unsigned at = 1; refused; at++) {
        struct err e = {0};
        const struct tree_hash leaf = tree_leaf("other", 5);
        const struct treefile_place place = fixture_place(300);
        assert_int_equal(treefile_add(t, &place, &leaf, NULL), 0);
        refuse_at = at;
        const int r = treefile_sync(t, &e);
        refused = refuse_at == 0;
        refuse_at = 0;
        if (!refused) {
            assert_int_equal(r, 0);
            assert_true(at > 3); /* places, a tile and the head at least */
            break;
        }
        assert_int_equal(r, -EIO);
        assert_non_null(strstr(e.msg, dir));
        treefile_head(t, &head, NULL);
        assert_int_equal(head.size, 300);
    }
    treefile_close(t);
    t = open_tree();
    treefile_head(t, &head, NULL);
    assert_int_equal(head.size, 301);
    treefile_close(t);
}

static void test_proofs_and_tiles(void **state)
{
    const uint64_t size = 65536 + 300; /* three levels of tiles */
    struct treefile *t = open_tree();
    struct checkpoint head;
    fixture_grow(t, size, NULL);
    treefile_head(t, &head, NULL);
    const struct tree_reader reader = treefile_reader(t);
    static const uint64_t some[] = {0, 1, 255, 256, 40000, 65535, 65536, 65536 + 299};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct tree_proof p;
        CLEANUP_TEXT struct text entry = {0};
        fixture_entry(some[i], NULL, &entry);
        const struct tree_hash leaf = tree_leaf(entry.s, entry.len), before = root_of(some[i]);
        assert_int_equal(tree_inclusion(&reader, some[i], size, &p, NULL), 0);
        assert_true(tree_included(&leaf, some[i], size, &p, &head.root));
        assert_int_equal(tree_consistency(&reader, some[i], size, &p, NULL), 0);
        assert_true(tree_consistent(some[i], &before, size, &head.root, &p));
    }
    for (unsigned level = 0; level < 3; level++)
        for (uint64_t index = 0; tile_width(level, index, size) > 0; index += 100) {
            const struct tile tile = {false, level, index, tile_width(level, index, size)};
            struct tree_hash hashes[TILE_WIDTH], node;
            assert_int_equal(treefile_tile(t, &tile, hashes, NULL), 0);
            for (unsigned i = 0; i < tile.width; i += 17) {
                assert_int_equal(reader.fn(reader.arg, 8 * level, index * TILE_WIDTH + i, &node, NULL), 0);
                assert_true(tree_same(&node, &hashes[i]));
                node = tile_node(hashes, 8 * level, index * TILE_WIDTH + i);
                assert_true(tree_same(&node, &hashes[i]));
            }
        }
    treefile_close(t);
}

static void test_finds_entries(void **state)
{
    struct treefile *t = open_tree();
    uint64_t index;
    struct err e;
    fixture_grow(t, 301, NULL);
    for (uint64_t i = 0; i < 301; i += 50) {
        const struct treefile_place place = fixture_place(i);
        assert_int_equal(treefile_find(t, 301, &place, &index, NULL), 0);
        assert_int_equal(index, i);
    }
    static const struct treefile_place none[] = {
        {0, 0}, {3, 2}, {151, 1}, {152, 0}, {UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(treefile_find(t, 301, &none[i], &index, &e), -ENOENT);
    treefile_close(t);
}

static void flip(const char *name, size_t at)
{
    CLEANUP_FREE char *path = fixture_path(dir, name);
    CLEANUP_TEXT struct text bytes = {0};
    fixture_read(path, &bytes);
    assert_true(at < bytes.len);
    bytes.s[at] = (char)(bytes.s[at] ^ 1);
    fixture_write(path, bytes.s, bytes.len);
}

/* A node at the edge, the head, its size, the key: nothing of it is overlooked at the next start. */
static void test_damage_is_refused(void **state)
{
    static const struct {
        const char *name;
        size_t at;
    } damages[] = {{"nodes-0", 16384 + 496 * 32}, {"nodes-1", 5}, {"checkpoint", 3}, {"checkpoint", 26},
                   {"checkpoint", 120},           {"key", 60}};
    struct treefile *t = open_tree();
    fixture_grow(t, 300, NULL);
    treefile_close(t);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        flip(damages[i].name, damages[i].at);
        refuse_tree(-EILSEQ);
        flip(damages[i].name, damages[i].at);
        treefile_close(open_tree());
    }
}

static void test_a_file_that_is_gone(void **state)
{
    static const char *const names[] = {"checkpoint", "key", "nodes-0", "nodes-1"};
    struct treefile *t = open_tree();
    fixture_grow(t, 300, NULL);
    treefile_close(t);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CLEANUP_FREE char *path = fixture_path(dir, names[i]);
        CLEANUP_TEXT struct text bytes = {0};
        fixture_read(path, &bytes);
        unlink(path);
        refuse_tree(-EILSEQ);
        fixture_write(path, bytes.s, bytes.len);
        treefile_close(open_tree());
    }
    CLEANUP_FREE char *places = fixture_path(dir, "places");
    assert_int_equal(truncate(places, 299 * 16), 0);
    refuse_tree(-EILSEQ);
}

/* A crash while the directory was made leaves one that is begun again. */
static void test_a_directory_half_made(void **state)
{
    CLEANUP_FREE char *fresh = fixture_path(root, "audit.new");
    assert_int_equal(mkdir(fresh, 0700), 0);
    struct treefile *t = open_tree();
    check_head(t, 0);
    treefile_close(t);
    assert_int_equal(access(fresh, F_OK), -1);
}

static void test_another_name(void **state)
{
    struct treefile *t = open_tree();
    struct err e;
    treefile_close(t);
    assert_int_equal(treefile_open(dir, "fettle/other", &t, &e), -EILSEQ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_begins_empty_with_a_key, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_grows_and_stays, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_leaves_that_were_not_synced, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_a_sync_that_fails_makes_no_head, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_proofs_and_tiles, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_finds_entries, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_damage_is_refused, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_gone, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_a_directory_half_made, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_another_name, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
