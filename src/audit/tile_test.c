/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/tile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_paths(void **state)
{
    static const struct {
        const char *path;
        struct tile tile;
    } good[] = {{"0/000", {.width = 256}},
                {"0/x001/x234/067", {.index = 1234067, .width = 256}},
                {"7/999.p/255", {.level = 7, .index = 999, .width = 255}},
                {"63/x001/000.p/1", {.level = 63, .index = 1000, .width = 1}},
                {"entries/000.p/12", {.entries = true, .width = 12}},
                {"entries/x123/456", {.entries = true, .index = 123456, .width = 256}}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct tile t;
        char path[TILE_PATH_BYTES];
        assert_int_equal(tile_parse(good[i].path, &t, NULL), 0);
        assert_int_equal(t.entries, good[i].tile.entries);
        assert_int_equal(t.level, good[i].tile.level);
        assert_int_equal(t.index, good[i].tile.index);
        assert_int_equal(t.width, good[i].tile.width);
        assert_string_equal(tile_format(&t, path) + strlen("tile/"), good[i].path);
    }
}

/* Each tile has one path. */
static void test_no_other_paths(void **state)
{
    static const char *const bad[] = {"",
                                      "0",
                                      "0/",
                                      "0/00",
                                      "0/0000",
                                      "00/000",
                                      "64/000",
                                      "0/x000/001",
                                      "0/x001",
                                      "0/x001/",
                                      "0/001/002",
                                      "0/000.p/0",
                                      "0/000.p/256",
                                      "0/000.p/01",
                                      "0/000.p/",
                                      "0/000.p/1/",
                                      "0/000/",
                                      "/000",
                                      "-1/000",
                                      "entries/",
                                      "entries/0",
                                      "entries/../000",
                                      "0/x001/x002/x003/x004/x005/x006/007",
                                      "0/0a0",
                                      "entries"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tile t;
        struct err e;
        assert_int_equal(tile_parse(bad[i], &t, &e), -EINVAL);
    }
}

/* The example of the specification: a tree of 70,000. */
static void test_widths(void **state)
{
    assert_int_equal(tile_width(0, 272, 70000), 256);
    assert_int_equal(tile_width(0, 273, 70000), 112);
    assert_int_equal(tile_width(0, 274, 70000), 0);
    assert_int_equal(tile_width(1, 0, 70000), 256);
    assert_int_equal(tile_width(1, 1, 70000), 17);
    assert_int_equal(tile_width(2, 0, 70000), 1);
    assert_int_equal(tile_width(3, 0, 70000), 0);
    assert_int_equal(tile_width(0, 1, 256), 0);
    assert_int_equal(tile_width(1, 0, 256), 1);
    assert_int_equal(tile_width(0, 0, 0), 0);
    assert_int_equal(tile_width(0, UINT64_C(999999999999999999), 70000), 0);
    assert_int_equal(tile_width(63, 0, 70000), 0);
}

static int note_path(void *arg, const struct tile *t, struct err *e)
{
    char path[TILE_PATH_BYTES];
    text_printf(arg, "%s ", tile_format(t, path));
    return 0;
}

static void test_each(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(tiles_each(0, 0, note_path, &t, NULL), 0);
    assert_int_equal(t.len, 0);
    tiles_each(0, 3, note_path, &t, NULL);
    assert_string_equal(t.s, "tile/0/000.p/3 tile/entries/000.p/3 ");
    text_clear(&t);
    tiles_each(255, 600, note_path, &t, NULL);
    assert_string_equal(t.s, "tile/0/000 tile/entries/000 tile/0/001 tile/entries/001 tile/0/002.p/88"
                             " tile/entries/002.p/88 tile/1/000.p/2 ");
    text_clear(&t);
    tiles_each(512, 600, note_path, &t, NULL);
    assert_string_equal(t.s, "tile/0/002.p/88 tile/entries/002.p/88 ");
    text_clear(&t);
    tiles_each(600, 600, note_path, &t, NULL);
    assert_int_equal(t.len, 0);
}

static int stop(void *arg, const struct tile *t, struct err *e)
{
    return ++*(int *)arg == 2 ? -EIO : 0;
}

static void test_each_ends_with_an_error(void **state)
{
    int n = 0;
    assert_int_equal(tiles_each(0, 600, stop, &n, NULL), -EIO);
    assert_int_equal(n, 2);
}

/* The nodes inside a tile are those that the tree has. */
static void test_nodes_of_a_tile(void **state)
{
    struct tree_hash hashes[TILE_WIDTH], node;
    for (unsigned i = 0; i < TILE_WIDTH; i++)
        hashes[i] = tree_leaf(&i, sizeof i);
    const struct tree_hash pair = tree_join(&hashes[6], &hashes[7]), left = tree_join(&hashes[4], &hashes[5]);
    const struct tree_hash four = tree_join(&left, &pair);
    node = tile_node(hashes, 0, 5);
    assert_true(tree_same(&node, &hashes[5]));
    node = tile_node(hashes, 1, 3);
    assert_true(tree_same(&node, &pair));
    node = tile_node(hashes, 2, 1);
    assert_true(tree_same(&node, &four));
    node = tile_node(hashes, 10, 64 + 1); /* of a tile of level 1: the same places */
    assert_true(tree_same(&node, &four));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_no_other_paths),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_each_ends_with_an_error),
        cmocka_unit_test(test_nodes_of_a_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
