/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AUDIT_TREE_H
#define FETTLE_AUDIT_TREE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The Merkle tree of RFC 6962, section 2.1: the hash of a list of leaves, which grows at its end only, and
 * the proofs that a leaf is in it and that a shorter list is its beginning.
 *
 * A *node* is the hash of a complete subtree: `height` h and `index` i stand for the leaves i * 2^h to
 * (i + 1) * 2^h - 1. Everything else is computed from nodes, which a reader gives.
 */

enum {
    TREE_HASH_BYTES = 32,
    TREE_HEIGHT_MAX = 62, /* a tree has fewer than 2^62 leaves */
    TREE_PROOF_MAX = 2 * TREE_HEIGHT_MAX
};

struct tree_hash {
    unsigned char bytes[TREE_HASH_BYTES];
};

struct tree_hash tree_leaf(const void *bytes, size_t len);
struct tree_hash tree_join(const struct tree_hash *left, const struct tree_hash *right);
bool tree_same(const struct tree_hash *a, const struct tree_hash *b);

/* Gives a node of a tree that has all of its leaves. 0, or a negative errno that is passed on. */
typedef int tree_read_fn(void *arg, unsigned height, uint64_t index, struct tree_hash *out, struct err *e);
struct tree_reader {
    tree_read_fn *fn;
    void *arg;
};

/* Hashes of a proof, in the order of RFC 6962: those of the leaf's end first. */
struct tree_proof {
    struct tree_hash hashes[TREE_PROOF_MAX];
    size_t n;
};

/* The root of the first `size` leaves. That of an empty tree is the SHA-256 of nothing. */
int tree_root(const struct tree_reader *r, uint64_t size, struct tree_hash *out, struct err *e);
/* That leaf `index` is in the tree of the first `size` leaves; index < size. */
int tree_inclusion(const struct tree_reader *r, uint64_t index, uint64_t size, struct tree_proof *out,
                   struct err *e);
/* That the tree of the first `old` leaves is the beginning of that of the first `size`; old <= size. An empty
 * proof for an empty or an equal tree. */
int tree_consistency(const struct tree_reader *r, uint64_t old, uint64_t size, struct tree_proof *out,
                     struct err *e);

/* Whether the proof leads from the leaf to the root. */
bool tree_included(const struct tree_hash *leaf, uint64_t index, uint64_t size, const struct tree_proof *p,
                   const struct tree_hash *root);
/* Whether the proof leads from the old root to the present one. */
bool tree_consistent(uint64_t old, const struct tree_hash *old_root, uint64_t size,
                     const struct tree_hash *root, const struct tree_proof *p);

/* A tree that grows leaf by leaf, in a fixed amount of memory. Zero-initialise. */
struct tree_edge {
    uint64_t size;
    struct tree_hash nodes[TREE_HEIGHT_MAX + 1]; /* by height: where `size` has this bit, the last node */
};
/* Adds a leaf. fn (may be NULL) is given each node that becomes complete: the leaf, and those above it. */
typedef void tree_node_fn(void *arg, unsigned height, uint64_t index, const struct tree_hash *node);
void tree_grow(struct tree_edge *t, const struct tree_hash *leaf, tree_node_fn *fn, void *arg);
void tree_edge_root(const struct tree_edge *t, struct tree_hash *out);
/* The edge of the first `size` leaves. */
int tree_edge_read(const struct tree_reader *r, uint64_t size, struct tree_edge *out, struct err *e);

#endif
