/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/tree.h"
#include "base/digest.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEAVES = 70, HEIGHTS = 8 };

/* All nodes of a tree of so many leaves, kept as they become complete. */
static struct tree_hash nodes[HEIGHTS][LEAVES];
static unsigned reads;

static void keep_node(void *arg, unsigned height, uint64_t index, const struct tree_hash *node)
{
    assert_true(height < HEIGHTS && index < LEAVES);
    nodes[height][index] = *node;
}

static int read_node(void *arg, unsigned height, uint64_t index, struct tree_hash *out, struct err *e)
{
    assert_true(height < HEIGHTS && (index + 1) << height <= LEAVES);
    reads++;
    *out = nodes[height][index];
    return 0;
}

static const struct tree_reader reader = {read_node, NULL};

static struct tree_hash leaf_of(uint64_t i)
{
    char name[24];
    snprintf(name, sizeof name, "entry %u", (unsigned)i);
    return tree_leaf(name, strlen(name));
}

static int grow(void **state)
{
    struct tree_edge t = {0};
    for (uint64_t i = 0; i < LEAVES; i++) {
        const struct tree_hash leaf = leaf_of(i);
        tree_grow(&t, &leaf, keep_node, NULL);
    }
    return 0;
}

static struct tree_hash root_of(uint64_t size)
{
    struct tree_hash root;
    assert_int_equal(tree_root(&reader, size, &root, NULL), 0);
    return root;
}

/* MTH of RFC 6962 as it is written there. */
static struct tree_hash slow_root(uint64_t from, uint64_t to)
{
    uint64_t k = 1;
    if (to - from == 1)
        return leaf_of(from);
    while (2 * k < to - from)
        k *= 2;
    const struct tree_hash left = slow_root(from, from + k), right = slow_root(from + k, to);
    return tree_join(&left, &right);
}

/* The eight leaves and their roots with which Certificate Transparency's own tests begin. */
static void test_roots_of_others(void **state)
{
    static const struct {
        const char *leaf;
        size_t len;
        const char *root;
    } known[] = {{"", 0, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
                 {"\x00", 1, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
                 {"\x10", 1, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
                 {"\x20\x21", 2, "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"},
                 {"\x30\x31", 2, "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
                 {"\x40\x41\x42\x43", 4, "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
                 {"\x50\x51\x52\x53\x54\x55\x56\x57", 8,
                  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
                 {"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f", 16,
                  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"}};
    struct tree_edge t = {0};
    struct tree_hash root;
    char hex[65];
    tree_edge_root(&t, &root);
    digest_sha256("", 0, hex);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct tree_hash leaf = tree_leaf(known[i].leaf, known[i].len);
        tree_grow(&t, &leaf, NULL, NULL);
        tree_edge_root(&t, &root);
        for (size_t k = 0; k < sizeof root.bytes; k++)
            snprintf(hex + 2 * k, 3, "%02x", root.bytes[k]);
        assert_string_equal(hex, known[i].root);
    }
}

static void test_root_by_definition(void **state)
{
    struct tree_edge t = {0};
    struct tree_hash edge, empty = root_of(0);
    tree_edge_root(&t, &edge);
    assert_true(tree_same(&edge, &empty));
    for (uint64_t size = 1; size <= LEAVES; size++) {
        const struct tree_hash leaf = leaf_of(size - 1), root = root_of(size), slow = slow_root(0, size);
        struct tree_edge again;
        tree_grow(&t, &leaf, NULL, NULL);
        tree_edge_root(&t, &edge);
        assert_true(tree_same(&root, &slow) && tree_same(&root, &edge));
        assert_int_equal(tree_edge_read(&reader, size, &again, NULL), 0);
        tree_edge_root(&again, &edge);
        assert_true(tree_same(&root, &edge));
    }
}

static void test_a_leaf_is_no_node(void **state)
{
    const struct tree_hash a = leaf_of(0), b = leaf_of(1), node = tree_join(&a, &b);
    unsigned char both[64];
    memcpy(both, a.bytes, 32);
    memcpy(both + 32, b.bytes, 32);
    const struct tree_hash leaf = tree_leaf(both, sizeof both);
    assert_false(tree_same(&node, &leaf));
}

/* A proof holds for its leaf, its place and its tree, and for nothing near them. */
static void test_inclusion(void **state)
{
    for (uint64_t size = 1; size <= LEAVES; size++) {
        const struct tree_hash root = root_of(size);
        for (uint64_t i = 0; i < size; i++) {
            const struct tree_hash leaf = leaf_of(i), other = leaf_of(i + 1);
            struct tree_proof p;
            assert_int_equal(tree_inclusion(&reader, i, size, &p, NULL), 0);
            assert_true(tree_included(&leaf, i, size, &p, &root));
            assert_false(tree_included(&other, i, size, &p, &root));
            assert_false(tree_included(&leaf, size, size, &p, &root));
            for (uint64_t wrong = 0; wrong < size; wrong++)
                assert_int_equal(tree_included(&leaf, wrong, size, &p, &root), wrong == i);
            for (size_t k = 0; k < p.n; k++) {
                p.hashes[k].bytes[k] ^= 1;
                assert_false(tree_included(&leaf, i, size, &p, &root));
                p.hashes[k].bytes[k] ^= 1;
            }
            p.n++;
            assert_false(tree_included(&leaf, i, size, &p, &root));
            p.n -= 2;
            if (size > 1)
                assert_false(tree_included(&leaf, i, size, &p, &root));
        }
    }
}

static void test_consistency(void **state)
{
    for (uint64_t size = 0; size <= LEAVES; size++) {
        const struct tree_hash root = root_of(size);
        for (uint64_t old = 0; old <= size; old++) {
            const struct tree_hash before = root_of(old), wrong = leaf_of(old);
            struct tree_proof p;
            assert_int_equal(tree_consistency(&reader, old, size, &p, NULL), 0);
            assert_true(tree_consistent(old, &before, size, &root, &p));
            assert_false(tree_consistent(old, &wrong, size, &root, &p) && old != 1);
            assert_false(tree_consistent(size + 1, &before, size, &root, &p));
            if (old > 0)
                assert_false(tree_consistent(old, &before, size, &wrong, &p) && size != old + 1);
            for (size_t k = 0; k < p.n; k++) {
                p.hashes[k].bytes[0] ^= 1;
                assert_false(tree_consistent(old, &before, size, &root, &p));
                p.hashes[k].bytes[0] ^= 1;
            }
            p.n++;
            assert_false(tree_consistent(old, &before, size, &root, &p));
            p.n -= 2;
            if (p.n < TREE_PROOF_MAX)
                assert_false(tree_consistent(old, &before, size, &root, &p));
        }
    }
}

/* A log that had something else at its beginning, or in another order, is not consistent with the old root.
 */
static void test_a_fork_is_not_consistent(void **state)
{
    struct tree_edge fork = {0}, good = {0};
    struct tree_hash old;
    for (uint64_t i = 0; i < 40; i++) {
        const struct tree_hash leaf = leaf_of(i == 3 ? 4 : i == 4 ? 3 : i);
        tree_grow(&fork, &leaf, NULL, NULL);
    }
    tree_edge_root(&fork, &old);
    struct tree_proof p;
    const struct tree_hash root = root_of(LEAVES);
    assert_int_equal(tree_consistency(&reader, 40, LEAVES, &p, NULL), 0);
    assert_false(tree_consistent(40, &old, LEAVES, &root, &p));
    assert_int_equal(tree_edge_read(&reader, 40, &good, NULL), 0);
    tree_edge_root(&good, &old);
    assert_true(tree_consistent(40, &old, LEAVES, &root, &p));
}

/* A proof reads some nodes for each height, however large the tree. */
static void test_few_reads(void **state)
{
    struct tree_proof p;
    reads = 0;
    assert_int_equal(tree_inclusion(&reader, 5, LEAVES, &p, NULL), 0);
    assert_true(reads <= 2 * HEIGHTS);
}

static int read_nothing(void *arg, unsigned height, uint64_t index, struct tree_hash *out, struct err *e)
{
    return err_set(e, -EIO, "no disk");
}

static void test_an_error_is_passed_on(void **state)
{
    const struct tree_reader broken = {read_nothing, NULL};
    struct tree_proof p;
    struct tree_hash root;
    struct tree_edge t;
    struct err e;
    assert_int_equal(tree_root(&broken, 5, &root, &e), -EIO);
    assert_int_equal(tree_inclusion(&broken, 1, 5, &p, &e), -EIO);
    assert_int_equal(tree_consistency(&broken, 3, 5, &p, &e), -EIO);
    assert_int_equal(tree_edge_read(&broken, 5, &t, &e), -EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_of_others),   cmocka_unit_test(test_root_by_definition),
        cmocka_unit_test(test_a_leaf_is_no_node), cmocka_unit_test(test_inclusion),
        cmocka_unit_test(test_consistency),       cmocka_unit_test(test_a_fork_is_not_consistent),
        cmocka_unit_test(test_few_reads),         cmocka_unit_test(test_an_error_is_passed_on),
    };
    return cmocka_run_group_tests(tests, grow, NULL);
}
