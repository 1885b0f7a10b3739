/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_TREE_TEST_H
#define FETTLE_PROBE_TREE_TEST_H

#include "base/json.h"

#include <stddef.h>

/*
 * For tests: a directory of the test's own that stands for a machine's root, and what the probe
 * reads in it. Failures end the test.
 */

struct tree {
    char root[32];
};

/* A row is a path below the root and the file's text; a path that ends in "/" is a directory, and
 * one that ends in "@" a symbolic link to the text. */
struct leaf {
    const char *path, *text;
};

void tree_add(struct tree *t, const char *path, const char *text);
void tree_add_bytes(struct tree *t, const char *path, const void *bytes, size_t n);
void tree_add_all(struct tree *t, const struct leaf *leaves, size_t n);
#define TREE_ADD(tree, leaves) tree_add_all(tree, leaves, sizeof(leaves) / sizeof((leaves)[0]))

/* The inventory of the tree, with /tmp below it. The caller releases it. */
json_t *tree_inventory(const struct tree *t);

/* Compares the inventory's member with JSON text written with ' for "; NULL: the member is absent. */
void tree_expect(const struct tree *t, const char *key, const char *json);

/* A cmocka test with a tree of its own, a struct tree * in *state. */
int tree_setup(void **state);
int tree_teardown(void **state);
#define IN_TREE(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

#endif
