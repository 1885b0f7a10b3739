/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recursions of RFC 6962 over ranges of leaves. A range begins at a multiple of its greatest power of
 * two, so it is one node, or a node and a shorter range of the same kind. Verification goes by the bits of
 * index and size, as RFC 9162 (2.1.3.2 and 2.1.4.2) has it.
 */
#include "audit/tree.h"

#include "base/digest.h"

#include <assert.h>
#include <string.h>

struct tree_hash tree_leaf(const void *bytes, size_t len)
{
    static const unsigned char prefix = 0;
    const struct digest_piece pieces[] = {{&prefix, 1}, {bytes, len}};
    struct tree_hash out;
    digest_sha256_pieces(pieces, 2, out.bytes);
    return out;
}

struct tree_hash tree_join(const struct tree_hash *left, const struct tree_hash *right)
{
    unsigned char bytes[1 + 2 * TREE_HASH_BYTES] = {1};
    struct tree_hash out;
    memcpy(bytes + 1, left->bytes, TREE_HASH_BYTES);
    memcpy(bytes + 1 + TREE_HASH_BYTES, right->bytes, TREE_HASH_BYTES);
    const struct digest_piece piece = {bytes, sizeof bytes};
    digest_sha256_pieces(&piece, 1, out.bytes);
    return out;
}

bool tree_same(const struct tree_hash *a, const struct tree_hash *b)
{
    return memcmp(a->bytes, b->bytes, TREE_HASH_BYTES) == 0;
}

static struct tree_hash tree_empty(void)
{
    struct tree_hash out;
    digest_sha256_bytes("", 0, out.bytes);
    return out;
}

/* The height of the largest node at the beginning of n > 1 leaves that leaves something over. */
static unsigned split_height(uint64_t n)
{
    assert(n > 1);
    return 63 - (unsigned)__builtin_clzll(n - 1);
}

/* --- making ---------------------------------------------------------------------------------- */

static int range_hash(const struct tree_reader *r, uint64_t from, uint64_t to, struct tree_hash *out,
                      struct err *e)
{
    uint64_t n = to - from;
    assert(from < to && to >> TREE_HEIGHT_MAX == 0);
    if ((n & (n - 1)) == 0) {
        unsigned height = (unsigned)__builtin_ctzll(n);
        return r->fn(r->arg, height, from >> height, out, e);
    }
    struct tree_hash left, right;
    unsigned height = split_height(n);
    int rc = r->fn(r->arg, height, from >> height, &left, e);
    if (rc == 0)
        rc = range_hash(r, from + (UINT64_C(1) << height), to, &right, e);
    if (rc == 0)
        *out = tree_join(&left, &right);
    return rc;
}

static int proof_add(const struct tree_reader *r, uint64_t from, uint64_t to, struct tree_proof *out,
                     struct err *e)
{
    assert(out->n < TREE_PROOF_MAX);
    return range_hash(r, from, to, &out->hashes[out->n++], e);
}

int tree_root(const struct tree_reader *r, uint64_t size, struct tree_hash *out, struct err *e)
{
    if (size > 0)
        return range_hash(r, 0, size, out, e);
    *out = tree_empty();
    return 0;
}

/* PATH(index, D[from:to]). */
static int path_add(const struct tree_reader *r, uint64_t index, uint64_t from, uint64_t to,
                    struct tree_proof *out, struct err *e)
{
    if (to - from == 1)
        return 0;
    uint64_t middle = from + (UINT64_C(1) << split_height(to - from));
    bool left = index < middle;
    int rc = path_add(r, index, left ? from : middle, left ? middle : to, out, e);
    return rc ? rc : proof_add(r, left ? middle : from, left ? to : middle, out, e);
}

int tree_inclusion(const struct tree_reader *r, uint64_t index, uint64_t size, struct tree_proof *out,
                   struct err *e)
{
    assert(index < size);
    out->n = 0;
    return path_add(r, index, 0, size, out, e);
}

/* SUBPROOF(old, D[from:to], whole): `whole` while the old tree is this range's beginning and its root known.
 */
static int subproof_add(const struct tree_reader *r, uint64_t old, uint64_t from, uint64_t to, bool whole,
                        struct tree_proof *out, struct err *e)
{
    if (old == to)
        return whole ? 0 : proof_add(r, from, to, out, e);
    uint64_t middle = from + (UINT64_C(1) << split_height(to - from));
    bool left = old <= middle;
    int rc = subproof_add(r, old, left ? from : middle, left ? middle : to, whole && left, out, e);
    return rc ? rc : proof_add(r, left ? middle : from, left ? to : middle, out, e);
}

int tree_consistency(const struct tree_reader *r, uint64_t old, uint64_t size, struct tree_proof *out,
                     struct err *e)
{
    assert(old <= size);
    out->n = 0;
    return old == 0 ? 0 : subproof_add(r, old, 0, size, true, out, e);
}

/* --- verifying ------------------------------------------------------------------------------- */

bool tree_included(const struct tree_hash *leaf, uint64_t index, uint64_t size, const struct tree_proof *p,
                   const struct tree_hash *root)
{
    if (index >= size)
        return false;
    struct tree_hash at = *leaf;
    uint64_t node = index, last = size - 1;
    for (size_t i = 0; i < p->n; i++) {
        if (last == 0)
            return false;
        if ((node & 1) || node == last) {
            at = tree_join(&p->hashes[i], &at);
            for (; !(node & 1) && node != 0; node >>= 1)
                last >>= 1;
        } else {
            at = tree_join(&at, &p->hashes[i]);
        }
        node >>= 1;
        last >>= 1;
    }
    return last == 0 && tree_same(&at, root);
}

bool tree_consistent(uint64_t old, const struct tree_hash *old_root, uint64_t size,
                     const struct tree_hash *root, const struct tree_proof *p)
{
    const struct tree_hash empty = tree_empty();
    if (old > size || (old == 0 && !tree_same(old_root, &empty)))
        return false;
    if (old == 0 || old == size)
        return p->n == 0 && (old == 0 || tree_same(old_root, root));
    bool is_node = (old & (old - 1)) == 0; /* the proof does not repeat what is known */
    if (p->n == 0)
        return false;
    struct tree_hash before = is_node ? *old_root : p->hashes[0], now = before;
    uint64_t node = old - 1, last = size - 1;
    for (; node & 1; node >>= 1)
        last >>= 1;
    for (size_t i = is_node ? 0 : 1; i < p->n; i++) {
        if (last == 0)
            return false;
        if ((node & 1) || node == last) {
            before = tree_join(&p->hashes[i], &before);
            now = tree_join(&p->hashes[i], &now);
            for (; !(node & 1) && node != 0; node >>= 1)
                last >>= 1;
        } else {
            now = tree_join(&now, &p->hashes[i]);
        }
        node >>= 1;
        last >>= 1;
    }
    return last == 0 && tree_same(&before, old_root) && tree_same(&now, root);
}

/* --- growing --------------------------------------------------------------------------------- */

void tree_grow(struct tree_edge *t, const struct tree_hash *leaf, tree_node_fn *fn, void *arg)
{
    struct tree_hash node = *leaf;
    unsigned height = 0;
    assert(t->size + 1 < UINT64_C(1) << TREE_HEIGHT_MAX);
    if (fn)
        fn(arg, 0, t->size, &node);
    for (; t->size >> height & 1; height++) {
        node = tree_join(&t->nodes[height], &node);
        if (fn)
            fn(arg, height + 1, t->size >> (height + 1), &node);
    }
    t->nodes[height] = node;
    t->size++;
}

void tree_edge_root(const struct tree_edge *t, struct tree_hash *out)
{
    bool any = false;
    *out = tree_empty();
    for (unsigned height = 0; height <= TREE_HEIGHT_MAX; height++) {
        if (!(t->size >> height & 1))
            continue;
        *out = any ? tree_join(&t->nodes[height], out) : t->nodes[height];
        any = true;
    }
}

int tree_edge_read(const struct tree_reader *r, uint64_t size, struct tree_edge *out, struct err *e)
{
    *out = (struct tree_edge){.size = size};
    for (unsigned height = 0; height <= TREE_HEIGHT_MAX; height++) {
        if (!(size >> height & 1))
            continue;
        int rc = r->fn(r->arg, height, (size >> height) - 1, &out->nodes[height], e);
        if (rc)
            return rc;
    }
    return 0;
}
